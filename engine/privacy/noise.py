r"""Draws the noise of mechanisms and adds it, one row per replica. Every generator is an argument.

This is the one way from a mechanism to noise: `release` puts it on a value, in one tensor or in
several; `draw` gives noise without a value.

Noise is drawn in double precision from uniform numbers of 53 bits, added to the value in double
precision, and the sum is rounded once to the value's own type. Single precision would be seen
through: there, numbers come in pairs that share a radius of 24 bits, so that z_i^2 + z_j^2 lies on
a lattice of few values which survives in the released sums, and no draw exceeds 5.77 deviations.
Here a radius has 2^53 values, finer than the rounding of the sum, and reaches 8.57 deviations.
"""

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from engine.privacy.mechanisms import GammaSphere, Gaussian, GaussianObjective, Laplace, Noise
from engine.privacy.recording import Parts, recorder
from engine.privacy.secret import uniform

SLAB, WIDE = 2**15, 2**22
"""Numbers that are drawn together, at most: on a processor, and on a graphics card. Even."""
Weights: TypeAlias = Sequence[Tensor | None]
"""What coordinates are multiplied by where their change is measured, part by part; None is 1."""


def release(
    value: Tensor, mechanisms: Sequence[Noise], rng: Generator, weights: Tensor | None = None
) -> Tensor:
    """A value of R replicas with the noise of their mechanisms.

    Args:
        value: Shape (R, ...).
        mechanisms: One per replica, all of the same kind.
        rng: Source of randomness, on the value's device.
        weights: As in `release_in_place`.

    Returns:
        Shape (R, ...), in the value's precision.
    """
    return release_together((value,), mechanisms, rng, (weights,))[0]


def release_together(
    values: Parts, mechanisms: Sequence[Noise], rng: Generator, weights: Weights = ()
) -> Parts:
    """Several arrays (R, ...) as one release, whose sensitivity is that of all together."""
    copies = tuple(value.clone(memory_format=torch.contiguous_format) for value in values)
    release_in_place(copies, mechanisms, rng, weights)
    return copies


def release_in_place(
    parts: Sequence[Tensor], mechanisms: Sequence[Noise], rng: Generator, weights: Weights = ()
) -> None:
    """Adds the noise of one release to its value.

    Args:
        parts: The value, which may lie in several tensors of shape (R, ...): together they are
            the vector whose change between neighbours the mechanism's sensitivity bounds.
        mechanisms: One per replica, all of the same kind.
        rng: Source of randomness, on the parts' device.
        weights: What each part is multiplied by before its change is measured, in a shape that
            broadcasts to the part's; the noise is divided by it. Empty for ones.

    Raises:
        TypeError: Mechanisms of more than one kind.
    """
    own = tuple(weights) or (None,) * len(parts)
    watching = recorder()
    if watching is None:
        _noise(parts, mechanisms, rng, own)
        return
    before = tuple(part.clone() for part in parts)

    def noisy() -> Parts:
        _noise(parts, mechanisms, rng, own)
        return tuple(parts)

    for part, output in zip(
        parts, watching.watch(mechanisms, before, rng, noisy, own), strict=True
    ):
        part.copy_(output)


def _noise(
    parts: Sequence[Tensor], mechanisms: Sequence[Noise], rng: Generator, weights: Weights
) -> None:
    """Noise on all parts, in place."""
    if not isinstance(mechanisms[0], GammaSphere):
        for part, weight in zip(parts, weights, strict=True):
            _add(mechanisms, part, weight, rng)
        return
    sizes = [part[0].numel() for part in parts]  # its coordinates depend on each other
    whole = torch.split(_draw(mechanisms, sum(sizes), rng), sizes, 1)
    for part, weight, rows in zip(parts, weights, whole, strict=True):
        noise = rows.view(part.shape)
        part.copy_(part + (noise if weight is None else noise / weight))


def draw(mechanisms: Sequence[Noise], size: int, rng: Generator) -> Tensor:
    """Noise for R replicas, each from its own mechanism, all of the same kind.

    Args:
        mechanisms: One per replica.
        size: Coordinates d of the value that the noise is added to.
        rng: Source of randomness; its device is the device of the result.

    Returns:
        Shape (R, d), double precision.

    Raises:
        TypeError: Mechanisms of more than one kind.
    """
    drawn = _draw(mechanisms, size, rng)
    watching = recorder()
    if watching is not None:
        watching.drawn.append((tuple(mechanisms), drawn.clone()))
    return drawn


