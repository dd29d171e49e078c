"""Sums over parts of the records, the same on any number of cores."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from torch import Tensor

from engine.training.spread import spread

Part = TypeVar("Part")

BESIDE = 16
"""Parts whose sums lie in memory at once."""


def summed(parts: Iterable[Part], work: Callable[[Part], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """What `work` makes of each part, some of them side by side, added up in their order.

    Without parts there are no sums.
    """
    rest = iter(parts)
    total: tuple[Tensor, ...] = ()
    while block := list(islice(rest, BESIDE)):
        made: list[tuple[Tensor, ...]] = [()] * len(block)

        def write(place: int, block: list[Part] = block, made: Any = made) -> None:
            made[place] = work(block[place])

        spread(write, range(len(block)))
        for own in made:
            total = tuple(x + y for x, y in zip(total, own, strict=True)) if total else own
    return total
