"""What all methods show of their predictions: gauges, and arrays for the page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets.base import PanelTable
from engine.core.gauges import Column, measuring
from engine.method import Arrays
from engine.papers.dbn.yesiwell.layout import layout
from engine.papers.dbn.yesiwell.repetitions import Repetition
from engine.papers.dbn.yesiwell.spec import Behaviour
from engine.papers.dbn.yesiwell.windows import Part, Sample
from engine.training.steady import steady

NONE = 255
"""Stands where a repetition has no further window to predict, or no finite chance."""
BINS = 10
"""Groups of predicted probabilities."""
MEASURES = 40
"""Most measurements in a run, roughly."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Log odds of a label 1 for each replica's test windows, (m,) each, where and how noisy."""

    scores: tuple[Tensor, ...]
    samples: tuple[Sample, ...]
    ratios: tuple[float, ...]

    @classmethod
    def of(cls, parts: Iterable[tuple[Repetition, Tensor, Tensor]]) -> Self:
        """The replicas in their order, from each repetition's log odds (E, m) and ratios (E,)."""
        rows = {
            row: (z[place], group.windows, float(ratio[place]))
            for group, z, ratio in parts
            for place, row in enumerate(group.rows)
        }
        return cls(*zip(*(rows[row] for row in sorted(rows)), strict=True))


