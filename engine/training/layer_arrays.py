"""The weights of a network as arrays that a run keeps: what a private training releases."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

ROOM = 8_000_000
"""Bytes of the weights of replicas that end together; of one replica they are always kept."""


def layer_arrays(parameters: Sequence[Sequence[Tensor]]) -> dict[str, NDArray[np.generic]]:
    """`weights_1` (R, ...), `bias_1` (R, ...) and so on, layer by layer.

    Args:
        parameters: Weights and biases (R, ...) of each layer; empty for a layer without any.

    Returns:
        Nothing where several replicas' weights take more than `ROOM`.
    """
    layers = [layer for layer in parameters if len(layer)]
    size = sum(part.numel() * part.element_size() for layer in layers for part in layer)
    if not layers or (size > ROOM and len(layers[0][0]) > 1):
        return {}
    return {
        f"{name}_{number}": part.cpu().numpy()
        for number, layer in enumerate(layers, 1)
        for name, part in zip(("weights", "bias", "visible"), layer, strict=False)
    }
