"""Accuracy by epoch, kept by every run, so that one training gives a whole curve."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.core.gauges import Column


def none(replicas: int) -> Tensor:
    """Nothing measured yet, shape (0, 1 + R)."""
    return torch.zeros(0, 1 + replicas, dtype=torch.float64)


def later(course: Tensor, epochs: float, accuracy: Column) -> Tensor:
    """The same with one measurement more, shape (k + 1, 1 + R)."""
    row = torch.tensor([[epochs, *accuracy.tolist()]], dtype=torch.float64)
    return torch.cat([course, row])


def array(course: Tensor) -> NDArray[np.float64]:
    """Epochs and accuracies by replica, shape (R, k, 2)."""
    values = np.asarray(course, np.float64)
    epochs = np.broadcast_to(values[:, :1], values[:, 1:].shape)
    return np.stack([epochs.T, values[:, 1:].T], axis=2)
