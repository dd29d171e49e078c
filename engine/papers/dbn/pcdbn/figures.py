"""Rows and columns of Figures 5a, 5b and 6, of the order of methods and of their times.

The curves are images; only the numbers in the text can be set beside ours. The full size is
MNIST and 162 epochs, but the networks have 16 and 32 maps in place of 32 and 64, 25 hidden
units in place of 1,024 and one epoch of pre-training a layer: each run takes minutes. One
training gives a whole curve over epochs. Repetitions are jobs of their own, except where one job
sweeps the budgets.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.gauges import Column
from engine.runs.exhibit import Point, Reading, over, spread_of
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


def _jobs(full: bool, key: str, **values: Any) -> tuple[Job, ...]:
    """The repetitions of a curve, or of a point of it."""
    return tuple(_job(full, key, seed, **values) for seed in range(repetitions(full)))


def _swept(full: bool, paper: str, method: str, values: Mapping[str, Any]) -> tuple[Job, ...]:
    dataset, seeds = "mnist" if full else "digits", range(repetitions(full))
    return (request(paper, method, dataset, values, {"epsilon": EPSILONS}, seeds),)


def _point(
    key: str, column: str, jobs: tuple[Job, ...], read: Reading, published: float | None = None,
    row: str = "",
) -> Point:  # fmt: skip
    label, _, _, variant = CURVES[key]
    return Point(row or label, column, variant, published, jobs, read)


def figure5a(full: bool) -> list[Point]:
    """One row per curve, one column per budget; a job for a curve that trains in seconds."""
    own = {**_size(full, "rigorous")[1], **CURVES["rigorous"][2]}
    curves = {
        "rigorous": _swept(full, "pcdbn", "pcdbn", own),
        "dpsgd": _swept(full, "enadpp", "dpsgd", TODAY[full]),
    }
    points = [
        _point(key, f"{e:g}", jobs, over("accuracy", epsilon=e), _published(key, e))
        for key, jobs in curves.items()
        for e in EPSILONS
    ]
    some = (0.5,) if full else FEW
    budgets = {"released": FEW, "paper": FEW, "drawn": some, "psgd": some}
    return points + [
        _point(key, f"{e:g}", _jobs(full, key, epsilon=e), over("accuracy"), _published(key, e))
        for key, few in budgets.items()
        for e in few
    ]


def _published(curve: str, epsilon: float) -> float | None:
    """The two accuracies of the text, which are those of ε = 0.5."""
    if epsilon != 0.5 or curve in ("dpsgd", "drawn"):
        return None
    return PUBLISHED_PSGD if curve == "psgd" else PUBLISHED_PCDBN


def _after(epochs: int) -> Reading:
    """Accuracy of each replica after so many epochs of its training."""

    def one(result: Results) -> Column:
        kept = result.arrays()
        if "learning" not in kept:
            return np.full(len(result.seeds), np.nan)
        return at(kept["learning"], epochs)

    return lambda results: spread_of([one(result) for result in results])


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


def figure5b(full: bool) -> list[Point]:
    """One row per method, one column per number of epochs: one training for each curve."""
    points = []
    for key in ("rigorous", "released", "paper", "drawn", "psgd"):
        jobs = _jobs(full, key, **({"solver": "descent"} if key == "rigorous" else {}))
        columns = SGD_EPOCHS if key == "psgd" else EPOCHS
        for epochs in columns:
            printed = _published(key, 0.5) if epochs == columns[-1] else None
            points.append(_point(key, str(epochs), jobs, _after(epochs), printed))
    return points


def figure6(full: bool) -> list[Point]:
    """One row per degree and calibration, one column per number of epochs."""
    points = []
    for key, degree in product(("rigorous", "released", "paper"), DEGREES):
        descent = {"solver": "descent"} if key == "rigorous" else {}
        jobs = _jobs(full, key, degree=degree, **descent)
        points += [
            _point(key, str(epochs), jobs, _after(epochs), row=f"L = {degree}") for epochs in EPOCHS
        ]
    return points


def methods(full: bool) -> list[Point]:
    """Accuracy of each method, and how far it is below CDBN at the same repetitions."""
    reference, points = _jobs(full, "cdbn"), []
    for key in ("rigorous", "paper", "te", "pw", "psgd", "tcdbn", "slow", "cdbn"):
        jobs = _jobs(full, key)
        points.append(_point(key, "accuracy", jobs, over("accuracy")))
        if key != "cdbn":
            points.append(_point(key, "below CDBN", (*jobs, *reference), _below))
    return points


def _below(results: Sequence[Results]) -> tuple[float, float]:
    """How far the first half is below the second."""
    accuracy = [one.gauges["accuracy"] for one in results]
    half = len(accuracy) // 2
    pairs = zip(accuracy[:half], accuracy[half:], strict=True)
    return spread_of([there - here for here, there in pairs])


def time(full: bool) -> list[Point]:
    """Seconds on the clock of what Figure 5b trains to the end; the paper's are of one TITAN X."""
    points = []
    for key in ("rigorous", "released", "paper", "psgd"):
        descent = {"solver": "descent"} if key == "rigorous" else {}
        job = _job(full, key, 0, **descent)
        column, printed = (
            ("18 epochs", SECONDS_PSGD) if key == "psgd" else ("162 epochs", SECONDS_PCDBN)
        )
        points.append(_point(key, column, (job,), _seconds, printed))
    return points


def _seconds(results: Sequence[Results]) -> tuple[float, float]:
    """How long a run took that has not diverged."""
    (result,) = results
    measured = math.isfinite(result.mean("accuracy"))
    return result.seconds() if measured else math.nan, math.nan
