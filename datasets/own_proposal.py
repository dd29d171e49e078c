"""What becomes of every column of a file of one's own: proposed, shown, edited and given back.

A proposal says of each column its role, its bounds or categories, and what stands for its blanks,
and where that comes from: *stated* by the owner, *standard* (a list that everybody knows), or taken
from the *data*, which every card then names as an assumption. It is written as TOML; what is given
back counts as stated, but for columns that still say `from = "data"`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow.compute as pc
import tomli_w

from datasets import own_lines
from datasets.own_columns import figure
from engine.core.errors import DatasetError

Origin = Literal["stated", "standard", "data"]
ROLES = ("time", "event", "start", "person", "label", "number", "categories", "left out")
LEFT_OUT = "left out"
OF_COLUMN = {"role": ROLES, "from": get_args(Origin)}
OF_TABLE = {"kind": ("survival", "classes"), "decimal": (",", "."), "accept": (True, False)}
"""What keys of a column and of a table may say, where that is one of a few."""
SHEET = tomllib.loads(Path(__file__).with_name("own_usual.toml").read_text(encoding="utf-8"))
LISTS = {name: tuple(some) for name, some in SHEET["lists"].items()}
"""Public lists of categories, which may be named instead of typed."""
MOST_LEVELS = 100
"""Categories of a column at most."""
CLASSES = (2, 50)
"""Fewest and most classes."""
HEADER = """\
# What becomes of every column. Edit it and give it back: table add FILE --settings THIS.toml
# Roles: time, event, start, person, label, number (low, high), categories, left out.
# `fill` stands for blanks. `from = "data"` marks what was read off the records: the guarantee then
# holds only under an assumption. Write what you know without looking, and delete that line.

"""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What becomes of one column.

    Attributes:
        role: One of `ROLES`.
        low: Smallest value of a number, `high`: the largest; of a time only the largest.
        fill: What stands for a blank: a number, or a category.
        categories: In the owner's order, in small letters; of a label its classes.
        value: The value of an event that means that it happened; empty for 1.
        origin: Where this comes from.
        why: A word on what cannot be seen from the rest.
        read: What the cells have decided together: "value" (which one is the event), "role",
            "decimal" or "dates"; empty for nothing.
        holds: What the column holds.
    """

    role: str
    low: float | None = None
    high: float | None = None
    fill: float | str | None = None
    categories: tuple[str, ...] = ()
    value: str = ""
    origin: Origin = "stated"
    why: str = ""
    read: str = ""
    holds: str = ""


@dataclass(frozen=True, kw_only=True)
class About:
    """What is said of a table as a whole, by the keys of TOML.

    Attributes:
        kind: "survival" or "classes"; empty where nobody has said it.
        record: What a row is, with its article; empty for "a row".
        rows_per_person: Most rows of one person.
        seed: Public seed of the split into training and test records.
        image: Height and width if a record is an image; None otherwise.
        classes: The classes in the owner's order; empty for those that occur.
        decimal: What a comma in a number is: "," for decimals, "." where it groups thousands;
            empty where nobody has said it.
    """

    kind: str = ""
    record: str = ""
    rows_per_person: int = 1
    seed: int = 0
    image: tuple[int, int] | None = None
    classes: tuple[str, ...] = ()
    decimal: str = ""

    def about(self) -> dict[str, Any]:
        """What is not as usual."""
        known = {one.name: getattr(self, one.name) for one in fields(About)}
        return {name: value for name, value in known.items() if value != getattr(About, name)}


@dataclass(frozen=True, kw_only=True)
class Proposal(About):
    """What becomes of a table.

    Attributes:
        rows: How many it has.
        columns: What becomes of each column.
        asked: What would be taken from the data and has not been stated or accepted, by sentence.
        problems: Why it cannot be taken as it is, one part of a sentence each.
    """

    rows: int
    columns: Mapping[str, Choice]
    asked: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns of which something is taken from the data."""
        return tuple(key for key, one in self.columns.items() if one.origin == "data")

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot be seen from what is stated: what is left out, merged or clipped, and why."""
        return tuple(note(key, one.role, one.why) for key, one in self.columns.items() if one.why)

    def having(self, *roles: str) -> tuple[str, ...]:
        """The columns of some roles, in their order."""
        return tuple(key for key, one in self.columns.items() if one.role in roles)

    def toml(self) -> str:
        """The proposal as a text that can be edited and given back."""
        said = self.about().items()
        body = {key: list(one) if isinstance(one, tuple) else one for key, one in said}
        body["columns"] = {key: _written(one) for key, one in self.columns.items()}
        return HEADER + tomli_w.dumps(body)


def note(key: str, role: str, why: str) -> str:
    """What is to know of a column, in a sentence."""
    return f"{key}: {'it is left out, since ' if role == LEFT_OUT else ''}{why}"


def _written(one: Choice) -> dict[str, Any]:
    """One column as keys of TOML."""
    pairs = {
        "holds": one.holds, "role": one.role, "low": one.low, "high": one.high, "fill": one.fill,
        "categories": list(one.categories), "value": one.value, "why": one.why, "from": one.origin,
    }  # fmt: skip
    if one.role == "time":
        pairs["low"] = None
    return {key: value for key, value in pairs.items() if value not in (None, "", [])}


@dataclass(frozen=True, kw_only=True)
class Said(About):
    """What the owner says; keys as in the TOML of a proposal, values checked."""

    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    every: Mapping[str, float] = field(default_factory=dict)
    event_value: str = ""
    accept: bool = False


