"""Records scaled by public bounds, and the folds that a seed names.

Seed s is fold s % 5 of repeat s // 5 of scikit-learn's five-fold cross-validation, shuffled with
the repeat's number, so seeds 0 to 24 are the paper's five times five folds.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets.base import LabelledTable, Table
from engine.core.errors import RequestError

FOLDS = 5
SWAPPED = 14_000
"""From this many records in a fold, one fold trains and four test, as the paper does on MNIST."""


@dataclass(frozen=True, eq=False)
class Records:
    """Every record of a table, in float32 on one device.

    Attributes:
        x: Features, scaled by public bounds to [-s, s], shape (n, d).
        y: Classes, shape (n,).
        classes: Number of classes k.
        outside: Share of the values that lay outside the public bounds.
        scale: The s above.
        left_out: Rows that count in no sum, shape (n,); None where all do.
    """

    x: Tensor
    y: Tensor
    classes: int
    outside: float
    scale: float
    left_out: Tensor | None = None


def joined(table: Table) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    """Features and classes, with the publisher's test part behind the training part."""
    if not isinstance(table, LabelledTable):
        raise RequestError("dataset: expected labelled records, got survival times")
    if table.test is None:
        return table.x, table.y
    return np.concatenate([table.x, table.test.x]), np.concatenate([table.y, table.test.y])


def _below(factor: float) -> np.float32:
    """The largest number in single precision that is not above the public factor."""
    near = np.float32(factor)
    return near if float(near) <= factor else np.nextafter(near, np.float32(0))


def records(table: Table, factor: float, device: str) -> Records:
    """Scales by the table's public bounds; see `_scaled`."""
    left_out = isinstance(table, LabelledTable) and table.left_out
    return (_of_few if left_out else _of_all)(table, factor, device)


def _scaled(table: Table, factor: float, device: str) -> Records:
    """Scales by the table's public bounds; a feature whose bounds coincide becomes 0.

    Args:
        table: The records.
        factor: Public factor s on features in [-1, 1].
        device: Where the tensors go.

    Raises:
        RequestError: Fewer than two classes, or fewer records than folds.
    """
    x, y = joined(table)
    assert isinstance(table, LabelledTable)
    classes = int(y.max(initial=0)) + 1
    if len(np.unique(y)) < 2:
        raise RequestError(f"expected at least two classes, got {len(np.unique(y))}")
    if len(y) < FOLDS:
        raise RequestError(f"expected at least {FOLDS} records, got {len(y)}")
    lower, upper = (np.broadcast_to(b, x.shape[1:]).astype(np.float32) for b in table.bounds)
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    scaled = torch.from_numpy(np.ascontiguousarray(x)).to(device, torch.float32)
    put = partial(torch.tensor, device=device)
    share = float(((scaled < put(lower)) | (scaled > put(upper))).double().mean())
    scaled -= put(middle)
    scaled *= put(np.where(half > 0, factor / np.where(half > 0, half, 1), 0))
    bound = float(_below(factor))
    scaled.clamp_(-bound, bound)
    gone = put(np.isin(np.arange(len(y)), table.left_out)) if table.left_out else None
    return Records(scaled.float(), torch.from_numpy(y).to(device), classes, share, factor, gone)


_of_all = lru_cache(maxsize=2)(_scaled)
_of_few = lru_cache(maxsize=4)(_scaled)  # what an attack compares


@lru_cache(maxsize=256)
def fold(table: Table, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and rows to test on, of the joined table.

    By the number of records and the seed alone: folds that keep the shares of the classes would
    depend on everybody's labels.
    """
    from sklearn.model_selection import KFold

    _, y = joined(table)
    repeat, number = divmod(seed, FOLDS)
    parts = list(KFold(FOLDS, shuffle=True, random_state=repeat).split(np.zeros(len(y))))
    train, test = parts[number]
    return (test, train) if len(y) >= FOLDS * SWAPPED else (train, test)
