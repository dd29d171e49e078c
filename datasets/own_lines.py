"""What the owner says of a table: lines such as `age: 18 to 100`, typed or above the table.

A line of a column gives its bounds, what stands for its blanks, or its categories:

    age: 18 to 100
    income: 0 to 200000, blanks 30000
    stage: categories early, middle, late
    day: categories weekdays

Other lines say which columns are which (`FIELDS`). Nothing here looks at values: bounds and levels
that are read off the records would give the most extreme and the rarest ones away.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import DatasetError

MARK = "#"
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
LINE = re.compile(
    rf"(?P<name>.+?)\s*:\s*(?P<low>{NUMBER})\s+to\s+(?P<high>{NUMBER})"
    rf"(?:\s*,\s*blanks\s+(?P<blanks>{NUMBER}))?",
    re.I,
)
LEVELS = re.compile(r"(?P<name>.+?)\s*:\s*categories\s+(?P<levels>.+)", re.I)
SETTING = re.compile(r"(?P<name>[a-z ]+?)\s*:\s*(?P<value>.+)", re.I)
EXAMPLE = "age: 18 to 100"
TAKEN = "from the data"
MOST_LEVELS = 100
LISTS = {
    "weekdays": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "months": (
        *("january", "february", "march", "april", "may", "june"),
        *("july", "august", "september", "october", "november", "december"),
    ),
    "letters": tuple("abcdefghijklmnopqrstuvwxyz"),
    "sexes": ("female", "male"),
}
"""Public lists of levels that a line may name instead of typing them."""
FIELDS = {
    "time column": "time",
    "event column": "event",
    "event value": "event_value",
    "label column": "label",
    "classes": "classes",
    "person column": "person",
    "rows per person": "rows",
    "leave out": "leave_out",
    "image": "image",
    "record": "record",
    "split seed": "seed",
    "decimal comma": "comma",
    "bounds": "taken",
}
"""Lines that are not about one column, and the attribute of `Said` that each sets."""
LISTED = ("classes", "leave_out")
MOST_ROWS = 1_000
"""Rows of one person at most; the guarantee of a person is so many times weaker."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the owner says of a table. Names of columns and levels are in small letters.

    Attributes:
        ranges: Smallest and largest value of columns.
        blanks: What stands for a blank cell of columns.
        levels: The categories of columns, in the owner's order.
        time: Column of the times; empty for a usual name.
        event: Column of the events; empty for a usual name.
        event_value: Which value of that column means that the event happened; empty for 1.
        label: Column of the classes.
        classes: The classes; empty for those that occur.
        person: Column of the persons' ids.
        rows: Most rows of one person.
        leave_out: Columns that are not kept.
        image: Height and width if a record is an image; None otherwise.
        record: What a row is, with its article; empty for "a row".
        seed: Public seed of the split into training and test records.
        comma: Whether numbers have a decimal comma; None where nobody said.
        taken: Whether bounds that nobody gave are taken from the data.
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    blanks: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    time: str = ""
    event: str = ""
    event_value: str = ""
    label: str = ""
    classes: tuple[str, ...] = ()
    person: str = ""
    rows: int = 1
    leave_out: tuple[str, ...] = ()
    image: tuple[int, int] | None = None
    record: str = ""
    seed: int = 0
    comma: bool | None = None
    taken: bool = False


def split(text: str) -> tuple[str, list[str]]:
    """A file's text without the lines above its table, and those lines without their mark."""
    above: list[str] = []
    while text.lstrip(" \t").startswith(MARK):
        line, _, text = text.partition("\n")
        above.append(line)
    return text, list(lines("\n".join(above)))


def lines(text: str) -> Iterator[str]:
    """Lines as they were typed, without marks; empty ones are left out."""
    for line in text.splitlines():
        if stripped := line.strip().lstrip(MARK).strip():
            yield stripped


def said(name: str, stated: Iterable[str]) -> Said:
    """What lines say.

    Raises:
        DatasetError: A line that is none of these, or two for one thing.
    """
    ranges: dict[str, tuple[float, float]] = {}
    blanks: dict[str, float] = {}
    levels: dict[str, tuple[str, ...]] = {}
    settings: dict[str, Any] = {}
    for line in stated:
        if bounded := LINE.fullmatch(line):
            column = _once(name, bounded["name"], (*ranges, *levels))
            ranges[column] = (float(bounded["low"]), float(bounded["high"]))
            if bounded["blanks"]:
                blanks[column] = float(bounded["blanks"])
        elif typed := LEVELS.fullmatch(line):
            column = _once(name, typed["name"], (*ranges, *levels))
            levels[column] = _levels(name, column, typed["levels"])
        elif (other := SETTING.fullmatch(line)) and other["name"].lower() in FIELDS:
            key = _once(name, FIELDS[other["name"].lower()], settings)
            settings[key] = _setting(name, key, other["name"].lower(), other["value"].strip())
        else:
            raise DatasetError(f"{name}: expected a line of bounds such as {EXAMPLE}, got {line}")
    return Said(ranges=ranges, blanks=blanks, levels=levels, **settings)


def _once(name: str, column: str, known: Iterable[str]) -> str:
    key = column.strip().lower()
    if key in known:
        raise DatasetError(f"{name}: expected one line of bounds of {key}, got two")
    return key


def _levels(name: str, column: str, text: str) -> tuple[str, ...]:
    """Levels as typed, or those of a public list."""
    typed = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    if len(typed) == 1 and typed[0] in LISTS:
        return LISTS[typed[0]]
    if not 2 <= len(typed) <= MOST_LEVELS or len(set(typed)) < len(typed):
        raise DatasetError(
            f"{name}: expected 2 to {MOST_LEVELS} different categories of {column}, or one of the "
            f"lists {', '.join(LISTS)}, got {text.strip()[:60]}"
        )
    return typed


def _setting(name: str, key: str, line: str, text: str) -> Any:
    """The value of a line that is not about one column."""
    low = text.lower()
    if key in LISTED:
        return tuple(part.strip().lower() for part in text.split(",") if part.strip())
    if key == "image":
        if size := re.fullmatch(r"(\d{1,3})\s*[x×]\s*(\d{1,3})", low):
            return int(size[1]), int(size[2])
        raise DatasetError(f"{name}: expected an image such as 28 x 28, got {text}")
    if key == "taken":
        if low != TAKEN:
            raise DatasetError(f"{name}: expected bounds: {TAKEN}, or a line each, got {text}")
        return True
    if key == "comma":
        if low not in ("yes", "no"):
            raise DatasetError(f"{name}: expected decimal comma: yes or no, got {text}")
        return low == "yes"
    if key in ("rows", "seed"):
        most = MOST_ROWS if key == "rows" else 2**31 - 1
        if not (low.isdecimal() and (key == "seed" or int(low)) and int(low) <= most):
            least = int(key == "rows")
            raise DatasetError(f"{name}: expected {line} from {least} to {most:,}, got {text}")
        return int(low)
    return text if key == "record" else low
