"""Reads the three CSV files of a panel of persons who befriend each other."""

import io
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.base import Card, Floats, Integers, PanelTable, check
from datasets.social import ATTRIBUTES, FILES, LOWER, UPPER, folder
from engine.core.errors import DatasetError

MOST = 20_000_000
"""Most numbers that a file of attributes may hold."""


def read(name: str, card: Card) -> PanelTable:
    """The panel of the three files in the data folder.

    Raises:
        DatasetError: A file is missing or not as expected; one sentence says what.
    """
    place = folder(name)
    assert place is not None
    return panel(*(_content(place / file) for file in FILES), card)


def _content(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{place.name}: expected it beside the other two files ({', '.join(FILES)}), got "
            f"{type(error).__name__}"
        ) from error


@lru_cache(maxsize=1)
def panel(attributes: bytes, friendships: bytes, labels: bytes, card: Card) -> PanelTable:
    """The panel of three files.

    Args:
        attributes: Columns user, time and one for each of the thirty attributes.
        friendships: Columns user and friend, each friendship once.
        labels: Columns user, time and label, 1 where the user exercises more.
        card: Its description; the number of users is taken from the file.

    Raises:
        DatasetError: One sentence says what was expected, what was found and where.
    """
    rows = _columns(FILES[0], attributes, ("user", "time", *ATTRIBUTES))
    users, times = sorted(rows["user"].unique()), _times(rows)
    values = _numbers(FILES[0], rows, ATTRIBUTES)
    x = _grid(FILES[0], rows, users, times, values).clip(LOWER, UPPER)
    labelled = _columns(FILES[2], labels, ("user", "time", "label"))
    y = _labels(labelled, users, times)
    friends = _friends(_columns(FILES[1], friendships, ("user", "friend")), users)
    described = replace(card, records=len(users))
    return check(PanelTable(described, x.astype(np.float32), y, friends, (LOWER, UPPER)))


def _columns(file: str, content: bytes, names: tuple[str, ...]) -> pd.DataFrame:
    """A file's columns as texts."""
    try:
        rows = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise DatasetError(f"{file}: expected a CSV file, got {error}") from None
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise DatasetError(
            f"{file}: expected the columns {', '.join(names)}, got none named {missing[0]!r}"
        )
    if not 0 < len(rows) * len(names) <= MOST:
        raise DatasetError(f"{file}: expected 1 to {MOST:,} values, got {len(rows) * len(names):,}")
    return rows


def _times(rows: pd.DataFrame) -> list[int]:
    """The points in time, which follow each other by one."""
    times = sorted({int(v) for v in _numbers(FILES[0], rows, ("time",))[:, 0]})
    if len(times) < 2:
        raise DatasetError(
            f"{FILES[0]}: expected at least two points in time for each user, got {len(times)}"
        )
    if times[-1] - times[0] != len(times) - 1:
        after = next(a for a, b in pairwise(times) if b != a + 1)
        raise DatasetError(
            f"{FILES[0]}: expected times that follow each other by 1, got a gap after time {after}"
        )
    return times


def _numbers(file: str, rows: pd.DataFrame, names: tuple[str, ...]) -> Floats:
    """Columns of numbers, shape (rows, columns)."""
    parsed = np.empty((len(rows), len(names)))
    for k, name in enumerate(names):
        column = pd.to_numeric(rows[name], errors="coerce").to_numpy(np.float64)
        wrong = np.flatnonzero(~np.isfinite(column))
        if len(wrong):
            raise DatasetError(
                f"{file}: expected a number in column {name!r}, row {wrong[0] + 2}, got "
                f"{rows[name].iloc[wrong[0]] or 'nothing'!r}"
            )
        parsed[:, k] = column
    return parsed


def _grid(
    file: str, rows: pd.DataFrame, users: list[str], times: list[int], values: Floats
) -> Floats:
    """Values of every user and time, each of them once, shape (n, T, columns)."""
    row = pd.Index(users).get_indexer(rows["user"])
    column = _numbers(file, rows, ("time",))[:, 0] - times[0]
    if (row < 0).any():
        raise DatasetError(
            f"{file}: expected users of {FILES[0]}, got {rows['user'].iloc[int(row.argmin())]!r}"
        )
    if not np.isin(column, np.arange(len(times))).all():
        other = column[~np.isin(column, np.arange(len(times)))][0] + times[0]
        raise DatasetError(f"{file}: expected times {times[0]} to {times[-1]}, got {other:g}")
    place = row * len(times) + column.astype(np.int64)
    seen = np.bincount(place, minlength=len(users) * len(times))
    if (seen != 1).any():
        user, time = divmod(int(np.flatnonzero(seen != 1)[0]), len(times))
        raise DatasetError(
            f"{file}: expected one row for each user and time, got {seen[seen != 1][0]} for user "
            f"{users[user]!r} at time {times[time]}"
        )
    filled = np.empty((len(seen), values.shape[1]))
    filled[place] = values
    return filled.reshape(len(users), len(times), -1)


def _labels(rows: pd.DataFrame, users: list[str], times: list[int]) -> Integers:
    """The labels, shape (n, T)."""
    values = _numbers(FILES[2], rows, ("label",))
    other = values[~np.isin(values, (0, 1))]
    if len(other):
        raise DatasetError(f"{FILES[2]}: expected labels 0 and 1, got {other[0]:g}")
    labels = _grid(FILES[2], rows, users, times, values)[:, :, 0].astype(np.int64)
    if labels.min() == labels.max():
        raise DatasetError(
            f"{FILES[2]}: expected labels 0 and 1, got {labels.max()} for every user and time"
        )
    return labels


def _friends(rows: pd.DataFrame, users: list[str]) -> Integers:
    """The friendships as numbers of users, the smaller first."""
    index = pd.Index(users)
    pairs: NDArray[np.int64] = np.stack([index.get_indexer(rows[c]) for c in ("user", "friend")], 1)
    for k, column in enumerate(("user", "friend")):
        if (pairs[:, k] < 0).any():
            name = rows[column].iloc[int(pairs[:, k].argmin())]
            raise DatasetError(f"{FILES[1]}: expected users of {FILES[0]}, got {name!r}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise DatasetError(f"{FILES[1]}: expected two different users in a row, got one twice")
    pairs = np.sort(pairs, axis=1)
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    if (counts > 1).any():
        u, v = unique[counts > 1][0]
        raise DatasetError(
            f"{FILES[1]}: expected each friendship once, got that of {users[u]!r} and "
            f"{users[v]!r} {counts.max()} times"
        )
    alone = np.setdiff1d(np.arange(len(users)), unique.ravel())
    if len(alone):
        raise DatasetError(
            f"{FILES[1]}: expected at least one friend for each user, since their influence is "
            f"divided by their number, got none for user {users[alone[0]]!r}"
        )
    return unique
