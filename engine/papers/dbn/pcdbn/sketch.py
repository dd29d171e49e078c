r"""Moments of any order along a few directions.

The moment of order r of vectors z in m dimensions is a symmetric tensor, \sum z^{\otimes r}. Its
isometric coordinates are \sqrt{r!/(e_1! ... e_m!)} \sum z_1^{e_1} ... z_m^{e_m}, one for each
monomial: C(m + r - 1, r) numbers with the tensor's norm.

Guarantees:
    A record's patches v_j are first scaled by one number, so that \sum_j \|v_j\|^r = 1 over its
    positions, and z_j = Q v_j with orthonormal rows Q given beforehand. A record's term then has
    norm at most \sum_j \|Q v_j\|^r \le \sum_j \|v_j\|^r = 1, the L2 sensitivity of the sum when it
    is added or removed. Products are of double precision throughout; z is rounded down.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement

import torch
from torch import Tensor

from engine.papers.dbn.pcdbn.moments import GRID, patches, scaled, slabs
from engine.training.summed import summed

SAFE = 1.0 - 1e-6
"""Covers what the rows of Q lack to orthonormal ones, and the rounding of Q v."""


@lru_cache(maxsize=16)
def monomials(size: int, order: int) -> tuple[Tensor, Tensor]:
    """Places of each monomial's factors, (k, order), ascending, and its isometric weight, (k,)."""
    rows = list(combinations_with_replacement(range(size), order))
    weights = []
    for row in rows:
        ways = math.factorial(order)
        for place in set(row):
            ways //= math.factorial(row.count(place))
        weights.append(math.sqrt(ways))
    return torch.tensor(rows), torch.tensor(weights, dtype=torch.float64)


def products(z: Tensor, order: int) -> Tensor:
    """All monomials of an order in z (m, columns), without weights, shape (k, columns)."""
    places, _ = monomials(len(z), order)
    powers = z[places[:, 0]]
    for factor in places.T[1:]:
        powers = powers * z[factor]
    return powers


def sums(x: Tensor, size: int, directions: Tensor, orders: Sequence[int]) -> list[Tensor]:
    """The moments of image patches along orthonormal rows (m, N), isometric coordinates.

    Positions lie on the public grid of `moments.quartic`; one pass serves all orders.
    """
    q = directions.double() * SAFE
    stride = max(1, (x.shape[-1] - size + 1) // GRID)

    def work(part: Tensor) -> tuple[Tensor, ...]:
        """For each order a matrix of the products of monomials of half the order each."""
        columns, found = patches(part, size, stride), []
        for order in orders:
            v = scaled(columns.clone(), order).permute(1, 0, 2).flatten(1)
            z = q @ v[:, v.square().sum(0) > 0].double()
            found.append(products(z, order // 2) @ products(z, order - order // 2).T)
        return tuple(found)

    squares = summed(slabs(x), work)
    pairs = zip(squares, orders, strict=True)
    return [_coordinates(total, len(q), order) for total, order in pairs]


def _coordinates(square: Tensor, size: int, order: int) -> Tensor:
    """Isometric coordinates from the products of monomials of half the order each."""
    places, weights = monomials(size, order)
    half = order // 2
    left, right = _place(size, half), _place(size, order - half)
    rows = [left[tuple(row)] for row in places[:, :half].tolist()]
    columns = [right[tuple(row)] for row in places[:, half:].tolist()]
    return square[rows, columns] * weights.to(square)


@lru_cache(maxsize=16)
def _place(size: int, order: int) -> dict[tuple[int, ...], int]:
    places, _ = monomials(size, order)
    return {tuple(row): k for k, row in enumerate(places.tolist())}


@dataclass(frozen=True, eq=False)
class Sketch:
    r"""A moment of some order as a form u -> <M, (Q u)^{\otimes r}>.

    Attributes:
        order: r.
        directions: Q, shape (m, N).
        values: Isometric coordinates, shape (k,).
    """

    order: int
    directions: Tensor
    values: Tensor

    def value(self, u: Tensor) -> Tensor:
        """The form at u (N,), a number."""
        _, weights = monomials(len(self.directions), self.order)
        z = (self.directions @ u)[:, None]
        return (self.values * weights.to(self.values)) @ products(z, self.order)[:, 0]

    def slopes(self, u: Tensor) -> Tensor:
        """Its gradients at the rows of u (k, N), shape (k, N)."""
        z = self.directions @ u.T
        return (self._derivatives @ products(z, self.order - 1)).T @ self.directions

    @cached_property
    def _derivatives(self) -> Tensor:
        """Coefficients of the derivative in each direction, (m, monomials of an order less)."""
        size, order = len(self.directions), self.order
        places, weights = monomials(size, order)
        below = self.values.new_zeros(size, len(monomials(size, order - 1)[0]))
        coefficients = self.values * weights.to(self.values)
        for factor, rest in zip(places.T, _without(size, order), strict=True):
            below.index_put_((factor, rest), coefficients, accumulate=True)
        return below


@lru_cache(maxsize=16)
def _without(size: int, order: int) -> Tensor:
    """Which monomial is left when a monomial loses one of its factors, shape (order, k)."""
    places, _ = monomials(size, order)
    below = _place(size, order - 1)
    kept = [[k for k in range(order) if k != lost] for lost in range(order)]
    return torch.tensor([[below[tuple(row)] for row in places[:, k].tolist()] for k in kept])
