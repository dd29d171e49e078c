"""Adds the noise of mechanisms, one row per replica. Every generator is an argument."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from engine.privacy.mechanisms import GammaSphere, Gaussian, Laplace, Noise
from engine.privacy.recording import Parts, recorder


def release(value: Tensor, mechanisms: Sequence[Noise], rng: Generator) -> Tensor:
    """A value of R replicas with the noise of their mechanisms.

    Args:
        value: Shape (R, ...).
        mechanisms: One per replica, all of the same kind.
        rng: Source of randomness, on the value's device.

    Returns:
        Shape (R, ...), in the value's precision.
    """
    return release_together((value,), mechanisms, rng)[0]


def release_together(values: Parts, mechanisms: Sequence[Noise], rng: Generator) -> Parts:
    """Several arrays (R, ...) as one release, whose sensitivity is that of all together.

    Noise is drawn and added in double precision and the sum is rounded once: noise that is
    rounded before it is added lies on a lattice that an observer can see.
    """

    def noisy() -> Parts:
        sizes = [value[0].numel() for value in values]
        drawn = torch.split(draw(mechanisms, sum(sizes), rng), sizes, dim=1)
        return tuple(
            (value.double() + noise.view(value.shape)).to(value.dtype)
            for value, noise in zip(values, drawn, strict=True)
        )

    watching = recorder()
    return noisy() if watching is None else watching.watch(mechanisms, values, rng, noisy)


def draw(
    mechanisms: Sequence[Noise],
    size: int,
    rng: Generator,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Noise for R replicas, each from its own mechanism, all of the same kind.

    Args:
        mechanisms: One per replica.
        size: Coordinates d of the value that the noise is added to.
        rng: Source of randomness; its device is the device of the result.
        dtype: Precision of the result.

    Returns:
        Shape (R, d).

    Raises:
        TypeError: Mechanisms of more than one kind.
    """
    if len({type(mechanism) for mechanism in mechanisms}) != 1:
        raise TypeError("expected mechanisms of one kind")
    shape = (len(mechanisms), size)
    scales = torch.tensor([m.scale for m in mechanisms], dtype=dtype, device=rng.device)
    match mechanisms[0]:
        case Gaussian():
            unit = torch.randn(shape, generator=rng, dtype=dtype, device=rng.device)
        case Laplace():
            unit = laplace(shape, rng, dtype)
        case GammaSphere():
            unit = gamma_sphere(shape, rng, dtype)
    return scales[:, None] * unit


def laplace(shape: tuple[int, ...], rng: Generator, dtype: torch.dtype) -> Tensor:
    """Standard Laplace draws of any shape: an exponential with a random sign."""
    size: Tensor = torch.empty(shape, dtype=dtype, device=rng.device).exponential_(generator=rng)
    sign = torch.randint(0, 2, shape, generator=rng, device=rng.device) * 2 - 1
    rows: Tensor = size * sign
    return rows


def gamma_sphere(shape: tuple[int, int], rng: Generator, dtype: torch.dtype) -> Tensor:
    """Rows of norm Gamma(d, 1) and uniform direction, shape (R, d)."""
    direction = torch.randn(shape, generator=rng, dtype=dtype, device=rng.device)
    # a sum of d standard exponentials is Gamma(d, 1), and takes a generator
    size = torch.empty(shape, dtype=dtype, device=rng.device).exponential_(generator=rng)
    rows: Tensor = direction * (size.sum(1) / direction.norm(dim=1))[:, None]
    return rows
