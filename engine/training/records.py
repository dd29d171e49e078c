"""Labelled records as tensors, in a public scale, with records to test on, alone or in pairs."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Integers, LabelledTable
from engine.core.errors import RequestError
from engine.privacy.releases import Batches
from engine.training import split
from engine.training.sampling import matchings, orders, packed, pairs, part, poisson

EPISODES = 1000
"""Two-way one-shot questions that are asked in a test; the same ones in every test."""


@dataclass(frozen=True, eq=False)
class Records:
    """Features in [0, 1] and classes, on one device.

    Attributes:
        x: Features to train on, shape (N, d).
        y: Their classes, shape (N,).
        test_x: Features to test on, shape (M, d).
        test_y: Their classes, shape (M,).
        paired: Whether they are drawn two by two and tested on in episodes: then `test_x`
            is (M, d, 1 + classes), a record and an example of each class.
        left_out: Places to train on whose records count in no sum.
    """

    x: Tensor
    y: Tensor
    test_x: Tensor
    test_y: Tensor
    paired: bool = False
    left_out: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    def draw(self, replicas: int, rate: float, rng: Generator) -> tuple[Tensor, Tensor]:
        """A Poisson batch per replica: positions (R, B), or (R, B, 2) of pairs; and presence."""
        index, present = (pairs if self.paired else poisson)(replicas, len(self), rate, rng)
        return self.without(index, present)

    def batch(
        self, how: Batches, replicas: int, taken: int, order: Tensor | None, rng: Generator
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """The batch of each replica after so many steps, drawn as it is priced.

        Args:
            how: By coins, or cut from an order of the epoch.
            replicas: R.
            taken: Steps taken.
            order: Order of this epoch, (R, N); None before the first.
            rng: Draws coins, and an order at the start of an epoch.

        Returns:
            Positions and presence, as `draw`, and the order of this epoch.
        """
        if how.parts == 1:
            return *self.draw(replicas, how.rate, rng), order
        number = taken % how.parts
        if order is None or (number == 0 and not how.kept):
            order = orders(replicas, len(self), rng)
        index, present = part(matchings(order) if self.paired else order, number, how.parts)
        return *self.without(index, present), order

    def without(self, index: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """A batch as `sampling.poisson` draws it, without the places that are left out.

        They are taken out, not multiplied by 0: a step on few records costs as little as they do.
        """
        if not self.left_out:
            return index, present
        gone = self.gone[index]
        kept = present.bool() & ~(gone.any(-1) if self.paired else gone)
        return packed(index, kept, present.dtype)

    @cached_property
    def gone(self) -> Tensor:
        """Which places are left out, shape (N,)."""
        mask = torch.zeros(len(self), dtype=torch.bool, device=self.y.device)
        mask[list(self.left_out)] = True
        return mask

    def first(self, count: int) -> Tensor:
        """Positions of the first records, shape (count,), or of as many in pairs, (count, 2)."""
        index = torch.arange(min(count, len(self)), device=self.y.device)
        return index[: len(index) // 2 * 2].view(-1, 2) if self.paired else index

    def take(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets at some positions.

        Of single records (...) the features (..., d) and the classes; of pairs (..., 2) the
        features (..., d, 2) and whether both are of one class, as 1 or 0.
        """
        x = self.x.index_select(0, index.flatten()).view(*index.shape, *self.x.shape[1:])
        y = self.y[index]
        if not self.paired:
            return x, y
        return x.transpose(-1, -2), (y[..., 0] == y[..., 1]).long()


@lru_cache(maxsize=4)
def records(table: LabelledTable, device: str) -> Records:
    """The table's records, scaled by its public bounds.

    They are tested on the publisher's test part, if there is one, and on what
    `engine.training.split` holds out. No coin is thrown for those.

    Raises:
        RequestError: Nothing is left to test on.
    """
    x, y, train, held = _scaled(table), table.y, train_rows(table), split.held_out_rows(len(table))
    parts = [(x[held], y[held])] if len(held) else []
    if table.test is not None:
        parts.insert(0, (_scaled(table.test), table.test.y))
    if not parts:
        raise RequestError(
            f"dataset: expected a test part of {table.card.name}, which has more than "
            f"{split.PUBLISHED:,} records, got none"
        )
    test_x, test_y = (np.concatenate(part) for part in zip(*parts, strict=True))
    whole = (x[train], y[train], test_x, test_y)
    made = [torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in whole]
    gone = tuple(int(place) for place in np.flatnonzero(np.isin(train, table.left_out)))
    return Records(made[0], made[1], made[2], made[3], left_out=gone)


def train_rows(table: LabelledTable) -> Integers:
    """The rows that are trained on, in the order of their places."""
    return split.train_rows(len(table))


@lru_cache(maxsize=4)
def episodes(table: LabelledTable, device: str) -> Records:
    """The table's records as pairs to train on, and two-way one-shot episodes to test on.

    Features are in [-1, 1]. An episode is a record and one example of each class, all
    held out from training and different from each other.
    """
    plain = records(table, device)
    x, test = 2.0 * plain.x - 1.0, 2.0 * plain.test_x - 1.0
    rows, y = _episodes(plain.test_y.cpu().numpy())
    shown = test[torch.from_numpy(rows).to(device)].transpose(1, 2)
    answers = torch.from_numpy(y).to(device)
    return Records(x, plain.y, shown.contiguous(), answers, True, plain.left_out)


def _episodes(y: Integers) -> tuple[Integers, Integers]:
    """Rows of a record and its examples, (EPISODES, 1 + K), and the record's class."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(y == k) for k in range(int(y.max()) + 1)]
    rows = np.empty((EPISODES, 1 + len(members)), np.int64)
    asked = np.arange(EPISODES) % len(members)
    for row, k in zip(rows, asked, strict=True):
        row[1:] = [rng.choice(own) for own in members]
        row[0] = rng.choice(members[k][members[k] != row[1 + k]])
    return rows, asked


def _scaled(table: LabelledTable) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Features in [0, 1], shape (n, d): values outside the public bounds are clipped to them."""
    low, high = (np.asarray(bound, np.float32) for bound in table.bounds)
    x = table.x.reshape(len(table), -1).astype(np.float32)
    x -= low
    x /= high - low
    return np.clip(x, 0.0, 1.0, out=x)
