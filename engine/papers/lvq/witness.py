"""The worst case of private relevance learning: an image of extremes among the others."""

from dataclasses import replace

import numpy as np

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, alone, left_out
from engine.core.errors import RequestError
from engine.papers.lvq.folds import fold, joined
from engine.papers.lvq.spec import LvqSpec


def corner(spec: LvqSpec, data: Table) -> Pair:
    """The last training record of the first fold, with every feature at the bound far from its own.

    Everybody else stays: they hold the prototypes where this record is badly placed. Alone, it
    would change most steps by a hundredth of what the noise is made for.

    Raises:
        RequestError: The table holds no labels.
    """
    if not isinstance(data, LabelledTable):
        raise RequestError(f"dataset: expected labelled records, got {data.card.name}")
    rows = fold(data, 0)[0]
    rows = np.sort(rows[rows < len(data)])
    row = int(rows[-1])
    low, high = (np.broadcast_to(bound, data.x.shape[1:]) for bound in data.bounds)
    middle = data.x[data.y == data.y[row]].mean(axis=0)
    far = np.where(2.0 * middle < low + high, high, low)
    echo = alone(data, rows, far, rate=spec.sample_rate, places=len(joined(data)[1])).echo
    return replace(left_out(data, row, far), echo=echo)


CORNER = Witness(
    words="a record whose every feature is at the bound that is far from its class, or whose place "
    "is empty",
    pair=corner,
)
