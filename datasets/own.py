"""Tables of one's own: CSV and Parquet files, kept on this machine alone.

A table gets a name of its own whenever it is added, so that a run never answers with another
table's numbers. The name is drawn, not taken from the content: names are public, and a fingerprint
would let someone who knows all records but one confirm that one.

Without a label column, a file is a survival table: columns of a time and an event make a record of
every row; `id`, `start`, `stop` and `event` make one of all the rows of an id (`datasets.long`).
With one, it is a table of classes. All other columns are features. What the owner says of columns
stands in lines (`datasets.own_lines`). Only the columns that are used are kept, as numbers.
"""

import functools
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from datasets import own_lines, own_names, packed
from datasets.base import Card, LabelledTable, SurvivalTable
from datasets.own_lines import Said
from engine.core import settings
from engine.core.errors import DatasetError, RequestError
from engine.core.home import home, private_folder, private_opener

if TYPE_CHECKING:
    from datasets.own_reader import Read

PREFIX = "own_"
NAME = re.compile(rf"{PREFIX}[a-z0-9_]*[0-9a-f]{{8}}")
THE_FILE = "file"
"""What a sentence about a file calls it."""
MOST_TABLES, TABLES = "EXPLORER_MOST_TABLES", 200
"""The setting of the most tables that are kept, and its default."""
KEY = 8
"""Bytes of a name that are drawn: whoever knows a table's name may see it."""
OWNER = ".owner"
"""Ending of the file that says who has brought a table."""
DESCRIBED, ARRAYS, TEXT = ".json", ".npz", ".csv"
"""Endings of a table's two files, and of the one file of a table that an earlier version kept."""


def mine(name: str) -> bool:
    """Whether a data set of that name is one's own, here or elsewhere."""
    return NAME.fullmatch(name) is not None


def names() -> tuple[str, ...]:
    """The tables that are kept here, in the order of their names."""
    files = (file for end in (DESCRIBED, TEXT) for file in _folder().glob(f"{PREFIX}*{end}"))
    return tuple(sorted({file.stem for file in files if mine(file.stem)}))


def keep(
    title: str, content: bytes, lines: str = "", label: str = "", *, above: bool = True,
    owner: str = "",
) -> str:  # fmt: skip
    """Checks a file and keeps it.

    Args:
        title: The file's name.
        content: What it holds.
        lines: What the owner says of its columns, beside the file's own first lines.
        label: The column of the classes; empty for a survival table.
        above: Whether the file's own first lines count; a preview has repeated them.
        owner: Who has brought it; empty for a table that everyone here may see.

    Returns:
        The name of the data set.

    Raises:
        DatasetError: It is no such table, has no bounds, or is one too many; one sentence says why.
    """
    if (count := len(names())) >= (allowed := settings.whole(MOST_TABLES, TABLES)):
        raise DatasetError(
            f"{THE_FILE}: expected at most {allowed} tables on this machine ({MOST_TABLES}), got "
            f"one more than the {count} that are kept: remove one first"
        )
    plain = re.sub(r"[^a-z0-9]+", "_", Path(title).stem.lower()).strip("_")[:24]
    drawn = secrets.token_hex(KEY)
    name = f"{PREFIX}{plain}_{drawn}" if plain else f"{PREFIX}{drawn}"
    table = read(content, THE_FILE, lines, label, above=above)
    table = replace(table, card=_named(table.card, name))
    place = _folder() / name
    try:
        private_folder(place.parent)
        with _written(place.with_suffix(ARRAYS)) as file:
            np.savez(file, allow_pickle=False, **packed.arrays(table))
        with _written(place.with_suffix(DESCRIBED)) as file:
            file.write(json.dumps(packed.described(table.card)).encode())
        if owner:
            with _written(place.with_suffix(OWNER)) as file:
                file.write(owner.encode())
    except OSError as error:
        raise DatasetError(f"{THE_FILE}: expected room to keep it, got {error.strerror}") from None
    return name


