"""Figures 5a, 5b and 6, an order of methods and the times of Phan et al. (2017) beside ours.

The curves are images; only the numbers in the text can be set beside ours. The full size is
MNIST and 162 epochs, but the networks have 16 and 32 maps in place of 32 and 64, 25 hidden
units in place of 1,024 and one epoch of pre-training a layer: each run takes minutes. One
training gives a whole curve over epochs. Repetitions are jobs of their own, except where one job
sweeps the budgets.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from engine.core.gauges import Column
from engine.core.spec import Value
from engine.runs.exhibit import (
    MethodRow,
    Point,
    Reading,
    along,
    over,
    seconds,
    sheet,
    shorter,
    spread_of,
)
from engine.runs.job import Job
from engine.runs.results import Results

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
FEW = (0.1, 0.5, 2.0, 4.0)
EPOCHS = (1, 9, 18, 54, 162)
SGD_EPOCHS = (1, 3, 9, 18)
DEGREES = (1, 2, 3, 5, 7)
REPETITIONS = {True: 3, False: 1}
"""Of each curve, at full size and in a quick look."""
PRINTED: dict[str, Value] = {"calibration": "paper", "degree": 7}
RELEASED: dict[str, Value] = {"calibration": "released", "degree": 7}
SLOW: dict[str, Value] = {"degree": 7, "pretraining_rate": 1e-3}
"""At 0.01, the published program's rate, TCDBN's second layer falls to X = -1, where the printed
polynomial is exactly 0, and is left with features that are zero. With the text's noise 0.01 is
better: as printed, 93 % instead of 86 % at L = 7."""
TODAY: dict[bool, dict[str, Value]] = {
    True: {"sample_rate": 0.1, "epochs": 40, "learning_rate": 1.0, "momentum": 0.9},
    False: {"sample_rate": 0.1, "epochs": 20, "learning_rate": 0.5, "momentum": 0.5},
}
"""What DP-SGD of today is run with: the best that is found under the paper on it."""
DESCENT: dict[str, Value] = {"solver": "descent"}
"""What gives the method with proof a curve over epochs."""
LINES = {
    "rigorous": MethodRow("pCDBN", "rigorous", "pcdbn", "pcdbn", {"calibration": "rigorous"}),
    "released": MethodRow("pCDBN", "as released", "pcdbn", "pcdbn", RELEASED),
    "paper": MethodRow("pCDBN", "as printed", "pcdbn", "pcdbn", PRINTED),
    "drawn": MethodRow(
        "pCDBN, unbounded", "as printed", "pcdbn", "pcdbn", {**PRINTED, "objective": "drawn"}
    ),
    "psgd": MethodRow("pSGD", "rigorous", "pcdbn", "psgd"),
    "te": MethodRow("pCDBN, Taylor", "as printed", "pcdbn", "pcdbn_te"),
    "pw": MethodRow("pCDBN, line", "as printed", "pcdbn", "pcdbn_pw"),
    "tcdbn": MethodRow("TCDBN", "without noise", "pcdbn", "tcdbn", {"degree": 7}),
    "slow": MethodRow("TCDBN, rate 0.001", "without noise", "pcdbn", "tcdbn", SLOW),
    "cdbn": MethodRow("CDBN", "without noise", "pcdbn", "cdbn"),
    "dpsgd": MethodRow(
        "DP-SGD on wavelets", "rigorous", "enadpp", "dpsgd", {"representation": "wavelets"}
    ),
}
"""What each row and curve runs, and in which reading."""
SHEET = sheet(__file__)


def _size(full: bool, key: str) -> tuple[str, dict[str, Value]]:
    """MNIST with 32 maps, or 16 for what trains in minutes; or digits with few."""
    if not full:
        return "digits", {"filters": 8}
    return "mnist", {"pretraining": 1, **({} if key == "rigorous" else {"filters": 16})}


def _jobs(full: bool, key: str, **values: Value) -> tuple[Job, ...]:
    """The repetitions of a curve, or of a point of it."""
    dataset, size = _size(full, key)
    return tuple(
        LINES[key].job(dataset, {**size, **values}, seeds=(seed,))
        for seed in range(REPETITIONS[full])
    )


def _swept(full: bool, key: str) -> tuple[Job, ...]:
    """A curve that trains in seconds: one job for all budgets and repetitions."""
    dataset, size = _size(full, key)
    values = TODAY[full] if key == "dpsgd" else size
    seeds = range(REPETITIONS[full])
    return (LINES[key].job(dataset, values, {"epsilon": EPSILONS}, seeds),)


def _point(
    key: str, column: str, jobs: tuple[Job, ...], read: Reading, published: float | None = None,
    row: str = "",
) -> Point:  # fmt: skip
    return Point(row or LINES[key].row, column, LINES[key].variant, published, jobs, read)


def _published(key: str, epsilon: float) -> float | None:
    """The two accuracies of the text, which are those of ε = 0.5."""
    if epsilon != 0.5 or key in ("dpsgd", "drawn"):
        return None
    return float(SHEET.printed["accuracy"]["psgd" if key == "psgd" else "pcdbn"])


def figure5a(full: bool) -> list[Point]:
    """One row per curve, one column per budget."""
    accuracy, points = over("accuracy"), []
    for key in ("rigorous", "dpsgd"):
        points += along(
            "epsilon", EPSILONS, _swept(full, key), accuracy, row=LINES[key].row,
            variant=LINES[key].variant, printed=[_published(key, e) for e in EPSILONS],
        )  # fmt: skip
    some = (0.5,) if full else FEW
    budgets = {"released": FEW, "paper": FEW, "drawn": some, "psgd": some}
    return points + [
        _point(key, f"{e:g}", _jobs(full, key, epsilon=e), accuracy, _published(key, e))
        for key, few in budgets.items()
        for e in few
    ]


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


def _trained(full: bool, key: str, **values: Value) -> tuple[Job, ...]:
    """The repetitions of a curve over epochs."""
    return _jobs(full, key, **values, **(DESCENT if key == "rigorous" else {}))


def figure5b(full: bool) -> list[Point]:
    """One row per method, one column per number of epochs: one training for each curve."""
    points = []
    for key in ("rigorous", "released", "paper", "drawn", "psgd"):
        jobs, columns = _trained(full, key), SGD_EPOCHS if key == "psgd" else EPOCHS
        for epochs in columns:
            printed = _published(key, 0.5) if epochs == columns[-1] else None
            points.append(_point(key, str(epochs), jobs, _after(epochs), printed))
    return points


def figure6(full: bool) -> list[Point]:
    """One row per degree and calibration, one column per number of epochs."""
    return [
        _point(key, str(epochs), jobs, _after(epochs), row=f"L = {degree}")
        for key, degree in product(("rigorous", "released", "paper"), DEGREES)
        for jobs in [_trained(full, key, degree=degree)]
        for epochs in EPOCHS
    ]


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
        column, own = ("18 epochs", "psgd") if key == "psgd" else ("162 epochs", "pcdbn")
        line, printed = LINES[key], SHEET.printed["seconds"][own]
        place = (line.row, column, line.variant, printed)
        points.append(Point(*place, _trained(full, key)[:1], seconds, timed=True))
    return points


EXHIBITS = (
    *map(SHEET.exhibit, (figure5a, figure5b, figure6, methods)),
    SHEET.exhibit(time, says=shorter),
)
