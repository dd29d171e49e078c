r"""Noisy descent over all records: clipped gradients in a metric, Gaussian noise, a preconditioner.

With a root W of an inverse curvature, every record's gradient W \nabla\ell_i is clipped to length
C, and their sum gets noise. What follows from the noisy sums, `gradient` and `newton` say.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.gauges import Column
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.likelihood.logit import record_gradients
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.price.descent import Plan
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.privacy import noise
from engine.privacy.mechanisms import Gaussian

USUAL = 3000.0
"""Events at which the clip is c root mean squares; it grows with their fourth root.

In standard errors, noise does not depend on the number N of events and a clip's bias grows with
its square root; where tails fall as a power of about four the two balance near N^(1/4).
"""
SPREAD_ALPHA, SPREAD_BETA = 5.0, 2.0
"""Standard deviations of the prior around the start, in baseline and covariate parameters."""
Measure = Callable[[SurvivalTable, SurvivalSpec, Tensor, Column], Utility]


@dataclass(frozen=True, eq=False, kw_only=True)
class Whitened:
    r"""What R replicas of any such method have reached.

    Attributes:
        f: Parameters at which the next gradient is taken, shape (R, d).
        first: Where they started, shape (R, d).
        root: From the whitened space to parameters, W^T, shape (R, d, d).
        clip: C, shape (R,).
        clipped: Share of records that the last step clipped, shape (R,).
        taken: Steps so far.
    """

    f: Tensor
    first: Tensor
    root: Tensor
    clip: Tensor
    clipped: Tensor
    taken: int = 0


S = TypeVar("S", bound=Whitened)


class NoisyDescent(Generic[S]):
    """A method that follows noisy sums of clipped gradients; it says how.

    Guarantees:
        Every release is Gaussian with the sensitivity that `price.descent` derives; the price is
        the composition of the very mechanisms that draw the noise. Everything else follows from
        what was released before.
    """

    @abstractmethod
    def plan(self, spec: SurvivalSpec) -> Plan:
        """Every release of a replica."""

    @abstractmethod
    def answer(self, batch: Batch[SurvivalSpec], state: S) -> Tensor:
        """What would be released now, shape (R, d)."""

    @abstractmethod
    def spread(self, batch: Batch[SurvivalSpec], state: S) -> Tensor:
        """Standard deviation of what the gradients' noise does to the release, shape (R, d)."""

    def measured(
        self, batch: Batch[SurvivalSpec], data: Table, state: S, measure: Measure
    ) -> Utility:
        """The gauges of what would be released now."""
        answer = self.answer(batch, state)
        size = self.spread(batch, state).norm(dim=1)
        ratio = (size / answer.norm(dim=1).clamp_min(1e-300)).cpu().numpy()
        return measure(survival(data, batch.spec), batch.spec, answer, ratio)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: S) -> Arrays:
        """The release and what led to it.

        Returns:
            `coefficients` (R, d); `noise` (R, d), its standard deviation to first order; `start`
            (R, d); `clip` and `clipped` (R,), the bound and the share of records at it, which is
            not released; and the scale of the data.
        """
        arrays = {
            "coefficients": self.answer(batch, state),
            "noise": self.spread(batch, state),
            "start": state.first,
            "clip": state.clip,
            "clipped": state.clipped,
        }
        return {
            **{name: part.cpu().numpy() for name, part in arrays.items()},
            **products.scale(scaled(survival(data, batch.spec)), len(batch)),
        }


def records(batch: Batch[SurvivalSpec], data: Table, device: str) -> Design:
    """The records of a batch on a device."""
    return design(survival(data, batch.spec), batch.spec.intervals, batch.spec.knots, device)


def bounds(factors: Sequence[float], events: Tensor, d: int) -> Tensor:
    r"""C of each replica: a factor times \sqrt{d/N} (N/3000)^{1/4}, shape (R,).

    The squared lengths of whitened gradients add up to about d, most of it from the N events.
    """
    return events.new_tensor(factors) * (events / USUAL) ** 0.25 * (d / events).sqrt()


def generous(plan: Plan, growth: float) -> float:
    r"""\sqrt{1 + growth \mu}, \mu = 1/\sigma: with little noise, fewer records are clipped."""
    return math.sqrt(1.0 + growth / plan.total)


def wide(like: Tensor, knots: int) -> Tensor:
    """Standard deviations of the prior, shape (..., d)."""
    spread = torch.full_like(like, SPREAD_BETA)
    spread[..., :knots] = SPREAD_ALPHA
    return spread


def noisy_sum(
    model: Design,
    at: tuple[Tensor, Tensor, Tensor],
    mechanisms: Sequence[Gaussian],
    rng: Generator,
    gradients: Callable[[Design, Tensor], Tensor] = record_gradients,
) -> tuple[Tensor, Tensor]:
    """`clipped_sum` at parameters, root and bounds, with noise of `mechanisms` times C."""
    slope, clipped = clipped_sum(model, *at, gradients)
    return noise.release(slope, mechanisms, rng, 1.0 / at[2][:, None]), clipped


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