def _draw(mechanisms: Sequence[Noise], size: int, rng: Generator) -> Tensor:
    """As `draw`, without recording."""
    if len({type(mechanism) for mechanism in mechanisms}) != 1:
        raise TypeError("expected mechanisms of one kind")
    shape = (len(mechanisms), size)
    match mechanisms[0]:
        case Gaussian() | GaussianObjective():
            unit = normal(shape, rng)
        case Laplace():
            unit = laplace(shape, rng)
        case GammaSphere():
            unit = gamma_sphere(shape, rng)
    scales = [mechanism.scale for mechanism in mechanisms]
    return unit.mul_(torch.tensor(scales, dtype=unit.dtype, device=unit.device)[:, None])


def _add(mechanisms: Sequence[Noise], part: Tensor, weight: Tensor | None, rng: Generator) -> None:
    """Independent noise on every number, block by block, so that little memory is touched."""
    flat = part.contiguous().view(len(part), -1)
    wide = None if weight is None else weight.expand(part.shape).reshape(flat.shape)
    count = max(1, flat.shape[1])
    rows = _rows(count, rng)
    columns = count if rows > 1 else SLAB
    for top, left in itertools.product(range(0, len(flat), rows), range(0, count, columns)):
        place = slice(top, top + rows), slice(left, left + columns)
        block = flat[place]
        noise = _draw(mechanisms[place[0]], block.shape[1], rng)
        if wide is not None:
            noise.div_(wide[place])
        block.copy_(noise.add_(block))  # added in double precision, rounded once
    if flat.data_ptr() != part.data_ptr():
        part.copy_(flat.view(part.shape))


def normal(shape: tuple[int, int], rng: Generator) -> Tensor:
    r"""Standard normal draws: \sqrt{-2 \log u} times cosine and sine of an angle (Box and Muller).

    Both uniform numbers have 53 bits, on every device. torch's own draws in double precision have
    them too, but take three times as long on a processor.
    """
    draws = torch.empty(shape, dtype=torch.float64, device=rng.device)
    even, rows = shape[1] + shape[1] % 2, _rows(shape[1], rng)
    for top in range(0, shape[0], rows):
        own = draws[top : top + rows]
        # the same numbers in the same places, however many rows are drawn together
        whole = uniform((len(own), even), rng) if rows > 1 else None
        for left in range(0, shape[1], SLAB):
            block = own[:, left : left + SLAB]
            wide = block.shape[1] + block.shape[1] % 2
            drawn = uniform((1, wide), rng) if whole is None else whole[:, left : left + wide]
            _pairs(drawn, block)
    return draws


def _pairs(u: Tensor, out: Tensor) -> None:
    """Normal numbers from as many uniform ones, rows by rows; consumes `u`."""
    half = u.shape[1] // 2
    radius, angle, rest = u[:, :half], u[:, half:], out.shape[1] - half
    radius.neg_().add_(1.0).log_().mul_(-2.0).sqrt_()  # 1 - u is exact and never zero
    angle.mul_(2.0 * math.pi)
    torch.cos(angle, out=out[:, :half]).mul_(radius)
    torch.sin(angle[:, :rest], out=out[:, half:]).mul_(radius[:, :rest])


def laplace(shape: tuple[int, int], rng: Generator) -> Tensor:
    r"""Standard Laplace draws: -\log|t| with the sign of t, for t uniform on (-1, 1).

    t is an odd multiple of 2^-53, so it is never 0 or 1 and its sign is a fair coin; the tail ends
    at 36.7 scales. (`Tensor.exponential_` may draw from 31 bits on a processor.)
    """
    t = uniform(shape, rng).mul_(2.0).sub_(1.0).add_(2.0**-53)
    return t.abs().log_().neg_().copysign_(t)


def gamma_sphere(shape: tuple[int, int], rng: Generator) -> Tensor:
    """Rows of norm Gamma(d, 1) and uniform direction, shape (R, d)."""
    direction = normal(shape, rng)
    # a sum of d standard exponentials is Gamma(d, 1)
    size = uniform(shape, rng).neg_().add_(1.0).log_().neg_().sum(1)
    rows: Tensor = direction * (size / direction.norm(dim=1))[:, None]
    return rows


def _rows(columns: int, rng: Generator) -> int:
    """How many rows of so many numbers are drawn together: caches rule on a processor."""
    most = SLAB if rng.device.type == "cpu" else WIDE
    return max(1, most // max(columns, 1))
