"""Which choices of today's private descent help, by how much: our own measurement.

Every row has a learning rate of its own, since rules that scale gradients change what a rate means.
Rates, bounds and quantiles were chosen at ε = 1 on training records alone, a fifth of which served
as the test part meanwhile.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from engine.core import stored
from engine.core.errors import RequestError
from engine.core.spec import Value
from engine.runs.difference import by_seed, difference
from engine.runs.exhibit import Cell, Point, Reading, sheet
from engine.runs.job import Job, request
from engine.runs.results import Results

ACCURACY, GAIN = "accuracy", "gain over the first row"
BUDGETS = {"digits": (0.5, 1.0, 3.0), "mnist": (1.0,)}
TITLES = {"digits": "Digits", "mnist": "MNIST"}
SEEDS = {"digits": (5, 20), "mnist": (0, 3)}
"""Repetitions in a quick look and in full size; a quick look has no MNIST."""
SHARED: dict[str, dict[str, Value]] = {
    "digits": {"sample_rate": 0.1, "epochs": 20.0, "decay": 1e-4, "representation": "wavelets"},
    "mnist": {"sample_rate": 0.1, "epochs": 20.0, "decay": 1e-4, "representation": "whitened"},
}
"""What all rows have in common. Images of digits are too small for more than wavelets; MNIST has
whitened features."""


@dataclass(frozen=True)
class Row:
    """One choice.

    Attributes:
        label: What the table calls it.
        values: What sets it apart from the first row.
        digits: Its own rate and bound on digits.
        mnist: Those on MNIST; it is not trained there without.
        method: The entry that runs it.
    """

    label: str
    values: Mapping[str, Value]
    digits: Mapping[str, Value]
    mnist: Mapping[str, Value] | None = None
    method: str = "dpsgd"

    def job(self, data: str, full: bool) -> Job | None:
        """All budgets on a data set in one run; None where it is not trained."""
        tuned, seeds = self.mnist if data == "mnist" else self.digits, SEEDS[data][full]
        if tuned is None or not seeds:
            return None
        values, axes = {**SHARED[data], **self.values, **tuned}, {"epsilon": BUDGETS[data]}
        return request("enadpp", self.method, data, values, axes, range(seeds))


SHEET = sheet(__file__)
ROWS = tuple(stored.read(Row, one) for one in SHEET.printed["choices"])


def evidence(full: bool) -> list[Point]:
    """For each row, data set and budget the accuracy, and what it gains over the first row."""
    first = {data: ROWS[0].job(data, full) for data in BUDGETS}
    points = []
    for row, data in product(ROWS, BUDGETS):
        base, job = first[data], row.job(data, full)
        if job is None or base is None:
            continue
        for epsilon in BUDGETS[data]:
            place, at = (row.label, f"{TITLES[data]}, ε = {epsilon:g}"), {"epsilon": epsilon}
            points.append(Point(*place, ACCURACY, None, (job,), _accuracy(job), at=at))
            if row is not ROWS[0]:
                points.append(Point(*place, GAIN, None, (job, base), _gain(job, base), at=at))
    return points


def _shares(job: Job, results: Results, at: Mapping[str, Value]) -> dict[int, float]:
    """Accuracy in per cent by seed; empty before anything is measured."""
    try:
        found = by_seed(job, results, "accuracy", dict(at))
    except RequestError:
        return {}
    return {seed: 100.0 * share for seed, share in found.items()}


def _accuracy(job: Job) -> Reading:
    """Mean and standard deviation over repetitions."""

    def read(results: Sequence[Results], **at: Value) -> tuple[float, float]:
        own = _shares(job, results[0], at)
        count = len(own)
        mean = math.fsum(own.values()) / count if count else math.nan
        square = math.fsum((value - mean) ** 2 for value in own.values())
        return mean, math.sqrt(square / (count - 1)) if count > 1 else math.nan

    return read


def _gain(job: Job, base: Job) -> Reading:
    """Mean difference of the same seeds and half of its 95 % interval, in percentage points."""

    def read(results: Sequence[Results], **at: Value) -> tuple[float, float]:
        """The difference and half of its interval; NaN of fewer than two repetitions."""
        own, first = (_shares(*one, at) for one in zip((job, base), results, strict=True))
        try:
            gain = difference(own, first, paired=True)
        except RequestError:  # fewer than two repetitions so far
            return math.nan, math.nan
        return gain.mean, (gain.high - gain.low) / 2.0

    return read


def _says(cells: Sequence[Cell]) -> str:
    """How many rows gain at ε = 1 beyond chance, how many lose, and the best of them."""
    return " ".join(_said(title, cells) for title in TITLES.values()).strip()


def _said(title: str, cells: Sequence[Cell]) -> str:
    """The same of one data set; empty before it is measured."""
    here = [
        (cell.ours, cell.spread, cell.row)
        for cell in cells
        if (cell.variant, cell.column) == (GAIN, f"{title}, ε = 1")
        and cell.ours is not None
        and cell.spread is not None
    ]
    if not here:
        return ""
    gain, half, row = max(here)
    more, less = (sum(sign * g > s for g, s, _ in here) for sign in (1.0, -1.0))
    return (
        f"{title}, ε = 1: of {len(here)} choices, {_many(more, 'gain')} and {_many(less, 'lose')} "
        "more than chance explains, beside a single clipping bound with momentum 0.9. The best "
        f"({row[0].lower()}{row[1:]}) changes accuracy by {gain:+.1f} ± {half:.1f} points."
    )


def _many(count: int, verb: str) -> str:
    """How many do something.

    >>> _many(0, "gain"), _many(2, "lose")
    ('none gains', '2 lose')
    """
    return f"{count or 'none'} {verb}{'s' if count < 2 else ''}"


EVIDENCE = SHEET.exhibit(evidence, says=_says)
