"""Measures from raw records: what private parameters are compared with, and on what they score.

Nothing here is private. Concordance and Brier score are those of scikit-survival, computed for
all replicas at once on a fixed sample of at most 1,000 records. Covariates that vary in time are
scored as they are just before each time, and where they are not known any more as they were last.
"""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from datasets.base import Booleans, Episodes, Floats, Integers, SurvivalTable
from engine.core.gauges import Column, measuring
from engine.papers.survival.likelihood import log_one_plus
from engine.papers.survival.problem import boundary, design
from engine.papers.survival.scale import scaled
from engine.papers.survival.sensitivity import basis
from engine.papers.survival.solvers import Solution, minimise
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.training.threads import single_thread

SAMPLE = 1_000
TIMES = 20
TIED = 1e-8
"""Risk scores that differ by less are ties, as in scikit-survival."""
ENDS = ("start", "stop")
AT_ONCE = 262_144
"""Elements (replica, record, interval) of survival curves that are held together."""


@functools.lru_cache(maxsize=128)
def fit(
    table: SurvivalTable, intervals: int, knots: int, ridge: float, solver: str, device: str
) -> Solution:
    r"""The minimiser of J at one \Lambda (0 for the unregularised optimum f*), R = 1."""
    model = design(table, intervals, knots, device)
    weight = torch.full((1,), ridge, dtype=torch.float64, device=device)
    linear = model.A.new_zeros(1, model.dimension)
    return minimise(model, weight, linear, solver=solver)


def optimum(table: SurvivalTable, intervals: int, knots: int, device: str = "cpu") -> Tensor:
    """f*, the unregularised maximum-likelihood estimate, shape (d,); the smallest where q < e."""
    return fit(table, intervals, knots, 0.0, "newton", device).f[0]


@dataclass(frozen=True, eq=False)
class Cox:
    """A Cox regression on the scaled covariates (lifelines, Efron's ties).

    Attributes:
        beta: Coefficients, shape (p,); 0 for a constant column.
        error: Their standard errors, shape (p,).
        time: Times of the baseline, scaled to [0, 1], ascending, shape (k,).
        cumulative: Baseline cumulative hazard at those times, shape (k,).
    """

    beta: Floats
    error: Floats
    time: Floats
    cumulative: Floats


