"""The worst case of a mean: one value at either end of its range."""

from dataclasses import replace

import numpy as np

from datasets.base import Booleans, SurvivalTable, Table
from engine.audit.witness import Pair, Witness, survival_limits
from engine.core.errors import RequestError
from engine.papers.mean.price import used
from engine.papers.mean.spec import MeanSpec


def ends(spec: MeanSpec, data: Table) -> Pair:
    """A record that the first repetition uses, at the lower or at the upper bound of the column.

    Raises:
        RequestError: A table without that column.
    """
    if not isinstance(data, SurvivalTable) or spec.column not in data.card.features:
        raise RequestError(
            f"dataset: expected a table with a column {spec.column!r}, got {data.card.name}"
        )
    row = np.random.default_rng(0).permutation(len(data))[: used(spec, len(data))][0]
    column = data.card.features.index(spec.column)
    low, high = survival_limits(data)
    tables = []
    for value in (low[column], high[column]):
        x = np.clip(data.x, low, high)
        x[row, column] = value
        tables.append(replace(data, x=x, missing=_known(data, row, column)))
    return Pair(tables[0], tables[1])


def _known(data: SurvivalTable, row: int, column: int) -> Booleans | None:
    """Which values are missing where that of one row is not."""
    if data.missing is None:
        return None
    missing = data.missing.copy()
    missing[row, column] = False
    return missing


ENDS = Witness(words="a person at the lower bound of the column, or at its upper bound", pair=ends)
