r"""Full-batch private gradient descent: per-record clipping in a whitened space, Gaussian noise.

With \hat H the estimated curvature and K a prior's, W = (\hat H + K)^{-1/2} whitens: every record's
gradient W \nabla\ell_i is clipped to length C and their sum gets noise; the step is
f \leftarrow f - \eta W^T(sum + noise) - \eta (\hat H + K)^{-1} K (f - f_0). The average of the
later iterates is released.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.survival import products
from engine.papers.survival.evaluate import utility
from engine.papers.survival.likelihood import record_gradients
from engine.papers.survival.price_gradient import Plan, planned
from engine.papers.survival.problem import Design, design
from engine.papers.survival.public_start import Start, start
from engine.papers.survival.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.privacy import noise
from engine.training.threads import single_thread

RATE = 0.6
r"""\eta: share of a Newton step; small enough for a curvature that is three times too low."""
GENEROUS = 3.0
r"""How fast the clip grows as the noise shrinks: with little noise, fewer records are clipped."""
USUAL = 3000.0
"""Events at which the clip is c root mean squares; it grows with their fourth root.

In standard errors, noise does not depend on the number N of events and a clip's bias grows with
its square root; where tails fall as a power of about four the two balance near N^(1/4).
"""
SPREAD_ALPHA, SPREAD_BETA = 5.0, 2.0
"""Standard deviations of the prior around the start, in baseline and covariate parameters."""
LATER = 0.5
"""Share of the iterates that are averaged."""


@dataclass(frozen=True, eq=False)
class State:
    r"""What R replicas have reached.

    Attributes:
        f: The iterate, shape (R, d).
        first: Where it started, shape (R, d).
        root: W^T, shape (R, d, d): from the whitened space to parameters.
        pull: The prior's precision K, shape (R, d).
        clip: C, shape (R,).
        total: Sum of the later iterates, shape (R, d).
        clipped: Share of records that the last step clipped, shape (R,).
        taken: Steps so far.
    """

    f: Tensor
    first: Tensor
    root: Tensor
    pull: Tensor
    clip: Tensor
    total: Tensor
    clipped: Tensor
    taken: int = 0


class PrivateGradientDescent:
    r"""Gradient descent from a private start.

    Guarantees:
        Every release is Gaussian with the sensitivity that `price_gradient` derives; `cost` is
        the composition of the very mechanisms that draw the noise.
    """

    @single_thread()
    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Releases counts and second moments; starts at the baseline without covariates."""
        model, plans = _design(batch, data, str(rng.device)), [planned(s) for s in batch.specs]
        known = start(model, plans, rng)
        clip = bounds(batch.specs, plans, known, model.dimension)
        pull = prior(plans, clip, model, batch.spec.steps)
        stiff = known.curvature + torch.diag_embed(pull)
        root = torch.linalg.inv(torch.linalg.cholesky(stiff)).transpose(1, 2)
        zero = torch.zeros_like(known.f)
        return State(known.f, known.f, root, pull, clip, zero, zero[:, 0])

    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """One noisy step of every replica."""
        state, last = stepped(batch, data, state, rng), batch.spec.steps
        if not (state.taken == last or state.taken % max(1, len(batch) // 4) == 0):
            return state, None
        plans = [planned(spec) for spec in batch.specs]
        answer = release(state, last)
        ratio = _noise(state, plans, last).norm(dim=1) / answer.norm(dim=1).clamp_min(1e-300)
        return state, utility(survival(data, batch.spec), batch.spec, answer, ratio.cpu().numpy())

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """The release and what led to it.

        Returns:
            `coefficients` (R, d); `noise` (R, d), its standard deviation to first order; `start`
            (R, d); `clip` and `clipped` (R,), the bound and the share of records at it, which is
            not released; and the scale of the data.
        """
        steps = batch.spec.steps
        spread = _noise(state, [planned(s) for s in batch.specs], steps)
        return {
            "coefficients": release(state, steps).cpu().numpy(),
            "noise": spread.cpu().numpy(),
            "start": state.first.cpu().numpy(),
            "clip": state.clip.cpu().numpy(),
            "clipped": state.clipped.cpu().numpy(),
            **products.scale(scaled(survival(data, batch.spec)), len(batch)),
        }


@single_thread()
def stepped(batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator) -> State:
    """The next state, and nothing measured."""
    model, plans = _design(batch, data, str(rng.device)), [planned(s) for s in batch.specs]
    slope, clipped = clipped_sum(model, state.f, state.root, state.clip)
    slope = noise.release(slope, [p.gradient for p in plans], rng, 1.0 / state.clip[:, None])
    pulled = state.root.transpose(1, 2) @ (state.pull * (state.f - state.first))[:, :, None]
    f = state.f - RATE * (state.root @ (slope[:, :, None] + pulled))[:, :, 0]
    taken = state.taken + 1
    total = state.total + f if taken > _first(batch.spec.steps) else state.total
    return replace(state, f=f, total=total, clipped=clipped, taken=taken)


def bounds(specs: Sequence[SurvivalSpec], plans: Sequence[Plan], known: Start, d: int) -> Tensor:
    r"""C of each replica: c \sqrt{(1 + 3\mu) d/N} (N/3000)^{1/4}, \mu = 1/\sigma, shape (R,).

    The squared lengths of whitened gradients add up to about d, most of it from the N events.
    """
    factor = [
        s.clip * math.sqrt(1.0 + GENEROUS / p.total) for s, p in zip(specs, plans, strict=True)
    ]
    grown = (known.events / USUAL) ** 0.25
    return known.events.new_tensor(factor) * grown * (d / known.events).sqrt()


def prior(plans: Sequence[Plan], clip: Tensor, model: Design, steps: int) -> Tensor:
    """K: the noise's variance over the prior's, shape (R, d).

    So a direction that the noise drowns stays where it started.
    """
    variance = (clip * clip.new_tensor([p.gradient.scale for p in plans])).square() / steps
    spread = clip.new_full((model.dimension,), SPREAD_BETA)
    spread[: model.knots] = SPREAD_ALPHA
    return variance[:, None] / spread.square()


def clipped_sum(
    model: Design,
    f: Tensor,
    root: Tensor,
    clip: Tensor,
    gradients: Callable[[Design, Tensor], Tensor] = record_gradients,
) -> tuple[Tensor, Tensor]:
    r"""\sum_i W\nabla\ell_i min(1, C/\|W\nabla\ell_i\|), shape (R, d), and the share clipped (R,).

    Any record changes it by at most 2C when it is replaced, whatever f, W and C are.
    """
    v = gradients(model, f)
    white = model.by_record(torch.cat([v, v[:, :, :1] * model.x], dim=2)) @ root
    size = white.norm(dim=2)
    weight = (clip[:, None] / size.clamp_min(1e-300)).clamp(max=1.0)
    total = (model.signed(weight) if model.owners is None else weight)[:, None] @ white
    cut = (weight < 1.0).double()
    if model.copies is not None:
        return total[:, 0], model.signed(cut).sum(1) / model.records
    return total[:, 0], cut.mean(1)


def release(state: State, steps: int) -> Tensor:
    """The average of the later iterates so far, or the present one before them, shape (R, d)."""
    count = state.taken - _first(steps)
    return state.total / count if count > 0 else state.f


def _first(steps: int) -> int:
    """Steps before the first iterate that is averaged."""
    return int(steps * (1.0 - LATER))


def _noise(state: State, plans: Sequence[Plan], steps: int) -> Tensor:
    """Standard deviation of what the gradients' noise does to the release, shape (R, d)."""
    scale = state.clip.new_tensor([p.gradient.scale for p in plans]) / np.sqrt(steps)
    spread: Tensor = (scale * state.clip)[:, None] * state.root.norm(dim=2)
    return spread


def _design(batch: Batch[SurvivalSpec], data: Table, device: str) -> Design:
    return design(survival(data, batch.spec), batch.spec.intervals, batch.spec.knots, device)


METHOD = PrivateGradientDescent()
