r"""One private step: noise on the clipped sum, then gradient descent.

Guarantees:
    The sum of `engine.training.ghost` has sensitivity C under add-or-remove-one, in
    the norm and with the ratios it was clipped with. Gaussian noise of deviation
    \sigma C / \alpha_q, or Laplace noise of scale C / (\varepsilon \alpha_q), is
    then the Gaussian or Laplace mechanism after the map diag(\alpha). Everything
    that follows (division by the fixed expected lot, decay, momentum, averaging) is
    post-processing.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Generator, Tensor

from engine.training.ghost import Ratios
from engine.training.network import Parameters


@dataclass(frozen=True, eq=False)
class Descent:
    """How parameters follow the noisy gradient.

    Attributes:
        rate: Learning rate of each replica, shape (R,).
        lot: Fixed divisor of the sum: the expected lot, never the drawn one.
        decay: Weight of the parameters' own pull to zero.
        momentum: Share of the last direction that is kept.
    """

    rate: Tensor
    lot: float
    decay: float = 0.0
    momentum: float = 0.0


def add_noise(
    sums: Parameters,
    kind: Literal["gaussian", "laplace"],
    scale: Tensor,
    rng: Generator,
    ratios: Ratios | None = None,
) -> None:
    """Adds independent noise to every coordinate, in place.

    Args:
        sums: Clipped sums; every tensor (R, outputs, ...).
        kind: Its distribution.
        scale: Deviation or Laplace scale where the ratio is one, shape (R,).
        rng: Source of randomness; its device is that of the sums.
        ratios: Divide the scale, neuron by neuron.
    """
    for i, own in enumerate(sums):
        ratio = None if ratios is None else ratios[i]
        for part in own:
            wide = scale.view(-1, *[1] * (part.dim() - 1))
            if ratio is not None:
                wide = wide / ratio.view(len(ratio), -1, *[1] * (part.dim() - 2))
            part.addcmul_(_unit(kind, part, rng), wide)


def _unit(kind: Literal["gaussian", "laplace"], like: Tensor, rng: Generator) -> Tensor:
    """Standard draws in the shape of `like`."""
    if kind == "gaussian":
        return torch.empty_like(like).normal_(generator=rng)
    return laplace_like(like, rng)


def laplace_like(like: Tensor, rng: Generator) -> Tensor:
    """Standard Laplace draws: half a sum of two squared normals, with a random sign.

    That sum is exponential. A processor draws two normals in a third of the time of
    `exponential_`; and a uniform number of single precision, inverted, has 24 bits and
    would end the tail at 17 scales, where this reaches twice as far.
    """
    size = torch.empty_like(like).normal_(generator=rng).square_()
    other = torch.empty_like(like).normal_(generator=rng)
    size.addcmul_(other, other).mul_(0.5)
    return size.copysign_(other.uniform_(-1.0, 1.0, generator=rng))


def noise_lengths(
    sums: Parameters,
    kind: Literal["gaussian", "laplace"],
    scale: Tensor,
    ratios: Ratios | None = None,
) -> Tensor:
    """Root mean square length of `add_noise`'s noise in each layer with weights, (R, layers)."""
    found = []
    for i, own in enumerate(sums):
        if own:
            ratio = None if ratios is None else ratios[i]
            heavy = own[0].new_ones(own[0].shape[:2]) if ratio is None else ratio
            fan_in = sum(part[0, 0].numel() for part in own)
            found.append(fan_in * heavy.double().pow(-2).sum(1))
    variance = 2.0 if kind == "laplace" else 1.0
    return scale.double()[:, None] * (variance * torch.stack(found, 1)).sqrt()


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
    r"""Steps w <- w - \gamma (\lambda w + v), v <- m v + sum / lot, in place."""
    for i, own in enumerate(parameters):
        for j, weight in enumerate(own):
            rate = how.rate.view(-1, *[1] * (weight.dim() - 1))
            if how.decay:
                weight.mul_(1.0 - rate * how.decay)
            step = sums[i][j]
            if velocity is not None and how.momentum:
                step = velocity[i][j].mul_(how.momentum).add_(step)
            weight.addcmul_(step, -rate / how.lot)


def average(mean: Parameters, parameters: Parameters, taken: int) -> None:
    """Moves the mean towards the weights by 3 / (t + 3), t steps taken before, in place.

    Late weights count most: those of step t in proportion to about t squared (Shamir and
    Zhang 2013, polynomial-decay averaging). It evens out the noise of single steps.
    """
    for own, now in zip(mean, parameters, strict=True):
        for part, weight in zip(own, now, strict=True):
            part.lerp_(weight, 3.0 / (taken + 3.0))
