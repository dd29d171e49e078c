r"""A survival table on the scale of the paper, sorted so that risk sets are ranges of rows.

Scaling (Section 6, found by experiment): centre each column, divide by its range, divide all
rows by the largest row norm, so that \|x_i\| \le 1. Time is divided by its maximum.
"""

import functools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from datasets.base import Floats, Integers, SurvivalTable, Table
from engine.errors import RequestError
from engine.papers.survival.sensitivity import basis


@dataclass(frozen=True, eq=False)
class Scaled:
    """Records on the scale of the paper, in the order of the table.

    Attributes:
        x: Covariates of row norm at most 1, shape (n, p).
        time: Durations in [0, 1], shape (n,).
        event: 1 for an event, 0 for a censored duration, shape (n,).
        centre: What was taken from each column, shape (p,).
        span: What each column was divided by, shape (p,); 1 for a constant column.
        norm: What all rows were then divided by.
        horizon: The longest time, in the table's unit.
    """

    x: Floats
    time: Floats
    event: Floats
    centre: Floats
    span: Floats
    norm: float
    horizon: float


@dataclass(frozen=True, eq=False)
class Design:
    r"""The discrete-time model of a table, records sorted by interval.

    Attributes:
        A: Spline basis of the baseline, shape (q, e); its first column is 1.
        x: Scaled covariates, shape (n, p), float64.
        interval: t_i in 1..q, ascending, shape (n,).
        event: 1 for an event, 0 for a censored duration, shape (n,).
        squares: Upper triangle of x_i x_i^T, shape (n, p(p+1)/2).
        order: Position of each row in the table, shape (n,).
    """

    A: Tensor
    x: Tensor
    interval: Tensor
    event: Tensor
    squares: Tensor
    order: Tensor

    @property
    def records(self) -> int:
        """Number of records n."""
        return len(self.interval)

    @property
    def intervals(self) -> int:
        """Number of intervals q."""
        return len(self.A)

    @property
    def knots(self) -> int:
        """Number of knots e."""
        return self.A.shape[1]

    @property
    def dimension(self) -> int:
        """Number of parameters d = e + p."""
        return self.A.shape[1] + self.x.shape[1]


def survival(table: Table) -> SurvivalTable:
    """The table, known to hold durations.

    Raises:
        RequestError: It holds labels.
    """
    if not isinstance(table, SurvivalTable):
        raise RequestError(f"dataset: expected durations, got the labels of {table.card.name}")
    return table


@functools.lru_cache(maxsize=8)
def scaled(table: SurvivalTable) -> Scaled:
    """The records on the scale of the paper; kept per table, which hashes by identity."""
    centre = table.x.mean(axis=0)
    span = np.ptp(table.x, axis=0)
    span[span == 0.0] = 1.0
    x = (table.x - centre) / span
    norm = float(np.linalg.norm(x, axis=1).max(initial=0.0)) or 1.0
    horizon = float(table.time.max()) or 1.0
    event = table.event.astype(np.float64)
    return Scaled(x / norm, table.time / horizon, event, centre, span, norm, horizon)


def discretise(time: Floats, intervals: int) -> Integers:
    r"""t_i = clip(\lceil q T_i \rceil, 1, q), shape (n,)."""
    return np.clip(np.ceil(intervals * time), 1, intervals).astype(np.int64)


@functools.lru_cache(maxsize=16)
def design(table: SurvivalTable, intervals: int, knots: int, device: str = "cpu") -> Design:
    """The model of a table with q intervals and e knots; kept per table and grid."""
    records = scaled(table)
    interval = discretise(records.time, intervals)
    return arrange(records.x, interval, records.event, basis(intervals, knots), device)


def arrange(
    x: Floats, interval: Integers, event: Floats, spline: Floats, device: str = "cpu"
) -> Design:
    r"""The design of scaled records.

    Args:
        x: Covariates of row norm at most 1, shape (n, p).
        interval: t_i in 1..q, shape (n,).
        event: 1 for an event, 0 for a censored duration, shape (n,).
        spline: A, shape (q, e).
        device: Where the tensors live.
    """
    put = functools.partial(torch.tensor, device=device)
    order = np.argsort(interval, kind="stable")
    x, (first, second) = x[order], np.triu_indices(x.shape[1])
    return Design(
        A=put(spline),
        x=put(x),
        interval=put(interval[order]),
        event=put(event[order]),
        squares=put(x[:, first] * x[:, second]),
        order=put(order),
    )
