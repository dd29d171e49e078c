"""Accuracy and loss of all replicas on test records, in slabs that fit in memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.core.gauges import Column
from engine.training.network import Network, Parameters
from engine.training.siamese import Siamese

SLAB = 2**23
"""Most numbers of an input that lie in memory at once, replicas included."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Shape (R,) each: share of right answers, and mean cross-entropy."""

    accuracy: Column
    loss: Column


def slabs(x: Tensor, replicas: int) -> Iterator[Tensor]:
    """Records (M, ...) as (R, m, ...), a bounded number at a time; the rows are shared."""
    size = max(1, SLAB // (replicas * x[0].numel()))
    for part in torch.split(x, size):
        yield part.expand(replicas, *part.shape)


def predictions(network: Network | Siamese, parameters: Parameters, x: Tensor) -> Tensor:
    """Outputs for records (M, ...) of all replicas, shape (R, M, K)."""
    replicas = len(next(own[0] for own in parameters if own))
    parts = [network.outputs(parameters, slab) for slab in slabs(x, replicas)]
    return torch.cat(parts, 1)


def evaluate(network: Network | Siamese, parameters: Parameters, x: Tensor, y: Tensor) -> Scores:
    """Scores of all replicas on records (M, ...) of classes (M,)."""
    outputs = predictions(network, parameters, x)
    right = (outputs.argmax(-1) == y).double().mean(1)
    logs = torch.log_softmax(outputs, -1)
    wanted = logs.gather(-1, y.expand(len(outputs), -1)[..., None])[..., 0]
    loss = -wanted.double().mean(1)
    return Scores(np.asarray(right.cpu(), np.float64), np.asarray(loss.cpu(), np.float64))
