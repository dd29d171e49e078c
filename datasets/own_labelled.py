"""A table of one's own with classes, from the columns of a file and what its owner says of them."""

import numpy as np

from datasets import own_columns
from datasets.base import Booleans, Card, Floats, Integers, LabelledTable, check
from datasets.own_columns import Column
from datasets.own_lines import Said
from datasets.own_reader import Read, words
from datasets.own_survival import covariates, known
from engine.core.errors import DatasetError

FEWEST = 20
"""Rows at least."""
CLASSES = (2, 50)
"""Fewest and most classes."""
PUBLISHED = 10_000
"""Of a larger table one row in five becomes its test part here; a method splits a smaller one."""
HELD_OUT = 5
ALL = "every column"
"""A line of bounds of every column that has no line of its own, as of pixels."""


def table(name: str, read: Read, said: Said, comma: bool) -> LabelledTable:
    """The table, checked.

    Args:
        name: What a sentence calls the file.
        read: The columns.
        said: What the owner says of them; `label` names the column of the classes.
        comma: Whether numbers have a decimal comma.

    Raises:
        DatasetError: It is no table of classes; one sentence says why.
    """
    for what, one in (("label", said.label), ("person", said.person)):
        if one and one not in read.columns:
            raise DatasetError(
                f"{name}: expected the {what} column among {', '.join(read.columns)[:200]}, "
                f"got {one}"
            )
    if len(read) < FEWEST:
        raise DatasetError(f"{name}: expected at least {FEWEST} rows, got {len(read)}")
    aside = (said.label, said.person, *said.leave_out)
    columns = {
        one: own_columns.understood(one, column, comma)
        for one, column in read.columns.items()
        if one not in aside
    }
    label = own_columns.understood(said.label, read.columns[said.label], comma)
    classes, y = labels(name, label, said.classes)
    features, parts = covariates(name, columns, said, first=True)
    low, high = _bounds(name, features, columns, said, parts)
    x = np.clip(np.stack(parts, axis=1), low, high)
    if said.image and said.image[0] * said.image[1] != x.shape[1]:
        raise DatasetError(
            f"{name}: expected {said.image[0]} x {said.image[1]} = "
            f"{said.image[0] * said.image[1]} columns of pixels, got {x.shape[1]}"
        )
    groups, kept = _persons(read, said)
    x, y, groups = x[kept], y[kept], groups[kept] if groups is not None else None
    test = _test_rows(len(y), groups, said.seed)
    card = _card(name, features, len(y) - int(test.sum()), classes, said)
    whole = LabelledTable(card, x[~test], y[~test], (low, high), said.image, None, groups)
    if not test.any():
        return check(whole)
    part = LabelledTable(card, x[test], y[test], (low, high), said.image)
    return check(
        LabelledTable(
            card, whole.x, whole.y, (low, high), said.image, part,
            None if groups is None else groups[~test],
        )
    )  # fmt: skip


def labels(name: str, column: Column, typed: tuple[str, ...]) -> tuple[tuple[str, ...], Integers]:
    """The classes and the number of each row's.

    Raises:
        DatasetError: Blanks, measurements, or another number of classes than is possible.
    """
    if column.blank.any():
        row = int(np.flatnonzero(column.blank)[0]) + 1
        raise DatasetError(
            f"{name}: expected a class in every row of {column.name!r}, got none in row {row}"
        )
    fractions = column.values is not None and (column.values % 1 != 0).any()
    levels = own_columns.levels(column)
    if fractions or not CLASSES[0] <= len(levels) <= CLASSES[1]:
        got = "measurements with decimals" if fractions else f"{len(levels):,} different values"
        raise DatasetError(
            f"{name}: expected {CLASSES[0]} to {CLASSES[1]} classes in column {column.name!r}, "
            f"got {got}"
        )
    if typed and (set(typed) - set(levels) or set(levels) - set(typed)):
        raise DatasetError(
            f"{name}: expected the classes {', '.join(typed)[:80]} in column {column.name!r}, "
            f"got {', '.join(levels)[:80]}"
        )
    order = typed or levels
    if column.values is not None:
        numbers = np.array([float(one) for one in order])
        place = np.argsort(numbers)
        return order, place[np.searchsorted(numbers[place], column.values)].astype(np.int64)
    y = np.zeros(len(column.blank), np.int64)
    _, parts = own_columns.indicators(name, column, order, True)
    for k, member in enumerate(parts):
        y[member > 0] = k
    return order, y


def _bounds(
    name: str,
    features: tuple[str, ...],
    columns: dict[str, Column],
    said: Said,
    parts: list[Floats],
) -> tuple[Floats, Floats]:
    """Lower and upper bound of each feature, shape (d,)."""
    plain = [one for one in columns if one not in said.levels]
    spoken = dict(said.ranges)
    if ALL in spoken and ALL not in columns:
        shared = spoken.pop(ALL)
        spoken = {**dict.fromkeys(plain, shared), **spoken}
    ranges = known(name, plain, columns, spoken, said.taken)
    seen = zip(features, parts, strict=True)
    taken = {one: (float(x.min()), float(x.max())) for one, x in seen if one in plain}
    usual = {one: (low, high if high > low else low + 1.0) for one, (low, high) in taken.items()}
    pairs = [ranges.get(one, usual.get(one, (0.0, 1.0))) for one in features]
    low, high = np.array(pairs, np.float64).T
    return low, high


def _persons(read: Read, said: Said) -> tuple[Integers | None, Booleans]:
    """The person of each row, and which rows are kept: the first few of each person."""
    if not said.person:
        return None, np.ones(len(read), bool)
    ids = words(read.columns[said.person]).dictionary_encode().combine_chunks().indices
    groups = np.asarray(ids.fill_null(-1), np.int64)
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
    place = np.arange(len(groups)) - np.repeat(first, np.diff(first, append=len(groups)))
    kept = np.zeros(len(groups), bool)
    kept[order] = place < said.rows
    return groups, kept


def _test_rows(n: int, groups: Integers | None, seed: int) -> Booleans:
    """Which of many rows are tested on: a fifth, whole persons, by number and public seed alone."""
    if n <= PUBLISHED:
        return np.zeros(n, bool)
    rng = np.random.default_rng(seed)
    if groups is None:
        chosen = np.zeros(n, bool)
        chosen[rng.permutation(n)[: n // HELD_OUT]] = True
        return chosen
    persons = np.unique(groups)
    return np.isin(groups, rng.permutation(persons)[: len(persons) // HELD_OUT])


def _card(
    name: str, features: tuple[str, ...], records: int, classes: tuple[str, ...], said: Said
) -> Card:
    row = said.record or "a row"
    bounds = "taken from the data where none were given" if said.taken else "given with the table"
    learned = "" if said.classes else ", which are those that occur in the file"
    size = f"{said.image[0]} x {said.image[1]} pixels" if said.image else ""
    persons = f" The first {said.rows} rows of each person are kept." if said.person else ""
    return Card(
        name=name,
        title=name,
        summary=f"A file that was added on this machine and is kept here alone. The classes are "
        f"{', '.join(classes)}.{persons}",
        records=records,
        classes=len(classes),
        record=f"a person with at most {said.rows} rows" if said.person else row,
        features=(size,) if size else features,
        image=said.image,
        source="your own file",
        licence="yours to know",
        public=f"The number of rows, the names of columns and categories, the names of the "
        f"classes{learned}, and the bounds, {bounds}; values beyond them are clipped. The split "
        f"into training and test rows follows from the number of rows and the seed {said.seed}",
        rows=said.rows if said.person else 1,
        taken=said.taken,
    )
