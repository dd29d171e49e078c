"""The deep belief networks: one class, trained layer by layer, with or without noise.

They differ in the function that reads a layer's states from its responses, in whether the noise
of the text is added, and in the loss of the layers above.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.dbn.pcdbn import crbm, kept, network, printed, released, rigorous, top
from engine.papers.dbn.pcdbn.images import Images
from engine.papers.dbn.pcdbn.spec import Digits, PcdbnSpec
from engine.training import activations


def plain(how: activations.Activation, loss: top.Loss, stride: int) -> network.Recipe:
    """Both layers by CD-1 with the states of `how`, without noise, and a loss for those above."""

    def energy(stage: int, v: Tensor, layer: network.Layer) -> Tensor:
        return crbm.divergence(v, *layer, how, stride)

    def states(stage: int, v: Tensor, layer: network.Layer) -> Tensor:
        return crbm.halved(how.states(crbm.responses(v, layer[0], layer[1], stride)), stride)

    return network.Recipe(energy, states, loss)


@final
@dataclass(frozen=True)
class Stacked:
    """Both convolutions one after the other, then the layers above; one step is one epoch.

    Attributes:
        activation: How states are read from responses, for a spec.
        noise: Whether the noise of the text is added.
        quadratic: Whether the softmax layer minimises the quadratic that the noise needs,
            rather than the cross-entropy.
    """

    activation: Callable[[PcdbnSpec], activations.Activation]
    noise: bool
    quadratic: bool = True

    def init(self, batch: Batch[PcdbnSpec], data: Table, rng: Generator) -> network.State:
        """Fresh weights."""
        return network.init(batch, data, rng, self.recipe)

    def step(
        self, batch: Batch[PcdbnSpec], data: Table, state: network.State, rng: Generator
    ) -> tuple[network.State, Digits | None]:
        """One epoch of one layer, or of the layers above."""
        return network.step(batch, data, state, rng)

    def products(self, batch: Batch[PcdbnSpec], data: Table, state: network.State) -> Arrays:
        """Filters, maps and noise."""
        return network.products(batch, data, state)

    def recipe(self, spec: PcdbnSpec, images: Images, n: int, rng: Generator) -> network.Recipe:
        """What a replica minimises; draws its noise, if there is any."""
        how = self.activation(spec)
        if self.noise:
            return printed.recipe(how, spec, images, n, rng)
        return plain(how, top.Loss(self.quadratic), crbm.STRIDES[spec.pooling])


State = rigorous.State | network.State


@final
class Pcdbn:
    """PCDBN in its three calibrations, which no run mixes.

    Guarantees:
        In the rigorous calibration those of `rigorous`; in the others none, see `guarantees`.
    """

    def init(self, batch: Batch[PcdbnSpec], data: Table, rng: Generator) -> State:
        """All releases at once, or fresh weights."""
        if batch.spec.calibration == "rigorous":
            return rigorous.init(batch, data, rng)
        as_released = batch.spec.calibration == "released"
        return network.init(batch, data, rng, released.recipe if as_released else PRINTED.recipe)

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
            return kept.products(batch, data, state)
        return network.products(batch, data, state)


def _expansion(spec: PcdbnSpec) -> activations.Activation:
    return activations.expansion(spec.polynomial, spec.degree, spec.activation)


CDBN = Stacked(lambda spec: activations.exact(spec.activation), noise=False, quadratic=False)
TCDBN = Stacked(_expansion, noise=False)
PRINTED = Stacked(_expansion, noise=True)
PCDBN_TE = Stacked(lambda spec: activations.taylor(), noise=True)
PCDBN_PW = Stacked(lambda spec: activations.line(), noise=True)
PCDBN = Pcdbn()
