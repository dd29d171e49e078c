"""What a file of one's own seems to hold, for its owner to correct before it is kept.

Types are what the cells look like. Bounds are proposed from names of columns alone, never from
values: common sense about an age holds before anybody has looked.
"""

import re
from dataclasses import dataclass

from datasets import own_columns, own_lines, own_reader
from datasets.own_lines import Said
from datasets.own_survival import EVENTS, TIMES
from engine.core.errors import DatasetError

USUAL: tuple[tuple[str, tuple[float, float]], ...] = (
    (r"age|years_old", (0.0, 120.0)),
    (r"sex|gender|male|female|treat\w*|treatment|arm|surgery|smok\w*|diabetes", (0.0, 1.0)),
    (r"bmi", (10.0, 80.0)),
    (r"height|height_cm", (50.0, 250.0)),
    (r"weight|weight_kg|wt|wt_kg", (0.0, 300.0)),
    (r"month", (1.0, 12.0)),
    (r"hour", (0.0, 24.0)),
    (r"year", (1900.0, 2100.0)),
    (r"percent\w*|pct\w*", (0.0, 100.0)),
    (r"karno\w*|\w*karnofsky\w*", (0.0, 100.0)),
    (r"sbp|systolic\w*", (50.0, 300.0)),
    (r"dbp|diastolic\w*", (20.0, 200.0)),
    (r"heart_?rate|pulse", (20.0, 300.0)),
    (r"temp\w*", (-50.0, 60.0)),
    (r"pixel_?\d+|px_?\d+|\d+x\d+", (0.0, 255.0)),
)
"""Bounds of columns by their whole name, from common knowledge."""
KINDS = {"number": "Numbers", "truth": "True or false", "words": "Words", "blank": "Nothing"}
EXAMPLES = 3


@dataclass(frozen=True)
class Seen:
    """A column as a preview shows it.

    Attributes:
        name: In small letters.
        kind: What it holds, in a word or two.
        examples: What its first cells say.
        blanks: How many cells are blank.
        bounds: Smallest and largest value, said or proposed; None where nobody knows.
        fill: What stands for a blank; None where nobody said.
        levels: Its categories as they were said; empty where none were.
    """

    name: str
    kind: str
    examples: str
    blanks: int
    bounds: tuple[float, float] | None
    fill: float | None
    levels: str


@dataclass(frozen=True)
class Preview:
    """A file as it seems to be.

    Attributes:
        rows: How many it has.
        columns: Those that can be used.
        dropped: Those that only count rows, and are left out.
        said: What stands above the table.
    """

    rows: int
    columns: tuple[Seen, ...]
    dropped: tuple[str, ...]
    said: Said

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.columns)

    @property
    def time(self) -> str:
        """The column of times as far as names say; empty where they do not."""
        return self.said.time or self._named(("stop", *TIMES) if self.long else TIMES)

    @property
    def event(self) -> str:
        """The column of events as far as names say; empty where they do not."""
        return self.said.event or self._named(EVENTS)

    @property
    def long(self) -> bool:
        """Whether a person seems to have a row for each stretch of time."""
        return {"start", "stop"} <= set(self.names)

    def _named(self, usual: tuple[str, ...]) -> str:
        return next((one for one in usual if one in self.names), "")


def preview(content: bytes, name: str) -> Preview:
    """What a file seems to hold.

    Raises:
        DatasetError: It is too large, or no table of any kind.
    """
    read = own_reader.read(content, name)
    said = own_lines.said(name, read.lines)
    comma = read.mark == ";" if said.comma is None else said.comma
    seen = tuple(
        _seen(own_columns.understood(one, column, comma), said)
        for one, column in read.columns.items()
    )
    return Preview(len(read), seen, read.dropped, said)


def _seen(column: own_columns.Column, said: Said) -> Seen:
    name = column.name
    first = (str(cell) for cell in column.text[:EXAMPLES].to_pylist())
    return Seen(
        name=name,
        kind=KINDS[column.kind],
        examples=", ".join(first)[:40],
        blanks=int(column.blank.sum()),
        bounds=said.ranges.get(name, usual(name, column.kind == "truth")),
        fill=said.blanks.get(name),
        levels=", ".join(said.levels.get(name, ())),
    )


def usual(name: str, truth: bool = False) -> tuple[float, float] | None:
    """Bounds of a column from common knowledge about its name."""
    if truth:
        return 0.0, 1.0
    plain = name.strip().replace(" ", "_").replace(".", "_")
    return next((pair for known, pair in USUAL if re.fullmatch(known, plain)), None)


def line(
    column: str, low: float | None, high: float | None, fill: float | None, levels: str
) -> str:
    """What is said of one column, as a line; empty where nothing is.

    Raises:
        DatasetError: Only one of two bounds is there.
    """
    if levels.strip():
        return f"{column}: categories {levels.strip()}"
    if low is None and high is None:
        return ""
    if low is None or high is None:
        raise DatasetError(f"{column}: expected a lowest and a highest value, got one of them")
    blanks = "" if fill is None else f", blanks {fill:.10g}"
    return f"{column}: {low:.10g} to {high:.10g}{blanks}"
