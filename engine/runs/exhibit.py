"""A table or a figure of a paper: what it printed, and the jobs that compute ours."""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.catalog import paper
from engine.core.gauges import Column
from engine.core.spec import Value
from engine.runs.job import Job
from engine.runs.results import Results

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


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One exhibit of a paper, computed from jobs like any other run.

    Attributes:
        name: Key on the command line: "table2", "figure5a".
        title: As the paper calls it.
        caption: What a reader must know to compare, in one or two sentences; where the
            printed algorithm cannot reach the printed number, it says so.
        quantity: What the cells hold, with its unit.
        better: Which way is good.
        digits: Decimals to print.
        jobs: The jobs by name; True asks for the full size, False for a quick look.
        cells: From the results of all jobs, by the same names, to the cells in reading order.
            What has not been measured, yet or at all, is NaN, and so is what comes of it.
        axis: Title of the horizontal axis when it is a figure; empty for a table.
        columns: Symbol of what a table's columns are values of; empty where they are named.
        log: Whether a figure's (horizontal, vertical) axis is logarithmic.
        whole: What stands for no error at all, 1 or 100, where cells are shares of right answers;
            0 where cells are errors themselves.
        guess: What blind guessing would give in a cell; NaN where that means nothing.
        proved: Variants whose privacy is proved, where a smaller error is worth something.
        beside: What it is called where it is no table or figure of the paper; empty for the
            paper's own.
        graded: Whether ours are to come near the printed numbers. Times on another machine and
            p values are not, nor is what was measured on other data or beside the paper.
        says: Its result in one sentence, from its cells; only where nothing is graded.
        heads: What the two kinds of numbers are called in a table.
        notes: What stands below the numbers.
    """

    name: str
    title: str
    caption: str
    quantity: str
    better: str
    jobs: Callable[[bool], dict[str, Job]]
    cells: Callable[[Mapping[str, Results]], tuple[Cell, ...]]
    digits: int = 3
    axis: str = ""
    columns: str = ""
    log: tuple[bool, bool] = (False, False)
    whole: float = 0.0
    guess: Callable[[Cell], float] = lambda cell: math.nan
    proved: tuple[str, ...] = ("rigorous",)
    beside: str = ""
    graded: bool = True
    says: Callable[[Sequence[Cell]], str] = lambda cells: ""
    heads: tuple[str, str] = ("Paper", "Ours")
    notes: tuple[Note, ...] = ()

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


Reading = Callable[[Sequence[Results]], tuple[float, float]]
"""From the results of some jobs to our number and its spread; NaN where there is none."""


def spread_of(values: Sequence[Column]) -> tuple[float, float]:
    """Mean and standard deviation of all finite values; NaN where there are none, or one."""
    every = np.concatenate([np.empty(0), *values])
    there = every[np.isfinite(every)]
    mean = float(there.mean()) if len(there) else math.nan
    return mean, float(there.std(ddof=1)) if len(there) > 1 else math.nan


def over(gauge: str, **at: Value) -> Reading:
    """A gauge over all repetitions of some jobs, at values of their axes."""
    return lambda results: spread_of([one.values(gauge, **at) for one in results])


@dataclass(frozen=True)
class Point:
    """A place in a grid of row, column and variant: what is printed there, and what ours comes of.

    Attributes:
        row: As `Cell`.
        column: As `Cell`.
        variant: As `Cell`.
        published: As `Cell`.
        jobs: The jobs that ours comes of.
        read: What is read of their results, in their order.
        named: Whose run the cell names, among the jobs.
    """

    row: str
    column: str
    variant: str
    published: float | None
    jobs: tuple[Job, ...]
    read: Reading
    named: int = 0

    def cell(self, results: Mapping[str, Results]) -> Cell:
        """The cell, from results by the ids of the jobs."""
        own = [results[job.id] for job in self.jobs]
        ours, spread = (value if math.isfinite(value) else None for value in self.read(own))
        return Cell(
            self.row, self.column, self.variant, self.published, ours, spread, own[self.named].run
        )


@dataclass(frozen=True)
class Grid:
    """An exhibit's points at full size and in a quick look; a job's name is its id."""

    points: Callable[[bool], Sequence[Point]]

    def jobs(self, full: bool) -> dict[str, Job]:
        """All jobs, each once."""
        return {job.id: job for point in self.points(full) for job in point.jobs}

    def cells(self, results: Mapping[str, Results]) -> tuple[Cell, ...]:
        """The cells, at the size that the results are of."""
        full = set(results) != set(self.jobs(False))
        return tuple(point.cell(results) for point in self.points(full))


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


def exhibits(slug: str) -> dict[str, Exhibit]:
    """The exhibits of a paper by name.

    Raises:
        RequestError: There is no such paper.
    """
    module = paper(slug).exhibits
    declared: tuple[Exhibit, ...] = importlib.import_module(module).EXHIBITS if module else ()
    return {exhibit.name: exhibit for exhibit in declared}
