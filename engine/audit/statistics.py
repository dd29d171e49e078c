r"""What an attacker who sees every release computes from it.

The likelihood ratio of two neighbouring data sets is the best score there is (Neyman and Pearson
1933). For added noise it is a matched filter: with y a release, b its value without the witness
and g what the witness adds, it is (2\langle y - b, g\rangle - \|g\|^2) / 2s^2 for Gaussian noise of
deviation s, (\|y - b\|_1 - \|y - b - g\|_1) / s for Laplace noise and the same in the Euclidean
norm for noise of Gamma length. Where every record takes part by a coin of probability q, the
attacker does not see the coin: log(1 - q + q e^l). Ratios of releases add up.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from engine.privacy.mechanisms import Gaussian, Laplace, Noise
from engine.privacy.recording import Parts, Recorded

LATTICE = 2.0**24
"""Numbers that a single-precision generator draws from."""
APART = 8
"""How far apart torch puts the two numbers that share a radius."""
RARE = 2.0**-8
"""Pairs whose chance of so long a radius is below this lie on few enough points to be told."""


def joined(one: Recorded, *, heard: bool = True) -> Recorded:
    """The same release as one array of rows in double precision: each step below is one pass.

    Args:
        one: The release.
        heard: Whether its outputs are joined too; a replay's are those of the first run.
    """
    if len(one.values) == 1 and one.values[0].dim() == 2 and one.values[0].dtype == torch.float64:
        return one
    weights = None
    if any(weight is not None for weight in one.weights):
        weights = torch.cat([
            (part.new_ones(()) if weight is None else weight).expand(part.shape).flatten(1)
            for part, weight in zip(one.values, one.weights, strict=True)
        ], 1).double()  # fmt: skip
    outputs = _flat(one.outputs) if heard else one.outputs
    return replace(one, values=_flat(one.values), outputs=outputs, weights=(weights,))


def _flat(parts: Parts) -> Parts:
    """All parts side by side, shape (R, numbers), double precision."""
    size = sum(part[0].numel() for part in parts)
    whole = torch.empty(len(parts[0]), size, dtype=torch.float64, device=parts[0].device)
    start = 0
    for part in parts:
        end = start + part[0].numel()
        whole[:, start:end] = part.flatten(1)
        start = end
    return (whole,)


def gain(without: Recorded, present: Recorded) -> Parts:
    """What the witness adds to a release of all records."""
    return tuple(
        a.double() - b.double() for a, b in zip(present.values, without.values, strict=True)
    )


def echo(seen: Recorded, far: float = 1.0) -> Parts:
    """What the witness would add, from a release in which every record is the witness.

    That is a positive multiple of one record's part; `far` is its length in sensitivities. Where
    nobody is in the batch it is zero.
    """
    values = tuple(value.double() for value in seen.values)
    size = length(seen.mechanisms, weighted(seen, values))
    bound = far * size.new_tensor([m.sensitivity for m in seen.mechanisms])
    factor = torch.where(size > 0.0, bound / size, 0.0)
    return tuple(scaled(value, factor) for value in values)


def likelihood(released: Recorded, without: Parts, added: Parts, rate: float) -> Tensor:
    """The log likelihood ratio of one release, shape (R,).

    Args:
        released: The release, with its outputs.
        without: Its value without the witness.
        added: What the witness adds where it takes part.
        rate: Chance that it does.
    """
    rest = tuple(y.double() - b.double() for y, b in zip(released.outputs, without, strict=True))
    noise, own = weighted(released, rest), weighted(released, added)
    scale = noise[0].new_tensor([m.scale for m in released.mechanisms])
    match released.mechanisms[0]:
        case Gaussian():
            inner = sum((n * o).flatten(1).sum(1) for n, o in zip(noise, own, strict=True))
            ratio = (inner - 0.5 * _squares(own)) / scale.square()
        case _:
            left = tuple(n - o for n, o in zip(noise, own, strict=True))
            kinds = released.mechanisms
            ratio = (length(kinds, noise) - length(kinds, left)) / scale
    return mixed(ratio, rate)


def mixed(ratio: Tensor, rate: float) -> Tensor:
    """log(1 - q + q e^l), without overflow."""
    if rate >= 1.0:
        return ratio
    return torch.logaddexp(torch.full_like(ratio, math.log1p(-rate)), math.log(rate) + ratio)


def length(mechanisms: Sequence[Noise], parts: Parts) -> Tensor:
    """The length of a value in the norm of its mechanism's sensitivity, shape (R,)."""
    if isinstance(mechanisms[0], Laplace):
        return torch.stack([part.abs().flatten(1).sum(1) for part in parts]).sum(0)
    return _squares(parts).sqrt()


def apart(one: Recorded, other: Recorded) -> Tensor:
    """How far two neighbours' values lie apart before noise, in sensitivities, shape (R,)."""
    size = length(one.mechanisms, weighted(one, gain(other, one)))
    return size / size.new_tensor([m.sensitivity for m in one.mechanisms])


def lattice(released: Recorded, without: Parts, present: Parts) -> Tensor:
    r"""How much better one data set explains the last digits of a release than the other, (R,).

    Gaussian noise that is drawn in single precision comes in pairs i, i + 8 with
    exp(-(z_i^2 + z_j^2)/2) a multiple of 2^{-24}. With the right data set the noise y - v lies on
    these points, with the wrong one it does not. Long radii are rare but have few points.
    """
    if not isinstance(released.mechanisms[0], Gaussian):
        return torch.zeros(len(released.mechanisms))
    scale = torch.tensor([m.scale for m in released.mechanisms], dtype=torch.float64)
    return _on_lattice(released, present, scale) - _on_lattice(released, without, scale)


def _on_lattice(released: Recorded, values: Parts, scale: Tensor) -> Tensor:
    """Sum over rare pairs of the cosine of their place between two points, shape (R,)."""
    total = torch.zeros_like(scale)
    for y, value in zip(released.outputs, values, strict=True):
        z = scaled(y.double() - value.double(), 1.0 / scale).flatten(1)
        blocks = z[:, : z.shape[1] // (2 * APART) * 2 * APART].view(len(z), -1, 2, APART)
        u = torch.exp(-0.5 * blocks.square().sum(2))
        place = torch.cos(2.0 * math.pi * (u * LATTICE))
        total += torch.where((u < RARE) & (u * LATTICE > 0.5), place, 0.0).flatten(1).sum(1)
    return total


def weighted(released: Recorded, parts: Parts) -> Parts:
    """A value in the coordinates in which its change is measured."""
    return tuple(
        part if weight is None else part * weight
        for part, weight in zip(parts, released.weights, strict=True)
    )


def scaled(part: Tensor, factor: Tensor) -> Tensor:
    """Rows times a factor each."""
    return part * factor.view(-1, *[1] * (part.dim() - 1))


def _squares(parts: Parts) -> Tensor:
    return torch.stack([part.square().flatten(1).sum(1) for part in parts]).sum(0)
