r"""A survival table on the scale of the paper.

Scaling (Section 6, found by experiment): centre each column, divide by its range, divide all
rows by the largest row norm, so that \|x_i\| \le 1. Time is divided by its maximum. As printed,
mean, range, norm and maximum are those of the records, so a single record can move the scale of
all. With proof they follow from the bounds that the table's card declares: the middle and the
width of each column's bounds, the norm \sqrt p/2 of a corner, and the horizon; values beyond the
bounds are clipped, record by record. So neighbouring tables are scaled alike.
"""

import functools
from dataclasses import dataclass, replace

import numpy as np

from datasets.base import Bounds, Episodes, Floats, SurvivalTable, Table
from engine.core.errors import RequestError
from engine.papers.survival.spec import SurvivalSpec

ROUNDED = 1e-12
"""Share by which a norm is rounded up: far more than the rounding of a scaled row."""


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
        horizon: What times were divided by, in the table's unit.
        episodes: The course of covariates that vary in time, on the same scales; or None.
    """

    x: Floats
    time: Floats
    event: Floats
    centre: Floats
    span: Floats
    norm: float
    horizon: float
    episodes: Episodes | None = None


def survival(table: Table, spec: SurvivalSpec) -> SurvivalTable:
    """The table, known to hold durations, with the bounds that a spec's calibration scales it by.

    Raises:
        RequestError: It holds labels, or no bounds where a proof needs them.
    """
    if not isinstance(table, SurvivalTable):
        raise RequestError(f"dataset: expected durations, got the labels of {table.card.name}")
    if spec.calibration == "paper":
        return unbounded(table)
    if table.card.bounds is None:
        raise RequestError(
            f"dataset: expected bounds of every column of {table.card.name}, got none: "
            "add them, or choose the noise as printed"
        )
    return table


@functools.lru_cache(maxsize=8)
def unbounded(table: SurvivalTable) -> SurvivalTable:
    """The table without its bounds, to be scaled by its own ranges; kept per table."""
    if table.card.bounds is None:
        return table
    return replace(table, card=replace(table.card, bounds=None))


@functools.lru_cache(maxsize=8)
def scaled(table: SurvivalTable) -> Scaled:
    r"""The records on the scale of the paper; kept per table, which hashes by identity.

    Guarantees:
        Where the card has bounds, centre, span, norm and horizon are functions of the card alone,
        and a scaled record is a function of that record and the card, with \|x_i\| \le 1.
    """
    if table.card.bounds is not None:
        return _scaled(clipped(table, table.card.bounds), *public_scale(table.card.bounds))
    rows = table.x if table.episodes is None else table.episodes.x
    centre, span = rows.mean(axis=0), np.ptp(rows, axis=0)
    span[span == 0.0] = 1.0
    norm = float(np.linalg.norm((rows - centre) / span, axis=1).max(initial=0.0)) or 1.0
    return _scaled(table, centre, span, norm, float(table.time.max()) or 1.0)


def public_scale(bounds: Bounds) -> tuple[Floats, Floats, float, float]:
    """Centre (p,), span (p,), norm and horizon that follow from bounds.

    The norm is that of a corner of the box, rounded up, so that no scaled row is longer than 1.
    """
    low, high = np.array(bounds.covariates, np.float64).T
    corner = 0.5 * np.sqrt(len(low))
    return 0.5 * (low + high), high - low, float(corner * (1.0 + ROUNDED)), bounds.horizon


def clipped(table: SurvivalTable, bounds: Bounds) -> SurvivalTable:
    """The table within bounds: who is followed beyond the horizon counts as censored there."""
    low, high = np.array(bounds.covariates, np.float64).T
    x, course = table.x, table.episodes
    if table.missing is not None:
        x = np.where(table.missing, np.array(bounds.missing), x)
    if course is not None:
        kept = course.start < bounds.horizon  # the first begins at 0, so every person keeps one
        stop, path = np.minimum(course.stop, bounds.horizon)[kept], np.clip(course.x, low, high)
        course = Episodes(course.person[kept], course.start[kept], stop, path[kept])
    return replace(
        table,
        x=np.clip(x, low, high),
        time=np.minimum(table.time, bounds.horizon),
        event=table.event & (table.time <= bounds.horizon),
        episodes=course,
    )


def _scaled(
    table: SurvivalTable, centre: Floats, span: Floats, norm: float, horizon: float
) -> Scaled:
    """The records after centring and division."""
    x, course = (table.x - centre) / span / norm, table.episodes
    event = table.event.astype(np.float64)
    if course is not None:
        path = (course.x - centre) / span / norm
        start, stop = course.start / horizon, course.stop / horizon
        course = Episodes(course.person, start, stop, path)
    return Scaled(x, table.time / horizon, event, centre, span, norm, horizon, course)
