"""Jobs and numbers of Figures 5a, 5b and 6, of the order of methods and of their times.

The curves are images; only the numbers in the text can be set beside ours. The full size is
MNIST and 162 epochs, but the networks have 16 and 32 maps in place of 32 and 64, 25 hidden
units in place of 1,024 and one epoch of pre-training a layer: each run takes minutes. One
training gives a whole curve over epochs. Repetitions are jobs of their own, named `key#seed`,
except where one job sweeps the budgets.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.gauges import Column
from engine.runs.exhibit import Cell
from engine.runs.job import Job, request
from engine.runs.results import Results

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
FEW = (0.1, 0.5, 2.0, 4.0)
EPOCHS = (1, 9, 18, 54, 162)
SGD_EPOCHS = (1, 3, 9, 18)
DEGREES = (1, 2, 3, 5, 7)
REPETITIONS = 3
"""Of each curve at full size."""
PUBLISHED_PCDBN, PUBLISHED_PSGD = 0.9171, 0.8875
SECONDS_PCDBN, SECONDS_PSGD = 761.0, 86.0
PRINTED: dict[str, Any] = {"calibration": "paper", "degree": 7}
SLOW: dict[str, Any] = {"pretraining_rate": 1e-3}
"""At 0.01, the published program's rate, TCDBN's second layer falls to X = -1, where the printed
polynomial is exactly 0, and is left with features that are zero. With the text's noise 0.01 is
better: as printed, 93 % instead of 86 % at L = 7."""
CURVES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "rigorous": ("pCDBN", "pcdbn", {"calibration": "rigorous"}, "rigorous"),
    "released": ("pCDBN", "pcdbn", {"calibration": "released", "degree": 7}, "as released"),
    "paper": ("pCDBN", "pcdbn", PRINTED, "as printed"),
    "drawn": ("pCDBN, unbounded", "pcdbn", {**PRINTED, "objective": "drawn"}, "as printed"),
    "psgd": ("pSGD", "psgd", {}, "rigorous"),
    "te": ("pCDBN, Taylor", "pcdbn_te", {}, "as printed"),
    "pw": ("pCDBN, line", "pcdbn_pw", {}, "as printed"),
    "tcdbn": ("TCDBN", "tcdbn", {"degree": 7}, "without noise"),
    "slow": ("TCDBN, rate 0.001", "tcdbn", {"degree": 7, **SLOW}, "without noise"),
    "cdbn": ("CDBN", "cdbn", {}, "without noise"),
    "dpsgd": ("DP-SGD on wavelets", "dpsgd", {}, "rigorous"),
}
"""Row, method, settings and reading of each curve."""
FIRST_ORDER: dict[str, Any] = {"representation": "wavelets"}
TODAY: dict[bool, dict[str, Any]] = {
    True: {"sample_rate": 0.1, "epochs": 40, "learning_rate": 1.0, "momentum": 0.9, **FIRST_ORDER},
    False: {"sample_rate": 0.1, "epochs": 20, "learning_rate": 0.5, "momentum": 0.5, **FIRST_ORDER},
}
"""What DP-SGD of today is run with: the best that is found under the paper on it."""


def _size(full: bool, key: str) -> tuple[str, dict[str, Any]]:
    """MNIST with 32 maps, or 16 for what trains in minutes; or digits with few."""
    if not full:
        return "digits", {"filters": 8}
    return "mnist", {"pretraining": 1, **({} if key == "rigorous" else {"filters": 16})}


def _job(full: bool, key: str, seed: int = 0, **values: Any) -> Job:
    """One run."""
    _, name, own, _ = CURVES[key]
    dataset, size = _size(full, key)
    return request("pcdbn", name, dataset, {**size, **own, **values}, {}, (seed,))


def repetitions(full: bool) -> int:
    """How many of each curve an exhibit has."""
    return REPETITIONS if full else 1


def _jobs(full: bool, name: str, **values: Any) -> dict[str, Job]:
    """The repetitions of a curve, or of a point of it."""
    key, seeds = name.partition("/")[0], range(repetitions(full))
    return {f"{name}#{seed}": _job(full, key, seed, **values) for seed in seeds}


def _swept(full: bool, paper: str, method: str, values: Mapping[str, Any], seeds: int) -> Job:
    dataset = "mnist" if full else "digits"
    return request(paper, method, dataset, values, {"epsilon": EPSILONS}, range(seeds))


def _together(results: Mapping[str, Results]) -> dict[str, list[Results]]:
    """The repetitions of each name."""
    by_name: dict[str, list[Results]] = {}
    for name, result in results.items():
        by_name.setdefault(name.partition("#")[0], []).append(result)
    return by_name


def figure5a_jobs(full: bool) -> dict[str, Job]:
    """One job for a curve that trains in seconds, and one for each point of a network's."""
    own = {**_size(full, "rigorous")[1], **CURVES["rigorous"][2]}
    seeds = repetitions(full)
    jobs = {
        "rigorous": _swept(full, "pcdbn", "pcdbn", own, seeds),
        "dpsgd": _swept(full, "enadpp", "dpsgd", TODAY[full], seeds),
    }
    points = [("released", e) for e in FEW] + [("paper", e) for e in FEW]
    points += [(key, e) for key in ("drawn", "psgd") for e in ((0.5,) if full else FEW)]
    for key, e in points:
        jobs |= _jobs(full, f"{key}/{e:g}", epsilon=e)
    return jobs


