"""A network: layers one after another, their parameters, and signals back through all of them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from engine.training.layers import Activation, Flatten, Layer, MaxPool, Tensors
from engine.training.weights import Convolution, Linear

Parameters: TypeAlias = tuple[Tensors, ...]
"""One tuple per layer, empty where the layer learns nothing; every tensor is (R, ...)."""


@dataclass(frozen=True)
class Network:
    """Layers in the order of computation."""

    layers: tuple[Layer, ...]

    def init(self, seeds: Sequence[int], device: torch.device) -> Parameters:
        """Fresh parameters; equal seeds give equal rows on every device."""
        sources = [torch.Generator().manual_seed(seed) for seed in seeds]
        return tuple(tuple(p.to(device) for p in layer.init(sources)) for layer in self.layers)

    def values(self, parameters: Parameters, x: Tensor) -> list[Tensor]:
        """The input and every layer's values: one more than there are layers."""
        outputs = [x]
        for layer, own in zip(self.layers, parameters, strict=True):
            outputs.append(layer.forward(own, outputs[-1]))
        return outputs

    def outputs(self, parameters: Parameters, x: Tensor) -> Tensor:
        """The last layer's values alone; earlier ones are dropped on the way."""
        for layer, own in zip(self.layers, parameters, strict=True):
            x = layer.forward(own, x)
        return x

    def signals(self, parameters: Parameters, values: list[Tensor], last: Tensor) -> list[Tensor]:
        """The signal at every layer's values, from the signal at the last.

        Layers before the first with parameters are given none: nothing there learns.
        """
        first = min(i for i, own in enumerate(parameters) if own)
        inward = [last]
        for i in range(len(self.layers) - 1, first, -1):
            layer, x, y = self.layers[i], values[i], values[i + 1]
            inward.insert(0, layer.backward(parameters[i], x, y, inward[0]))
        return [last.new_zeros(0)] * first + inward

    def explained(self, values: list[Tensor]) -> tuple[int, Tensor]:
        """Where relevance begins, and with what: the predicted class's output."""
        top = values[-1].argmax(-1, keepdim=True)
        return len(self.layers), torch.zeros_like(values[-1]).scatter_(
            -1, top, values[-1].gather(-1, top)
        )


def mlp(*widths: int, activation: Activation = Activation()) -> Network:  # noqa: B008  # frozen
    """Linear layers of the given widths with an activation between them."""
    layers: list[Layer] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [Linear(inputs, outputs), activation]
    return Network(tuple(layers[:-1]))


def cnn(
    side: int,
    classes: int,
    channels: tuple[int, int],
    hidden: int,
    size: int = 5,
    activation: Activation = Activation(),  # noqa: B008  # frozen
) -> Network:
    """Two convolutions, each pooled to half, and two linear layers, for square grey images.

    An increasing activation may follow the pooling, where it has a quarter of the work.
    """
    first, second = channels
    half = (side - size + 1) // 2
    quarter = (half - size + 1) // 2
    return Network(
        (
            Convolution(1, first, size), MaxPool(), activation,
            Convolution(first, second, size), MaxPool(), activation,
            Flatten(), Linear(second * quarter**2, hidden), activation, Linear(hidden, classes),
        )
    )  # fmt: skip
