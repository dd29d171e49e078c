r"""A private Kaplan-Meier curve: noise on the counts behind the product-limit estimate.

S(s) = \prod_{u \le s} (1 - d_u/r_u), d_u events in interval u and r_u = n - \sum_{v < u} (all who
ended), from noisy counts. A hazard that noise makes negative is kept, so that the curve is not
pulled down; the whole is then made monotone.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Floats, SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.gauges import Column, measuring
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import brier
from engine.papers.survival.evaluation.scored import scored
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.price.curve import counts
from engine.papers.survival.spec import Curved, SurvivalSpec
from engine.privacy.noise import release
from engine.training.threads import single_thread


@dataclass(frozen=True, eq=False)
class State:
    """The curves of R replicas at the ends of the intervals, shape (R, q + 1); NaN at first."""

    curve: Tensor


@final
class PrivateKaplanMeier:
    r"""One noisy table of counts.

    Guarantees:
        `price.curve.counts`: a record adds 1 to one cell, so the sensitivity is \sqrt2. Its
        mechanism gives both the scale and the price.
    """

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Nothing is released yet."""
        shape = (len(batch), batch.spec.intervals + 1)
        return State(torch.full(shape, torch.nan, dtype=torch.float64, device=rng.device))

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Curved]:
        """Releases the counts and works out the curve."""
        table, q = survival(data, batch.spec), batch.spec.intervals
        model = design(table, q, batch.spec.knots, str(rng.device))
        cell = (model.ends - 1) + q * (model.happened > 0)
        exact = model.counted(cell, 2 * q).to(model.A)
        noisy = release(exact.expand(len(batch), -1), [counts(s) for s in batch.specs], rng)
        curve = product_limit(noisy.view(-1, 2, q), model.records)
        return State(curve), measured(table, q, curve)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """`km_private` (R, q + 1), from time 0 to the horizon, and the scale of the data."""
        records = scaled(survival(data, batch.spec))
        return {
            "km_private": state.curve.cpu().numpy(),
            **products.scale(records, len(batch)),
        }


def product_limit(noisy: Tensor, n: int) -> Tensor:
    """The curve from counts of censored times and of events, shape (R, 2, q), to (R, q + 1)."""
    happened, leaving = noisy[:, 1], noisy.sum(1)
    risk = (n - leaving.cumsum(1) + leaving).clamp_min(1.0)
    stays = (1.0 - happened / risk).clamp(0.0, 2.0)
    raw = torch.cat([torch.ones_like(stays[:, :1]), stays.cumprod(1).clamp(0.0, 1.0)], 1)
    above = raw.flip(1).cummax(1).values.flip(1)
    return 0.5 * (raw.cummin(1).values + above)


def measured(table: SurvivalTable, intervals: int, curve: Tensor) -> Curved:
    """The gauges of curves (R, q + 1)."""
    if not measuring():
        nothing = np.full(len(curve), np.nan)
        return Curved(nothing, nothing, nothing)
    curve, sample = curve.cpu(), scored(table, intervals)
    ends = np.arange(intervals + 1) / intervals
    rows = [np.interp(sample.times, ends, row) for row in curve.numpy()]
    people = torch.tensor(np.array(rows))[:, None].expand(-1, len(sample.case), -1)
    gap = (curve - torch.tensor(kaplan_meier(table, ends))).abs().amax(1)
    column: Column = gap.numpy()
    score, error = brier(sample, people)
    return Curved(brier=score, brier_error=error, gap=column)


def kaplan_meier(table: SurvivalTable, times: Floats) -> Floats:
    """The product-limit estimate (lifelines) at scaled times, from the records within bounds."""
    from lifelines import KaplanMeierFitter

    records = scaled(table)
    fitted = KaplanMeierFitter().fit(records.time, records.event)
    curve: Floats = fitted.survival_function_at_times(times).to_numpy(float)
    return curve


METHOD = PrivateKaplanMeier()
