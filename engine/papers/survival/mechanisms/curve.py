r"""A private Kaplan-Meier curve: noise on the counts behind the product-limit estimate.

S(s) = \prod_{u \le s} (1 - d_u/r_u), d_u events in interval u and r_u = n - \sum_{v < u} (all who
ended) - w_u/2, from noisy counts. Of the w_u people who are censored within an interval only the
interval is known: they count as at risk for half of it, as in a life table (Cutler and Ederer
1958, J. Chronic Diseases 8, 699-712). People who reach the horizon without an event are at risk to
the end, and are counted apart. A hazard that noise makes negative is kept, so that the curve is
not pulled down; the whole is then made monotone.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Floats, Integers, SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.gauges import Column, measuring
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import brier
from engine.papers.survival.evaluation.scored import scored
from engine.papers.survival.likelihood.problem import discretise
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.price.curve import counts
from engine.papers.survival.spec import Curved, SurvivalSpec
from engine.privacy.noise import release
from engine.training.threads import single_thread

LEVEL, RARE, SURE = 0.95, 1e-9, 1.0 - 1e-6
"""Of the band around a curve, and the least and the largest hazard that it counts with."""


@dataclass(frozen=True, eq=False)
class State:
    """The curves of R replicas at the ends of the intervals, NaN at first.

    Attributes:
        curve: Shape (R, q + 1).
        noisy: The released counts, shape (R, 2q + 1): of censored times and of events in each
            interval, and of people who reach the horizon.
    """

    curve: Tensor
    noisy: Tensor


@final
class PrivateKaplanMeier:
    r"""One noisy table of counts.

    Guarantees:
        `price.curve.counts`: a record adds 1 to one cell, so the sensitivity is \sqrt2. Its
        mechanism gives both the scale and the price.
    """

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Nothing is released yet."""
        q = batch.spec.intervals
        none = torch.full((len(batch), 2 * q + 1), torch.nan, dtype=torch.float64).to(rng.device)
        return State(none[:, : q + 1], none)

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Curved]:
        """Releases the counts and works out the curve."""
        table, q = survival(data, batch.spec), batch.spec.intervals
        exact = torch.tensor(counted(table, q), device=rng.device)
        noisy = release(exact.expand(len(batch), -1), [counts(s) for s in batch.specs], rng)
        curve = product_limit(noisy, len(table))
        return State(curve, noisy), measured(table, q, curve)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """`km_private` (R, q + 1), from time 0 to the horizon, its band, and the data's scale."""
        table = survival(data, batch.spec)
        records, scales = scaled(table), [counts(spec).scale for spec in batch.specs]
        low, high = band(state.curve.cpu(), state.noisy.cpu(), scales, len(table))
        return {
            "km_private": state.curve.cpu().numpy(),
            "km_low": low,
            "km_high": high,
            **products.scale(records, len(batch)),
        }


def cells(table: SurvivalTable, intervals: int) -> Integers:
    """Of each record, shape (n,): its interval, q more with an event, 2q at the horizon without."""
    records = scaled(table)
    cell = discretise(records.time, intervals) - 1 + intervals * (records.event > 0)
    cell[(records.time >= 1.0) & (records.event == 0)] = 2 * intervals
    return cell


def counted(table: SurvivalTable, intervals: int) -> Floats:
    """How many records are in each cell, shape (2q + 1,)."""
    return np.bincount(cells(table, intervals), minlength=2 * intervals + 1).astype(np.float64)


def product_limit(noisy: Tensor, n: int) -> Tensor:
    """The curve from counts (R, 2q + 1), shape (R, q + 1)."""
    censored, happened = noisy[:, :-1].reshape(len(noisy), 2, -1).unbind(1)
    leaving = censored + happened
    risk = (n - leaving.cumsum(1) + leaving - 0.5 * censored).clamp_min(1.0)
    stays = (1.0 - happened / risk).clamp(0.0, 2.0)
    raw = torch.cat([torch.ones_like(stays[:, :1]), stays.cumprod(1).clamp(0.0, 1.0)], 1)
    above = raw.flip(1).cummax(1).values.flip(1)
    return 0.5 * (raw.cummin(1).values + above)


