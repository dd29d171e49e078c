"""How records are split into folds, in words, and what the tested ones tell. No torch."""

from collections.abc import Mapping
from typing import Any

from datasets.base import Card
from engine.intervals import Estimate, accuracy
from engine.method import Arrays, Entry
from engine.papers.lvq.spec import LvqSpec

LARGEST = 60_000
"""From so many records on, a publisher's test part may be there, which no card counts."""


def model(spec: LvqSpec, card: Card) -> dict[str, Any]:
    """The folds, which follow from the number of records and the seed alone."""
    return {
        "split": "Rows count from 0 in the order of the published file, a publisher's test part "
        "behind the others. Seed s tests on part s % 5 of scikit-learn's KFold(5, shuffle=True, "
        "random_state=s // 5) and trains on the others. From 70,000 rows on, it trains on that "
        "part and tests on the others. `predictions` are of all rows, in this order.",
    }


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
    if card.records >= LARGEST:
        return ()
    return (accuracy(1.0 - gauges["error"], card.records // 5),)
