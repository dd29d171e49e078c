"""Replicas of one repetition see the same windows, so they are kept, and step, together."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.core.batch import Batch
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.papers.dbn.yesiwell.windows import Sample


@dataclass(frozen=True, eq=False)
class Repetition:
    """The replicas of one repetition.

    Attributes:
        rows: Which replicas these are.
        windows: The windows that all of them see.
    """

    rows: tuple[int, ...]
    windows: Sample


Kind = TypeVar("Kind", bound=Repetition)


@dataclass(frozen=True, eq=False)
class State(Generic[Kind]):
    """What a step hands to the next."""

    groups: tuple[Kind, ...]
    taken: int


def seeds(batch: Batch[YesiwellSpec]) -> dict[int, tuple[int, ...]]:
    """The replicas of each repetition."""
    by_seed: dict[int, tuple[int, ...]] = {}
    for row, seed in enumerate(batch.seeds):
        by_seed[seed] = (*by_seed.get(seed, ()), row)
    return by_seed
