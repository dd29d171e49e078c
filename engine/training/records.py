"""Labelled records as tensors, in a public scale, with records to test on."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from datasets.base import LabelledTable

HELD_OUT = 5
"""One record in so many is tested on where the publisher gives no test part."""


@dataclass(frozen=True, eq=False)
class Records:
    """Features in [0, 1] and classes, on one device.

    Attributes:
        x: Features to train on, shape (N, d).
        y: Their classes, shape (N,).
        test_x: Features to test on, shape (M, d).
        test_y: Their classes, shape (M,).
    """

    x: Tensor
    y: Tensor
    test_x: Tensor
    test_y: Tensor

    def __len__(self) -> int:
        return len(self.y)


@lru_cache(maxsize=4)
def records(table: LabelledTable, device: str) -> Records:
    """The table's records, scaled by its public bounds.

    Where there is no test part, a fixed fifth of the records is tested on: which ones
    depends on their number alone. In a step they contribute zeros, so a price for all
    the table's records holds.
    """
    x, y = _scaled(table), table.y
    if table.test is not None:
        parts = (x, y, _scaled(table.test), table.test.y)
    else:
        order = np.random.default_rng(0).permutation(len(y))
        test, train = order[: len(y) // HELD_OUT], order[len(y) // HELD_OUT :]
        parts = (x[train], y[train], x[test], y[test])
    return Records(*(torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in parts))


def _scaled(table: LabelledTable) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Features in [0, 1], shape (n, d): values outside the public bounds are clipped to them."""
    low, high = (np.asarray(bound, np.float32) for bound in table.bounds)
    x = table.x.reshape(len(table), -1).astype(np.float32)
    x -= low
    x /= high - low
    return np.clip(x, 0.0, 1.0, out=x)
