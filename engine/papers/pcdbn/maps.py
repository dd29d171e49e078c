r"""From images to features: convolution, rectifier of both signs, pooling; twice.

A filter and its negative share one convolution. Features are square roots of pooled
maps: a fixed function of one record, given released filters.
"""

import torch
from torch import Tensor
from torch.nn import functional

from engine.papers.pcdbn.moments import slabs

SLAB = 32
"""Records convolved together: their maps stay in the cache."""
WINDOW = 3
"""Side of the second layer's filters."""


def rectified(maps: Tensor, count: int, pool: int) -> Tensor:
    """Pooled positive and negative parts, shape (m, count, h // pool, w // pool); uses up `maps`.

    The mean of the negative part is the mean of the positive part less the mean.
    """
    k, sides = maps.shape[1], [side // pool for side in maps.shape[2:]]
    found = torch.empty(len(maps), 2 * k, *sides, dtype=maps.dtype, device=maps.device)
    mean = pooled(maps, pool)
    positive = pooled(maps.clamp_(min=0), pool)
    found[:, :k] = positive
    torch.sub(positive, mean, out=found[:, k:]).clamp_(min=0)
    return found[:, :count]


def pooled(maps: Tensor, size: int) -> Tensor:
    """Means of squares side by side; strided sums are several times faster than `avg_pool2d`."""
    height, width = (side // size * size for side in maps.shape[2:])
    rows = maps[:, :, 0:height:size]
    for i in range(1, size):
        rows = rows + maps[:, :, i:height:size]
    found = rows[..., 0:width:size]
    for j in range(1, size):
        found = found + rows[..., j:width:size]
    return found / size**2


def first(images: Tensor, weight: Tensor, count: int) -> Tensor:
    """The first layer's maps at half the side, shape (m, count, side // 2, side // 2)."""
    return rectified(functional.conv2d(images, weight, padding=weight.shape[-1] // 2), count, 2)


def grid(side: int) -> tuple[int, int, int]:
    """Positions a side, padding and pooling of the second layer, for an image's side."""
    half = side // 2
    cells = 4 if half >= 12 else 2
    pad = next((p for p in (1, 2) if (half + 2 * p - 2) % cells == 0), 1)
    return cells, pad, (half + 2 * pad - 2) // cells


def second(maps: Tensor, weight: Tensor, count: int, pad: int, pool: int) -> Tensor:
    """The second layer's pooled maps, shape (m, count, cells, cells)."""
    return rectified(functional.conv2d(maps, weight, padding=pad), count, pool)


def features(images: Tensor, weights: tuple[Tensor, Tensor], counts: tuple[int, int]) -> Tensor:
    """Square roots of the second layer's maps, length 1, shape (n, channels, positions)."""
    cells, pad, pool = grid(images.shape[-1])
    found = torch.empty(len(images), counts[1], cells * cells, device=images.device)
    start = 0
    for part in slabs(images, SLAB):
        own = second(first(part, weights[0], counts[0]), weights[1], counts[1], pad, pool)
        own = own[:, :, :cells, :cells].flatten(2)
        found[start : start + len(own)] = own
        start += len(own)
    return unit(found.sqrt_())


def unit(rows: Tensor) -> Tensor:
    """Each record's features to length 1, in place; a record of zeros stays."""
    length = rows.flatten(1).norm(dim=1).clamp_(min=1e-9)
    return rows.div_(length.view(-1, *[1] * (rows.dim() - 1)))