def due(done: int, total: int) -> bool:
    """Whether this epoch measures: some forty of them do, and the last, where anybody reads it."""
    return measuring() and (done == total or done % max(1, total // MEASURES) == 0)


def gauges(scored: Scored) -> Behaviour:
    """One number per replica and gauge."""
    pairs = list(zip(scored.scores, scored.samples, strict=True))
    right = [_right(z, windows.test) for z, windows in pairs]
    thirds = [_thirds(windows) for _, windows in pairs]
    return Behaviour(
        accuracy=_column([float(one.mean()) for one in right]),
        best_possible=_column([_best(windows.test) for _, windows in pairs]),
        majority=_column([_majority(windows) for _, windows in pairs]),
        calibration_error=_column([_error(z, windows.test) for z, windows in pairs]),
        few_friends=_column(
            [float(one[few].mean()) for one, (few, _) in zip(right, thirds, strict=True)]
        ),
        many_friends=_column(
            [float(one[many].mean()) for one, (_, many) in zip(right, thirds, strict=True)]
        ),
        noise_to_signal=_column(list(scored.ratios)),
    )


def _column(values: list[float]) -> Column:
    return np.array(values, dtype=np.float64)


def _right(z: Tensor, test: Part) -> Tensor:
    """Whether each test window is predicted rightly; NaN throughout where scores diverged."""
    right = ((z > 0) == (test.y == 1)).double()
    return right if bool(torch.isfinite(z).all()) else torch.full_like(right, torch.nan)


def _best(test: Part) -> float:
    """Accuracy of the best predictor, as expected; 1 where nobody knows it."""
    best = torch.maximum(test.best, 1.0 - test.best).mean()
    return float(best) if bool(torch.isfinite(best)) else 1.0


def _majority(windows: Sample) -> float:
    most = float(windows.train.y.double().mean()) > 0.5
    return float((windows.test.y == int(most)).double().mean())


def _thirds(windows: Sample) -> tuple[Tensor, Tensor]:
    """The test windows of the users with fewest and with most friends, a third of users each."""
    order = torch.argsort(windows.friends, stable=True).argsort()
    third = max(1, windows.users // 3)
    place = order[windows.test.user]
    few, many = place < third, place >= windows.users - third
    whole = torch.ones_like(few)
    return (few if bool(few.any()) else whole), (many if bool(many.any()) else whole)


@steady
def bins(z: Tensor, test: Part) -> NDArray[np.float64]:
    """Mean predicted probability, share that came true and count of each bin, (BINS, 3)."""
    chance = torch.sigmoid(z)
    place = (chance * BINS).long().clamp(0, BINS - 1)
    table = torch.zeros(BINS, 3, dtype=torch.float64, device=z.device)
    columns = (chance, test.y.double(), torch.ones_like(chance))
    for k, column in enumerate(columns):
        table[:, k].index_add_(0, place, column.double())
    table[:, :2] /= table[:, 2:].clamp(min=1.0)
    return np.asarray(table.cpu(), np.float64)


def _error(z: Tensor, test: Part) -> float:
    if not bool(torch.isfinite(z).all()):
        return float("nan")
    table = bins(z, test)
    return float(np.sum(np.abs(table[:, 0] - table[:, 1]) * table[:, 2]) / table[:, 2].sum())


def products(scored: Scored, table: PanelTable) -> Arrays:
    """Calibration, accuracy by number of friends, and predictions on the network's layout.

    Networks of more users than a browser draws are sampled; see `layout`.
    """
    drawn = layout(table)
    arrays: dict[str, NDArray[np.generic]] = {
        "calibration": np.stack([bins(z, s.test) for z, s in _pairs(scored)]),
        "by_friends": np.stack([_by_friends(z, s) for z, s in _pairs(scored)]),
        "test_predictions": _predicted(scored),
    }
    times = min(sample.times for sample in scored.samples)
    if times:
        users = torch.from_numpy(drawn.users)
        arrays["course"] = np.stack([_course(z, s, times, users) for z, s in _pairs(scored)])
        arrays["came"] = np.stack(
            [_came(s.test.y.double(), s, times, users) for s in scored.samples]
        ).astype(np.uint8)
        best = [_came(s.test.best, s, times, users) for s in scored.samples]
        if np.isfinite(best).all():
            arrays["best"] = np.stack([percent(one) for one in best])
    count = len(scored.scores)
    arrays["places"] = np.broadcast_to(drawn.places, (count, *drawn.places.shape))
    arrays["links"] = np.broadcast_to(drawn.links, (count, *drawn.links.shape))
    return arrays


def _predicted(scored: Scored) -> NDArray[np.uint8]:
    """Predicted labels of the test windows, in their order; `NONE` after the last, shape (R, m).

    Classification tests on another number of windows in each repetition.
    """
    wide = np.full((len(scored.scores), max(len(z) for z in scored.scores)), NONE, np.uint8)
    for row, z in enumerate(scored.scores):
        wide[row, : len(z)] = np.asarray((z > 0).cpu())
    return wide


def rows(by_row: Mapping[int, Tensor]) -> NDArray[np.float64]:
    """One tensor for each replica, by row, as an array with the replicas first."""
    return np.stack([np.asarray(by_row[row].cpu(), np.float64) for row in range(len(by_row))])


def _pairs(scored: Scored) -> list[tuple[Tensor, Sample]]:
    return list(zip(scored.scores, scored.samples, strict=True))


@steady
def _course(z: Tensor, windows: Sample, times: int, users: Tensor) -> NDArray[np.uint8]:
    """Predicted chance of each drawn user at each test time in per cent, shape (times, users)."""
    return percent(_came(torch.sigmoid(z), windows, times, users))


def percent(chance: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Chances in whole per cent on their side of one half; `NONE` for what is not finite.

    Two digits are enough to draw, and what a run keeps of a network is small enough to ship.
    """
    whole = np.nan_to_num(np.round(100.0 * chance))
    sided = np.where(chance > 0.5, np.maximum(whole, 51.0), np.minimum(whole, 50.0))
    return np.where(np.isfinite(chance), sided, NONE).astype(np.uint8)


def _came(values: Tensor, windows: Sample, times: int, users: Tensor) -> NDArray[np.float64]:
    wide = values.cpu().view(windows.users, -1)[users, :times]
    return np.asarray(wide.T, np.float64)


def _by_friends(z: Tensor, windows: Sample) -> NDArray[np.float64]:
    """Friends, accuracy and windows in five groups of users by number of friends, (5, 3).

    A group without a test window is all zeros.
    """
    right = _right(z, windows.test)
    order = torch.argsort(windows.friends, stable=True).argsort()
    place = (order * 5 // windows.users)[windows.test.user]
    rows = []
    for k in range(5):
        inside = place == k
        if not bool(inside.any()):
            rows.append((0.0, 0.0, 0.0))
            continue
        friends = windows.friends[windows.test.user[inside]].double().mean()
        rows.append((float(friends), float(right[inside].mean()), float(inside.sum())))
    return np.array(rows)