def said(name: str, text: str, above: Iterable[str] = ()) -> Said:
    """What a text says of a table, in TOML or in lines, and what lines above the table say.

    Raises:
        DatasetError: It says what is not known, or is no TOML; all that is wrong is named.
    """
    top, below = own_lines.translated(name, above), typed(name, text)
    wrong: list[str] = []
    columns = {**top.pop("columns")}
    stated = below.pop("columns", {})
    if not tables(stated):
        wrong, stated = ["expected columns as tables such as [columns.age]"], {}
    for key, one in stated.items():
        if {*columns.get(key.lower(), ())} & {*one} - {"role"}:
            wrong.append(f"expected one line of bounds of {key.lower()}, got two")
        columns[key.strip().lower()] = {**columns.get(key.lower(), {}), **one}
    checked = {key: _checked(key, one, wrong) for key, one in columns.items()}
    other = _settings({**top, **below}, wrong)
    if wrong:
        raise DatasetError(f"{name}: {'; '.join(wrong)}")
    return Said(columns=checked, **other)


def typed(name: str, text: str) -> dict[str, Any]:
    """What a text says by the keys of TOML, be it in TOML or in lines; nothing is checked.

    Raises:
        DatasetError: It is neither.
    """
    if "=" not in text and "[" not in text:
        return own_lines.translated(name, own_lines.lines(text))
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DatasetError(f"{name}: expected settings in TOML, got {str(error)[:120]}") from None


def tables(columns: Any) -> bool:
    """Whether what is said of columns has the form of tables, one for each."""
    return isinstance(columns, dict) and all(isinstance(one, dict) for one in columns.values())


def _checked(key: str, one: Mapping[str, Any], wrong: list[str]) -> dict[str, Any]:
    """What is said of one column, with the types that it must have."""
    kept: dict[str, Any] = {}
    for field_, value in one.items():
        if value in OF_COLUMN.get(field_, ()):
            kept[field_] = value
        elif field_ in ("low", "high") and _is_number(value):
            kept[field_] = float(value)
        elif field_ == "fill" and (_is_number(value) or isinstance(value, str)):
            kept[field_] = word(value) if isinstance(value, str) else float(value)
        elif field_ == "categories" and (levels := _levels(key, value, wrong)):
            kept[field_] = levels
        elif field_ == "value" and isinstance(value, str | int | float):
            kept[field_] = word(value)
        elif field_ not in ("holds", "why", "categories"):
            expected = {"role": f"one of {', '.join(ROLES)}", "low": "a number", "high": "a number",
                        "fill": "a number or a category",
                        "from": "stated, standard or data"}  # fmt: skip
            say = expected.get(field_, "role, low, high, fill, categories, value or from")
            wrong.append(f"{key}.{field_}: expected {say}, got {str(value)[:40]!r}")
    if "low" in kept and "high" in kept and not kept["low"] < kept["high"]:
        wrong.append(
            f"expected bounds of {key} from a number to a larger one, "
            f"got {kept['low']:g} to {kept['high']:g}"
        )
    return kept


def _levels(key: str, value: Any, wrong: list[str]) -> tuple[str, ...]:
    """Categories as typed, or those of a public list."""
    parts = own_lines.listed(value) if isinstance(value, str) else value
    typed = tuple(word(one) for one in parts) if isinstance(parts, list | tuple) else ()
    typed = LISTS.get(typed[0], typed) if len(typed) == 1 else typed
    if not 2 <= len(typed) <= MOST_LEVELS or len(set(typed)) < len(typed):
        wrong.append(
            f"expected 2 to {MOST_LEVELS} different categories of {key}, or one of the lists "
            f"{', '.join(LISTS)}, got {str(value)[:60]}"
        )
        return ()
    return typed


def word(value: Any) -> str:
    """A value as cells are compared: in the small letters of Arrow, which reads the cells."""
    text = figure(float(value)) if _is_number(value) else str(value)
    return str(pc.utf8_lower(text.strip()).as_py())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _settings(typed: Mapping[str, Any], wrong: list[str]) -> dict[str, Any]:
    """The settings that are not about one column."""
    kept: dict[str, Any] = {}
    for key, value in typed.items():
        if value in OF_TABLE.get(key, ()):
            kept[key] = value
        elif key in ("record", "event_value") and isinstance(value, str | int | float):
            kept[key] = str(value) if key == "record" else word(value)
        elif key == "classes" and isinstance(value, list | tuple) and value:
            kept[key] = tuple(word(one) for one in value)
        elif key == "every" and isinstance(value, dict):
            kept[key] = _checked("every column", value, wrong)
        elif key == "image" and _pair(value):
            kept[key] = (value[0], value[1])
        elif key in (limits := {"rows_per_person": (1, 1_000), "seed": (0, 2**31 - 1)}):
            low, high = limits[key]
            if isinstance(value, int) and low <= value <= high:
                kept[key] = value
            else:
                wrong.append(
                    f"{key}: expected a whole number from {low} to {high:,}, got {value!r}"
                )
        else:
            known = {"image": "two whole numbers such as [28, 28]", "kind": "survival or classes",
                     "decimal": "a comma or a point", "accept": "true or false"}  # fmt: skip
            say = known.get(key, "kind, record, rows_per_person, seed, image, classes or columns")
            wrong.append(f"{key}: expected {say}, got {str(value)[:40]!r}")
    return kept


def _pair(value: Any) -> bool:
    return (
        isinstance(value, list | tuple) and len(value) == 2
        and all(isinstance(one, int) and 0 < one <= 999 for one in value)
    )  # fmt: skip
