r"""Private Newton steps along clipped, noisy gradients (after Ganesh et al. 2023).

A pass releases the sum of the gradients, each record's whitened by a curvature S, W^T S W = 1, and
clipped. S is the mean of the start's and that of a synthetic cohort at the present estimate; both
follow from what was released. All gradients so far, as one linear function with noise (`pooled`),
say where the next is taken, and after the last pass what is released.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import measuring
from engine.method import Arrays
from engine.papers.survival.evaluation.evaluate import utility
from engine.papers.survival.evaluation.grouped import grouped_utility
from engine.papers.survival.likelihood import grouped
from engine.papers.survival.likelihood.logit import record_gradients
from engine.papers.survival.likelihood.problem import Design
from engine.papers.survival.mechanisms import pooled
from engine.papers.survival.mechanisms.clipping import lost
from engine.papers.survival.mechanisms.cohort import Bend, Cohort, curvature, logit, proportional
from engine.papers.survival.mechanisms.columns import start
from engine.papers.survival.mechanisms.descent import (
    Measure,
    NoisyDescent,
    Whitened,
    bounds,
    generous,
    noisy_sum,
    records,
    wide,
)
from engine.papers.survival.price.descent import Plan, growing
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.training.threads import single_thread

FACTOR, GENEROUS = 1.25, 10.0
r"""C is FACTOR \sqrt{1 + GENEROUS \mu} root mean squares of a whitened gradient, \mu = 1/\sigma."""
LEAST = 1e-9
"""Least curvature of a direction, as a share of the largest."""
MADE = 0.5
"""Share of the cohort's curvature in the estimate; the rest is the start's."""
FAR = 1.5
r"""Longest step: \sqrt N of this in the metric, so that predictors of events move that far."""


@dataclass(frozen=True, eq=False, kw_only=True)
class State(Whitened):
    r"""What R replicas have reached; W, with W^T S W = 1, is symmetric and that of the last pass.

    Attributes:
        cohort: Made-up persons that are like the records.
        stiff: Curvature that the start estimated, shape (R, d, d).
        points: Parameters at which gradients were taken, shape (R, taken, d).
        slopes: Those gradients, clipped in the metric of their pass, with noise, (R, taken, d).
        blur: Roots of the covariance of the noise in each, shape (R, taken, d, d).
    """

    cohort: Cohort
    stiff: Tensor
    points: Tensor
    slopes: Tensor
    blur: Tensor


@dataclass(frozen=True)
class Law:
    """A likelihood, by what Newton's method needs of it.

    Attributes:
        gradients: As `likelihood.logit.record_gradients`.
        measure: As `evaluation.evaluate.utility`.
        bend: Hazards and what they count in the curvature, as `cohort.logit`.
        whole: Whether an event counts fully in the curvature, whatever the hazard is.
    """

    gradients: Callable[[Design, Tensor], Tensor]
    measure: Measure
    bend: Bend
    whole: bool = False


LOGIT = Law(record_gradients, utility, logit)
COX = Law(grouped.gradients, grouped_utility, proportional, whole=True)


@final
@dataclass(frozen=True)
class PrivateNewton(NoisyDescent[State]):
    """Newton's method from a private start.

    Attributes:
        law: The likelihood.
    """

    law: Law

    def plan(self, spec: SurvivalSpec) -> Plan:
        """Counts, histograms, moments and growing gradients."""
        return growing(spec)

    @single_thread()
    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Releases counts and second moments; starts at the baseline without covariates."""
        model, plans = records(batch, data, str(rng.device)), list(map(self.plan, batch.specs))
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
        return state, self.measured(batch, data, state, self.law.measure)

    def answer(self, batch: Batch[SurvivalSpec], state: State) -> Tensor:
        """The estimate."""
        return state.f

    def spread(self, batch: Batch[SurvivalSpec], state: State) -> Tensor:
        """Of the line through all noisy gradients."""
        return spread(state, batch.spec.knots)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """As any descent, and what is unsure of it.

        Returns:
            Also `uncertainty` (R, d, d), `sampling` (R, d) and `events_per_noise` (R,). They follow
            from what was released, so that intervals cost nothing.
        """
        kept = super().products(batch, data, state)
        if not state.taken:
            return kept
        A = torch.tensor(basis(batch.spec.intervals, batch.spec.knots)).to(state.f)
        told = error(self.law, state, A)
        noise = state.f.new_tensor([self.plan(spec).total for spec in batch.specs])
        found = {
            "uncertainty": told.whole,
            "sampling": told.sampling.diagonal(dim1=1, dim2=2).sqrt(),
            "events_per_noise": state.cohort.events / noise,
        }
        return {**kept, **{name: part.cpu().numpy() for name, part in found.items()}}


