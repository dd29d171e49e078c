r"""Full-batch private gradient descent: per-record clipping in a whitened space, Gaussian noise.

With \hat H the estimated curvature and K a prior's, W = (\hat H + K)^{-1/2} whitens; the step is
f \leftarrow f - \eta W^T(sum + noise) - \eta (\hat H + K)^{-1} K (f - f_0). The average of the
later iterates is released.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.papers.survival.evaluation.evaluate import utility
from engine.papers.survival.likelihood.problem import Design
from engine.papers.survival.mechanisms.descent import (
    NoisyDescent,
    Whitened,
    bounds,
    generous,
    noisy_sum,
    records,
    wide,
)
from engine.papers.survival.mechanisms.start import start
from engine.papers.survival.price.descent import Plan, even
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.training.threads import single_thread

RATE = 0.6
r"""\eta: share of a Newton step; small enough for a curvature that is three times too low."""
GENEROUS = 3.0
r"""How fast the clip grows as the noise shrinks."""
LATER = 0.5
"""Share of the iterates that are averaged."""


@dataclass(frozen=True, eq=False, kw_only=True)
class State(Whitened):
    r"""What R replicas have reached.

    Attributes:
        pull: The prior's precision K, shape (R, d).
        total: Sum of the later iterates, shape (R, d).
    """

    pull: Tensor
    total: Tensor


@final
class PrivateGradientDescent(NoisyDescent[State]):
    """Gradient descent from a private start."""

    def plan(self, spec: SurvivalSpec) -> Plan:
        """Counts, moments and equal gradients."""
        return even(spec)

    @single_thread()
    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Releases counts and second moments; starts at the baseline without covariates."""
        model, plans = records(batch, data, str(rng.device)), list(map(self.plan, batch.specs))
        known = start(model, plans, rng)
        pairs = zip(batch.specs, plans, strict=True)
        factors = [spec.clip * generous(plan, GENEROUS) for spec, plan in pairs]
        clip = bounds(factors, known.events, model.dimension)
        pull = prior(plans, clip, model, batch.spec.steps)
        stiff = known.curvature + torch.diag_embed(pull)
        root = torch.linalg.inv(torch.linalg.cholesky(stiff)).transpose(1, 2)
        zero = torch.zeros_like(known.f)
        return State(
            f=known.f, first=known.f, root=root, pull=pull, clip=clip, total=zero,
            clipped=zero[:, 0],
        )  # fmt: skip

    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """One noisy step of every replica."""
        state = stepped(batch, data, state, rng)
        last = state.taken == batch.spec.steps
        if not (last or state.taken % max(1, len(batch) // 4) == 0):
            return state, None
        return state, self.measured(batch, data, state, utility)

    def answer(self, batch: Batch[SurvivalSpec], state: State) -> Tensor:
        """The average of the later iterates so far, or the present one before them."""
        return release(state, batch.spec.steps)

    def spread(self, batch: Batch[SurvivalSpec], state: State) -> Tensor:
        """Of the average, to first order."""
        plans = list(map(self.plan, batch.specs))
        steps = np.sqrt(batch.spec.steps)
        scale = state.clip.new_tensor([p.gradients[0].scale for p in plans]) / steps
        spread: Tensor = (scale * state.clip)[:, None] * state.root.norm(dim=2)
        return spread


@single_thread()
def stepped(batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator) -> State:
    """The next state, and nothing measured."""
    model = records(batch, data, str(rng.device))
    mechanisms = [even(spec).gradients[0] for spec in batch.specs]
    slope, clipped = noisy_sum(model, (state.f, state.root, state.clip), mechanisms, rng)
    pulled = state.root.transpose(1, 2) @ (state.pull * (state.f - state.first))[:, :, None]
    f = state.f - RATE * (state.root @ (slope[:, :, None] + pulled))[:, :, 0]
    taken = state.taken + 1
    total = state.total + f if taken > _first(batch.spec.steps) else state.total
    return replace(state, f=f, total=total, clipped=clipped, taken=taken)


def prior(plans: Sequence[Plan], clip: Tensor, model: Design, steps: int) -> Tensor:
    """K: the noise's variance over the prior's, shape (R, d).

    So a direction that the noise drowns stays where it started.
    """
    variance = (clip * clip.new_tensor([p.gradients[0].scale for p in plans])).square() / steps
    return variance[:, None] / wide(clip.new_empty(model.dimension), model.knots).square()


def release(state: State, steps: int) -> Tensor:
    """The average of the later iterates so far, or the present one before them, shape (R, d)."""
    count = state.taken - _first(steps)
    return state.total / count if count > 0 else state.f


def _first(steps: int) -> int:
    """Steps before the first iterate that is averaged."""
    return int(steps * (1.0 - LATER))


METHOD = PrivateGradientDescent()
