"""Settings as an earlier version took them: lines such as `age: 18 to 100`, above a table or typed.

Files that hold such lines are still read; the lines become what `datasets.own_proposal` reads.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any

from engine.core.errors import DatasetError

MARK = "#"
QUOTED = {",", '"'}
"""Signs for which a part of a list stands in quotes."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
BLANKS = r"(?:\s*,\s*blanks\s+(?P<fill>[^,]+))?"
BOUNDS = re.compile(rf"(.+?)\s*:\s*(?P<low>{NUMBER})\s+to\s+(?P<high>{NUMBER}){BLANKS}", re.I)
LEVELS = re.compile(rf"(.+?)\s*:\s*categories\s+(?P<levels>.+?){BLANKS}", re.I)
LEFT = re.compile(r"(.+?)\s*:\s*leave out", re.I)
ROLE = re.compile(r"(time|stop|start|event|label|person) column\s*:\s*(.+)", re.I)
OTHER = re.compile(r"([a-z ]+?)\s*:\s*(.+)", re.I)
EVERY = "every column"
SETTINGS = {
    "event value": "event_value", "classes": "classes", "rows per person": "rows_per_person",
    "image": "image", "record": "record", "split seed": "seed", "decimal comma": "decimal",
}  # fmt: skip


def split(text: str) -> tuple[str, list[str]]:
    """A file's text without the lines above its table, and those lines without their mark."""
    above = re.match(rf"(?:[ \t\ufeff]*{MARK}.*\n?)*", text)
    assert above is not None  # it may be empty
    return text[above.end() :], list(lines(above[0].replace("\ufeff", "")))


def lines(text: str) -> Iterator[str]:
    """Lines as they were typed, without marks; empty ones and comments are left out.

    A comment is a marked line with neither a colon nor a figure: no setting lacks both.
    """
    for line in text.splitlines():
        said = line.strip().lstrip(MARK).strip()
        if said and (not line.strip().startswith(MARK) or re.search(r"[:\d]", said)):
            yield said


def translated(name: str, stated: Iterable[str]) -> dict[str, Any]:
    """What lines say, as the keys of a proposal.

    Raises:
        DatasetError: Lines that say nothing known, or one thing twice; all are named.
    """
    columns: dict[str, dict[str, Any]] = {}
    said: dict[str, Any] = {"columns": columns}
    wrong: list[str] = []

    def put(held: dict[str, Any], key: str, value: Any) -> None:
        if key in held:
            wrong.append(f"expected one line of {key}, got two")
        held[key] = value

    for line in stated:
        if found := ROLE.fullmatch(line):
            role = found[1].lower().replace("stop", "time")
            put(columns.setdefault(found[2].strip().lower(), {}), "role", role)
        elif found := BOUNDS.fullmatch(line):
            key, held = found[1].strip().lower(), found.groupdict()
            into, of = (said, "every") if key == EVERY else (columns, key)
            if {"low", "categories"} & set(into.get(of, ())):
                wrong.append(f"expected one line of bounds of {key}, got two")
            column = into.setdefault(of, {})
            column.update({k: _figure(v) for k, v in held.items() if v is not None})
        elif found := LEVELS.fullmatch(line):
            column = columns.setdefault(found[1].strip().lower(), {"role": "categories"})
            put(column, "categories", listed(found["levels"]))
            if found["fill"]:
                column["fill"] = found["fill"].strip()
        elif found := LEFT.fullmatch(line):
            columns.setdefault(found[1].strip().lower(), {})["role"] = "left out"
        elif (found := OTHER.fullmatch(line)) and found[1].lower() == "leave out":
            for one in listed(found[2]):
                columns.setdefault(one.lower(), {})["role"] = "left out"
        elif found and found[1].lower() == "bounds" and found[2].strip().lower() == "from the data":
            said["accept"] = True
        elif found and found[1].lower() in SETTINGS:
            key = SETTINGS[found[1].lower()]
            put(said, key, _setting(key, found[2].strip()))
        else:
            wrong.append(f"expected a line such as age: 18 to 100, got {line[:80]!r}")
    if wrong:
        raise DatasetError(f"{name}: {'; '.join(wrong)}")
    return said


def _figure(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def listed(text: str) -> list[str]:
    """Parts with commas between them; one that holds a comma stands in quotes.

    >>> listed('"low, controlled", high')
    ['low, controlled', 'high']
    """
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line that ends within
        parts = text.split(",")
    return [part.strip() for part in parts if part.strip()]


def joined(parts: Iterable[str]) -> str:
    """Parts as `listed` reads them.

    >>> joined(["low, controlled", "high"])
    '"low, controlled", high'
    """
    return ", ".join(
        f'"{one.replace(chr(34), 2 * chr(34))}"' if QUOTED & {*one} else one for one in parts
    )


def _setting(key: str, text: str) -> Any:
    """The value of a line that is not about one column."""
    if key == "classes":
        return listed(text)
    if key == "image" and (size := re.fullmatch(r"(\d{1,3})\s*[x×]\s*(\d{1,3})", text.lower())):
        return [int(size[1]), int(size[2])]
    if key == "decimal":
        return {"yes": ",", "no": "."}.get(text.lower(), text)
    return int(text) if key in ("seed", "rows_per_person") and text.isdecimal() else text
