"""Measures from raw records: what private parameters are compared with, and on what they score.

Nothing here is private. Concordance and Brier score are those of scikit-survival, computed for
all replicas at once: concordance, which compares pairs, on a fixed sample of at most 1,000 records,
the Brier score on as many as `scored` says. Covariates that vary in time are
scored as they are just before each time, and where they are not known any more as they were last.
"""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from datasets.base import Floats, SurvivalTable
from engine.core.gauges import Column, measuring
from engine.papers.survival.evaluation.scored import Evaluation, evaluation, scored
from engine.papers.survival.likelihood.logit import log_one_plus
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.scale import scaled
from engine.papers.survival.likelihood.solvers import Solution, minimise
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.training.threads import single_thread

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


def brier(sample: Evaluation, survival: Tensor) -> tuple[Column, Column]:
    """Integrated Brier score of survival probabilities (R, m, TIMES), and its standard error.

    The error is that of a sample without replacement from a finite table (Cochran 1977, Section
    2.5), shape (R,) like the score; 0 where the sample is the whole table.
    """
    score = sample.case * survival.square() + sample.control * (1.0 - survival).square()
    each, count = score.sum(2), len(sample.time)  # each record's part of the mean
    left = max(0.0, 1.0 - count / sample.whole)
    error = (count * left) ** 0.5 * each.std(1, correction=1) if count > 1 else 0.0 * each.sum(1)
    return each.sum(1).numpy(), error.numpy()


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
        return Utility(nothing, nothing, nothing, nothing, nothing, nothing, noise_to_signal)
    best = optimum(table, spec.intervals, spec.knots)
    f, e, sample = f.cpu(), spec.knots, evaluation(table)
    reference = torch.tensor(cox(table).beta)
    many = scored(table, spec.intervals)
    size = max(1, AT_ONCE // (len(many.x) * spec.intervals))
    scores = [
        brier(many, survival_at(part, e, spec.intervals, many)) for part in torch.split(f, size)
    ]
    score, error = (np.concatenate(columns) for columns in zip(*scores, strict=True))
    return Utility(
        mre=relative(f, best),
        mre_beta=relative(f[:, e:], best[e:]),
        concordance=concordance(sample, f[:, e:] @ sample.x.T),
        brier=score,
        brier_error=error,
        cox_error=relative(f[:, e:], reference),
        noise_to_signal=noise_to_signal,
    )


def relative(estimate: Tensor, truth: Tensor) -> Column:
    r"""\|found - truth\| / \|truth\| per replica, shape (R,)."""
    ratio: Column = ((estimate - truth).norm(dim=1) / truth.norm().clamp_min(1e-300)).numpy()
    return ratio
