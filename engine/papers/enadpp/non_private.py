"""Stochastic gradient descent without privacy: the reference line."""

from typing import final

from torch import Generator

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.enadpp import trainer
from engine.papers.enadpp.spec import EnadppSpec, Training

NAME = "non_private"


@final
class NonPrivate:
    """The common training loop under its own name; `trainer` holds the differences."""

    def init(self, batch: Batch[EnadppSpec], data: Table, rng: Generator) -> trainer.State:
        """Fresh weights, equal for equal seeds."""
        return trainer.init(NAME, batch, data, rng)

    def step(
        self, batch: Batch[EnadppSpec], data: Table, state: trainer.State, rng: Generator
    ) -> tuple[trainer.State, Training | None]:
        """One lot."""
        return trainer.step(NAME, batch, data, state, rng)

    def products(self, batch: Batch[EnadppSpec], data: Table, state: trainer.State) -> Arrays:
        """What the charts beside the curves need."""
        return trainer.products(NAME, batch, data, state)


METHOD = NonPrivate()
