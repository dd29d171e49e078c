r"""Private Newton steps along clipped, noisy gradients (after Ganesh et al. 2023).

With S a private information matrix, released once, and W^T S W = 1, a pass releases the sum of the
whitened gradients and steps to f - W (sum + noise + prior). To first order the noise of earlier
passes cancels in each step, so the passes' ends are averaged by the budget of each gradient.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.gauges import Column, measuring
from engine.method import Arrays
from engine.papers.survival import grouped, products
from engine.papers.survival.dp_gd import SPREAD_ALPHA, SPREAD_BETA, USUAL, clipped_sum
from engine.papers.survival.evaluate import utility
from engine.papers.survival.grouped_utility import grouped_utility
from engine.papers.survival.likelihood import record_gradients
from engine.papers.survival.price_newton import Plan, planned, shares
from engine.papers.survival.problem import Design, design
from engine.papers.survival.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.papers.survival.spread_out import start
from engine.privacy import noise
from engine.training.threads import single_thread

FACTOR, GENEROUS = 1.25, 10.0
r"""C is FACTOR \sqrt{1 + GENEROUS \mu} root mean squares of a whitened gradient, \mu = 1/\sigma."""
LEAST = 1e-9
"""Least curvature of a direction, as a share of the largest."""
FAR = 1.5
r"""Longest step: \sqrt N of this in the metric, so that predictors of events move that far."""
SETTLED = 2
"""Passes whose ends are left out of the average; the last pass always counts."""


@dataclass(frozen=True, eq=False)
class State:
    r"""What R replicas have reached.

    Attributes:
        f: The iterate, shape (R, d).
        first: Where it started, shape (R, d).
        stiff: S, the estimated curvature of the summed loss, shape (R, d, d).
        events: Estimated number of events, shape (R,).
        root: W, shape (R, d, d).
        total: Sum of the later ends times their weights, shape (R, d).
        weight: Sum of those weights.
        clip: C of the last pass, shape (R,).
        clipped: Share of records that the last pass clipped, shape (R,).
        taken: Passes so far.
    """

    f: Tensor
    first: Tensor
    stiff: Tensor
    events: Tensor
    root: Tensor
    total: Tensor
    clip: Tensor
    clipped: Tensor
    weight: float = 0.0
    taken: int = 0


@dataclass(frozen=True)
class Law:
    """A likelihood, by what Newton's method needs of it.

    Attributes:
        gradients: As `likelihood.record_gradients`.
        measure: As `evaluate.utility`.
    """

    gradients: Callable[[Design, Tensor], Tensor]
    measure: Callable[[SurvivalTable, SurvivalSpec, Tensor, Column], Utility]


LOGIT = Law(record_gradients, utility)
COX = Law(grouped.gradients, grouped_utility)


@final
@dataclass(frozen=True)
class PrivateNewton:
    r"""Newton's method from a private start.

    Attributes:
        law: The likelihood.

    Guarantees:
        Every release is Gaussian with the sensitivity that `price_newton` derives; the price is
        the composition of the very mechanisms that draw the noise. Everything else follows from
        what was released before.
    """

    law: Law

    @single_thread()
    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Releases counts and second moments; starts at the baseline without covariates."""
        model = _design(batch, data, str(rng.device))
        known = start(model, [planned(spec) for spec in batch.specs], rng)
        zero = torch.zeros_like(known.f)
        return State(
            f=known.f,
            first=known.f,
            stiff=known.curvature,
            events=known.events,
            root=whitening(known.curvature),
            total=zero,
            clip=zero[:, 0],
            clipped=zero[:, 0],
        )

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """One pass of every replica."""
        state, spec = stepped(self.law, batch, data, state, rng), batch.spec
        if state.taken < spec.passes and not measuring():
            return state, None
        plans, answer = [planned(one) for one in batch.specs], release(state)
        ratio = spread(state, plans).norm(dim=1) / answer.norm(dim=1).clamp_min(1e-300)
        return state, self.law.measure(survival(data, spec), spec, answer, ratio.cpu().numpy())

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """The release and what led to it.

        Returns:
            `coefficients` (R, d); `noise` (R, d), its standard deviation to first order; `start`
            (R, d); `clip` and `clipped` (R,), the bound and the share of records at it, which is
            not released; and the scale of the data.
        """
        return {
            "coefficients": release(state).cpu().numpy(),
            "noise": spread(state, [planned(s) for s in batch.specs]).cpu().numpy(),
            "start": state.first.cpu().numpy(),
            "clip": state.clip.cpu().numpy(),
            "clipped": state.clipped.cpu().numpy(),
            **products.scale(scaled(survival(data, batch.spec)), len(batch)),
        }


