"""Recipes without noise: contrastive divergence with a given activation."""

from torch import Tensor

from engine.papers.pcdbn import crbm, top
from engine.papers.pcdbn.network import Layer, Recipe
from engine.training import activations


def recipe(how: activations.Activation, loss: top.Loss) -> Recipe:
    """Both layers by CD-1 with the states of `how`, and a loss for the layers above."""

    def energy(stage: int, v: Tensor, layer: Layer) -> Tensor:
        return crbm.divergence(v, *layer, how)

    def states(stage: int, v: Tensor, layer: Layer) -> Tensor:
        return how.states(crbm.responses(v, layer[0], layer[1]))

    return Recipe(energy, states, loss)
