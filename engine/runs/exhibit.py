"""A table or a figure of a paper: what it printed, and the jobs that compute ours.

An exhibit is a grid of points. A point says where it stands (row, column, variant), what is printed
there, and which jobs ours comes of, at which values of their axes. Its words and the printed
numbers lie in a sheet, `exhibits.toml`, beside the module that declares its points.
"""

import importlib
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.catalog import paper
from engine.core import stored
from engine.core.discovery import brief
from engine.core.errors import ExplorerError, RequestError
from engine.core.spec import Value
from engine.runs.job import Job, request
from engine.runs.results import Results, collect
from engine.runs.results import spread_of as spread_of

SIMULATED = "(simulated)"
"""What marks the row of a simulated data set."""


@dataclass(frozen=True)
class Cell:
    """One published number, or one point of a published curve, beside ours.

    Attributes:
        row: Label of its row, or of its curve.
        column: Label of its column, or the position on the horizontal axis.
        variant: Which of our readings it is: "as printed", "rigorous", ...
        published: The paper's number; None where it prints none.
        ours: Our number; None where it could not be computed.
        spread: Standard deviation of ours over the repetitions; None for a single one.
        run: Id of the run that ours comes from.
        published_spread: The standard deviation that the paper prints; None where it prints none.
    """

    row: str
    column: str
    variant: str
    published: float | None
    ours: float | None
    spread: float | None
    run: str
    published_spread: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        if self.ours is None or not self.published:
            return None
        return self.ours / self.published


Reading = Callable[..., tuple[float, float]]
"""From the results of some jobs, and values of their axes by name, to our number and its spread;
NaN where there is none."""


@dataclass(frozen=True)
class Point:
    """A place in a grid of row, column and variant: what is printed there, and what ours comes of.

    Attributes:
        row: As `Cell`.
        column: As `Cell`.
        variant: As `Cell`.
        published: As `Cell`.
        jobs: The jobs that ours comes of; none where there is nothing to run.
        read: What is read of their results, in their order, at `at`.
        named: Whose run the cell names, among the jobs.
        at: Values of the jobs' axes: nothing is read of replicas that lie elsewhere.
        published_spread: As `Cell`.
        timed: Whether it is seconds on the clock, which differ each time.
    """

    row: str
    column: str
    variant: str
    published: float | None
    jobs: tuple[Job, ...]
    read: Reading
    named: int = 0
    at: Mapping[str, Value] = field(default_factory=dict)
    published_spread: float | None = None
    timed: bool = False

    def cells(self, results: Sequence[Results]) -> tuple[Cell, ...]:
        """Its cell, from the results of its jobs in their order."""
        read = self.read(results, **self.at)
        ours, spread = (value if math.isfinite(value) else None for value in read)
        run = self.jobs[self.named].id if self.jobs else ""
        place = (self.row, self.column, self.variant, self.published)
        return (Cell(*place, ours, spread, run, self.published_spread),)


@dataclass(frozen=True)
class Curve:
    """A curve whose positions are known only with its results; nothing is printed of it.

    Attributes:
        row: As `Cell`.
        variant: As `Cell`.
        jobs: The jobs that it comes of.
        trace: From their results to positions and values, shape (n,) each; None for the values
            where there are none yet.
        digits: Of the positions.
        named: As `Point`.
        at: As `Point`.
    """

    row: str
    variant: str
    jobs: tuple[Job, ...]
    trace: Callable[..., tuple[NDArray[np.float64], NDArray[np.float64] | None]]
    named: int = 0
    at: Mapping[str, Value] = field(default_factory=dict)

    def cells(self, results: Sequence[Results]) -> tuple[Cell, ...]:
        """Its cells from left to right, from the results of its jobs in their order."""
        places, values = self.trace(results, **self.at)
        ours = [None] * len(places) if values is None else [float(value) for value in values]
        run = self.jobs[self.named].id
        return tuple(
            Cell(self.row, f"{x:.6g}", self.variant, None, y, None, run)
            for x, y in zip(places, ours, strict=True)
        )


Points = Sequence[Point | Curve]


@dataclass(frozen=True)
class MethodRow:
    """A row or a curve: what it is called, and which method with which settings it is of.

    Attributes:
        row: As `Cell`.
        variant: As `Cell`.
        paper: Slug of the method's paper.
        method: The method.
        values: Its settings, beside those of a table's size.
    """

    row: str
    variant: str
    paper: str
    method: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def job(
        self,
        dataset: str,
        values: Mapping[str, Value] | None = None,
        axes: Mapping[str, Sequence[Value]] | None = None,
        seeds: Sequence[int] = (0,),
    ) -> Job:
        """A run of it; further settings go before its own."""
        settings = {**self.values, **(values or {})}
        return request(self.paper, self.method, dataset, settings, axes or {}, seeds)


