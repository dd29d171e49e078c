"""How records are split into folds, in words, for use elsewhere. No torch."""

from typing import Any

from datasets.base import Card
from engine.papers.lvq.spec import LvqSpec


def model(spec: LvqSpec, card: Card) -> dict[str, Any]:
    """The folds, which follow from the number of records and the seed alone."""
    return {
        "split": "Rows count from 0 in the order of the published file, a publisher's test part "
        "behind the others. Seed s tests on part s % 5 of scikit-learn's KFold(5, shuffle=True, "
        "random_state=s // 5) and trains on the others. From 70,000 rows on, it trains on that "
        "part and tests on the others. `predictions` are of all rows, in this order.",
    }
