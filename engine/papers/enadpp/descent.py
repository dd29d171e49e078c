r"""How weights follow the noisy gradient: with momentum, or by AdamW. All of it is post-processing.

AdamW divides the mean of gradients m by the root of the mean of their squares v, coordinate by
coordinate (Loshchilov and Hutter 2019; here the rate is the product of both). Noise of variance
\Phi on the gradient adds \Phi to v. Where that rules, all coordinates are divided by nearly the
same number. The correction takes it off again (Tang, Shpilevskiy and Lécuyer 2023):

    \omega \leftarrow \omega - \gamma \hat m / \sqrt{\max(\hat v - \Phi, \gamma')}.

Their floor \gamma' is a number to tune; ours is a share of \Phi, so that it follows the budget.

Guarantees:
    Everything here follows from noisy sums, public settings and the scale of the noise.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.core.batch import Batch
from engine.papers.enadpp import price
from engine.papers.enadpp.added import Added
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import Variant
from engine.training import split, steps
from engine.training.network import Parameters

PLAIN_MOMENTUM = 0.9
"""Share of the last direction that training without privacy keeps."""
SQUARES = 0.999
"""Share of the mean of squares that AdamW keeps."""
FLOOR = 0.1
"""Least corrected mean of squares, as a share of the noise's variance."""
TINY = 1e-8
"""What AdamW adds to the root."""


@dataclass(frozen=True, eq=False)
class Moments:
    """What AdamW remembers, changed in place.

    Attributes:
        first: Mean of gradients, shaped as the parameters.
        second: Mean of their squares.
        noise: Mean of the noise's variance, (R,).
    """

    first: Parameters
    second: Parameters
    noise: Tensor


def zeros(parameters: Parameters) -> Parameters:
    """Zeros shaped as the parameters."""
    return tuple(tuple(map(torch.zeros_like, own)) for own in parameters)


def memory(
    variant: Variant, spec: EnadppSpec, parameters: Parameters
) -> Parameters | Moments | None:
    """A last direction or moments of zero; None for a method without momentum."""
    if variant.optimiser(spec.optimiser) == "momentum":
        return zeros(parameters) if variant.moving else None
    first = next(part for own in parameters for part in own)
    return Moments(
        zeros(parameters), zeros(parameters), first.new_zeros(len(first), dtype=torch.float64)
    )


def size(variant: Variant, spec: EnadppSpec, n: int) -> float:
    """What divides a step's sum: the expected batch size."""
    if variant.private:
        return price.batch_size(spec, n, variant)
    return price.plain_rate(spec, n) * split.trained(n)


def descend(
    variant: Variant,
    batch: Batch[EnadppSpec],
    n: int,
    parameters: Parameters,
    memory: Parameters | Moments | None,
    gradient: Parameters,
    added: Added | None,
    taken: int,
) -> None:
    """Moves the parameters, in place.

    The published methods have no momentum; without privacy, rate and batch size differ.

    Args:
        variant: The method.
        batch: The settings.
        n: Records of the table.
        parameters: What is trained.
        memory: The last direction, or AdamW's moments; None without momentum.
        gradient: The noisy sum.
        added: Its noise.
        taken: Steps taken before.
    """
    spec, plain = batch.spec, not variant.private
    column = batch.column("plain_rate" if plain else "learning_rate")
    first = parameters[-1][0] if parameters[-1] else parameters[0][0]
    rates = torch.tensor(column, dtype=torch.float32, device=first.device)
    momentum = PLAIN_MOMENTUM if plain else spec.momentum if variant.modern else 0.0
    how = steps.Descent(rates, size(variant, spec, n), spec.decay, momentum)
    if isinstance(memory, Moments):
        _adamw(parameters, memory, gradient, how, added, taken, spec)
    else:
        steps.descend(parameters, memory, gradient, how)


def _adamw(
    parameters: Parameters,
    memory: Moments,
    gradient: Parameters,
    how: steps.Descent,
    added: Added | None,
    taken: int,
    spec: EnadppSpec,
) -> None:
    """One step of AdamW, with the noise taken off the squares where that is asked for."""
    corrected = spec.optimiser == "adamw_corrected"
    if added is not None:
        memory.noise.lerp_((added.deviations / how.divisor).square(), 1.0 - SQUARES)
    grown, known = 1.0 - how.momentum ** (taken + 1), 1.0 - SQUARES ** (taken + 1)
    variance = (memory.noise / known).float()
    for own, slopes, firsts, seconds in zip(
        parameters, gradient, memory.first, memory.second, strict=True
    ):
        for weight, slope, m, v in zip(own, slopes, firsts, seconds, strict=True):
            ones = [1] * (weight.dim() - 1)
            step = slope / how.divisor
            m.lerp_(step, 1.0 - how.momentum)
            v.lerp_(step.square(), 1.0 - SQUARES)
            square = v / known
            if corrected:
                phi = variance.view(-1, *ones)
                square = torch.maximum(square - phi, FLOOR * phi)
            rate = how.rate.view(-1, *ones)
            weight.mul_(1.0 - rate * how.decay)
            weight.sub_(rate * (m / grown) / square.sqrt_().add_(TINY))
