"""The methods: one class with a variant each."""

from dataclasses import dataclass
from typing import final

from torch import Generator

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.enadpp import trainer
from engine.papers.enadpp.spec import EnadppSpec, Training
from engine.papers.enadpp.variants import VARIANTS, Variant


@final
@dataclass(frozen=True)
class Descent:
    """Stochastic gradient descent; see `trainer`.

    Attributes:
        variant: What sets this method apart from the others.
    """

    variant: Variant

    def init(self, batch: Batch[EnadppSpec], data: Table, rng: Generator) -> trainer.State:
        """Fresh weights, equal for equal seeds."""
        return trainer.init(self.variant, batch, data, rng)

    def step(
        self, batch: Batch[EnadppSpec], data: Table, state: trainer.State, rng: Generator
    ) -> tuple[trainer.State, Training | None]:
        """One batch of records."""
        return trainer.step(self.variant, batch, data, state, rng)

    def products(self, batch: Batch[EnadppSpec], data: Table, state: trainer.State) -> Arrays:
        """What the charts beside the curves need."""
        return trainer.products(self.variant, batch, data, state)


ENADPP = Descent(VARIANTS["enadpp"])
ADPPL = Descent(VARIANTS["adppl"])
APPDL = Descent(VARIANTS["appdl"])
PSGD = Descent(VARIANTS["psgd"])
NON_PRIVATE = Descent(VARIANTS["non_private"])
DPSGD = Descent(VARIANTS["dpsgd"])
DP_FTRL = Descent(VARIANTS["dp_ftrl"])