@functools.lru_cache(maxsize=8)
def cox(table: SurvivalTable) -> Cox:
    """The Cox regression of a table; kept per table."""
    import pandas as pd
    from lifelines import CoxPHFitter, CoxTimeVaryingFitter
    from lifelines.exceptions import ConvergenceError

    records, course = scaled(table), scaled(table).episodes
    x = records.x if course is None else course.x
    varied = np.flatnonzero(np.ptp(x, axis=0) > 0)
    frame, fitter = pd.DataFrame(x[:, varied]), CoxPHFitter
    if course is None:
        names = {"duration_col": "time", "event_col": "event"}
        frame["time"], frame["event"] = np.maximum(records.time, 1e-6), records.event
    else:
        fitter, names = CoxTimeVaryingFitter, {f"{c}_col": c for c in ("id", "event", *ENDS)}
        frame["id"], frame["start"], frame["stop"] = course.person, course.start, course.stop
        last = np.append(course.person[1:] != course.person[:-1], True)
        frame["event"] = np.where(last, records.event[course.person], 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lifelines warns about data that it then fits
        try:
            fitted = fitter().fit(frame, **names)
        except ConvergenceError:  # separated by a covariate: no finite optimum without a penalty
            fitted = fitter(penalizer=1e-4).fit(frame, **names)
    beta, error = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    beta[varied], error[varied] = fitted.params_.to_numpy(), fitted.standard_errors_.to_numpy()
    baseline = fitted.baseline_cumulative_hazard_
    return Cox(beta, error, baseline.index.to_numpy(float), baseline.to_numpy(float)[:, 0])


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A sample of m records with what does not depend on a model.

    Attributes:
        x: Scaled covariates, shape (m, p); of each episode, if they vary in time.
        rows: Records of the sample with an event, shape (k,).
        ends: When those were, scaled, shape (k,).
        pairs: Which records outlived each of those, shape (k, m).
        times: Scaled times of the Brier score, shape (TIMES,).
        case: Weight of S(t|x)^2, shape (m, TIMES).
        control: Weight of (1 - S(t|x))^2, shape (m, TIMES).
        course: The episodes of the sample, if covariates vary in time.
    """

    x: Tensor
    rows: Integers
    ends: Floats
    pairs: Booleans
    times: Floats
    case: Tensor
    control: Tensor
    course: Episodes | None = None

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
def evaluation(table: SurvivalTable) -> Evaluation:
    """The sample of a table; the same for every run, and kept per table."""
    records, rng = scaled(table), np.random.default_rng(0)
    some = np.sort(rng.choice(len(table), min(len(table), SAMPLE), replace=False))
    time, event = records.time[some], records.event[some] > 0
    rows = np.flatnonzero(event)
    later = time > time[rows][:, None]
    pairs = later | ((time == time[rows][:, None]) & ~event)
    times = _moments(records.time)
    case, control = _weights(table, time, event, times)
    course = _course(records.episodes, some)
    x = torch.tensor(records.x[some] if course is None else course.x)
    weights = (torch.tensor(case), torch.tensor(control))
    return Evaluation(x, rows, time[rows], pairs, times, *weights, course)


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


def concordance(sample: Evaluation, risk: Tensor) -> Column:
    """Harrell's index of risk scores, shape (R,); 0.5 where no pair is comparable.

    Args:
        sample: The sample.
        risk: Of each row of its x, shape (R, m); of episodes, those at the time of the event count.
    """
    scores, shares = risk.numpy(), np.full(len(risk), 0.5)
    count = np.count_nonzero(sample.pairs)
    held = sample.before(sample.ends)
    for row, score in enumerate(scores if count else ()):
        own = score[sample.rows][:, None]
        if held is not None:
            score = score[held.T]
            own = np.take_along_axis(score, sample.rows[:, None], axis=1)
        below = np.count_nonzero((score < own - TIED) & sample.pairs)
        not_above = np.count_nonzero((score <= own + TIED) & sample.pairs)
        shares[row] = 0.5 * (below + not_above) / count
    return np.where(np.isfinite(scores).all(axis=1), shares, np.nan)


def brier(sample: Evaluation, survival: Tensor) -> Column:
    """Integrated Brier score of survival probabilities (R, m, TIMES), shape (R,)."""
    score = sample.case * survival.square() + sample.control * (1.0 - survival).square()
    totals: Column = score.sum((1, 2)).numpy()
    return totals


def survival_at(f: Tensor, knots: int, intervals: int, sample: Evaluation) -> Tensor:
    """S(t|x) of every record at every time, shape (R, m, TIMES).

    Within an interval log S is linear in time: what remains of it counts in proportion.
    """
    A = torch.tensor(basis(intervals, knots))
    passed = intervals * sample.times - np.arange(intervals)[:, None]
    weight = torch.tensor(np.clip(passed, 0.0, 1.0))  # (q, TIMES)
    a, c = f[:, :knots] @ A.T, f[:, knots:] @ sample.x.T
    last = max(1, int(np.ceil(intervals * sample.times[-1])))
    held = sample.by_interval(intervals, last)
    if held is not None:
        return (-softplus(c[:, torch.tensor(held)] + a[:, None, :last]) @ weight[:last]).exp()
    rates = weight[:last].T @ log_one_plus(a[:, :last], c).transpose(1, 2)  # faster this way round
    return rates.neg_().exp_().transpose(1, 2)


@single_thread()
def utility(
    table: SurvivalTable, spec: SurvivalSpec, f: Tensor, noise_to_signal: Column
) -> Utility:
    """All gauges of parameters f, shape (R, d); NaN where f is, and where they are not needed."""
    if not measuring():
        nothing = np.full(len(f), np.nan)
        return Utility(nothing, nothing, nothing, nothing, nothing, noise_to_signal)
    best = optimum(table, spec.intervals, spec.knots)
    f, e, sample = f.cpu(), spec.knots, evaluation(table)
    reference = torch.tensor(cox(table).beta)
    size = max(1, AT_ONCE // (len(sample.x) * spec.intervals))
    curves = [
        brier(sample, survival_at(part, e, spec.intervals, sample)) for part in torch.split(f, size)
    ]
    return Utility(
        mre=relative(f, best),
        mre_beta=relative(f[:, e:], best[e:]),
        concordance=concordance(sample, f[:, e:] @ sample.x.T),
        brier=np.concatenate(curves),
        cox_error=relative(f[:, e:], reference),
        noise_to_signal=noise_to_signal,
    )


def relative(estimate: Tensor, truth: Tensor) -> Column:
    r"""\|found - truth\| / \|truth\| per replica, shape (R,)."""
    ratio: Column = ((estimate - truth).norm(dim=1) / truth.norm().clamp_min(1e-300)).numpy()
    return ratio