def band(curve: Tensor, noisy: Tensor, scales: Sequence[float], n: int) -> tuple[Floats, Floats]:
    r"""Where the true curve lies at each time, of sampling and of noise together, (R, q + 1) each.

    Ends p are those of a score interval (Wilson 1927; of Kaplan-Meier curves Rothman 1978),
    (S - p)^2 = z^2 (p (1 - p)/m + v): the curve S is a share of m records, m such that Greenwood's
    variance is S (1 - S)/m, and v is what the noise adds. The sampling part follows p, so that the
    ends keep their level where events are few, and lie within 0 and 1. It reads no record.

    Args:
        curve: Released, shape (R, q + 1).
        noisy: The counts it comes from, shape (R, 2q + 1).
        scales: Standard deviation of the noise in a count, for each replica.
        n: Records, which are public.
    """
    z, ends = NormalDist().inv_cdf(0.5 + 0.5 * LEVEL), list[Floats]()
    for own, released, scale in zip(curve.numpy(), noisy.numpy(), scales, strict=True):
        if not np.isfinite(released).all():
            ends.append(np.full((2, len(own)), np.nan))
            continue
        size, passed = precision(n * likely(released, n), n)
        more, error = z * z / size, z * z * passed * scale * scale
        middle, wide = own[1:] + 0.5 * more, 1.0 + more
        half = np.sqrt(np.maximum(middle**2 - wide * (own[1:] ** 2 - error), 0.0))
        both = np.clip(np.stack([middle - half, middle + half]) / wide, 0.0, 1.0)
        ends.append(np.concatenate([np.ones((2, 1)), both], axis=1))
    low, high = np.stack(ends, axis=1)
    return low, high


def precision(counts: Floats, n: int) -> tuple[Floats, Floats]:
    r"""What the curve is worth at the end of each interval, shape (q,) each, to first order.

    \log S = \sum_u \log(1 - d_u/r_u). An event in interval u lowers it by a_u = 1/(r_u - d_u), and
    anybody who ends in u by b_v = d_v/(r_v (r_v - d_v)) in each later interval v, because fewer
    remain at risk; a person who is censored in u lowers it by b_u/2 there. Greenwood's variance of
    \log S is the sum of the b_u.

    Args:
        counts: At least 0, with sum n, shape (2q + 1,).
        n: Records.

    Returns:
        Of how many records S is as sure a share, and the variance of S with noise of variance 1 in
        each count.
    """
    censored, happened = counts[:-1].reshape(2, -1)
    leaving = censored + happened
    risk = np.maximum(n - leaving.cumsum() + leaving - 0.5 * censored, 1.0)
    hazard = np.clip(happened / risk, RARE, SURE)
    each = hazard / (1.0 - hazard) / risk
    curve, later = np.cumprod(1.0 - hazard), np.cumsum(each)
    size = (1.0 - curve) / (curve * later)
    after = np.tril(later[:, None] - later)
    died = np.tril(after + 1.0 / (risk * (1.0 - hazard)))
    left = np.tril(after + 0.5 * each)
    return size, curve**2 * (died**2 + left**2).sum(1)


def likely(counts: Floats, n: int) -> Floats:
    """The nearest shares of n records to noisy counts: at least 0, with sum 1 (Duchi et al. 2008).

    >>> likely(np.array([6.0, 4.0, -2.0]), 8).tolist()
    [0.625, 0.375, 0.0]
    """
    ordered = np.sort(counts)[::-1]
    excess = (np.cumsum(ordered) - n) / np.arange(1, len(counts) + 1)
    by = excess[np.flatnonzero(ordered > excess)[-1]]
    kept = np.maximum(counts - by, 0.0)
    shares: Floats = kept / kept.sum()
    return shares


def measured(table: SurvivalTable, intervals: int, curve: Tensor) -> Curved:
    """The gauges of curves (R, q + 1)."""
    if not measuring():
        nothing = np.full(len(curve), np.nan)
        return Curved(nothing, nothing, nothing)
    curve, sample = curve.cpu(), scored(table, intervals)
    ends = np.arange(intervals + 1) / intervals
    rows = [np.interp(sample.times, ends, row) for row in curve.numpy()]
    stays = torch.tensor(np.array(rows))  # everybody's, shape (R, TIMES)
    each = stays.square() @ sample.case.T + (1.0 - stays).square() @ sample.control.T
    gap = (curve - torch.tensor(kaplan_meier(table, intervals))).abs().amax(1)
    column: Column = gap.numpy()
    once = replace(sample, case=each[..., None], control=torch.zeros(1))
    score, error = brier(once, torch.ones(len(each), each.shape[1], 1, dtype=each.dtype))
    return Curved(brier=score, brier_error=error, gap=column)


@functools.lru_cache(maxsize=8)
def kaplan_meier(table: SurvivalTable, intervals: int) -> Floats:
    """The product-limit estimate (lifelines) at both ends of q intervals, shape (q + 1,)."""
    from lifelines import KaplanMeierFitter

    records = scaled(table)
    fitted = KaplanMeierFitter().fit(records.time, records.event)
    curve: Floats = fitted.survival_function_at_times(
        np.arange(intervals + 1) / intervals
    ).to_numpy(float)
    return curve


METHOD = PrivateKaplanMeier()