@single_thread()
def stepped(
    law: Law, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
) -> State:
    """The state after one more pass, and nothing measured."""
    model, plans = _design(batch, data, str(rng.device)), [planned(s) for s in batch.specs]
    taken = state.taken
    clip = bounds(plans, state.events, model.dimension)
    pull = prior(plans, clip, model)
    root = whitening(state.stiff + torch.diag_embed(pull))
    slope, clipped = clipped_sum(model, state.f, root, clip, law.gradients)
    slope = noise.release(slope, [p.gradients[taken] for p in plans], rng, 1.0 / clip[:, None])
    slope = slope + (root.transpose(1, 2) @ (pull * (state.f - state.first))[:, :, None])[:, :, 0]
    longest = FAR * state.events.sqrt()
    slope = slope * (longest / slope.norm(dim=1)).clamp(max=1.0)[:, None]
    f = state.f - (root @ slope[:, :, None])[:, :, 0]
    weight = 0.0
    if taken >= min(SETTLED, batch.spec.passes - 1):
        weight = shares(batch.spec.passes)[taken]
    return replace(
        state, f=f, root=root, clip=clip, clipped=clipped,
        total=state.total + weight * f, weight=state.weight + weight, taken=taken + 1,
    )  # fmt: skip


def whitening(stiff: Tensor) -> Tensor:
    """W with W^T S W = 1, shape (R, d, d); next to no curvature counts as a little."""
    values, vectors = torch.linalg.eigh(stiff)
    least = LEAST * values[:, -1:].clamp_min(1e-300)
    root: Tensor = vectors * torch.maximum(values, least).rsqrt()[:, None]
    return root


def bounds(plans: Sequence[Plan], events: Tensor, d: int) -> Tensor:
    r"""C of each replica: FACTOR \sqrt{(1 + GENEROUS \mu) d/N} (N/3000)^{1/4}, shape (R,)."""
    factor = [FACTOR * math.sqrt(1.0 + GENEROUS / p.total) for p in plans]
    return events.new_tensor(factor) * (events / USUAL) ** 0.25 * (d / events).sqrt()


def prior(plans: Sequence[Plan], clip: Tensor, model: Design) -> Tensor:
    """K: the noise's variance over the prior's, shape (R, d)."""
    variance = (clip * clip.new_tensor([_together(p) for p in plans])).square()
    wide = clip.new_full((model.dimension,), SPREAD_BETA)
    wide[: model.knots] = SPREAD_ALPHA
    return variance[:, None] / wide.square()


def _together(plan: Plan) -> float:
    """Deviation of the noise of all gradients together, for a clip of 1."""
    return 1.0 / math.sqrt(math.fsum(one.scale**-2 for one in plan.gradients))


def release(state: State) -> Tensor:
    """The average of the later ends, or the present one before them, shape (R, d)."""
    return state.total / state.weight if state.weight else state.f


def spread(state: State, plans: Sequence[Plan]) -> Tensor:
    """Standard deviation of what the gradients' noise does to the release, shape (R, d)."""
    passes = len(plans[0].gradients)
    used = sum(shares(passes)[min(SETTLED, passes - 1) :])
    scale = state.clip.new_tensor([_together(p) for p in plans]) / math.sqrt(used)
    deviation: Tensor = (scale * state.clip)[:, None] * state.root.norm(dim=2)
    return deviation


def _design(batch: Batch[SurvivalSpec], data: Table, device: str) -> Design:
    return design(survival(data, batch.spec), batch.spec.intervals, batch.spec.knots, device)


METHOD = PrivateNewton(LOGIT)
PROPORTIONAL = PrivateNewton(COX)
