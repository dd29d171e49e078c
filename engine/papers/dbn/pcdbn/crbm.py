r"""Convolutional restricted Boltzmann machines, and what they train on.

A layer takes images v to a = W * v + b and reads states from a as `engine.training.activations`
has it. Maps are halved in one of two ways: responses at every second position, or at all of them
with the largest state of each square of four handed on.
"""

import torch
from torch import Tensor
from torch.nn import functional

from engine.papers.dbn.pcdbn import doubled
from engine.training.activations import Activation

STRIDES = {"stride": 2, "max": 1}
"""Positions from one response to the next, by the way in which maps are halved."""


def responses(v: Tensor, weight: Tensor, bias: Tensor, stride: int = 2) -> Tensor:
    """A = W * v + b at every position or every second, shape (m, K, ceil(h/s), ceil(w/s))."""
    return functional.conv2d(v, weight, bias, stride=stride, padding=weight.shape[-1] // 2)


def halved(h: Tensor, stride: int) -> Tensor:
    """What the next layer sees: the largest state of each square where no position was skipped."""
    return functional.max_pool2d(h, 2, ceil_mode=True) if stride == 1 else h


def positions(side: int, stride: int) -> int:
    """How many responses a filter has on an image."""
    return (-(-side // stride)) ** 2


def reconstruction(h: Tensor, weight: Tensor, bias: Tensor, side: int) -> Tensor:
    """Probabilities of v from states: nearest neighbours upsampled, then the filters mirrored."""
    back = weight.transpose(0, 1).flip(2, 3)
    if 2 * h.shape[-1] == side:
        return torch.sigmoid(doubled.convolved(h, back) + bias)
    wide = h
    if h.shape[-1] < side:
        wide = h.repeat_interleave(2, 2).repeat_interleave(2, 3)[:, :, :side, :side]
    return torch.sigmoid(functional.conv2d(wide, back, padding=weight.shape[-1] // 2) + bias)


def divergence(
    v: Tensor, weight: Tensor, bias: Tensor, visible: Tensor, how: Activation, stride: int = 2
) -> Tensor:
    r"""Energy of the data less energy of its reconstruction: its gradient is that of CD-1.

    E = -\sum h a - c \sum v with the states h held fixed (Hinton 2002), per record and position.
    """
    a = responses(v, weight, bias, stride)
    h = how.states(a).detach()
    dream = reconstruction(h, weight, visible, v.shape[-1]).detach()
    back = responses(dream, weight, bias, stride)
    energy = (how.states(back).detach() * back).sum() - (h * a).sum()
    energy = energy - visible * (v.sum() - dream.sum())
    return energy / (len(v) * a.shape[-1] ** 2)