@dataclass(frozen=True)
class Note:
    """What stands below an exhibit's numbers on one of its rows.

    Attributes:
        row: The row's label.
        text: What is published, and what is known of it.
        quote: The source's own words; empty without one.
        source: Where that is written, as a link or a citation.
    """

    row: str
    text: str
    quote: str = ""
    source: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Described:
    """What an exhibit's sheet says of it.

    Attributes:
        name: Key on the command line: "table2", "figure5a".
        title: As the paper calls it.
        caption: What a reader must know to compare, in one or two sentences; where the
            printed algorithm cannot reach the printed number, it says so.
        quantity: What the cells hold, with its unit.
        better: Which way is good.
        digits: Decimals to print.
        axis: Title of the horizontal axis when it is a figure; empty for a table.
        columns: Symbol of what a table's columns are values of; empty where they are named.
        log: Whether a figure's (horizontal, vertical) axis is logarithmic.
        whole: What stands for no error at all, 1 or 100, where cells are shares of right answers;
            0 where cells are errors themselves.
        guessing: What blind guessing would give, by the label with which a row or a column
            begins, or by "" for all; empty where that means nothing.
        proved: Variants whose privacy is proved, where a smaller error is worth something.
        beside: What it is called where it is no table or figure of the paper; empty for the
            paper's own.
        graded: Whether ours are to come near the printed numbers. Times on another machine and
            p values are not, nor is what was measured on other data or beside the paper.
        numbers_of: Title of the exhibit whose printed numbers it shows again, so that each number
            counts once; empty where its numbers are its own.
        partly: That only a part of the printed method is run, in one sentence; empty where all is.
        heads: What the two kinds of numbers are called in a table.
        notes: What stands below the numbers.
    """

    name: str
    title: str
    caption: str
    quantity: str
    better: str
    digits: int = 3
    axis: str = ""
    columns: str = ""
    log: tuple[bool, bool] = (False, False)
    whole: float = 0.0
    guessing: Mapping[str, float] = field(default_factory=dict)
    proved: tuple[str, ...] = ("rigorous",)
    beside: str = ""
    graded: bool = True
    numbers_of: str = ""
    partly: str = ""
    heads: tuple[str, str] = ("Paper", "Ours")
    notes: tuple[Note, ...] = ()

    def guess(self, cell: Cell) -> float:
        """What blind guessing would give in a cell; NaN where that means nothing."""
        labels = (cell.row, cell.column)
        fits = (v for k, v in self.guessing.items() if any(one.startswith(k) for one in labels))
        return next(fits, math.nan)

    def fades(self, value: float) -> bool:
        """Whether a number is too small to be told from zero in so many decimals, as a p may be."""
        return 0.0 < abs(value) < 10.0**-self.digits / 2

    def error(self, value: float) -> float:
        """The error that a cell's number stands for: what is missing to `whole`."""
        return self.whole - value if self.whole else value

    def ratio(self, cell: Cell) -> float | None:
        """Our error over the paper's; None where either is missing or the paper's is zero."""
        if cell.ours is None or cell.published is None or not self.error(cell.published):
            return None
        return self.error(cell.ours) / self.error(cell.published)


@dataclass(frozen=True, kw_only=True, eq=False)
class Exhibit(Described):
    """One exhibit of a paper, computed from jobs like any other run.

    Attributes:
        points: Its points in reading order; True asks for the full size, False for a quick look.
        says: Its result in one sentence, from its cells; only where nothing is graded.
    """

    points: Callable[[bool], Points]
    says: Callable[[Sequence[Cell]], str] = lambda cells: ""

    def jobs(self, full: bool) -> dict[str, Job]:
        """All jobs, each once, by the row that it is of and by what else tells it from others."""
        points = [point for point in self.points(full) if point.jobs]
        named = [(point.jobs[point.named], point) for point in points]
        every = [*named, *((job, point) for point in points for job in point.jobs)]
        jobs: dict[str, Job] = {}
        places: dict[str, list[Point | Curve]] = {}
        for job, point in every:
            jobs.setdefault(job.id, job)
            places.setdefault(job.id, []).append(point)
        names = _apart([_labels(some) for some in places.values()])
        return dict(zip(names, jobs.values(), strict=True))

    def cells(self, results: Mapping[str, Results]) -> tuple[Cell, ...]:
        """The cells in reading order, at the size that the results are of.

        Args:
            results: Of the jobs, by any names; without those of a job, nothing is measured yet.
        """
        known = {one.run: one for one in results.values()}
        full = not known.keys() <= {job.id for job in self.jobs(False).values()}
        return tuple(
            cell
            for point in self.points(full)
            for cell in point.cells(
                [known[job.id] if job.id in known else collect(job, ()) for job in point.jobs]
            )
        )


def _labels(points: Sequence[Point | Curve]) -> tuple[str, ...]:
    """What the job of some points may be called, from the shortest to the longest."""
    columns = {point.column for point in points if isinstance(point, Point)}
    parts = [points[0].row, points[0].variant, *(columns if len(columns) == 1 else ())]
    known = [part for part in parts if part]
    return tuple(", ".join(known[: count + 1]) for count in range(len(known)))


