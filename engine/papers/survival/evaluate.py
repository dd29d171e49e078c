"""Yardsticks from raw records: what private parameters are compared with, and on what they score.

Nothing here is private. Concordance and Brier score are those of scikit-survival, computed for
all replicas at once on a fixed sample of at most 1,000 records.
"""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from datasets.base import Booleans, Floats, Integers, SurvivalTable
from engine.gauges import Column
from engine.papers.survival.likelihood import log_one_plus
from engine.papers.survival.problem import design, scaled
from engine.papers.survival.sensitivity import basis
from engine.papers.survival.solvers import Solution, minimise
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.papers.survival.threads import single_thread

SAMPLE = 1_000
TIMES = 20
TIED = 1e-8
"""Risk scores that differ by less are ties, as in scikit-survival."""
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
    from lifelines import CoxPHFitter
    from lifelines.exceptions import ConvergenceError

    records = scaled(table)
    varied = np.flatnonzero(np.ptp(records.x, axis=0) > 0)
    frame = pd.DataFrame(records.x[:, varied])
    frame["time"], frame["event"] = np.maximum(records.time, 1e-6), records.event
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lifelines warns about data that it then fits
        try:
            fitted = CoxPHFitter().fit(frame, "time", "event")
        except ConvergenceError:  # separated by a covariate: no finite optimum without a penalty
            fitted = CoxPHFitter(penalizer=1e-4).fit(frame, "time", "event")
    beta, error = np.zeros(records.x.shape[1]), np.zeros(records.x.shape[1])
    beta[varied], error[varied] = fitted.params_.to_numpy(), fitted.standard_errors_.to_numpy()
    baseline = fitted.baseline_cumulative_hazard_
    return Cox(beta, error, baseline.index.to_numpy(float), baseline.to_numpy(float)[:, 0])


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A sample of m records with what does not depend on a model.

    Attributes:
        x: Scaled covariates, shape (m, p).
        rows: Records of the sample with an event, shape (k,).
        pairs: Which records outlived each of those, shape (k, m).
        times: Scaled times of the Brier score, shape (TIMES,).
        case: Weight of S(t|x)^2, shape (m, TIMES).
        control: Weight of (1 - S(t|x))^2, shape (m, TIMES).
    """

    x: Tensor
    rows: Integers
    pairs: Booleans
    times: Floats
    case: Tensor
    control: Tensor


@functools.lru_cache(maxsize=8)
def evaluation(table: SurvivalTable) -> Evaluation:
    """The sample of a table; the same for every run, and kept per table."""
    records, rng = scaled(table), np.random.default_rng(0)
    some = np.sort(rng.choice(len(table), min(len(table), SAMPLE), replace=False))
    time, event = records.time[some], records.event[some] > 0
    rows = np.flatnonzero(event)
    later = time > time[rows][:, None]
    pairs = later | ((time == time[rows][:, None]) & ~event)
    early, late = np.quantile(records.time, (0.05, 0.95))
    times = np.linspace(early, late, TIMES)
    case, control = _weights(table, time, event, times)
    return Evaluation(
        torch.tensor(records.x[some]),
        rows,
        pairs,
        times,
        torch.tensor(case),
        torch.tensor(control),
    )


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
    if table.event.any() and not table.event.all():
        censoring = CensoringDistributionEstimator().fit(
            Surv.from_arrays(table.event, records.time)
        )
        at_own, at_times = censoring.predict_proba(time), censoring.predict_proba(times)
    at_own, at_times = (np.where(p == 0, np.inf, p) for p in (at_own, at_times))
    mesh = np.gradient(times) * np.where(np.isin(np.arange(TIMES), (0, TIMES - 1)), 0.5, 1.0)
    share = (mesh / mesh.sum() if mesh.sum() > 0 else np.full(TIMES, 1.0 / TIMES)) / len(time)
    case = ((time[:, None] <= times) & event[:, None]) / at_own[:, None]
    control = (time[:, None] > times) / at_times
    return case * share, control * share


def concordance(sample: Evaluation, risk: Tensor) -> Column:
    """Harrell's index of risk scores (R, m), shape (R,); 0.5 where no pair is comparable."""
    scores, found = risk.numpy(), np.full(len(risk), 0.5)
    count = np.count_nonzero(sample.pairs)
    for row, score in enumerate(scores if count else ()):
        own = score[sample.rows][:, None]
        below = np.count_nonzero((score < own - TIED) & sample.pairs)
        not_above = np.count_nonzero((score <= own + TIED) & sample.pairs)
        found[row] = 0.5 * (below + not_above) / count
    return np.where(np.isfinite(scores).all(axis=1), found, np.nan)


def brier(sample: Evaluation, survival: Tensor) -> Column:
    """Integrated Brier score of survival probabilities (R, m, TIMES), shape (R,)."""
    score = sample.case * survival.square() + sample.control * (1.0 - survival).square()
    found: Column = score.sum((1, 2)).numpy()
    return found


def survival_at(f: Tensor, knots: int, intervals: int, sample: Evaluation) -> Tensor:
    """S(t|x) of every record at every time, shape (R, m, TIMES).

    Within an interval log S is linear in time: what remains of it counts in proportion.
    """
    A = torch.tensor(basis(intervals, knots))
    passed = intervals * sample.times - np.arange(intervals)[:, None]
    weight = torch.tensor(np.clip(passed, 0.0, 1.0))  # (q, TIMES)
    a, c = f[:, :knots] @ A.T, f[:, knots:] @ sample.x.T
    last = max(1, int(np.ceil(intervals * sample.times[-1])))
    rates = weight[:last].T @ log_one_plus(a[:, :last], c).transpose(1, 2)  # faster this way round
    return rates.neg_().exp_().transpose(1, 2)


@single_thread()
def utility(
    table: SurvivalTable, spec: SurvivalSpec, f: Tensor, noise_to_signal: Column
) -> Utility:
    """All gauges of parameters f, shape (R, d); NaN where f is."""
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


def relative(found: Tensor, truth: Tensor) -> Column:
    r"""\|found - truth\| / \|truth\| per replica, shape (R,)."""
    ratio: Column = ((found - truth).norm(dim=1) / truth.norm().clamp_min(1e-300)).numpy()
    return ratio
