r"""Moments of patches, summed over positions and records.

Guarantees:
    A record's patches are first scaled by one number, so that \sum_j \|v_j\|^r = 1 over
    its positions j. Its contribution \sum_j v_j^{\otimes r} then has Frobenius norm at most
    \sum_j \|v_j\|^r = 1, which is the L2 sensitivity of the sum when a record is added
    or removed. A record without any light contributes nothing.
    A matrix is released as `engine.training.least_squares` does, and rounding is within the
    bound as there: patches are shorter by a millionth, their products are added in double
    precision.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.least_squares import SHORT, squared, upper
from engine.training.summed import summed

SLAB = 64
"""Records whose patches lie in memory together: small enough for the cache."""
TINY = 1e-12
GRID = 6
"""Positions a side at which fourth moments are taken."""

Maps = Callable[[Tensor], Tensor]
"""From images (m, 1, h, w) to maps (m, C, h', w')."""


def slabs(x: Tensor, size: int = SLAB) -> Iterator[Tensor]:
    """The records, some at a time."""
    yield from torch.split(x, size)


def patches(maps: Tensor, size: int, stride: int = 1) -> Tensor:
    """Squares of all channels at all positions, shape (m, C size^2, positions)."""
    columns: Tensor = functional.unfold(maps, size, stride=stride)
    return columns


def scaled(columns: Tensor, order: int) -> Tensor:
    """Each record's patches with the sum of norms to the power `order` scaled to 1, in place.

    Powers are taken of norms over the record's largest, so that faint patches do not vanish.
    Patches are shorter than that by a millionth, and norms are in double precision.
    """
    squares = columns.square().sum(1, dtype=torch.float64)
    top = squares.amax(1)
    largest = top.clamp(min=TINY)
    total = (squares / largest[:, None]).pow(order / 2).sum(1).clamp(min=TINY)
    share = torch.where(top > TINY, SHORT * total.pow(-1.0 / order) * largest.rsqrt(), 0.0)
    return columns.mul_(share.to(columns)[:, None, None])


def second(x: Tensor, maps: Maps, size: int, stride: int) -> Tensor:
    r"""\sum_t \sum_j v v' of the maps' patches, shape (C size^2, C size^2), double precision.

    Positions lie a stride apart, as many as fit, in the middle of the maps.
    """

    def work(part: Tensor) -> tuple[Tensor]:
        """The sum over some records."""
        return (gram(scaled(patches(middle(maps(part), size, stride), size, stride), 2)),)

    return summed(slabs(x), work)[0]


def middle(maps: Tensor, size: int, stride: int) -> Tensor:
    """Maps without the first rows and columns that squares a stride apart would leave over."""
    top, left = ((side - size) % stride // 2 for side in maps.shape[2:])
    return maps[:, :, top:, left:]


def gram(v: Tensor) -> Tensor:
    r"""\sum_t \sum_j v v' of columns (m, D, positions), shape (D, D), double precision."""
    if v.shape[1] < v.shape[2]:  # few rows: record by record needs no copy
        wide = v.double()
        return torch.bmm(wide, wide.transpose(1, 2)).sum(0)
    return squared(v.transpose(0, 1).flatten(1))


@lru_cache(maxsize=16)
def pixels(x: Tensor, size: int) -> Tensor:
    """Second moments of the images' own patches; one pass serves all replicas and filters."""
    return second(x, lambda part: part, size, 1)


@lru_cache(maxsize=4)
def quartic(x: Tensor, size: int) -> Tensor:
    r"""\sum_t \sum_j z z' with z the isometric coordinates of v v', shape (D, D), D = N(N+1)/2.

    All fourth moments are among its entries. Positions lie on a public grid of 6 x 6.
    """
    stride = max(1, (x.shape[-1] - size + 1) // GRID)
    rows, columns, weight = upper(size**2, x.device)

    def work(part: Tensor) -> tuple[Tensor]:
        """The sum over some records."""
        v = scaled(patches(part, size, stride), 4).permute(1, 0, 2).flatten(1)
        v = v[:, v.square().sum(0) > 0].double()  # empty patches add nothing
        return (squared(v[rows] * v[columns] * weight[:, None]),)

    return summed(slabs(x), work)[0]
