"""Bounds of a table of one's own: what the owner knows without looking at the records.

They stand above the table, a line for each covariate and one for the time, such as
`# age: 18 to 100`. Bounds that are read off the records would give the most extreme ones away, so
nothing here looks at values.
"""

import re
from collections.abc import Iterable

from datasets.base import Bounds
from engine.core.errors import DatasetError

MARK = "#"
TIME = "time"
"""Whose bound is the horizon, in a table in long format too."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
LINE = re.compile(rf"(?P<name>.+?)\s*:\s*(?P<low>{NUMBER})\s+to\s+(?P<high>{NUMBER})", re.I)
EXAMPLE = "age: 18 to 100"

Ranges = dict[str, tuple[float, float]]


def split(text: str) -> tuple[str, list[str]]:
    """A file's text without the lines of bounds above it, and those lines without their mark."""
    lines = text.splitlines(keepends=True)
    above = 0
    while above < len(lines) and lines[above].lstrip().startswith(MARK):
        above += 1
    stated = [line.strip().lstrip(MARK).strip() for line in lines[:above]]
    return "".join(lines[above:]), [line for line in stated if line]


def added(text: str) -> bytes:
    """Lines of bounds as they were typed, as the lines above a table."""
    lines = (line.strip().lstrip(MARK).strip() for line in text.splitlines())
    return "".join(f"{MARK} {line}\n" for line in lines if line).encode()


def ranges(name: str, lines: Iterable[str]) -> Ranges:
    """The smallest and largest value of each column, by its name in small letters.

    Raises:
        DatasetError: A line that is none, or two for one column.
    """
    stated: Ranges = {}
    for line in lines:
        parts = LINE.fullmatch(line)
        if parts is None:
            raise DatasetError(f"{name}: expected a line of bounds such as {EXAMPLE}, got {line}")
        column = parts["name"].strip().lower()
        if column in stated:
            raise DatasetError(f"{name}: expected one line of bounds of {column}, got two")
        stated[column] = (float(parts["low"]), float(parts["high"]))
    return stated


def bounds(name: str, features: tuple[str, ...], stated: Ranges) -> Bounds | None:
    """The bounds of a table; None where none are given.

    Raises:
        DatasetError: Some are missing, too many, or impossible.
    """
    if not stated:
        return None
    wanted = (*features, TIME)
    lacking = [column for column in wanted if column not in stated]
    unknown = [column for column in stated if column not in wanted]
    if lacking or unknown:
        raise DatasetError(
            f"{name}: expected bounds of {', '.join(wanted)}, "
            f"got {'none of ' + ', '.join(lacking) if lacking else ', '.join(unknown)}"
        )
    for column, (low, high) in stated.items():
        if not low < high or (column == TIME and low != 0.0):
            least = "0 to a number above 0" if column == TIME else "a number to a larger one"
            raise DatasetError(
                f"{name}: expected bounds of {column} from {least}, got {low:g} to {high:g}"
            )
    return Bounds(
        covariates=tuple(stated[column] for column in features),
        horizon=stated[TIME][1],
        source="Given with the table by who added it",
    )
