"""The records that a survival model is scored on, with what does not depend on a model."""

import functools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from datasets.base import Booleans, Episodes, Floats, Integers, SurvivalTable
from engine.papers.survival.likelihood.problem import boundary
from engine.papers.survival.likelihood.scale import scaled

SAMPLE = 1_000
SCORED = 250_000
"""Intervals of one replica's survival curves, over all records that its Brier score is taken on.

They take about three milliseconds, so a hundred replicas take less than a second.
"""
TIMES = 20


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A sample of m records with what does not depend on a model.

    Attributes:
        x: Scaled covariates, shape (m, p); of each episode, if they vary in time.
        time: Scaled times, shape (m,).
        event: Whether the event was seen then, shape (m,).
        whole: How many records the table has.
        times: Scaled times of the Brier score, shape (TIMES,).
        case: Weight of S(t|x)^2, shape (m, TIMES).
        control: Weight of (1 - S(t|x))^2, shape (m, TIMES).
        course: The episodes of the sample, if covariates vary in time.
    """

    x: Tensor
    time: Floats
    event: Booleans
    whole: int
    times: Floats
    case: Tensor
    control: Tensor
    course: Episodes | None = None

    @functools.cached_property
    def rows(self) -> Integers:
        """Records of the sample with an event, shape (k,)."""
        return np.flatnonzero(self.event)

    @functools.cached_property
    def ends(self) -> Floats:
        """When those were, scaled, shape (k,)."""
        ends: Floats = self.time[self.rows]
        return ends

    @functools.cached_property
    def pairs(self) -> Booleans:
        """Which records outlived each of those, shape (k, m)."""
        later = self.time > self.ends[:, None]
        outlived: Booleans = later | ((self.time == self.ends[:, None]) & ~self.event)
        return outlived

    def held(self, begins: Floats, moments: Floats) -> Integers:
        """The last episode of each record that begins by each moment, shape (m, len(moments)).

        Args:
            begins: When each episode begins, in any unit.
            moments: In that unit.
        """
        assert self.course is not None  # only a course has episodes
        count = len(self.case)
        begun = np.zeros((count, len(moments)), np.int64)
        np.add.at(begun, self.course.person, begins[:, None] <= moments)
        first = np.searchsorted(self.course.person, np.arange(count))
        episode: Integers = first[:, None] + begun.clip(1) - 1
        return episode

    def by_interval(self, intervals: int, last: int) -> Integers | None:
        """The episode that holds in each of the first intervals, shape (m, last)."""
        if self.course is None:
            return None
        return self.held(boundary(self.course.start, intervals), np.arange(float(last)))

    def before(self, moments: Floats) -> Integers | None:
        """The episode that holds just before each moment, shape (m, len(moments))."""
        if self.course is None:
            return None
        return self.held(self.course.start, np.nextafter(moments, -1.0))


@functools.lru_cache(maxsize=8)
def evaluation(table: SurvivalTable, size: int = SAMPLE) -> Evaluation:
    """A sample of at most `size` records; the same for every run, and kept per table."""
    records, rng = scaled(table), np.random.default_rng(0)
    some = np.sort(rng.choice(len(table), min(len(table), size), replace=False))
    time, event = records.time[some], records.event[some] > 0
    times = _moments(records.time)
    case, control = _weights(table, time, event, times)
    course = _course(records.episodes, some)
    x = torch.tensor(records.x[some] if course is None else course.x)
    weights = (torch.tensor(case), torch.tensor(control))
    return Evaluation(x, time, event, len(table), times, *weights, course)


def scored(table: SurvivalTable, intervals: int) -> Evaluation:
    """The records that the Brier score is taken on: all, or a sample of at least 1,000.

    By the table and the number of intervals alone, so that all methods are scored on the same.
    """
    return evaluation(table, max(SAMPLE, SCORED // intervals))


def _moments(time: Floats) -> Floats:
    """Times of the Brier score, shape (TIMES,): from the 5th to the 95th percentile.

    They end before the longest time, beyond which nobody is left to be predicted.
    """
    last = time[time < time.max()].max(initial=0.0)
    early, late = np.quantile(time, (0.05, 0.95))
    return np.linspace(min(early, last), min(late, last), TIMES)


def _course(course: Episodes | None, some: Integers) -> Episodes | None:
    """The episodes of some persons, who are numbered from 0 in the same order."""
    if course is None:
        return None
    chosen = np.isin(course.person, some)
    person = np.searchsorted(some, course.person[chosen])
    return Episodes(person, course.start[chosen], course.stop[chosen], course.x[chosen])


def _weights(
    table: SurvivalTable, time: Floats, event: Booleans, times: Floats
) -> tuple[Floats, Floats]:
    """Inverse probability of censoring weights with the trapezoidal rule in them, (m, TIMES) each.

    Graf et al. (1999), as scikit-survival computes them, from all records of the table.
    """
    from sksurv.nonparametric import CensoringDistributionEstimator
    from sksurv.util import Surv

    records = scaled(table)
    at_own, at_times = np.ones_like(time), np.ones_like(times)
    happened = records.event > 0
    if happened.any() and not happened.all():
        censoring = CensoringDistributionEstimator().fit(Surv.from_arrays(happened, records.time))
        at_own, at_times = censoring.predict_proba(time), censoring.predict_proba(times)
    at_own, at_times = (np.where(p == 0, np.inf, p) for p in (at_own, at_times))
    mesh = np.gradient(times) * np.where(np.isin(np.arange(TIMES), (0, TIMES - 1)), 0.5, 1.0)
    share = (mesh / mesh.sum() if mesh.sum() > 0 else np.full(TIMES, 1.0 / TIMES)) / len(time)
    if np.ptp(records.time) == 0:  # nothing happens at any time but the last: there is no score
        share = np.nan
    case = ((time[:, None] <= times) & event[:, None]) / at_own[:, None]
    control = (time[:, None] > times) / at_times
    return case * share, control * share