@single_thread()
def stepped(
    law: Law, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
) -> State:
    """The state after one more pass, and nothing measured."""
    model, plans = records(batch, data, str(rng.device)), list(map(growing, batch.specs))
    mechanisms = [plan.gradients[state.taken] for plan in plans]
    made = curvature(state.cohort, model.A, state.f, law.bend)
    stiff = MADE * made + (1.0 - MADE) * state.stiff
    # what the events count in the curvature, in whose metric squared lengths add up to about d
    factors = [FACTOR * generous(plan, GENEROUS) for plan in plans]
    root, clip = whitening(stiff), bounds(factors, stiff[:, 0, 0], model.dimension)
    slope, clipped = noisy_sum(model, (state.f, root, clip), mechanisms, rng, law.gradients)
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


class Error(NamedTuple):
    """How far R estimates may be from the truth.

    Attributes:
        noise: Covariance of what the gradients' noise does, shape (R, d, d).
        moved: What clipping and the slope of the line displace the estimate by, shape (R, d).
        sampling: Covariance of the error of who was in the table, shape (R, d, d).
    """

    noise: Tensor
    moved: Tensor
    sampling: Tensor

    @property
    def whole(self) -> Tensor:
        """The mean square of all together, shape (R, d, d).

        A displacement counts by its square: intervals that are so much wider hold the truth about
        as often as they say while it is below a deviation of the error (Cochran 1977, 1.8).
        """
        return self.noise + self.moved[:, :, None] * self.moved[:, None] + self.sampling


@single_thread()
def error(law: Law, state: State, A: Tensor) -> Error:
    """How far the estimate may be from the truth: by noise, by clipping and by who was sampled.

    The last is the inverse of the expected information, that of the synthetic cohort at the
    estimate, with the released second moments. That is the slope for the noise, too: the line's
    own would do where noise is small, but its prior draws it to the metric of the steps, which
    knows a column's spread from its histogram alone. What these steps' slope and clipping
    move the estimate by is known, too.

    Args:
        law: The likelihood.
        state: After the last pass.
        A: The baseline's design, shape (q, e).
    """
    cohort = state.cohort.resized()
    information = curvature(cohort, A, state.f, law.bend)
    root, back = whitening(information), state.root
    bend = back.transpose(1, 2) @ information @ back
    place, known = _inside(state, state.f), prior(state, A.shape[1])
    less = lost(cohort, A, state.f, law.bend, (back, state.clip))
    noise, moved = pooled.error(_line(state), bend, known, place, less)
    return Error(
        back @ noise @ back.transpose(1, 2),
        (back @ moved[:, :, None])[:, :, 0],
        root @ root.transpose(1, 2),
    )


def prior(state: State, knots: int) -> Tensor:
    """Precision of a normal prior around the start, in the metric, shape (R, d, d)."""
    variance = wide(state.f, knots).square()[:, :, None]
    precision: Tensor = (state.root / variance).transpose(1, 2) @ state.root
    return precision


def spread(state: State, knots: int) -> Tensor:
    """Standard deviation of what the gradients' noise does to the release, shape (R, d)."""
    if not state.taken:
        return torch.zeros_like(state.f)
    deviation: Tensor = (state.root @ pooled.spread(_line(state), prior(state, knots))).norm(dim=2)
    return deviation


METHOD = PrivateNewton(LOGIT)
PROPORTIONAL = PrivateNewton(COX)
