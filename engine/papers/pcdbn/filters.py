r"""Filters from released moments: post-processing, free for any number of filters.

The energy of a filter u with X = u'v is -\sum_l \alpha_l <M_{l+1}, u^{\otimes (l+1)}>. For
L = 1 its minimisers on the sphere are eigenvectors of M_2; otherwise the energy is climbed from
each eigenvector, with the directions already found projected out. Both signs of a direction are
filters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from engine.training.least_squares import upper

CLIMBS = 60
"""Steps of the ascent on the quartic; it settles in about twenty."""


def directions(moments: Tensor, count: int) -> Tensor:
    """The leading eigenvectors as rows, shape (count, D); fewer if D is smaller."""
    _, vectors = torch.linalg.eigh(moments)
    leading: Tensor = vectors.flip(1)[:, :count].T
    return leading * torch.where(leading.sum(1, keepdim=True) < 0, -1.0, 1.0)


class Form(Protocol):
    """A released moment as a form on filters."""

    def value(self, u: Tensor) -> Tensor:
        """Its value at u (N,), a number."""
        ...

    def slope(self, u: Tensor) -> Tensor:
        """Its gradient at u, shape (N,)."""
        ...


def climbed(
    moments: Tensor, linear: float, terms: Sequence[tuple[float, Form]], count: int
) -> Tensor:
    r"""Directions of large \alpha_1 <M_2, u^2> + \sum_l \alpha_l <M_{l+1}, u^{l+1}>, as rows.

    They are orthonormal. All moments are scaled to 1 at the leading eigenvector, where responses
    are largest.

    Args:
        moments: Released second moments, shape (N, N).
        linear: \alpha_1 of the polynomial.
        terms: The other coefficients, each with its released moment.
        count: How many.
    """
    starts = directions(moments, count)
    first = starts[0]
    m2 = moments / (first @ moments @ first).abs().clamp(min=1e-9)
    parts = [
        (alpha / float(form.value(first).abs().clamp(min=1e-9)), form) for alpha, form in terms
    ]
    filters: list[Tensor] = []
    for start in starts:
        u = _clean(start, filters)
        for _ in range(CLIMBS):
            slope = 2 * linear * (m2 @ u)
            for weight, form in parts:
                slope = slope + weight * form.slope(u)
            u = _clean(u + 0.25 * slope, filters)
        filters.append(u)
    return torch.stack(filters)


@dataclass(frozen=True, eq=False)
class Quartic:
    """Fourth moments in full.

    Attributes:
        matrix: Moments between isometric coordinates of v v', shape (D, D).
    """

    matrix: Tensor

    def value(self, u: Tensor) -> Tensor:
        """<M_4, u^4>."""
        z = _pairs(u)
        return z @ self.matrix @ z

    def slope(self, u: Tensor) -> Tensor:
        """4 <M_4, u^3 .>: the release's noise has no full symmetry, so both places are averaged."""
        _, _, weight, place, twice = _coordinates(len(u), u.device)
        half = self.matrix @ _pairs(u) * weight * 2
        matrix: Tensor = (half * twice)[place]
        return matrix @ u


def _pairs(u: Tensor) -> Tensor:
    rows, columns, weight, _, _ = _coordinates(len(u), u.device)
    return u[rows] * u[columns] * weight


@lru_cache(maxsize=8)
def _coordinates(size: int, device: torch.device) -> tuple[Tensor, ...]:
    """`upper`, the coordinate of each element of the matrix, and 2 for those on the diagonal."""
    rows, columns, weight = upper(size, device)
    place = torch.zeros(size, size, dtype=torch.int64, device=device)
    place[rows, columns] = place[columns, rows] = torch.arange(len(rows), device=device)
    return rows, columns, weight, place, torch.where(rows == columns, 2.0, 1.0)


def _clean(u: Tensor, filters: list[Tensor]) -> Tensor:
    """Orthogonal to what was found, of length 1."""
    for other in filters:
        u = u - (u @ other) * other
    length = u.norm().clamp(min=1e-12)
    unit: Tensor = u / length
    return unit


def kernels(rows: Tensor, channels: int, size: int) -> Tensor:
    """Directions as convolution weights, shape (count, channels, size, size), single precision."""
    return rows.float().view(-1, channels, size, size)
