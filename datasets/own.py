"""Tables of one's own: CSV and Parquet files, kept on this machine alone.

A table gets a name of its own whenever it is added, so that a run never answers with another
table's numbers. The name is drawn, not taken from the content: names are public, and a fingerprint
would let someone who knows all records but one confirm that one.

A file is read in a process of its own (`own_child`), which says what every column holds and
proposes what becomes of it (`own_proposal`), or keeps the table (`own_store`). Only the columns
that are used are kept, as numbers.
"""

import functools
import io
import re
import secrets
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from datasets import own_child, own_names, own_store
from datasets.base import Card, Integers, LabelledTable, SurvivalTable
from datasets.own_child import answer, named
from datasets.own_store import NAME, PREFIX, Words
from engine.core import settings
from engine.core.errors import DatasetError, RequestError

if TYPE_CHECKING:
    import pandas as pd

PARQUET = b"PAR1"
THE_FILE = "file"
"""What a sentence about a file calls it."""
MOST_TABLES, TABLES = "EXPLORER_MOST_TABLES", 200
"""The setting of the most tables that are kept, and its default."""
SMALL = 64_000
"""Bytes of a text that is read in this process: it holds no more than it shows."""
KEY = 8
"""Bytes of a name that are drawn: anyone who knows a table's name may see it."""
Content = bytes | IO[bytes]
FEATURES = own_store.FEATURES
"""Folder of what trainings have turned images into."""
names = own_store.names
"""The tables that are kept here."""


class Added(NamedTuple):
    """A table that was added.

    Attributes:
        name: Of the data set.
        taken: The columns of which something was taken from the data.
        notes: What was left out, merged or clipped, and why.
    """

    name: str
    taken: tuple[str, ...]
    notes: tuple[str, ...]


def mine(name: str) -> bool:
    """Whether a data set of that name is one's own, here or elsewhere."""
    return NAME.fullmatch(name) is not None


def keep(title: str, content: Content, lines: str = "", label: str = "", **more: Any) -> str:
    """Checks a file and keeps it; arguments as `add`.

    Returns:
        The name of the data set.
    """
    return add(title, content, lines, label, **more).name


def add(
    title: str, content: Content, text: str = "", label: str = "", *, above: bool = True,
    owner: str = "", accept: bool = False,
) -> Added:  # fmt: skip
    """Checks a file and keeps it.

    Args:
        title: The file's name.
        content: What it holds, or where that is read.
        text: What the owner says of it: the TOML of a proposal, or a part of it.
        label: The column of the classes; empty where its name or the settings tell.
        above: Whether the file's own first lines count; a proposal in TOML has repeated them.
        owner: Who has brought it; empty for a table that everyone here may see.
        accept: Whether what nobody has stated is taken from the data.

    Raises:
        DatasetError: It is no such table, or is one too many; one sentence says all that is wrong.
    """
    if (count := len(names())) >= (allowed := settings.whole(MOST_TABLES, TABLES)):
        raise DatasetError(
            f"{THE_FILE}: expected at most {allowed} tables on this machine ({MOST_TABLES}), got "
            f"one more than the {count} that are kept: remove one first"
        )
    plain = re.sub(r"[^a-z0-9]+", "_", Path(title).stem.lower()).strip("_")[:24]
    drawn = secrets.token_hex(KEY)
    name = f"{PREFIX}{plain}_{drawn}" if plain else f"{PREFIX}{drawn}"
    request = {"text": text, "label": label, "above": above, "accept": accept}
    keeping = {"keep": name, "owner": owner, "title": title}
    answer = _asked(content, {**request, **keeping})
    own_store.settle(name)
    return Added(name, tuple(answer["taken"]), tuple(answer["notes"]))


