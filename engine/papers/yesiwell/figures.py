"""Jobs and numbers of Figures 2, 3 and 4 of Phan et al. (2017), their t-tests and their times.

The curves are images; what the text says of them can be set beside ours. Every number of ours is
from simulated data: it can say whether an ordering follows from the methods on data of this
kind, not whether the study's users behave so.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.gauges import Column
from engine.runs.exhibit import Cell
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


def figure2_jobs(full: bool) -> dict[str, Job]:
    """One job per curve, data set and number of times, at ε = 1."""
    jobs = {}
    for name, dataset in SETS.items():
        for times in (DAYS if name == "daily" else WEEKS)[full]:
            values = {"history": times, "epochs": max(8, VISITS[full] // times)}
            for key in CURVES:
                jobs[f"{key}:{name}:{times}"] = _job(full, key, values, dataset)
    return jobs


def figure2_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per curve and data set, one column per number of times."""
    cells = []
    for name, outcome in results.items():
        key, data, times = name.split(":")
        cells.append(_cell(key, f", {data}", times, None, outcome))
    return (*cells, *_ceilings(results))


def _ceilings(results: Mapping[str, Results], budgets: Sequence[float] = ()) -> list[Cell]:
    """What the best predictor and a majority vote reach on the same test windows."""
    cells = []
    for name, outcome in results.items():
        key, data, *times = name.split(":")
        columns = [f"{epsilon:g}" for epsilon in budgets] or times
        if key != "cdbn":
            continue
        for gauge, row in (("best_possible", "Best possible"), ("majority", "Majority vote")):
            value = _known(outcome.mean(gauge))
            cells += [
                Cell(f"{row}, {data}", column, "simulated", None, value, None, outcome.run)
                for column in columns
            ]
    return cells


def figure3_jobs(full: bool) -> dict[str, Job]:
    """One job per curve and data set, with all budgets; M = 12."""
    return {
        f"{key}:{name}": _job(full, key, {"history": 12}, dataset, () if _still(key) else EPSILONS)
        for name, dataset in SETS.items()
        for key in CURVES
    }


def _still(key: str) -> bool:
    """Whether a curve does not change with ε."""
    return CURVES[key][2] == "without noise"


def figure3_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per curve and data set, one column per budget."""
    cells = []
    for name, outcome in results.items():
        key, data = name.split(":")
        for epsilon in EPSILONS:
            at = {} if _still(key) else {"epsilon": epsilon}
            cells.append(_cell(key, f", {data}", f"{epsilon:g}", None, outcome, at))
    return (*cells, *_ceilings(results, EPSILONS))


def figure4_jobs(full: bool) -> dict[str, Job]:
    """One job per polynomial, calibration and number of epochs, with three budgets."""
    jobs = {}
    for key in SHAPES:
        for epochs in EPOCHS[full]:
            values = {"task": "classification", "history": 38, "epochs": epochs}
            jobs[f"{key}:{epochs}"] = _job(full, key, values, "yesiwell_weekly", LEVELS)
    return jobs


def figure4_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per polynomial and budget, one column per number of epochs."""
    cells = []
    for name, outcome in results.items():
        key, epochs = name.split(":")
        for epsilon in LEVELS:
            printed = AT_600[epsilon] if key.startswith("pcdbn/") and epochs == "600" else None
            row = f", ε = {epsilon:g}"
            cells.append(_cell(key, row, epochs, printed, outcome, {"epsilon": epsilon}))
    return tuple(cells)


def _cell(
    key: str,
    more: str,
    column: str,
    published: float | None,
    outcome: Results,
    at: Mapping[str, float] | None = None,
) -> Cell:
    row, _, variant = (CURVES | SHAPES)[key]
    return Cell(
        row=f"{row}{more}",
        column=column,
        variant=variant,
        published=published,
        ours=_known(outcome.mean("accuracy", **(at or {}))),
        spread=_known(outcome.spread("accuracy", **(at or {}))),
        run=outcome.run,
    )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def tests_jobs(full: bool) -> dict[str, Job]:
    """The jobs of Figures 2, 3 and 4."""
    parts = {"2": figure2_jobs(full), "3": figure3_jobs(full), "4": figure4_jobs(full)}
    return {f"{n}|{name}": job for n, jobs in parts.items() for name, job in jobs.items()}


def tests_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per comparison of the text: the p value, as printed and with proof."""
    rivals = {
        "Figure 2: pCDBN against dPAH": ("2", "dpah"),
        "Figure 2: pCDBN against SctRBM": ("2", "sctrbm"),
        "Figure 3: pCDBN against dPAH": ("3", "dpah"),
        "Figure 4: pCDBN against TE and PW": ("4", "pcdbn_te pcdbn_pw"),
    }
    cells = []
    for row, (figure, others) in rivals.items():
        for variant, end in (("as printed", "/paper"), ("rigorous", "")):
            mine, theirs, run = _paired(results, figure, others.split(), end)
            p, gain = p_value(mine, theirs)
            cells.append(Cell(row, "p", variant, PUBLISHED_P[row], _known(p), None, run))
            cells.append(Cell(row, "gain", variant, None, _known(gain), None, run))
    return tuple(cells)


def _paired(
    results: Mapping[str, Results], figure: str, others: Sequence[str], end: str
) -> tuple[Column, Column, str]:
    """Accuracies of pCDBN and of a rival at the same points and repetitions, and a run's id."""
    mine, theirs, run = [], [], ""
    for name, outcome in results.items():
        number, _, rest = name.partition("|")
        key, _, point = rest.partition(":")
        if number != figure or key != f"pcdbn{end}":
            continue
        for other in others:
            name_there = f"{figure}|{other}{'' if other == 'sctrbm' else end}:{point}"
            there = results[name_there].gauges["accuracy"]
            here = outcome.gauges["accuracy"]
            mine.append(here)
            theirs.append(np.tile(there, len(here) // len(there)))
            run = outcome.run
    return np.concatenate(mine), np.concatenate(theirs), run


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


def time_jobs(full: bool) -> dict[str, Job]:
    """One run each of 600 epochs on weeks, as printed and with proof, and DP-SGD."""
    values = {"task": "classification", "history": 38, "epochs": 600 if full else 60}
    keys = ("pcdbn/paper", "dpah/paper", "pcdbn", "dpah", "dpsgd")
    return {key: _single(key, values) for key in keys}


def _single(key: str, values: Mapping[str, Any]) -> Job:
    own = CURVES[key][1]
    return request("yesiwell", key.split("/")[0], "yesiwell_weekly", {**own, **values})


def time_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Seconds on the clock; the paper's are of one GTX TITAN X."""
    return tuple(
        Cell(
            row=CURVES[key][0],
            column="600 epochs",
            variant=CURVES[key][2],
            published=SECONDS.get(key),
            ours=_known(outcome.seconds()),
            spread=None,
            run=outcome.run,
        )
        for key, outcome in results.items()
    )
