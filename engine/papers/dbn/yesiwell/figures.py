"""Rows and columns of Figures 2, 3 and 4 of Phan et al. (2017), their t-tests and their times.

The curves are images; what the text says of them can be set beside ours. Every number of ours is
from simulated data: it can say whether an ordering follows from the methods on data of this
kind, not whether the study's users behave so.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from engine.core.gauges import Column
from engine.runs.exhibit import Point, Reading, over
from engine.runs.job import Job, request
from engine.runs.results import Results

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LEVELS = (0.1, 2.0, 8.0)
"""Budgets of Figure 4."""
EPOCHS = {True: (20, 600), False: (1, 60)}
DAYS = {True: (12, 54), False: (8, 16)}
WEEKS = {True: (12, 34), False: (6, 12)}
SETS = {"daily": "yesiwell", "weekly": "yesiwell_weekly"}
SEEDS = {True: 5, False: 2}
PRETRAINING = {True: 10, False: 4}
"""Training steps for each layer."""
VISITS = {True: 1200, False: 240}
"""Epochs times M in Figure 2: large data sets are visited less often."""
AT_600 = {0.1: 0.88, 2.0: 0.92, 8.0: 0.94}
"""Accuracies of Figure 4 in the text."""
PRINTED = {"calibration": "paper", "unit": "window"}
CURVES: dict[str, tuple[str, dict[str, Any], str]] = {
    "pcdbn": ("pCDBN", {}, "rigorous"),
    "dpah": ("dPAH", {}, "rigorous"),
    "dpsgd": ("DP-SGD", {}, "rigorous"),
    "pcdbn/paper": ("pCDBN", PRINTED, "as printed"),
    "dpah/paper": ("dPAH", PRINTED, "as printed"),
    "cdbn": ("CDBN", {}, "without noise"),
    "tcdbn": ("TCDBN", {}, "without noise"),
    "sctrbm": ("SctRBM", {}, "without noise"),
}
"""Row, settings and reading of each curve of Figures 2 and 3."""
SHAPES: dict[str, tuple[str, dict[str, Any], str]] = {
    f"{method}{'/paper' if values else ''}": (row, values, "as printed" if values else "rigorous")
    for values in ({}, PRINTED)
    for method, row in (("pcdbn", "pCDBN"), ("pcdbn_te", "Taylor"), ("pcdbn_pw", "line"))
}
"""The same of Figure 4."""
SECONDS = {"pcdbn/paper": 2910.0, "dpah/paper": 2141.0}
FREE = ("sctrbm",)
"""Rivals without noise, which have one reading."""
PUBLISHED_P = {
    "Figure 2: pCDBN against dPAH": 5.3828e-05,
    "Figure 2: pCDBN against SctRBM": 8.8350e-04,
    "Figure 3: pCDBN against dPAH": 2.7266e-12,
    "Figure 4: pCDBN against TE and PW": 4.4293e-07,
}


def _job(
    full: bool, key: str, values: Mapping[str, Any], dataset: str, budgets: Sequence[float] = ()
) -> Job:
    method = key.split("/")[0]
    own = {"pretraining": PRETRAINING[full], **(CURVES | SHAPES)[key][1]}
    axes = {"epsilon": budgets} if budgets else {}
    return request("yesiwell", method, dataset, {**own, **values}, axes, range(SEEDS[full]))


Run = tuple[str, tuple[str, ...], Job]
"""The key of a curve, where in a figure, and the job."""


def runs2(full: bool) -> list[Run]:
    """One job per curve, data set and number of times, at ε = 1."""
    runs: list[Run] = []
    for data, dataset in SETS.items():
        for times, key in product((DAYS if data == "daily" else WEEKS)[full], CURVES):
            values = {"history": times, "epochs": max(8, VISITS[full] // times)}
            runs.append((key, (data, f"{times}"), _job(full, key, values, dataset)))
    return runs


def runs3(full: bool) -> list[Run]:
    """One job per curve and data set, with all budgets; M = 12."""
    runs: list[Run] = []
    for (data, dataset), key in product(SETS.items(), CURVES):
        job = _job(full, key, {"history": 12}, dataset, () if _still(key) else EPSILONS)
        runs.append((key, (data,), job))
    return runs


def runs4(full: bool) -> list[Run]:
    """One job per polynomial, calibration and number of epochs, with three budgets."""
    runs: list[Run] = []
    for key, epochs in product(SHAPES, EPOCHS[full]):
        values = {"task": "classification", "history": 38, "epochs": epochs}
        job = _job(full, key, values, "yesiwell_weekly", LEVELS)
        runs.append((key, (f"{epochs}",), job))
    return runs


def _still(key: str) -> bool:
    """Whether a curve does not change with ε."""
    return CURVES[key][2] == "without noise"


def _point(
    key: str, more: str, column: str, job: Job, read: Reading, published: float | None = None
) -> Point:
    row, _, variant = (CURVES | SHAPES)[key]
    return Point(f"{row}{more}", column, variant, published, (job,), read)


def figure2(full: bool) -> list[Point]:
    """One row per curve and data set, one column per number of times."""
    points = [
        _point(key, f", {data}", times, job, over("accuracy"))
        for key, (data, times), job in runs2(full)
    ]
    return points + [
        ceiling
        for key, (data, times), job in runs2(full)
        if key == "cdbn"
        for ceiling in _ceilings(data, job, (times,))
    ]


def _ceilings(data: str, job: Job, columns: Sequence[str]) -> list[Point]:
    """What the best predictor and a majority vote reach on the same test windows."""
    rows = (("best_possible", "Best possible"), ("majority", "Majority vote"))
    return [
        Point(f"{row}, {data}", column, "simulated", None, (job,), _mean(gauge))
        for gauge, row in rows
        for column in columns
    ]


def _mean(gauge: str) -> Reading:
    """A mean without its spread."""
    return lambda results: (results[0].mean(gauge), math.nan)


def figure3(full: bool) -> list[Point]:
    """One row per curve and data set, one column per budget."""
    points = [
        _point(key, f", {data}", f"{epsilon:g}", job, over("accuracy", **at))
        for key, (data,), job in runs3(full)
        for epsilon in EPSILONS
        for at in [{} if _still(key) else {"epsilon": epsilon}]
    ]
    return points + [
        ceiling
        for key, (data,), job in runs3(full)
        if key == "cdbn"
        for ceiling in _ceilings(data, job, [f"{epsilon:g}" for epsilon in EPSILONS])
    ]


def figure4(full: bool) -> list[Point]:
    """One row per polynomial and budget, one column per number of epochs."""
    points = []
    for (key, (epochs,), job), epsilon in product(runs4(full), LEVELS):
        printed = AT_600[epsilon] if key == "pcdbn/paper" and epochs == "600" else None
        read = over("accuracy", epsilon=epsilon)
        points.append(_point(key, f", ε = {epsilon:g}", epochs, job, read, printed))
    return points


RIVALS: dict[str, tuple[Callable[[bool], list[Run]], tuple[str, ...]]] = {
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
        by_place = {(key, place): job for key, place, job in runs(full)}
        for variant, end in (("as printed", "/paper"), ("rigorous", "")):
            pairs = tuple(
                part
                for (key, place), job in by_place.items()
                if key == f"pcdbn{end}"
                for rival in rivals
                for part in (job, by_place[rival if rival in FREE else f"{rival}{end}", place])
            )
            named = len(pairs) - 2
            p = Point(row, "p", variant, PUBLISHED_P[row], pairs, _tested(0), named)
            points += [p, Point(row, "gain", variant, None, pairs, _tested(1), named)]
    return points


def _tested(part: int) -> Reading:
    """P or gain of pairs of runs at the same points and repetitions."""

    def read(results: Sequence[Results]) -> tuple[float, float]:
        columns = [one.gauges["accuracy"] for one in results]
        mine, theirs = columns[::2], columns[1::2]
        even = [
            np.tile(there, len(here) // len(there))
            for here, there in zip(mine, theirs, strict=True)
        ]
        return p_value(np.concatenate(mine), np.concatenate(even))[part], math.nan

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
    """Seconds on the clock of 600 epochs on weeks; the paper's are of one GTX TITAN X."""
    values = {"task": "classification", "history": 38, "epochs": 600 if full else 60}
    return [
        Point(
            CURVES[key][0], "600 epochs", CURVES[key][2], SECONDS.get(key), (_single(key, values),),
            lambda results: (results[0].seconds(), math.nan),
        )
        for key in ("pcdbn/paper", "dpah/paper", "pcdbn", "dpah", "dpsgd")
    ]  # fmt: skip


def _single(key: str, values: Mapping[str, Any]) -> Job:
    own = CURVES[key][1]
    return request("yesiwell", key.split("/")[0], "yesiwell_weekly", {**own, **values})
