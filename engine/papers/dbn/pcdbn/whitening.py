r"""Public centring and whitening of features, from three small releases.

A full second-moment matrix of 1,024 features would drown in its noise; the moments
between channels and between positions are 64 x 64 and 16 x 16 numbers that all records
and all positions share. Their Kronecker product stands in for the full matrix.

Guarantees:
    Features h have length 1, so \sum_t h_t has sensitivity 1. Centred by the released
    mean and scaled to length 1 again, \|h\|_F = 1 and \|h h'\|_F <= \|h\|_F^2 = 1, so the
    moments between channels and between positions have sensitivity 1 each.
"""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.papers.dbn.pcdbn.moments import slabs
from engine.papers.dbn.pcdbn.price import Releases
from engine.training.least_squares import noisy, released, shortened, squared
from engine.training.steady import steady

POWER = 0.35
"""Features are divided by this power of their moment; 0.5 would be whitening in full, and
overrates directions that are mostly noise of the release."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """A fixed map of one record's features, made from releases.

    Attributes:
        mean: Shape (C, S).
        channels: Directions between channels, columns, shape (C, C).
        positions: Directions between positions, columns, shape (S, S).
        order: Places of the C S products of directions, the largest moment first.
        scale: What the places are multiplied with, in that order.
        signals: Frobenius norms of the three sums before noise.
    """

    mean: Tensor
    channels: Tensor
    positions: Tensor
    order: Tensor
    scale: Tensor
    signals: tuple[float, float, float]


def whitening(h: Tensor, count: int, made: Releases, rng: Generator) -> Whitening:
    """Releases the mean and both moments of features (n, C, S) of length 1.

    `h` is centred and scaled to length 1 again, in place; `count` is the public number n.
    """
    total = h.sum(0, dtype=torch.float64)
    blurred = noisy(total, made.mean, rng)
    expected = made.mean.scale**2 * blurred.numel()
    shrunk = blurred * (1.0 - expected / blurred.square().sum()).clamp(min=0.0)  # James and Stein
    mean = (shrunk / count).float()
    centre(h, mean)
    channels, positions = _moments(h)
    c, u = _spectrum(released(channels, made.channels, rng), made.channels.scale)
    s, v = _spectrum(released(positions, made.positions, rng), made.positions.scale)
    size = torch.outer(c, s).flatten() / count**2
    order = size.argsort(descending=True)
    signals = (float(total.norm()), float(channels.norm()), float(positions.norm()))
    scale = size[order].pow(-POWER)
    return Whitening(mean, u.float(), v.float(), order, scale.float(), signals)


def centre(h: Tensor, mean: Tensor) -> Tensor:
    """Features less the public mean, length 1 again, in place."""
    return shortened(h.sub_(mean))


def _moments(h: Tensor) -> tuple[Tensor, Tensor]:
    r"""\sum h h' and \sum h' h, shapes (C, C) and (S, S)."""
    channels = torch.zeros(h.shape[1], h.shape[1], dtype=torch.float64, device=h.device)
    positions = torch.zeros(h.shape[2], h.shape[2], dtype=torch.float64, device=h.device)
    for part in slabs(h, 2000):
        wide, tall = part.permute(1, 0, 2).flatten(1), part.flatten(0, 1)
        channels += squared(wide)
        positions += squared(tall.T)
    return channels, positions


@steady
def _spectrum(matrix: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Eigenvalues, not below the noise's own size, and eigenvectors."""
    values, vectors = torch.linalg.eigh(matrix)
    return values.clamp(min=scale * math.sqrt(len(matrix))), vectors


def whitened(h: Tensor, how: Whitening, most: int) -> Tensor:
    """The first `most` whitened features of centred ones (n, C, S), shape (n, most)."""
    white = torch.empty(len(h), most, device=h.device)
    start = 0
    for part in slabs(h, 2000):
        turned = how.channels.T @ part @ how.positions
        own = turned.flatten(1)[:, how.order[:most]] * how.scale[:most]
        white[start : start + len(own)] = own
        start += len(own)
    return white
