r"""Filters on maps of twice the side, without laying these maps out.

Doubled by nearest neighbours, a map shows each of its values in four places. A filter there sees
few different values: which ones depends only on whether a place's row and column are even. Four
smaller filters on the map itself, one per parity, give the same sums with a third of the products.
"""

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional


def convolved(h: Tensor, filters: Tensor) -> Tensor:
    """Maps (m, K, s, s) doubled, then filtered, shape (m, C, 2s, 2s).

    Args:
        h: The maps.
        filters: Shape (C, K, N, N) with N odd; zeros are padded so that sides stay.
    """
    small = filters.shape[-1]
    rows = _places(small, h.device)
    parities = torch.einsum("poi,ckij,qrj->cpqkor", rows, filters, rows)
    wide = parities.flatten(0, 2)
    return functional.pixel_shuffle(functional.conv2d(h, wide, padding=wide.shape[-1] // 2), 2)


@lru_cache(maxsize=8)
def _places(size: int, device: torch.device) -> Tensor:
    """Which value a filter's entry falls on: shape (2, reach, size), by the parity of its middle.

    Entry d of a filter around row 2i + p of the doubled map lies on row floor((2i + p + d) / 2).
    """
    half = size // 2
    reach = (half + 1) // 2
    places = torch.zeros(2, 2 * reach + 1, size, device=device)
    for parity in (0, 1):
        for d in range(-half, half + 1):
            places[parity, (parity + d) // 2 + reach, d + half] = 1.0
    return places