def _apart(every: Sequence[tuple[str, ...]]) -> list[str]:
    """A name for each: the shortest label that no other has, else the longest with a number."""
    counts = Counter(label for labels in every for label in labels)
    taken = Counter[str]()
    names = []
    for labels in every:
        name = next((label for label in labels if counts[label] == 1), labels[-1])
        taken[name] += 1
        names.append(name if taken[name] == 1 else f"{name} ({taken[name]})")
    return names


def over(gauge: str, times: float = 1.0) -> Reading:
    """A gauge over all repetitions of some jobs, times a factor, with its spread."""

    def read(results: Sequence[Results], **at: Value) -> tuple[float, float]:
        mean, spread = spread_of([one.values(gauge, **at) for one in results])
        return times * mean, times * spread

    return read


def alone(read: Reading) -> Reading:
    """A reading without its spread."""
    return lambda results, **at: (read(results, **at)[0], math.nan)


def seconds(results: Sequence[Results]) -> tuple[float, float]:
    """How long a run took on the clock, if it has measured anything."""
    (one,) = results
    measured = any(np.isfinite(column).any() for column in one.gauges.values())
    return one.seconds() if measured else math.nan, math.nan


def formula(value: Callable[[], float | None]) -> Reading:
    """A number that needs no run; None where it cannot be computed."""
    return lambda results: (math.nan if (ours := value()) is None else ours, math.nan)


def along(
    axis: str,
    values: Sequence[Value],
    jobs: tuple[Job, ...],
    read: Reading,
    *,
    row: str,
    variant: str,
    printed: Sequence[float | None] | Mapping[Value, float] = (),
    label: Callable[[Value], str] = lambda value: f"{value:g}",
) -> list[Point]:
    """A row of points: one for each value of an axis that the jobs sweep.

    Args:
        axis: Its field.
        values: In reading order.
        jobs: As `Point`.
        read: As `Point`.
        row: As `Point`.
        variant: As `Point`.
        printed: What is printed, in the order of the values or by them.
        label: The column of a value.
    """
    theirs = [printed.get(v) for v in values] if isinstance(printed, Mapping) else printed
    return [
        Point(row, label(value), variant, one, jobs, read, at={axis: value})
        for value, one in zip_longest(values, theirs[: len(values)])
    ]


def shorter(cells: Sequence[Cell]) -> str:
    """How many times are shorter than printed, in a sentence; empty where none was measured.

    A printed time beside which several of ours stand counts once, with the longest of them.
    """
    both = [(c.published, c.ours) for c in cells if c.ours is not None and c.published is not None]
    longest = {printed: max(o for p, o in both if p == printed) for printed, _ in both}
    if not longest:
        return ""
    count = sum(own < printed for printed, own in longest.items())
    verb = "time is" if len(longest) == 1 else "times are"
    return f"On another machine, {count} of {len(longest)} {verb} shorter than printed."


@dataclass(frozen=True)
class Sheet:
    """What lies in an `exhibits.toml`.

    Attributes:
        printed: The numbers that the paper prints.
        words: Texts that several captions share, by the names by which these call them in braces.
        described: What is said of each exhibit, by its name.
    """

    printed: Mapping[str, Any]
    words: Mapping[str, str]
    described: Mapping[str, Mapping[str, Any]]

    def exhibit(self, points: Callable[[bool], Points], **more: Any) -> Exhibit:
        """An exhibit of the sheet.

        Args:
            points: As `Exhibit`; the function is named as the exhibit is in the sheet.
            more: Further fields of `Exhibit`: its `name` where the function has another, and
                `words`, texts and numbers that its caption calls by name.

        Raises:
            KeyError: The sheet does not have it, or its caption calls what nobody gives.
            ValueError: The sheet says something of it that is no field, or of another kind.
        """
        name = more.pop("name", points.__name__)
        body = dict(self.described[name])
        body["caption"] = body["caption"].format_map({**self.words, **more.pop("words", {})})
        said = stored.read(Described, {"name": name, **body})
        return Exhibit(**{**vars(said), **more}, points=points)


def sheet(module: str, file: str = "exhibits.toml") -> Sheet:
    """The sheet beside a module, which is named by its file."""
    with (Path(module).parent / file).open("rb") as opened:
        body = tomllib.load(opened)
    return Sheet(body.pop("printed", {}), body.pop("words", {}), body)


def exhibits(slug: str) -> dict[str, Exhibit]:
    """The exhibits of a paper by name.

    Raises:
        RequestError: There is no such paper, or its exhibits cannot be read.
    """
    module = paper(slug).exhibits
    try:
        declared: tuple[Exhibit, ...] = importlib.import_module(module).EXHIBITS if module else ()
        return {exhibit.name: exhibit for exhibit in declared}
    except Exception as error:
        raise RequestError(
            f"{module}: expected a module with EXHIBITS, got {brief(error)}"
        ) from error


@contextmanager
def written() -> Iterator[None]:
    """For what a paper's own code says of an exhibit: its mistakes are sentences.

    Raises:
        RequestError: It cannot be computed.
    """
    try:
        yield
    except ExplorerError:
        raise
    except Exception as error:
        raise RequestError(
            f"expected an exhibit that can be computed, got {brief(error)}"
        ) from error
