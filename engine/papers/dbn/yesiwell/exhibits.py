"""Figures 2, 3 and 4 of Phan et al. (2017), their t-tests and their times.

The curves are images; what the text says of them can be set beside ours. Every number of ours is
from simulated data: it can say whether an ordering follows from the methods on data of this
kind, not whether the study's users behave so.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from engine.core.gauges import Column
from engine.core.spec import Value
from engine.runs.exhibit import (
    Cell,
    MethodRow,
    Point,
    Reading,
    alone,
    along,
    over,
    seconds,
    sheet,
    shorter,
)
from engine.runs.job import Job
from engine.runs.results import Results

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LEVELS = (0.1, 2.0, 8.0)
"""Budgets of Figure 4."""
EPOCHS = {True: (20, 600), False: (1, 60)}
TIMES = {
    "daily": ("yesiwell", {True: (12, 54), False: (8, 16)}),
    "weekly": ("yesiwell_weekly", {True: (12, 34), False: (6, 12)}),
}
"""The data set of each kind, and numbers of training times M in Figure 2."""
SEEDS = {True: 5, False: 2}
PRETRAINING = {True: 10, False: 4}
"""Training steps for each layer."""
VISITS = {True: 1200, False: 240}
"""Epochs times M in Figure 2: large data sets are visited less often."""
PROOF, PRINT, FREE = "rigorous", "as printed", "without noise"
PRINTED: dict[str, Value] = {"calibration": "paper", "unit": "window"}
Key = tuple[str, str]
"""Method and reading."""


def _lines(rows: dict[str, str], *variants: str) -> dict[Key, MethodRow]:
    """Rows of methods in some readings."""
    return {
        (method, variant): MethodRow(
            row, variant, "yesiwell", method, PRINTED if variant == PRINT else {}
        )
        for variant in variants
        for method, row in rows.items()
    }


CURVES = {
    **_lines({"pcdbn": "pCDBN", "dpah": "dPAH", "dpsgd": "DP-SGD"}, PROOF),
    **_lines({"pcdbn": "pCDBN", "dpah": "dPAH"}, PRINT),
    **_lines({"cdbn": "CDBN", "tcdbn": "TCDBN", "sctrbm": "SctRBM"}, FREE),
}
"""The curves of Figures 2 and 3."""
SHAPES = _lines({"pcdbn": "pCDBN", "pcdbn_te": "Taylor", "pcdbn_pw": "line"}, PROOF, PRINT)
"""Those of Figure 4."""
BOUNDS = {"best_possible": "Best possible", "majority": "Majority vote"}
"""What the best predictor and a majority vote reach on the same test windows."""
SHEET = sheet(__file__)


@dataclass(frozen=True)
class FigureJob:
    """A job of a figure.

    Attributes:
        key: Method and reading.
        place: Where it stands: the kind of data, the number of times or of epochs.
        job: The job.
    """

    key: Key
    place: tuple[str, ...]
    job: Job


def _job(
    full: bool, line: MethodRow, dataset: str, budgets: Sequence[float] = (), **values: Value
) -> Job:
    settings = {"pretraining": PRETRAINING[full], **values}
    axes = {"epsilon": budgets} if budgets else {}
    return line.job(dataset, settings, axes, range(SEEDS[full]))


def _still(key: Key) -> bool:
    """Whether a curve does not change with ε."""
    return key[1] == FREE


def runs2(full: bool) -> list[FigureJob]:
    """One job per curve, data set and number of times, at ε = 1."""
    return [
        FigureJob(key, (kind, f"{times}"),
            _job(full, line, dataset, history=times, epochs=max(8, VISITS[full] // times)))
        for kind, (dataset, every) in TIMES.items()
        for times, (key, line) in product(every[full], CURVES.items())
    ]  # fmt: skip


def runs3(full: bool) -> list[FigureJob]:
    """One job per curve and data set, with all budgets; M = 12."""
    return [
        FigureJob(
            key, (kind,), _job(full, line, dataset, () if _still(key) else EPSILONS, history=12)
        )
        for (kind, (dataset, _)), (key, line) in product(TIMES.items(), CURVES.items())
    ]


def runs4(full: bool) -> list[FigureJob]:
    """One job per polynomial, calibration and number of epochs, with three budgets."""
    values: dict[str, Value] = {"task": "classification", "history": 38}
    return [
        FigureJob(key, (f"{epochs}",),
            _job(full, line, "yesiwell_weekly", LEVELS, **values, epochs=epochs))
        for (key, line), epochs in product(SHAPES.items(), EPOCHS[full])
    ]  # fmt: skip


def _ceilings(runs: Sequence[FigureJob], columns: Sequence[str] = ()) -> list[Point]:
    """What can be reached on the test windows, beside the runs of CDBN."""
    return [
        Point(f"{row}, {run.place[0]}", column, "simulated", None, (run.job,), alone(over(gauge)))
        for run in runs
        if run.key == ("cdbn", FREE)
        for gauge, row in BOUNDS.items()
        for column in columns or run.place[1:]
    ]


def figure2(full: bool) -> list[Point]:
    """One row per curve and data set, one column per number of times."""
    runs = runs2(full)
    return [
        Point(f"{CURVES[run.key].row}, {kind}", times, run.key[1], None, (run.job,), ACCURACY)
        for run in runs
        for kind, times in [run.place]
    ] + _ceilings(runs)


def figure3(full: bool) -> list[Point]:
    """One row per curve and data set, one column per budget."""
    runs, columns, points = runs3(full), [f"{epsilon:g}" for epsilon in EPSILONS], []
    for run in runs:
        row, jobs = f"{CURVES[run.key].row}, {run.place[0]}", (run.job,)
        if _still(run.key):
            points += [Point(row, at, run.key[1], None, jobs, ACCURACY) for at in columns]
        else:
            points += along("epsilon", EPSILONS, jobs, ACCURACY, row=row, variant=run.key[1])
    return points + _ceilings(runs, columns)


def figure4(full: bool) -> list[Point]:
    """One row per polynomial and budget, one column per number of epochs."""
    printed = SHEET.printed["accuracy_at_600"]
    return [
        Point(
            f"{SHAPES[run.key].row}, ε = {epsilon:g}", epochs, run.key[1],
            printed[f"{epsilon:g}"] if (run.key, epochs) == (("pcdbn", PRINT), "600") else None,
            (run.job,), ACCURACY, at={"epsilon": epsilon},
        )
        for run in runs4(full)
        for epochs in run.place
        for epsilon in LEVELS
    ]  # fmt: skip


ACCURACY = over("accuracy")
RIVALS: dict[str, tuple[Callable[[bool], list[FigureJob]], tuple[str, ...]]] = {
    "Figure 2: pCDBN against dPAH": (runs2, ("dpah",)),
    "Figure 2: pCDBN against SctRBM": (runs2, ("sctrbm",)),
    "Figure 3: pCDBN against dPAH": (runs3, ("dpah",)),
    "Figure 4: pCDBN against TE and PW": (runs4, ("pcdbn_te", "pcdbn_pw")),
}
"""What the text compares: where, and with which methods."""


def tests(full: bool) -> list[Point]:
    """One row per comparison of the text: the p value, as printed and with proof."""
    points = []
    for row, (runs, rivals) in RIVALS.items():
        jobs = {(run.key, run.place): run.job for run in runs(full)}
        for variant in (PRINT, PROOF):
            pairs = tuple(
                part
                for (key, place), job in jobs.items()
                if key == ("pcdbn", variant)
                for rival in rivals
                for part in (job, jobs[(rival, FREE if rival == "sctrbm" else variant), place])
            )
            printed, last = SHEET.printed["p"][row], len(pairs) - 2
            points += [
                Point(row, "p", variant, printed, pairs, _tested(0), last),
                Point(row, "gain", variant, None, pairs, _tested(1), last),
            ]
    return points


def _tested(part: int) -> Reading:
    """P or gain of pairs of runs at the same points and repetitions."""

    def read(results: Sequence[Results]) -> tuple[float, float]:
        """The number of all pairs; it has no spread."""
        columns = [one.gauges["accuracy"] for one in results]
        mine, theirs = columns[::2], columns[1::2]
        return p_value(np.concatenate(mine), np.concatenate(theirs))[part], math.nan

    return read


def p_value(mine: Column, theirs: Column) -> tuple[float, float]:
    """Two-sided p of a paired t-test, and the mean gain; NaN below two finite pairs.

    Repetitions train and test on overlapping stretches of one panel, so pairs are not
    independent, as the paper says of its own; a small p says less than it seems to.
    """
    from scipy.stats import ttest_rel

    both = np.isfinite(mine) & np.isfinite(theirs)
    if both.sum() < 2:
        return math.nan, math.nan
    gain = float((mine[both] - theirs[both]).mean())
    return float(ttest_rel(mine[both], theirs[both]).pvalue), gain


def time(full: bool) -> list[Point]:
    """Seconds on the clock of an output layer's epochs on weeks; the paper's of one GTX TITAN X.

    A quick look has fewer than the paper's 600, so its times stand beside none of the paper's.
    """
    epochs = 600 if full else 60
    values: dict[str, Value] = {"task": "classification", "history": 38, "epochs": epochs}
    order = (("pcdbn", PRINT), ("dpah", PRINT), ("pcdbn", PROOF), ("dpah", PROOF), ("dpsgd", PROOF))
    printed = SHEET.printed["seconds"] if full else {}
    return [
        Point(
            CURVES[key].row, f"{epochs} epochs", key[1],
            printed.get(key[0]) if key[1] == PRINT else None,
            (CURVES[key].job("yesiwell_weekly", values),),
            seconds, timed=True,
        )
        for key in order
    ]  # fmt: skip


def _ahead(cells: Sequence[Cell]) -> str:
    """In how many comparisons pCDBN is ahead, beside the text."""
    gains = [cell for cell in cells if cell.column == "gain" and cell.ours is not None]
    ahead = {
        variant: sum((cell.ours or 0.0) > 0.0 for cell in gains if cell.variant == variant)
        for variant in (PRINT, PROOF)
    }
    rows = len({cell.row for cell in gains})
    return (
        f"As printed, pCDBN is ahead in {ahead[PRINT]} of {rows} comparisons, and with "
        f"proof in {ahead[PROOF]}; in the paper it is in all of them."
    )


EXHIBITS = (
    *map(SHEET.exhibit, (figure2, figure3, figure4)),
    SHEET.exhibit(tests, says=_ahead),
    SHEET.exhibit(time, says=shorter),
)
