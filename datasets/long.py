"""Survival tables in long format: a row for each stretch of time with constant covariates.

Columns are `id`, `start`, `stop`, `event` and one for each covariate. A person's rows follow each
other from 0 without gap or overlap, and the event, if there is one, ends the last of them. A
person is one record however many rows there are: the rows of one person are replaced together.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from datasets.base import Card, Episodes, Floats, Integers, SurvivalTable, check
from engine.core.errors import DatasetError

COLUMNS = ("id", "start", "stop", "event")


def long_table(card: Card, columns: Mapping[str, Sequence[object] | Floats]) -> SurvivalTable:
    """The table of a long format, its persons in the order of their first rows.

    Args:
        card: Its description; its features name the covariates.
        columns: `id`, `start`, `stop`, `event` and the covariates, all of one length. Ids are
            any values that can be told apart; event is 0 or 1.

    Raises:
        DatasetError: A column is missing, a value is missing or not a number, or the rows of a
            person do not follow each other from 0 to an end.
    """
    for name in (*COLUMNS, *card.features):
        if name not in columns:
            raise DatasetError(f"{card.name}: expected a column {name!r}, got {list(columns)}")
    ids, person = _persons(card.name, columns["id"])
    start, stop, event, *x = (
        numbers(card.name, name, columns[name], len(ids)) for name in (*COLUMNS[1:], *card.features)
    )
    order = np.lexsort((start, person))
    person = person[order]
    start, stop, event = (values[order] for values in (start, stop, event))
    _follow(card.name, [ids[row] for row in order], start, stop, event)
    first = np.flatnonzero(np.diff(person, prepend=-1))
    last = np.append(first[1:], len(person)) - 1
    path = np.stack(x, axis=1)[order]
    episodes = Episodes(person, start, stop, path)
    return check(SurvivalTable(card, path[first], stop[last], event[last] > 0, episodes))


def _persons(name: str, column: Sequence[object] | Floats) -> tuple[list[object], Integers]:
    """The ids, and the number of each row's person in the order of first rows."""
    ids = list(column)
    if not ids:
        raise DatasetError(f"{name}: expected at least one row, got none")
    for row, key in enumerate(ids, 1):
        if key is None or key != key or (isinstance(key, str) and not key.strip()):
            raise DatasetError(f"{name}: expected an id in every row, got none in row {row}")
    numbers = {key: number for number, key in enumerate(dict.fromkeys(ids))}
    return ids, np.array([numbers[key] for key in ids], np.int64)


def numbers(name: str, column: str, values: Sequence[object] | Floats, rows: int) -> Floats:
    """A column of finite numbers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        parsed = values.astype(np.float64)
    else:
        parsed = np.array([_number(name, column, row, one) for row, one in enumerate(values, 1)])
    if len(parsed) != rows:
        raise DatasetError(f"{name}: expected {rows} values of {column!r}, got {len(parsed)}")
    wrong = np.flatnonzero(~np.isfinite(parsed))
    if len(wrong):
        raise DatasetError(
            f"{name}: expected a number in every row of {column!r}, got {parsed[wrong[0]]} "
            f"in row {wrong[0] + 1}"
        )
    if column == "event" and not np.isin(parsed, (0.0, 1.0)).all():
        raise DatasetError(f"{name}: expected events of 0 or 1, got {parsed.max():g}")
    return parsed


def _number(name: str, column: str, row: int, value: object) -> float:
    """One cell as a number.

    Raises:
        DatasetError: It is a word; the sentence says which, where and what to do.
    """
    try:
        return float(str(value))
    except ValueError:
        raise DatasetError(
            f"{name}: column {column!r}, row {row}: expected a number, got {str(value)[:40]!r}; "
            "write categories as numbers, with one column of 0 and 1 for each category"
        ) from None


def _follow(name: str, ids: Sequence[object], start: Floats, stop: Floats, event: Floats) -> None:
    """Checks that rows, sorted by person and start, follow each other."""
    same = np.array([before == after for before, after in pairwise(ids)], bool)
    fresh = np.append(True, ~same)
    if (wrong := ~(stop > start)).any():
        row = int(wrong.argmax())
        raise DatasetError(
            f"{name}: expected rows that stop after they start, "
            f"got {start[row]:g} to {stop[row]:g} of id {ids[row]}"
        )
    if (wrong := fresh & (start != 0.0)).any():
        row = int(wrong.argmax())
        raise DatasetError(
            f"{name}: expected the first row of each id to start at 0, "
            f"got {start[row]:g} of id {ids[row]}"
        )
    for wrong, says in (
        (same & (start[1:] < stop[:-1]), "expected rows without overlap"),
        (same & (start[1:] > stop[:-1]), "expected rows without gaps"),
    ):
        if wrong.any():
            at = int(wrong.argmax())
            both = " and ".join(f"{start[i]:g} to {stop[i]:g}" for i in (at, at + 1))
            raise DatasetError(f"{name}: {says}, got {both} of id {ids[at]}")
    early = same & (event[:-1] > 0)
    if early.any():
        row = int(early.argmax())
        raise DatasetError(
            f"{name}: expected an event in the last row of each id alone, "
            f"got one at {stop[row]:g} and more rows of id {ids[row]}"
        )
