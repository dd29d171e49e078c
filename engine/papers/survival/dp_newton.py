r"""Private Newton steps along clipped, noisy gradients (after Ganesh et al. 2023).

A pass releases the sum of the gradients, each record's whitened by a curvature S, W^T S W = 1, and
clipped. S is the mean of the start's and that of a made-up cohort at the present estimate; both
follow from what was released. All gradients so far, as one linear function with noise (`pooled`),
say where the next is taken, and after the last pass what is released.
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
from engine.papers.survival import grouped, pooled, products
from engine.papers.survival.cohort import Bend, Cohort, curvature, logit, proportional
from engine.papers.survival.dp_gd import SPREAD_ALPHA, SPREAD_BETA, USUAL, clipped_sum
from engine.papers.survival.evaluate import utility
from engine.papers.survival.grouped_utility import grouped_utility
from engine.papers.survival.likelihood import record_gradients
from engine.papers.survival.price_newton import Plan, planned
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
MADE = 0.5
"""Share of the cohort's curvature in the estimate; the rest is the start's."""
FAR = 1.5
r"""Longest step: \sqrt N of this in the metric, so that predictors of events move that far."""


@dataclass(frozen=True, eq=False)
class State:
    r"""What R replicas have reached.

    Attributes:
        f: The estimate after the passes so far, shape (R, d).
        first: Where it started, shape (R, d).
        cohort: Made-up persons that are like the records.
        stiff: Curvature that the start estimated, shape (R, d, d).
        root: W with W^T S W = 1 in the last pass, symmetric, shape (R, d, d).
        points: Parameters at which gradients were taken, shape (R, taken, d).
        slopes: Those gradients, clipped in the metric of their pass, with noise, (R, taken, d).
        blur: Roots of the covariance of the noise in each, shape (R, taken, d, d).
        clip: C of the last pass, shape (R,).
        clipped: Share of records that the last pass clipped, shape (R,).
        taken: Passes so far.
    """

    f: Tensor
    first: Tensor
    cohort: Cohort
    stiff: Tensor
    root: Tensor
    points: Tensor
    slopes: Tensor
    blur: Tensor
    clip: Tensor
    clipped: Tensor
    taken: int = 0


@dataclass(frozen=True)
class Law:
    """A likelihood, by what Newton's method needs of it.

    Attributes:
        gradients: As `likelihood.record_gradients`.
        measure: As `evaluate.utility`.
        bend: Hazards and what they count in the curvature, as `cohort.logit`.
        whole: Whether an event counts fully in the curvature, whatever the hazard is.
    """

    gradients: Callable[[Design, Tensor], Tensor]
    measure: Callable[[SurvivalTable, SurvivalSpec, Tensor, Column], Utility]
    bend: Bend
    whole: bool = False


LOGIT = Law(record_gradients, utility, logit)
COX = Law(grouped.gradients, grouped_utility, proportional, whole=True)


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
        plans = [planned(spec) for spec in batch.specs]
        known = start(model, plans, rng)
        stiff, none = known.curvature, known.f[:, None][:, :0]
        if self.law.whole:
            stiff = stiff * (known.events / known.information)[:, None, None]
        zero = torch.zeros_like(known.events)
        return State(
            f=known.f,
            first=known.f,
            cohort=known.cohort,
            stiff=stiff,
            root=whitening(stiff),
            points=none,
            slopes=none,
            blur=stiff[:, None][:, :0],
            clip=zero,
            clipped=zero,
        )

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """One pass of every replica."""
        state, spec = stepped(self.law, batch, data, state, rng), batch.spec
        if state.taken < spec.passes and not measuring():
            return state, None
        ratio = spread(state, spec.knots).norm(dim=1) / state.f.norm(dim=1).clamp_min(1e-300)
        return state, self.law.measure(survival(data, spec), spec, state.f, ratio.cpu().numpy())

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """The release and what led to it.

        Returns:
            `coefficients` (R, d); `noise` (R, d), its standard deviation to first order; `start`
            (R, d); `clip` and `clipped` (R,), the bound and the share of records at it, which is
            not released; and the scale of the data.
        """
        return {
            "coefficients": state.f.cpu().numpy(),
            "noise": spread(state, batch.spec.knots).cpu().numpy(),
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
    mechanisms = [plan.gradients[state.taken] for plan in plans]
    made = curvature(state.cohort, model.A, state.f, law.bend)
    stiff = MADE * made + (1.0 - MADE) * state.stiff
    root, clip = whitening(stiff), bounds(plans, stiff[:, 0, 0], model.dimension)
    slope, clipped = clipped_sum(model, state.f, root, clip, law.gradients)
    slope = noise.release(slope, mechanisms, rng, 1.0 / clip[:, None])
    scale = clip * slope.new_tensor([one.scale for one in mechanisms])
    back = torch.linalg.inv(root)
    state = replace(
        state,
        root=root,
        points=torch.cat([state.points, state.f[:, None]], 1),
        slopes=torch.cat([state.slopes, slope[:, None] @ back], 1),
        blur=torch.cat([state.blur, (scale[:, None, None] * back)[:, None]], 1),
        clip=clip,
        clipped=clipped,
        taken=state.taken + 1,
    )
    step = pooled.crossing(_line(state), prior(state, model.knots)) - _inside(state, state.f)
    longest = FAR * state.cohort.events.sqrt()
    step = step * (longest / step.norm(dim=1).clamp_min(1e-300)).clamp(max=1.0)[:, None]
    return replace(state, f=state.f + (root @ step[:, :, None])[:, :, 0])


def _inside(state: State, f: Tensor) -> Tensor:
    """W^{-1} (f - first), shape (R, d)."""
    away: Tensor = torch.linalg.solve(state.root, (f - state.first)[:, :, None])[:, :, 0]
    return away


def _line(state: State) -> pooled.Line:
    points = torch.linalg.solve(state.root, (state.points - state.first[:, None]).transpose(1, 2))
    variance = (state.blur @ state.root[:, None]).square().sum(2)
    return pooled.fitted(points.transpose(1, 2), state.slopes @ state.root, variance)


def whitening(stiff: Tensor) -> Tensor:
    """The symmetric W with W^T S W = 1, shape (R, d, d); no curvature counts as a little.

    The symmetric root follows S smoothly; one along eigenvectors turns by any angle where S hardly
    changes. Noise is the same in all directions, so its privacy and its error do not depend on
    which root it is. But two neighbours that draw the same noise then stay close, and pairs of
    trainings can be compared.
    """
    values, vectors = torch.linalg.eigh(stiff)
    least = LEAST * values[:, -1:].clamp_min(1e-300)
    root: Tensor = vectors * torch.maximum(values, least).rsqrt()[:, None] @ vectors.transpose(1, 2)
    return root


def bounds(plans: Sequence[Plan], size: Tensor, d: int) -> Tensor:
    r"""C of each replica: FACTOR \sqrt{(1 + GENEROUS \mu) d/N} (N/3000)^{1/4}, shape (R,).

    N is what the events count in the curvature, in whose metric squared lengths add up to about d.
    """
    factor = [FACTOR * math.sqrt(1.0 + GENEROUS / p.total) for p in plans]
    return size.new_tensor(factor) * (size / USUAL) ** 0.25 * (d / size).sqrt()


def prior(state: State, knots: int) -> Tensor:
    """Precision of a normal prior around the start, in the metric, shape (R, d, d)."""
    wide = torch.full_like(state.f, SPREAD_BETA)
    wide[:, :knots] = SPREAD_ALPHA
    precision: Tensor = (state.root / wide[:, :, None].square()).transpose(1, 2) @ state.root
    return precision


def spread(state: State, knots: int) -> Tensor:
    """Standard deviation of what the gradients' noise does to the release, shape (R, d)."""
    if not state.taken:
        return torch.zeros_like(state.f)
    deviation: Tensor = (state.root @ pooled.spread(_line(state), prior(state, knots))).norm(dim=2)
    return deviation


def _design(batch: Batch[SurvivalSpec], data: Table, device: str) -> Design:
    return design(survival(data, batch.spec), batch.spec.intervals, batch.spec.knots, device)


METHOD = PrivateNewton(LOGIT)
PROPORTIONAL = PrivateNewton(COX)
