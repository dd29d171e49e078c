"""The replica axis: R settings that train together, one row each."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import numpy as np

from engine.core.gauges import Column
from engine.core.spec import Spec, Value

S = TypeVar("S", bound=Spec)


@dataclass(frozen=True)
class Batch(Generic[S]):
    """The settings of R replicas.

    Attributes:
        spec: What all replicas share; its axis fields hold the first replica's values.
        specs: The full setting of each replica, length R.
        seeds: The seed of each replica, length R: a name for a repetition, used by
            methods that pair repetitions (folds, initial weights), never the generator.
    """

    spec: S
    specs: tuple[S, ...]
    seeds: tuple[int, ...]

    @classmethod
    def grid(cls, spec: S, axes: Mapping[str, Sequence[Value]], seeds: Sequence[int]) -> Self:
        """All combinations: the first axis varies slowest, the seed fastest.

        >>> from engine.papers.mean.spec import MeanSpec
        >>> batch = Batch.grid(MeanSpec(), {"epsilon": (0.5, 1.0)}, seeds=(0, 1, 2))
        >>> batch.column("epsilon").tolist()
        [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]
        """
        points = [
            spec.replace(**dict(zip(axes, values, strict=True)))
            for values in itertools.product(*axes.values())
        ]
        pairs = list(itertools.product(points, seeds))
        return cls(points[0], tuple(s for s, _ in pairs), tuple(seed for _, seed in pairs))

    def __len__(self) -> int:
        return len(self.specs)

    def column(self, field: str) -> Column:
        """One numeric field of every replica, shape (R,)."""
        return np.array([getattr(spec, field) for spec in self.specs], dtype=np.float64)

    def take(self, rows: Sequence[int]) -> Self:
        """The sub-batch of some replicas, in the order of `rows`."""
        return type(self)(
            self.spec, tuple(self.specs[r] for r in rows), tuple(self.seeds[r] for r in rows)
        )
