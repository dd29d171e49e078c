"""From images to features: convolution, rectifier of both signs, pooling; twice.

A filter and its negative share one convolution. Features are square roots of pooled
maps: a fixed function of one record, given released filters.
"""

import torch
from torch import Tensor
from torch.nn import functional

from engine.papers.dbn.pcdbn.moments import slabs
from engine.training.least_squares import shortened
from engine.training.spread import spread

SLAB = 64
"""Records convolved together: their maps stay in the cache."""
WINDOW = 3
"""Side of the second layer's filters."""


def blocked(maps: Tensor) -> Tensor:
    """The same maps in oneDNN's layout, in which convolving and pooling need no copies."""
    here = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return maps.to_mkldnn() if here and maps.device.type == "cpu" else maps


def plain(maps: Tensor) -> Tensor:
    """Maps in the usual layout."""
    return maps.to_dense() if maps.is_mkldnn else maps


def halves(maps: Tensor, pool: int) -> tuple[Tensor, Tensor]:
    """Means of the positive part and of the maps, over squares side by side; uses up `maps`."""
    mean = functional.avg_pool2d(maps, pool)
    return functional.avg_pool2d(torch.relu_(maps), pool), mean


def rectified(maps: Tensor, pool: int, out: Tensor) -> Tensor:
    """Pooled positive parts, then negative ones, as many as `out` (m, count, h, w) has room for.

    The mean of the negative part is the mean of the positive part less the mean. Uses up `maps`.
    """
    height, width = out.shape[2:]
    positive, mean = (plain(half)[:, :, :height, :width] for half in halves(maps, pool))
    k = positive.shape[1]
    out[:, :k] = positive
    out[:, k:] = torch.sub(positive, mean, out=mean)[:, : out.shape[1] - k]
    return out.clamp_(min=0)


def first(images: Tensor, weight: Tensor, count: int) -> Tensor:
    """The first layer's maps at half the side, shape (m, count, side // 2, side // 2)."""
    half = images.shape[-1] // 2
    out = torch.empty(len(images), count, half, half, device=images.device)
    pad = weight.shape[-1] // 2
    return rectified(functional.conv2d(blocked(images), weight, padding=pad), 2, out)


def grid(side: int) -> tuple[int, int, int]:
    """Positions a side, padding and pooling of the second layer, for an image's side."""
    half = side // 2
    cells = 4 if half >= 12 else 2
    pad = next((p for p in (1, 2) if (half + 2 * p - 2) % cells == 0), 1)
    return cells, pad, (half + 2 * pad - 2) // cells


def merged(weights: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    r"""The first layer's filters, and the second's for m^+ and m of the first layer's maps.

    With m^- = m^+ - m, w^+ * m^+ + w^- * m^- is (w^+ + w^-) * m^+ - w^- * m: the parts need
    not be laid out side by side.
    """
    lower, upper = weights
    direct, mirrored = upper[:, : len(lower)], torch.zeros_like(upper[:, : len(lower)])
    mirrored[:, : upper.shape[1] - len(lower)] = upper[:, len(lower) :]
    return lower, direct + mirrored, -mirrored


def second(images: Tensor, layers: tuple[Tensor, Tensor, Tensor], pad: int) -> Tensor:
    """The second layer's responses to the first layer's maps."""
    lower, direct, mirrored = layers
    low = functional.conv2d(blocked(images), lower, padding=lower.shape[-1] // 2)
    positive, mean = halves(low, 2)
    answers = functional.conv2d(positive, direct, padding=pad)
    return answers.add_(functional.conv2d(mean, mirrored, padding=pad))


def features(images: Tensor, weights: tuple[Tensor, Tensor], counts: tuple[int, int]) -> Tensor:
    """Square roots of the second layer's maps, length 1 at most, shape (n, channels, positions)."""
    cells, pad, pool = grid(images.shape[-1])
    layers = merged(weights)
    maps = torch.empty(len(images), counts[1], cells, cells, device=images.device)

    def write(part: tuple[Tensor, Tensor]) -> None:
        """The features of some images, into their place."""
        shortened(rectified(second(part[0], layers, pad), pool, part[1]).sqrt_())

    spread(write, zip(slabs(images, SLAB), slabs(maps, SLAB), strict=True))
    return maps.flatten(2)
