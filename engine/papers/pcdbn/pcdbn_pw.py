"""pCDBN_PW: pCDBN as the text has it, with a straight line."""

from torch import Generator

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.pcdbn import network, printed
from engine.papers.pcdbn.images import Images
from engine.papers.pcdbn.spec import Digits, PcdbnSpec
from engine.training import activations


def recipe(spec: PcdbnSpec, found: Images, n: int, rng: Generator) -> network.Recipe:
    """What each replica does."""
    return printed.recipe(activations.line(), spec, found, n, rng)


class LinePcdbn:
    """One step is one epoch; see `network`."""

    def init(self, batch: Batch[PcdbnSpec], data: Table, rng: Generator) -> network.State:
        """Fresh weights."""
        return network.init(batch, data, rng, recipe)

    def step(
        self, batch: Batch[PcdbnSpec], data: Table, state: network.State, rng: Generator
    ) -> tuple[network.State, Digits | None]:
        """One epoch of one layer, or of the layers above."""
        return network.step(batch, data, state, rng)

    def products(self, batch: Batch[PcdbnSpec], data: Table, state: network.State) -> Arrays:
        """Filters, maps and noise."""
        return network.products(batch, data, state)


METHOD = LinePcdbn()