def remove(name: str) -> None:
    """Deletes a table; runs on it stay."""
    if mine(name):
        for end in (DESCRIBED, ARRAYS, TEXT, OWNER):
            (_folder() / name).with_suffix(end).unlink(missing_ok=True)


def owner(name: str) -> str:
    """Who has brought a table; empty where everyone here may see it."""
    try:
        return (
            (_folder() / name).with_suffix(OWNER).read_text(encoding="utf-8") if mine(name) else ""
        )
    except OSError:
        return ""


def card(name: str) -> Card:
    """Describes a table.

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged.
    """
    place = _place(name)
    if place.suffix == TEXT:
        return load(name).card
    return _card(place, place.stat().st_mtime_ns)


def load(name: str) -> SurvivalTable | LabelledTable:
    """Reads a table.

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged.
    """
    return _load(_place(name))


def read(
    content: bytes, name: str, lines: str = "", label: str = "", *, above: bool = True
) -> SurvivalTable | LabelledTable:
    """The table that a file holds.

    Raises:
        DatasetError: It is no table; one sentence says why.
    """
    from datasets import own_labelled, own_reader, own_survival  # pyarrow takes a moment to load

    columns = own_reader.read(content, name)
    said = own_lines.said(name, (*(columns.lines if above else ()), *own_lines.lines(lines)))
    said = replace(said, label=label.strip().lower() or said.label)
    comma = decimal_comma(said, columns)
    if said.label:
        return own_labelled.table(name, columns, said, comma)
    return own_survival.table(name, columns, said, comma)


def decimal_comma(said: Said, read: "Read") -> bool:
    """Whether numbers have a decimal comma: said, or known where semicolons separate values."""
    return read.mark == ";" if said.comma is None else said.comma


def _named(card: Card, name: str) -> Card:
    """The card under a table's name; what the file calls things becomes plain words."""
    return replace(
        card,
        name=name,
        title=f"Your own table ({name.removeprefix(PREFIX)})",
        summary=own_names.plain(card.summary),
        record=own_names.plain(card.record),
        features=own_names.names(card.features),
    )


@contextmanager
def _written(place: Path) -> Iterator[IO[bytes]]:
    """A file that is there whole or not at all."""
    passing = place.with_name(f"{place.name}.part")
    try:
        with open(passing, "wb", opener=private_opener) as file:
            yield file
        os.replace(passing, place)
    finally:
        passing.unlink(missing_ok=True)


@functools.lru_cache(maxsize=64)
def _card(place: Path, written: int) -> Card:
    try:
        return _named(packed.card(json.loads(place.read_text(encoding="utf-8"))), place.stem)
    except (OSError, ValueError, TypeError) as error:
        raise DatasetError(
            f"{place.stem}: expected the card of a table, got a damaged one: add the file again"
        ) from error


@functools.lru_cache(maxsize=4)
def _load(place: Path) -> SurvivalTable | LabelledTable:
    if place.suffix == TEXT:
        table = read(place.read_bytes(), place.stem)
        return replace(table, card=_named(table.card, place.stem))
    try:
        with np.load(place.with_suffix(ARRAYS), allow_pickle=False) as file:
            held = {key: file[key] for key in file.files}
        return packed.table(card(place.stem), held)
    except (OSError, ValueError, KeyError) as error:
        raise DatasetError(
            f"{place.stem}: expected the arrays of a table, got damaged ones: add the file again"
        ) from error


def _place(name: str) -> Path:
    """The file of a table's card, or of the whole table where an earlier version kept it.

    Raises:
        RequestError: It is not kept here.
    """
    if mine(name):
        for end in (DESCRIBED, TEXT):
            if (place := (_folder() / name).with_suffix(end)).exists():
                return place
    raise RequestError(f"dataset: expected a table of your own on this machine, got {name!r}")


def _folder() -> Path:
    return home() / "tables"