def figure5a_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per curve, one column per budget."""
    cells = []
    for name, own in _together(results).items():
        curve, _, point = name.partition("/")
        budgets = (float(point),) if point else EPSILONS
        for epsilon in budgets:
            at = {} if point else {"epsilon": epsilon}
            values = [one.values("accuracy", **at) for one in own]
            cells.append(_cell(curve, f"{epsilon:g}", _published(curve, epsilon), own, values))
    return tuple(cells)


def _published(curve: str, epsilon: float) -> float | None:
    """The two accuracies of the text, which are those of ε = 0.5."""
    if epsilon != 0.5 or curve in ("dpsgd", "drawn"):
        return None
    return PUBLISHED_PSGD if curve == "psgd" else PUBLISHED_PCDBN


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _cell(
    curve: str,
    column: str,
    published: float | None,
    own: Sequence[Results],
    values: Sequence[Column],
    row: str = "",
) -> Cell:
    """The mean over what has been measured, and its spread from two values on."""
    label, _, _, variant = CURVES[curve]
    every = np.concatenate(values)
    there = every[np.isfinite(every)]
    return Cell(
        row=row or label,
        column=column,
        variant=variant,
        published=published,
        ours=float(there.mean()) if len(there) else None,
        spread=float(there.std(ddof=1)) if len(there) > 1 else None,
        run=own[0].run,
    )


def _after(result: Results, epochs: int) -> Column:
    """Accuracy of each replica after so many epochs of its training; NaN before it is there."""
    kept = result.arrays()
    if "learning" not in kept:
        return np.full(len(result.seeds), np.nan)
    return at(kept["learning"], epochs)


def at(learning: NDArray[np.generic], epochs: float) -> NDArray[np.float64]:
    """Accuracy of each replica after so many epochs, shape (R,); NaN where it was not measured.

    The measurement that is nearest counts, if it is less than half an epoch away.
    """
    values = np.asarray(learning, np.float64)
    away = np.abs(values[..., 0] - epochs)
    place = away.argmin(axis=1)
    rows = np.arange(len(values))
    accuracies: NDArray[np.float64] = np.where(
        away[rows, place] < 0.5, values[rows, place, 1], np.nan
    )
    return accuracies


def figure5b_jobs(full: bool) -> dict[str, Job]:
    """One training for each curve: descent on the released quadratic, networks, and pSGD."""
    jobs = _jobs(full, "rigorous", solver="descent")
    for key in ("released", "paper", "drawn", "psgd"):
        jobs |= _jobs(full, key)
    return jobs


def figure5b_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per method, one column per number of epochs."""
    cells = []
    for key, own in _together(results).items():
        for epochs in SGD_EPOCHS if key == "psgd" else EPOCHS:
            last = epochs == (18 if key == "psgd" else 162)
            published = _published(key, 0.5) if last else None
            values = [_after(one, epochs) for one in own]
            cells.append(_cell(key, str(epochs), published, own, values))
    return tuple(cells)


def figure6_jobs(full: bool) -> dict[str, Job]:
    """One training for each degree and calibration."""
    jobs: dict[str, Job] = {}
    for d in DEGREES:
        jobs |= _jobs(full, f"rigorous/{d}", solver="descent", degree=d)
    for key in ("released", "paper"):
        for d in DEGREES:
            jobs |= _jobs(full, f"{key}/{d}", degree=d)
    return jobs


def figure6_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per degree and calibration, one column per number of epochs."""
    cells = []
    for name, own in _together(results).items():
        curve, degree = name.split("/")
        for epochs in EPOCHS:
            values = [_after(one, epochs) for one in own]
            cells.append(_cell(curve, str(epochs), None, own, values, f"L = {degree}"))
    return tuple(cells)


def methods_jobs(full: bool) -> dict[str, Job]:
    """Every method of the text, as often as CDBN, which it is compared with."""
    keys = ("rigorous", "paper", "te", "pw", "psgd", "tcdbn", "slow", "cdbn")
    seeds = range(repetitions(full))
    return {f"{key}#{seed}": _job(full, key, seed) for key in keys for seed in seeds}


def methods_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Accuracy of each method, and how far it is below CDBN at the same repetitions."""
    every = _together(results)
    reference = [one.gauges["accuracy"] for one in every["cdbn"]]
    cells = []
    for key, own in every.items():
        values = [one.gauges["accuracy"] for one in own]
        cells.append(_cell(key, "accuracy", None, own, values))
        if key != "cdbn":
            below = [there - here for there, here in zip(reference, values, strict=True)]
            cells.append(_cell(key, "below CDBN", None, own, below))
    return tuple(cells)


def time_jobs(full: bool) -> dict[str, Job]:
    """One run each of what Figure 5b trains to the end."""
    return {
        "rigorous": _job(full, "rigorous", solver="descent"),
        **{key: _job(full, key) for key in ("released", "paper", "psgd")},
    }


def time_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Seconds on the clock; the paper's are of one GTX TITAN X."""
    cells = []
    for key, result in results.items():
        seconds = result.seconds() if math.isfinite(result.mean("accuracy")) else math.nan
        row, _, _, variant = CURVES[key]
        cells.append(
            Cell(
                row=row,
                column="18 epochs" if key == "psgd" else "162 epochs",
                variant=variant,
                published=SECONDS_PSGD if key == "psgd" else SECONDS_PCDBN,
                ours=_known(seconds),
                spread=None,
                run=result.run,
            )
        )
    return tuple(cells)
