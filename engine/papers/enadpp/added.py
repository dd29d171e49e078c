"""What a step adds to its clipped sums: independent noise, or noise that steps share."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Generator, Tensor

from engine.core.batch import Batch
from engine.papers.enadpp import clipping, price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import Variant
from engine.privacy import toeplitz
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.training import ghost, steps
from engine.training.network import Parameters

Past: TypeAlias = tuple[tuple[Parameters, Parameters], ...]
"""Clipped sums and noisy gradients of the last steps, the last first."""
LONG = 256
"""After so many steps the noise of correlated steps hardly grows any more."""


@dataclass(frozen=True, eq=False)
class Added:
    """The noise of one step: a mechanism for each replica, and their clipping bounds, (R,).

    Attributes:
        mechanisms: One for each replica.
        clip: Their clipping bounds, shape (R,).
        spread: Deviation of the noise on a step's gradient, in units of the mechanisms', (R,).
    """

    mechanisms: tuple[Laplace | Gaussian, ...]
    clip: Tensor
    spread: Tensor

    @property
    def norm(self) -> Literal["l1", "l2"]:
        """The norm in which the mechanisms' sensitivity is stated."""
        return "l1" if isinstance(self.mechanisms[0], Laplace) else "l2"

    @property
    def deviations(self) -> Tensor:
        """Deviation of Gaussian noise on each coordinate of a step's gradient, (R,)."""
        return self.spread.new_tensor([m.scale for m in self.mechanisms]) * self.spread

    def lengths(self, sums: Parameters, ratios: ghost.Ratios | None) -> Tensor:
        """Root mean square length of the noise on each layer with weights, (R, layers)."""
        return self.spread[:, None] * steps.noise_lengths(sums, self.mechanisms, ratios)


def noise(
    variant: Variant,
    batch: Batch[EnadppSpec],
    n: int,
    taken: int,
    device: torch.device,
    bound: Tensor | None = None,
) -> Added | None:
    """What this step adds to each replica's sum, from the mechanisms that are priced.

    Args:
        variant: The method.
        batch: The settings.
        n: Records of the table.
        taken: Steps taken before.
        device: Where tensors are made.
        bound: Clipping bounds of this step, (R,), where they follow the gradients.
    """
    different = {id(spec): spec for spec in batch.specs}  # replicas often share their setting
    made = {key: price.mechanism(variant, spec, n, taken) for key, spec in different.items()}
    mechanisms = [made[id(spec)] for spec in batch.specs]
    drawn = tuple(m for m in mechanisms if m is not None)
    if not drawn:
        return None
    bounds = batch.column("clip") if variant.correlated else [m.sensitivity for m in drawn]
    own = torch.tensor(bounds, dtype=torch.float32, device=device)
    spread = torch.ones(len(batch), dtype=torch.float64, device=device)
    if variant.correlated:
        b, momentum = price.bands(variant, batch.spec), batch.spec.momentum
        spread *= toeplitz.spread(b, momentum, min(taken + 1, LONG))
    if bound is not None:
        own, spread = bound, spread * (bound / own) * clipping.LONGER
    return Added(drawn, own, spread)


def noisy(
    variant: Variant,
    spec: EnadppSpec,
    past: Past,
    ratios: ghost.Ratios | None,
    sums: Parameters,
    added: Added | None,
    rng: Generator,
) -> tuple[Parameters, Past]:
    """What a step releases with noise, and the past with it; without correlation, in place."""
    if added is None:
        return sums, ()
    if not variant.correlated:
        steps.add_noise(sums, added.mechanisms, rng, ratios)
        return sums, ()
    parts = toeplitz.coefficients(price.bands(variant, spec), spec.momentum)
    gradient = steps.correlated(sums, past, parts, added.mechanisms, rng)
    return gradient, ((sums, gradient), *past)[: len(parts) - 1]
