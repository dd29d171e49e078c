"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "histogram": Kept("Counts with noise", released=True),
    "histogram_exact": Kept("Counts without noise"),
    "edges": Kept("Edges of the bins", released=True, public=True),
    "by_group": Kept("Measure and number of records of each group"),
}
RAW = ("raw", "counts.1")
"""The values themselves, and the histogram without noise."""
