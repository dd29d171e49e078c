"""Records that a training function is attacked with: the extremes of a table, and beyond."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import RequestError
from engine.privacy.guarantee import Relation

Floats = NDArray[np.float64]
FAR = 1_000.0
"""Spans beyond the largest value at which the outlier lies."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A record that may be the witness.

    Attributes:
        name: What it is, in words.
        without: The table without it.
        present: The table with it.
        numbers: Its own numbers, shape (d,).
    """

    name: str
    without: Any
    present: Any
    numbers: Floats


def candidates(data: Any, relation: Relation, witness: Any = None) -> list[Candidate]:
    """The records to try, or the given one.

    Args:
        data: Records as a pandas DataFrame or a numeric array, one row each.
        relation: Under "add_or_remove_one" a witness is added; else it takes the first record's
            place, so that the number of records stays.
        witness: One record, as a mapping of columns or a row of numbers; or all rows of one person,
            as a table like the data; None to try several.

    Raises:
        RequestError: Data that are no table, or a witness that does not fit them.
    """
    import pandas as pd

    plain = isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "fiub"
    if not plain and not (hasattr(data, "columns") and len(data.columns)):
        raise RequestError(
            "data: expected a pandas DataFrame or a numeric array (n, d), "
            f"got {type(data).__name__}"
        )
    table = pd.DataFrame(data.astype(np.float64)) if plain else data.reset_index(drop=True)
    if len(table) < 2:
        raise RequestError(f"data: expected at least 2 records, got {len(table)}")
    if witness is None:
        tried = {name: _row(table, values) for name, values in _extremes(_numbers(table)).items()}
    else:
        tried = {"the given record": _given(table, witness, plain)}
    return [_candidate(name, table, rows, relation, plain) for name, rows in tried.items()]


def _extremes(rows: Floats) -> dict[str, Floats]:
    """The numbers of the records to try, by what they are."""
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    span = np.where(high > low, high - low, 1.0)
    last = np.arange(rows.shape[1]) == rows.shape[1] - 1
    return {
        "all columns at their largest": high,
        "all columns at their smallest": low,
        "largest, the last column smallest": np.where(last, low, high),
        "smallest, the last column largest": np.where(last, high, low),
        "far beyond the largest": np.where(last, high, high + FAR * span),
        "far beyond, the last column smallest": np.where(last, low, high + FAR * span),
        "far beyond in every column": high + FAR * span,
    }


def _numbers(frame: Any) -> Floats:
    """A table as numbers (n, d): words count by the order of their frequency."""
    columns = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind not in "fiub":
            column = column.map(column.value_counts().rank(method="first"))
        columns.append(np.asarray(column, np.float64))
    return np.stack(columns, axis=1)


def _given(table: Any, witness: Any, plain: bool) -> Any:
    """The rows of a witness that somebody names, as a table like the data."""
    import pandas as pd

    if plain:
        rows: Floats = np.atleast_2d(np.asarray(witness, np.float64))
        if rows.shape[1:] != table.shape[1:]:
            raise RequestError(
                f"witness: expected {table.shape[1]} numbers a row, got {rows.shape[1]}"
            )
        return pd.DataFrame(rows)
    named = pd.DataFrame([witness] if isinstance(witness, Mapping) else witness)
    missing = [str(name) for name in table.columns if name not in named.columns]
    if missing:
        raise RequestError(
            f"witness: expected a value for every column, got none for {', '.join(missing)}"
        )
    return named[list(table.columns)]


def _candidate(name: str, table: Any, rows: Any, relation: Relation, plain: bool) -> Candidate:
    """Both worlds of a witness, as arrays if they came so, and the numbers of its first row."""
    import pandas as pd

    added = relation == "add_or_remove_one"
    numbers = _numbers(rows)[0]
    rows = rows if plain else _typed(rows, table)
    order = [table, rows] if added else [rows, table.iloc[len(rows) :]]
    worlds = table, pd.concat(order, ignore_index=True)
    without, present = (one.to_numpy() if plain else one for one in worlds)
    return Candidate(name, without, present, numbers)


def _typed(rows: Any, table: Any) -> Any:
    """The rows with the types of the table's columns where these can hold them.

    Else the whole column would change its type in the world that holds the record.
    """
    rows = rows.copy()
    for name in rows.columns:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is told below
                held = rows[name].astype(table[name].dtype)
        except (ValueError, TypeError, OverflowError):
            continue
        same = (held == rows[name]) | (held.isna() & rows[name].isna())
        # a float is rounded, as those of the table are, unless it is too large for them
        rounded = held.dtype.kind == "f" and not np.isinf(held).any()
        if rounded or same.all():
            rows[name] = held
    return rows


def _row(table: Any, values: Any) -> Any:
    """A record as a table of one row."""
    import pandas as pd

    cells = {}
    for name, value in zip(table.columns, values, strict=True):
        column = table[name]
        if column.dtype.kind in "fiub":
            whole = column.dtype.kind in "iub" and float(value).is_integer()
            cells[name] = pd.Series([int(value) if whole else float(value)])
        else:  # a word by its place in the order of frequency
            order = column.value_counts()
            place = int(np.clip(value, 1, len(order))) - 1
            cells[name] = pd.Series([order.index[::-1][place]])
    return pd.DataFrame(cells)
