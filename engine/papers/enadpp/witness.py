"""The worst case of private gradient descent on a network: an image that fits no class."""

import numpy as np

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, alone
from engine.core.errors import RequestError
from engine.papers.enadpp import price
from engine.papers.enadpp.models import PAIRED
from engine.papers.enadpp.spec import EnadppSpec
from engine.training.records import train_rows

WORDS = (
    "a record whose every feature is at its upper bound, or whose place is empty; all other places "
    "are empty too, which the attacker may choose"
)


def white(spec: EnadppSpec, data: Table) -> Pair:
    """The last training record with every feature at its upper bound.

    Raises:
        RequestError: The table holds no labels, or its records are compared two by two, where no
            likelihood ratio of a single record is known.
    """
    if not isinstance(data, LabelledTable):
        raise RequestError(f"dataset: expected labelled records, got {data.card.name}")
    if data.card.name in PAIRED:
        raise RequestError(
            f"dataset: expected records that are drawn one by one to attack, got {data.card.name}"
        )
    high = np.broadcast_to(data.bounds[1], data.x.shape[1:])
    return alone(data, train_rows(data), high, rate=price.batches(spec).rate)


def rate(spec: EnadppSpec, n: int) -> float:
    """By coins, or by an order, which the proof lets the attacker know."""
    return price.batches(spec).rate


WHITE = Witness(
    words=WORDS,
    pair=white,
    rate=rate,
)
CYCLIC = Witness(
    words=WORDS,
    pair=white,
)
"""The same where batches are cut from one order, which the proof lets the attacker know."""
