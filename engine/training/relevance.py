r"""Layer-wise relevance propagation: how much of an output each neuron accounts for.

Relevance starts as the predicted class's output and is passed down in proportion
to contributions z_{jk} = a_j w_{jk}, biases left out, so that each layer's relevances
add up to the output that is explained. The epsilon rule divides all contributions
by their stabilised sum (Bach et al. 2015, equation 58); the z^+ rule divides the
positive ones by theirs (Montavon et al. 2017), so that signs never mix.
"""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from engine.training.layers import Layer, MeanPool, Tensors
from engine.training.network import Network, Parameters
from engine.training.siamese import Siamese
from engine.training.steady import steady

Rule = Literal["z_plus", "epsilon"]
STABILISER = 1e-6
"""Added to a sum of contributions, with the sum's own sign."""
TINY = 1e-30
"""A sum of positive contributions below this has nothing to share out."""


@steady
def relevances(
    network: Network | Siamese, parameters: Parameters, x: Tensor, rule: Rule
) -> list[Tensor]:
    """Relevance of every value of every layer for the predicted class.

    Args:
        network: What predicts.
        parameters: Its parameters.
        x: Records, shape (R, B, ...).
        rule: How relevance is shared out.

    Returns:
        One tensor per layer's values, the input's first, shaped as they are, up to
        the values whose relevance the network gives.
    """
    values = network.values(parameters, x)
    start, top = network.explained(values)
    layers = [top]
    for i in range(start - 1, -1, -1):
        layer, own = network.layers[i], parameters[i]
        layers.insert(0, _down(layer, own, values[i], values[i + 1], layers[0], rule))
    return layers


def _down(
    layer: Layer, own: Tensors, a: Tensor, y: Tensor, relevance: Tensor, rule: Rule
) -> Tensor:
    """Relevance of the layer's inputs from that of its outputs."""
    if own:
        share = _positive if rule == "z_plus" else _stabilised
        return share(layer, own[0], a, relevance)
    if isinstance(layer, MeanPool):
        return _divide(layer, (), a, relevance, _signed)
    if y.shape == a.shape:
        return relevance  # an activation hands on what its neuron has
    return layer.backward((), a, y, relevance)


def _stabilised(layer: Layer, weight: Tensor, a: Tensor, relevance: Tensor) -> Tensor:
    return _divide(layer, _bare(weight), a, relevance, _signed)


def _positive(layer: Layer, weight: Tensor, a: Tensor, relevance: Tensor) -> Tensor:
    """Positive contributions come from equal signs of value and weight."""
    up = _bare(weight.clamp(min=0.0))
    if bool((a >= 0).all()):
        return _divide(layer, up, a, relevance, _whole)
    down = _bare(weight.clamp(max=0.0))
    above, below = a.clamp(min=0.0), a.clamp(max=0.0)
    z = layer.forward(up, above) + layer.forward(down, below)
    share = relevance * _whole(z)
    return above * layer.backward(up, above, z, share) + below * layer.backward(
        down, below, z, share
    )


def _divide(
    layer: Layer, own: Tensors, a: Tensor, relevance: Tensor, inverse: Callable[[Tensor], Tensor]
) -> Tensor:
    """Shares out along a_j w_jk / z_k for a layer without bias."""
    z = layer.forward(own, a)
    return a * layer.backward(own, a, z, relevance * inverse(z))


def _signed(z: Tensor) -> Tensor:
    return 1.0 / (z + torch.where(z < 0, -STABILISER, STABILISER))


def _whole(z: Tensor) -> Tensor:
    """1/z, and 0 where there is nothing to share out."""
    return torch.where(z > TINY, 1.0 / z, torch.zeros((), device=z.device))


def _bare(weight: Tensor) -> Tensors:
    """A weight as parameters without bias."""
    return weight, weight.new_zeros(weight.shape[:2])


def neuron_shares(
    network: Network | Siamese, parameters: Parameters, x: Tensor, rule: Rule
) -> dict[int, Tensor]:
    """Each neuron's share of its layer's relevance, the records' mean, shape (R, outputs) each.

    One entry per layer with weights that relevance passes through, by its number. A
    record's shares are absolute relevances over their sum; a channel's is summed over
    its positions.
    """
    every = relevances(network, parameters, x, rule)
    shares = {}
    for i, own in enumerate(parameters[: len(every) - 1]):
        if own:
            size = every[i + 1].abs()
            size = size.flatten(3).sum(3) if size.dim() > 3 else size
            total = size.sum(2, keepdim=True).clamp(min=TINY)
            shares[i] = (size / total).double().mean(1)
    return shares
