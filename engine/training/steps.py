r"""One private step: noise on the clipped sum, then gradient descent.

Guarantees:
    The sum of `engine.training.ghost` has sensitivity C under add-or-remove-one, in
    the norm and with the ratios it was clipped with. Gaussian noise of deviation
    \sigma C / \alpha_q, or Laplace noise of scale C / (\varepsilon \alpha_q), is
    then the Gaussian or Laplace mechanism after the map diag(\alpha). Everything
    that follows (division by the fixed expected batch, decay, momentum, averaging) is
    post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.privacy import noise
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.training.ghost import Ratios
from engine.training.network import Parameters


@dataclass(frozen=True, eq=False)
class Descent:
    """How parameters follow the noisy gradient.

    Attributes:
        rate: Learning rate of each replica, shape (R,).
        divisor: Divides the sum: the expected batch size, never the drawn one.
        decay: Weight of the parameters' own pull to zero.
        momentum: Share of the last direction that is kept.
    """

    rate: Tensor
    divisor: float
    decay: float = 0.0
    momentum: float = 0.0


def add_noise(
    sums: Parameters,
    mechanisms: Sequence[Laplace | Gaussian],
    rng: Generator,
    ratios: Ratios | None = None,
) -> None:
    """Adds independent noise to every coordinate, in place.

    Args:
        sums: Clipped sums; every tensor (R, outputs, ...).
        mechanisms: One per replica: the noise where the ratio is one.
        rng: Source of randomness; its device is that of the sums.
        ratios: Divide the noise, neuron by neuron.
    """
    parts: list[Tensor] = []
    weights: list[Tensor | None] = []
    for i, own in enumerate(sums):
        ratio = None if ratios is None else ratios[i]
        for part in own:
            parts.append(part)
            weights.append(None if ratio is None else ratio.view(*part.shape[:2], *_ones(part)))
    noise.release_in_place(parts, mechanisms, rng, weights)


def correlated(
    sums: Parameters,
    past: Sequence[tuple[Parameters, Parameters]],
    coefficients: Sequence[float],
    mechanisms: Sequence[Laplace | Gaussian],
    rng: Generator,
) -> Parameters:
    r"""The noisy gradient of a step that shares noise with those before it.

    It releases y = \sum_j c_j g_{t-j} + z; the gradient is y - \sum_{j > 0} c_j \tilde g_{t-j}.

    Args:
        sums: The step's clipped sums g_t.
        past: Clipped sums and noisy gradients of the steps before it, the last first.
        coefficients: c, 1 first.
        mechanisms: What draws z, one for each replica.
        rng: Source of randomness.

    Guarantees:
        `engine.privacy.toeplitz`. What is taken from y has been released before.
    """
    value = tuple(tuple(part.clone() for part in own) for own in sums)
    for c, (before, _) in zip(coefficients[1:], past, strict=False):
        _add(value, before, c)
    add_noise(value, mechanisms, rng)
    for c, (_, noisy) in zip(coefficients[1:], past, strict=False):
        _add(value, noisy, -c)
    return value


def _add(value: Parameters, other: Parameters, factor: float) -> None:
    """Adds a multiple of other parts, in place."""
    for own, more in zip(value, other, strict=True):
        for part, extra in zip(own, more, strict=True):
            part.add_(extra, alpha=factor)


def _ones(part: Tensor) -> list[int]:
    """Sides of one, for all axes but replicas and outputs."""
    return [1] * (part.dim() - 2)


def noise_lengths(
    sums: Parameters, mechanisms: Sequence[Laplace | Gaussian], ratios: Ratios | None = None
) -> Tensor:
    """Root mean square length of `add_noise`'s noise in each layer with weights, (R, layers)."""
    variances = []
    for i, own in enumerate(sums):
        if own:
            ratio = None if ratios is None else ratios[i]
            heavy = own[0].new_ones(own[0].shape[:2]) if ratio is None else ratio
            fan_in = sum(part[0, 0].numel() for part in own)
            variances.append(fan_in * heavy.double().pow(-2).sum(1))
    deviations = [m.scale * (math.sqrt(2.0) if isinstance(m, Laplace) else 1.0) for m in mechanisms]
    counts = torch.stack(variances, 1)
    return counts.new_tensor(deviations)[:, None] * counts.sqrt()


def lengths(sums: Parameters) -> Tensor:
    """L2 length of each layer's sum, shape (R, layers); layers without weights are left out."""
    squares = [
        sum((part.double().flatten(1).square().sum(1) for part in own), torch.zeros(()))
        for own in sums
        if own
    ]
    return torch.stack([torch.as_tensor(s) for s in squares], 1).sqrt()


def descend(
    parameters: Parameters, velocity: Parameters | None, sums: Parameters, how: Descent
) -> None:
    r"""Steps w <- w - \gamma (\lambda w + v), v <- m v + sum / divisor, in place."""
    for i, own in enumerate(parameters):
        for j, weight in enumerate(own):
            rate = how.rate.view(-1, *[1] * (weight.dim() - 1))
            if how.decay:
                weight.mul_(1.0 - rate * how.decay)
            step = sums[i][j]
            if velocity is not None and how.momentum:
                step = velocity[i][j].mul_(how.momentum).add_(step)
            weight.addcmul_(step, -rate / how.divisor)


def average(mean: Parameters, parameters: Parameters, taken: int) -> None:
    """Moves the mean towards the weights by 3 / (t + 3), t steps taken before, in place.

    Late weights count most: those of step t in proportion to about t squared (Shamir and
    Zhang 2013, polynomial-decay averaging). It evens out the noise of single steps.
    """
    for own, now in zip(mean, parameters, strict=True):
        for part, weight in zip(own, now, strict=True):
            part.lerp_(weight, 3.0 / (taken + 3.0))
