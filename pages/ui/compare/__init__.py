"""The Compare page: finished runs on one chart."""

PREFIX = "compare"
"""What the page's names in the address and the keys of its widgets begin with."""
