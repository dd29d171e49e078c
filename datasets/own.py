"""Survival tables of one's own: a file of comma-separated values, kept on this machine alone.

A table gets a name of its own whenever it is added, so that a run never answers with another
table's numbers. The name is drawn, not taken from the content: names are public, and a fingerprint
would let someone who knows all records but one confirm that one.

Columns `time` and `event` make a record of every row; `id`, `start`, `stop` and `event` make one of
all the rows of an id (`datasets.long`). All other columns are covariates. Lines above them give the
bounds of each column (`datasets.own_bounds`).
"""

import codecs
import csv
import functools
import io
import os
import re
import secrets
from pathlib import Path

import numpy as np

from datasets import own_bounds
from datasets.base import Bounds, Card, SurvivalTable, check
from datasets.long import COLUMNS, long_table, numbers
from engine.core.errors import DatasetError, RequestError
from engine.core.home import home, private_folder, private_opener

PREFIX = "own_"
NAME = re.compile(rf"{PREFIX}[a-z0-9_]*[0-9a-f]{{8}}")
SHORT = ("time", "event")
FEWEST, MOST, WIDEST = 10, 20_000, 50
"""Persons at least, rows and covariates at most."""
THE_FILE = "file"
"""What a sentence about a file calls it."""


def mine(name: str) -> bool:
    """Whether a data set of that name is one's own, here or elsewhere."""
    return NAME.fullmatch(name) is not None


def names() -> tuple[str, ...]:
    """The tables that are kept here, in the order of their names."""
    return tuple(sorted(file.stem for file in _folder().glob(f"{PREFIX}*.csv") if mine(file.stem)))


def keep(title: str, content: bytes, bounds: str = "") -> str:
    """Checks a file and keeps it.

    Args:
        title: The file's name.
        content: What it holds.
        bounds: Lines such as "age: 18 to 100", for what the file's own first lines do not bound.

    Returns:
        The name of the data set.

    Raises:
        DatasetError: It is no survival table, or has no bounds; one sentence says why.
    """
    content = own_bounds.added(bounds) + content.removeprefix(codecs.BOM_UTF8)
    described = read(content, THE_FILE).card
    if described.bounds is None:
        raise DatasetError(
            f"{THE_FILE}: expected bounds of {', '.join((*described.features, own_bounds.TIME))}, "
            f"a line such as {own_bounds.EXAMPLE} for each, got none"
        )
    plain = re.sub(r"[^a-z0-9]+", "_", Path(title).stem.lower()).strip("_")[:24]
    drawn = secrets.token_hex(4)
    name = f"{PREFIX}{plain}_{drawn}" if plain else f"{PREFIX}{drawn}"
    place = _folder() / f"{name}.csv"
    try:
        private_folder(place.parent)
        passing = place.with_suffix(".part")
        with open(passing, "wb", opener=private_opener) as file:
            file.write(content)
        os.replace(passing, place)
    except OSError as error:
        raise DatasetError(f"{THE_FILE}: expected room to keep it, got {error.strerror}") from None
    return name


def remove(name: str) -> None:
    """Deletes a table; runs on it stay."""
    if mine(name):
        (_folder() / f"{name}.csv").unlink(missing_ok=True)


def card(name: str) -> Card:
    """Describes a table.

    Raises:
        RequestError: It is not kept here.
    """
    return load(name).card


def load(name: str) -> SurvivalTable:
    """Reads a table.

    Raises:
        RequestError: It is not kept here.
    """
    place = _folder() / f"{name}.csv"
    if not mine(name) or not place.exists():
        raise RequestError(f"dataset: expected a table of your own on this machine, got {name!r}")
    return _load(name, place)


@functools.lru_cache(maxsize=4)
def _load(name: str, place: Path) -> SurvivalTable:
    return read(place.read_bytes(), name)


def read(content: bytes, name: str) -> SurvivalTable:
    """The table that a file holds.

    Raises:
        DatasetError: It is no survival table; one sentence says why.
    """
    columns, above = _columns(content, name)
    long = all(column in columns for column in COLUMNS)
    if not long and not all(column in columns for column in SHORT):
        raise DatasetError(
            f"{name}: expected columns {', '.join(SHORT)}, or {', '.join(COLUMNS)}, and one for "
            f"each covariate, got {', '.join(columns)}"
        )
    features = tuple(one for one in columns if one not in (COLUMNS if long else SHORT))
    if not 0 < len(features) <= WIDEST:
        raise DatasetError(f"{name}: expected 1 to {WIDEST} covariates, got {len(features)}")
    persons = len(set(columns["id"])) if long else len(columns["time"])
    if persons < FEWEST:
        raise DatasetError(f"{name}: expected at least {FEWEST} persons, got {persons}")
    event = numbers(name, "event", columns["event"], len(columns["event"]))
    bounds = own_bounds.bounds(name, features, own_bounds.ranges(name, above))
    described = _card(name, features, persons, int(event.sum()), long, bounds)
    if long:
        return long_table(described, columns)
    time, *x = (numbers(name, one, columns[one], persons) for one in ("time", *features))
    return check(SurvivalTable(described, np.stack(x, axis=1), time, event > 0))


def _columns(content: bytes, name: str) -> tuple[dict[str, list[str]], list[str]]:
    """The columns of a file by their names in small letters, and the lines above them."""
    try:
        text, above = own_bounds.split(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DatasetError(f"{name}: expected text in UTF-8, got something else") from None
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    if len(rows) < 2:
        raise DatasetError(f"{name}: expected a line of column names and a row for each record")
    if len(rows) > MOST + 1:
        raise DatasetError(f"{name}: expected at most {MOST:,} rows, got {len(rows) - 1:,}")
    head = [one.strip().lower() for one in rows[0]]
    if "" in head or len(set(head)) < len(head):
        raise DatasetError(f"{name}: expected columns with names of their own, got {first.strip()}")
    for row, cells in enumerate(rows[1:], 1):
        if len(cells) != len(head):
            raise DatasetError(
                f"{name}: expected {len(head)} values in every row, got {len(cells)} in row {row}"
            )
    return {one: [cells[i].strip() for cells in rows[1:]] for i, one in enumerate(head)}, above


def _card(
    name: str,
    features: tuple[str, ...],
    persons: int,
    events: int,
    long: bool,
    bounds: Bounds | None,
) -> Card:
    varying = "; covariates vary in time, and all rows of an id are one record" if long else ""
    return Card(
        name=name,
        title=f"Your own table ({name.removeprefix(PREFIX)})",
        summary=f"A file that was added on this machine and is kept here alone{varying}.",
        records=persons,
        events=events,
        record="a person",
        features=features,
        time_unit="unit of the file",
        source="your own file",
        licence="yours to know",
        public="The number of persons, and the bounds of columns and times that were given with "
        "the table; values beyond them are clipped. As printed, ranges over all rows, the largest "
        "row norm and the longest time are computed from the data instead. Ids only tell whose "
        "rows are whose, and are part of no result",
        bounds=bounds,
    )


def _folder() -> Path:
    return home() / "tables"
