"""What the records that are tested on tell. No torch."""

from collections.abc import Mapping

from datasets import own
from datasets.base import Card
from engine.intervals import Estimate, accuracy
from engine.method import Arrays, Entry
from engine.papers.lvq.spec import LvqSpec

LARGEST = 60_000
"""From so many records of a published table on, a publisher's test part may be there, which no
card counts."""
FOLDS, SWAPPED = 5, 70_000
"""Folds, and the rows from which on one of them trains and the others test (`lvq.folds`)."""


def estimates(
    entry: Entry[LvqSpec], spec: LvqSpec, card: Card, arrays: Arrays, gauges: Mapping[str, float]
) -> tuple[Estimate, ...]:
    """How often the published prototypes are right on new records, from the fold held out.

    Args:
        entry: The method.
        spec: Its settings.
        card: The data set's.
        arrays: What the replica keeps.
        gauges: Of them `error`.
    """
    if own.mine(card.name):
        rows = sum(map(len, own.labels(card.name)))
    elif card.records < LARGEST:
        rows = card.records
    else:
        return ()
    fold = rows // FOLDS
    return (accuracy(1.0 - gauges["error"], rows - fold if rows >= SWAPPED else fold),)
