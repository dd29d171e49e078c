"""The worst case of private relevance learning: an image of extremes among the others."""

import numpy as np

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, left_out
from engine.core.errors import RequestError
from engine.papers.lvq.folds import fold
from engine.papers.lvq.spec import LvqSpec


def corner(spec: LvqSpec, data: Table) -> Pair:
    """The last training record of the first fold, with every feature at the bound far from its own.

    Raises:
        RequestError: The table holds no labels.
    """
    if not isinstance(data, LabelledTable):
        raise RequestError(f"dataset: expected labelled records, got {data.card.name}")
    row = int(max(place for place in fold(data, 0)[0] if place < len(data)))
    low, high = (np.broadcast_to(bound, data.x.shape[1:]) for bound in data.bounds)
    middle = data.x[data.y == data.y[row]].mean(axis=0)
    return left_out(data, row, np.where(2.0 * middle < low + high, high, low), echo=True)


CORNER = Witness(
    words="a record whose every feature is at the bound that is far from its class, or whose place "
    "is empty",
    pair=corner,
)
