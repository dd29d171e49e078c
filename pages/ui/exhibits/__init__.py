"""The Reproduce page: a paper's tables and figures beside ours."""

PREFIX = "reproduce"
"""What the page's names in the address and the keys of its widgets begin with."""
