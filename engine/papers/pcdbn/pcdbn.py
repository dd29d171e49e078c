"""pCDBN in its three calibrations: as it can be proved, as the text has it, as it was published."""

from torch import Generator

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.pcdbn import network, printed, released, rigorous
from engine.papers.pcdbn.images import Images
from engine.papers.pcdbn.spec import Digits, PcdbnSpec
from engine.training import activations

State = rigorous.State | network.State


def recipe(spec: PcdbnSpec, found: Images, n: int, rng: Generator) -> network.Recipe:
    """What each replica does where a network is trained."""
    if spec.calibration == "released":
        return released.recipe(spec, found, n, rng)
    return printed.recipe(activations.expansion(spec.polynomial, spec.degree), spec, found, n, rng)


class Pcdbn:
    """Dispatches on the calibration, which no run mixes.

    Guarantees:
        In the rigorous calibration those of `rigorous`; in the others none, see `cards`.
    """

    def init(self, batch: Batch[PcdbnSpec], data: Table, rng: Generator) -> State:
        """All releases at once, or fresh weights."""
        if batch.spec.calibration == "rigorous":
            return rigorous.init(batch, data, rng)
        return network.init(batch, data, rng, recipe)

    def step(
        self, batch: Batch[PcdbnSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Digits | None]:
        """Solves or descends on the released quadratic, or trains for an epoch."""
        if isinstance(state, rigorous.State):
            return rigorous.step(batch, data, state, rng)
        return network.step(batch, data, state, rng)

    def products(self, batch: Batch[PcdbnSpec], data: Table, state: State) -> Arrays:
        """Filters, maps and noise."""
        if isinstance(state, rigorous.State):
            return rigorous.products(batch, data, state)
        return network.products(batch, data, state)


METHOD = Pcdbn()
