r"""What no private method of this family can know: a line to compare with, never a release.

The oracle is told the optimum and the exact curvature H there. It makes one Gaussian release of
the sum of the clipped gradients, whitened by H^{-1/2}, with the whole budget, where that clipped
sum is zero, and chooses the clipping bound in hindsight. Its error is the clipping's bias and that
release's noise alone: no start, no metric and no way to the optimum is paid for. It is no limit of
what can be reached: another metric than H^{-1/2} may have a smaller Euclidean error, and so may a
method that shrinks towards a prior where noise is large.
"""

import functools
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable, Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import optimum, utility
from engine.papers.survival.likelihood.logit import derivatives, record_gradients
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.mechanisms.descent import clipped_sum
from engine.papers.survival.mechanisms.newton import whitening
from engine.papers.survival.price.oracle import single
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.privacy.noise import draw
from engine.training.threads import single_thread

SHARES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0)
"""Shares of the records that the clipping bounds to choose from leave as they are."""
DRAWS = 500
"""Draws over which the mean error of each bound is compared."""
DESCENTS, RATE, STILL = 80, 0.7, 1e-9
"""Steps to where the clipped sum is zero, their length, and the step that ends them."""
NUDGE = 1e-4


@dataclass(frozen=True, eq=False)
class Known:
    """What the oracle is told, for each of K clipping bounds.

    Attributes:
        clips: C, shape (K,).
        f: Where the clipped sum is zero, shape (K, d).
        inverse: What a change of that sum does to it, shape (K, d, d).
    """

    clips: Tensor
    f: Tensor
    inverse: Tensor


@dataclass(frozen=True, eq=False)
class State:
    """What R replicas stand on.

    Attributes:
        centre: Parameters without noise, shape (R, d).
        inverse: What noise of the sum does to them, shape (R, d, d).
        clip: C, shape (R,).
        f: With noise, shape (R, d).
    """

    centre: Tensor
    inverse: Tensor
    clip: Tensor
    f: Tensor


class Oracle:
    r"""One noisy sum of clipped gradients at the optimum.

    Guarantees:
        None: optimum, curvature and clipping bound are computed from the raw records.
    """

    @single_thread()
    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Finds the optimum and chooses the clipping bound of each budget."""
        table, spec = survival(data, batch.spec), batch.spec
        told, best = known(table, spec.intervals, spec.knots), _best(table, spec)
        rows = [chosen(told, best, single(one).scale)[0] for one in batch.specs]
        centre, inverse, clip = (v[rows].to(rng.device) for v in (told.f, told.inverse, told.clips))
        return State(centre, inverse, clip, centre)

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility]:
        """Draws the noise of one release and scores what it comes to."""
        noise = draw([single(one) for one in batch.specs], state.centre.shape[1], rng)
        moved = (state.inverse @ (state.clip[:, None] * noise)[:, :, None])[:, :, 0]
        f, spread = state.centre + moved, _spread(batch, state).norm(dim=1)
        ratio = (spread / state.centre.norm(dim=1).clamp_min(1e-300)).cpu().numpy()
        after = State(state.centre, state.inverse, state.clip, f)
        return after, utility(survival(data, batch.spec), batch.spec, f, ratio)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """The estimate and the bound.

        Returns:
            `coefficients` (R, d); `noise` (R, d), its standard deviation; `clip` (R,); and the
            scale of the data.
        """
        return {
            "coefficients": state.f.cpu().numpy(),
            "noise": _spread(batch, state).cpu().numpy(),
            "clip": state.clip.cpu().numpy(),
            **products.scale(scaled(survival(data, batch.spec)), len(batch)),
        }


def _spread(batch: Batch[SurvivalSpec], state: State) -> Tensor:
    """Standard deviation of the noise in each parameter, shape (R, d)."""
    scale = state.clip * state.clip.new_tensor([single(one).scale for one in batch.specs])
    deviation: Tensor = scale[:, None] * state.inverse.norm(dim=2)
    return deviation


def _best(table: SurvivalTable, spec: SurvivalSpec) -> Tensor:
    return optimum(table, spec.intervals, spec.knots)


@functools.lru_cache(maxsize=8)
def known(table: SurvivalTable, intervals: int, knots: int) -> Known:
    """What the oracle is told about a table; kept per table and grid."""
    model, best = design(table, intervals, knots), optimum(table, intervals, knots)
    root = whitening(derivatives(model, best[None]).hessian * model.records)
    v = record_gradients(model, best[None])
    sizes = (model.by_record(torch.cat([v, v[:, :, :1] * model.x], 2))[0] @ root[0]).norm(dim=1)
    clips = torch.quantile(sizes, sizes.new_tensor(SHARES)).clamp_min(1e-300)
    return _clipped_optimum(model, best, root[0], clips)


def _clipped_optimum(model: Design, best: Tensor, root: Tensor, clips: Tensor) -> Known:
    """Where clipped sums are zero, and the inverse of their derivative by differences."""
    f, roots = best.expand(len(clips), -1).clone(), root.expand(len(clips), -1, -1)
    for _ in range(DESCENTS):
        step = RATE * (roots @ clipped_sum(model, f, roots, clips)[0][:, :, None])[:, :, 0]
        f = f - step
        if float(step.abs().max()) < STILL:
            break
    columns: list[Tensor] = [
        (
            clipped_sum(model, f + NUDGE * root[:, j], roots, clips)[0]
            - clipped_sum(model, f - NUDGE * root[:, j], roots, clips)[0]
        )
        / (2.0 * NUDGE)
        for j in range(len(best))
    ]
    return Known(clips, f, root @ torch.linalg.pinv(torch.stack(columns, 2)))


def chosen(told: Known, best: Tensor, scale: float) -> tuple[int, float]:
    """The bound of the least mean error over DRAWS draws, and that error over the optimum's norm.

    Args:
        told: What the oracle knows.
        best: The optimum, shape (d,).
        scale: Standard deviation of the noise of a sum, for C = 1.
    """
    rng = torch.Generator().manual_seed(0)
    z = torch.randn(DRAWS, len(best), generator=rng, dtype=torch.float64)
    noise = torch.einsum("kij,mj->kmi", told.inverse, z) * (scale * told.clips)[:, None, None]
    error = ((told.f - best)[:, None] + noise).norm(dim=2).mean(1)
    return int(error.argmin()), float(error.min() / best.norm().clamp_min(1e-300))


METHOD = Oracle()
