"""What noise does to rare values: the histogram's bins in thirds. Nothing here is private."""

from collections.abc import Sequence

import numpy as np

from datasets.base import Card, Floats, Table
from engine.method import Arrays, Groups
from engine.papers.mean.spec import MeanSpec

THIRDS = ("rarest third of the bins", "middle third of the bins", "fullest third of the bins")


def names(card: Card) -> tuple[str, ...]:
    """The bins in thirds, by how many records they hold."""
    return THIRDS


def wrong(spec: MeanSpec, data: Table, arrays: Arrays, seeds: Sequence[int]) -> Floats:
    """The error of the counts over the counts, and the records of each third, shape (R, 3, 2).

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: `histogram` and `histogram_exact`, (R, k) each.
        seeds: Of each replica.
    """
    noisy, exact = (np.asarray(arrays[f"histogram{end}"], np.float64) for end in ("", "_exact"))
    held = np.argsort(exact, axis=1, kind="stable")
    rows = []
    for part in np.array_split(held, 3, axis=1):
        count = np.take_along_axis(exact, part, 1).sum(1)
        off = np.abs(np.take_along_axis(noisy - exact, part, 1)).sum(1)
        rows.append(np.stack([off / np.maximum(count, 1.0), count], axis=1))
    return np.stack(rows, axis=1)


GROUPS = Groups(
    measure="Error of the counts",
    cost=("% of the count", "% of the count"),
    names=names,
    made="engine.papers.mean.groups:wrong",
    words="The error of the published counts, as a share of the counts, by how many records a bin "
    "holds.",
    better="down",
)
