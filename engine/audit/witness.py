"""Two neighbouring data sets that are as far apart as a card allows, and what to look at. No torch.

A paper declares a witness for each private method: `Entry.witness` names it. Its data are made
inside public bounds, so that the guarantee speaks of them, and as extreme as the bounds allow.
"""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from datasets.base import Integers, LabelledTable, PanelTable, SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.core.spec import Spec

if TYPE_CHECKING:
    from torch import Tensor

    from engine.method import Entry

S = TypeVar("S", bound=Spec)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring data sets.

    Attributes:
        without: The one without the witness, or with the other record in its place.
        present: The one with it.
        echo: A table that holds the witness in every place, for methods that draw samples: what
            they would release of it, whether or not a step has drawn it. None for others.
    """

    without: Table
    present: Table
    echo: Table | None = None


Score = Callable[[Batch[Any], Pair, Any], "Tensor | None"]
"""An attacker's score of the final states, shape (R,); None where they hold nothing to score."""


def own_seeds(count: int) -> tuple[int, ...]:
    """A seed for each replica."""
    return tuple(range(count))


def one_seed(count: int) -> tuple[int, ...]:
    """The same seed for all replicas, whose noise differs all the same."""
    return (0,) * count


@dataclass(frozen=True, kw_only=True)
class Witness(Generic[S]):
    """The worst case of a method.

    Attributes:
        words: Whose record it is and what makes it extreme, in one sentence.
        pair: The data sets for a spec and a table of the data set that is audited.
        scores: What an attacker computes from the final state, by its name in words; left out
            where all that is released was released before.
        recorded: Whether noise is added to values, so that a likelihood ratio of the releases
            can be computed from them.
        ratio: The score that is nearly a log likelihood ratio, so that its sign is the best guess,
            where no release shows one.
        rate: Chance of a record to be in a step where the method's releases do not say.
        seeds: Names of the repetitions.
        width: Numbers in a release, where a bound through its noise needs them.
        implied: For noise inside an objective: which linear term made a table's answer what it is,
            from the spec, the table, the final state and all noise that was drawn, (1, d), and the
            log determinant of the objective's curvature there.
    """

    words: str
    pair: Callable[[S, Table], Pair]
    scores: Mapping[str, Score] = field(default_factory=dict)
    recorded: bool = True
    ratio: str = ""
    rate: Callable[[S, int], float] = field(default=lambda spec, n: 1.0)
    seeds: Callable[[int], tuple[int, ...]] = one_seed
    width: Callable[[S, Pair], int] = field(default=lambda spec, pair: 0)
    implied: "Callable[[S, Table, Any, Sequence[Tensor]], tuple[Tensor, float]] | None" = None


DRAWN = 4.0
"""Copies of the witness in a batch of its echo, on average: one in 50 has none."""


def left_out(data: LabelledTable, row: int, x: Any, *, echo: bool = False) -> Pair:
    """A pair in which one row holds features `x`, or its place is empty; everybody else stays.

    Args:
        data: The records of everybody else.
        row: Whose place it is; it keeps its label.
        x: Features of the witness.
        echo: Whether the method draws samples.
    """
    table = replace(data, x=np.array(data.x), left_out=())
    table.x[row] = x
    every = None
    if echo:
        others = tuple(int(i) for i in np.flatnonzero(data.y != data.y[row]))
        every = replace(data, x=np.broadcast_to(table.x[row], data.x.shape), left_out=others)
    return Pair(replace(table, left_out=(row,)), table, every)


def alone(
    data: LabelledTable, rows: Integers, x: Any, *, rate: float = 0.0, places: int = 0
) -> Pair:
    """A pair in which one row holds features `x`, or is empty, and all other places are empty.

    The number of places is public and stays, and so do steps, rates, noise and price. A guarantee
    holds for all data sets, so the attacker may choose this one: nobody else moves what is trained,
    and trainings cost little but their noise.

    Args:
        data: Whose size, labels and bounds are kept.
        rows: Rows that are trained on; the last is the witness, which keeps its label.
        x: Features of the witness.
        rate: Chance of a record to be in a batch; 0 for methods that draw none.
        places: Places of the table; 0 for as many as it has records.
    """
    row, every = int(rows[-1]), set(range(places or len(data)))
    table = replace(data, x=np.array(data.x), left_out=tuple(sorted(every - {row})))
    table.x[row] = x
    heard = None
    if rate:
        some = {int(one) for one in rows[-min(len(rows), math.ceil(DRAWN / rate)) :]}
        y, wide = np.array(data.y), np.broadcast_to(table.x[row], data.x.shape)
        y[list(some)] = data.y[row]
        heard = replace(data, x=wide, y=y, left_out=tuple(sorted(every - some)))
    return Pair(replace(table, left_out=tuple(sorted(every))), table, heard)


def load(entry: "Entry[Any]") -> Witness[Any]:
    """The witness that an entry names, as "module:NAME".

    Raises:
        RequestError: It names none.
    """
    if not entry.witness:
        raise RequestError(f"method: expected one with a witness to attack, got {entry.name}")
    module, _, name = entry.witness.partition(":")
    witness: Witness[Any] = getattr(importlib.import_module(module), name)
    return witness


def check(pair: Pair, data: Table) -> Pair:
    """The pair, if both data sets are of the size of the audited one and within its public bounds.

    Raises:
        RequestError: They do not.
    """
    low, high = limits(data)
    for table in (pair.without, pair.present):
        if len(table) != len(data):
            raise RequestError(f"witness: expected {len(data)} records, got {len(table)}")
        x = np.asarray(table.x, np.float64)
        if (x < low).any() or (x > high).any():
            raise RequestError(
                "witness: expected values within the public bounds of "
                f"{data.card.name}, got {_outside(x, low, high):g}"
            )
    return pair


def limits(table: Table) -> tuple[Any, Any]:
    """The smallest and the largest value of each column that are public knowledge."""
    if isinstance(table, LabelledTable):
        return table.bounds
    if isinstance(table, PanelTable):
        low, high = (np.asarray(bound, table.x.dtype) for bound in table.bounds)
        return low, high
    return survival_limits(table)


def survival_limits(table: SurvivalTable) -> tuple[Any, Any]:
    """Bounds of the covariates: those of the card, or the table's own where it names none."""
    if table.card.bounds is None:
        return table.x.min(axis=0), table.x.max(axis=0)
    low, high = np.array(table.card.bounds.covariates, np.float64).T
    return low, high


def _outside(x: Any, low: Any, high: Any) -> float:
    """The first value that is outside."""
    low, high = np.broadcast_to(low, x.shape), np.broadcast_to(high, x.shape)
    return float(x[(x < low) | (x > high)][0])