def keep_frame(
    frame: "pd.DataFrame", columns: Mapping[str, Mapping[str, Any]], accept: bool
) -> str:
    """Keeps a frame on this machine; one that is kept already stays under its name.

    Args:
        frame: One row a record; its index is not read.
        columns: What the owner says of a column, as the TOML of a proposal does:
            {"age": {"role": "number", "low": 18, "high": 100}}.
        accept: Whether what nobody has stated is taken from the data.

    Returns:
        The name of the data set.

    Raises:
        DatasetError: It is no table of a kind that a paper takes; one sentence says all that is
            wrong.
    """
    import tomli_w

    content = io.BytesIO()
    try:
        frame.to_parquet(content, index=False)
        text = tomli_w.dumps({"columns": columns} if columns else {})
    except (ValueError, TypeError) as error:  # pyarrow's errors are among these
        raise DatasetError(
            f"data: expected columns of one type each and settings that TOML can hold, got {error}"
        ) from None
    try:
        added = add("A frame", content.getvalue(), text, above=False, accept=accept)
    except DatasetError as error:  # it speaks of a file and of the command line
        said = str(error).replace("--accept", "accept=True").replace("the settings", "columns")
        said = said.replace("with --label", 'in columns (role = "label")')
        raise DatasetError(said.replace(f"{THE_FILE}:", "data:", 1)) from None
    for note in added.notes:
        warnings.warn(f"data: {note}", stacklevel=4)
    return own_store.earlier(added.name)


def propose(content: Content, text: str = "", label: str = "") -> dict[str, Any]:
    """What would become of a file: its proposal as TOML and what is wrong with it.

    Returns:
        `toml`, `rows`, `kind`, `columns` (what becomes of each, by the attributes of a `Choice`),
        `dropped`, `asked` and `problems`.

    Raises:
        DatasetError: It is too large, or no table of any kind.
    """
    return _asked(content, {"text": text, "label": label, "above": True})


def _asked(content: Content, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of a child, or for a small text of this process."""
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    start = file.read(SMALL + 1)
    file.seek(0)
    if len(start) > SMALL or start.startswith(PARQUET):
        return own_child.ask(file, THE_FILE, request)
    return answer(io.BytesIO(start), THE_FILE, request)


def remove(name: str) -> None:
    """Deletes a table; runs on it stay."""
    if mine(name):
        own_store.remove(name)


def owner(name: str) -> str:
    """Who has brought a table, also after it is gone; empty where everyone here may see it."""
    return own_store.owner(name) if mine(name) else ""


def card(name: str) -> Card:
    """Describes a table.

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged.
    """
    described = own_store.head(_place(name)).card
    said = f"{described.public} {described.bounds.source if described.bounds else ''}"
    if own_names.OCCUR in said or own_names.GIVEN in said:  # kept when both counted as public
        described = replace(described, taken=True)
    return named(described, name, described.title)


def varies(name: str) -> bool:
    """Whether covariates of a table vary in time; reads no records.

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged.
    """
    return own_store.varies(_place(name))


def words(name: str) -> Words:
    """What the values of a table are called; nothing of a data set that is not one's own.

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged.
    """
    return own_store.head(_place(name)).words if mine(name) else Words()


def events(card: Card) -> int | None:
    """How many events a data set has, where that is public: of a table of one's own it is not."""
    return None if mine(card.name) else card.events


def classes(name: str) -> tuple[str, ...]:
    """The words of the classes of a table, plain and apart from each other; none where unknown.

    Raises:
        RequestError, DatasetError: As `words`.
    """
    return own_names.names(words(name).classes)


def labels(name: str) -> tuple[Integers, Integers]:
    """The class of each row of a table, and of each that is set aside for tests, (n,) and (m,).

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged, or holds no classes.
    """
    return _labels(_place(name))


def load(name: str) -> SurvivalTable | LabelledTable:
    """Reads a table.

    Raises:
        RequestError: It is not kept here.
        DatasetError: What is kept is damaged.
    """
    return _load(_place(name))


@functools.lru_cache(maxsize=4)
def _load(place: Path) -> SurvivalTable | LabelledTable:
    return replace(own_store.load(place), card=card(place.stem))


@functools.lru_cache(maxsize=16)
def _labels(place: Path) -> tuple[Integers, Integers]:
    return own_store.labels(place)


def _place(name: str) -> Path:
    """The file of a table.

    Raises:
        RequestError: It is not kept here.
    """
    if mine(name) and (place := own_store.place(name)).exists():
        return place
    raise RequestError(f"dataset: expected a table of your own on this machine, got {name!r}")
