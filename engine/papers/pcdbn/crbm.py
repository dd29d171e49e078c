r"""Convolutional restricted Boltzmann machines with stride 2, and what they train on.

A layer takes images v to a = W * v + b at every second position and reads states from
a as `engine.training.activations` has it.
"""

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.activations import Activation


def responses(v: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A = W * v + b at every second position, shape (m, K, ceil(h/2), ceil(w/2))."""
    return functional.conv2d(v, weight, bias, stride=2, padding=weight.shape[-1] // 2)


def reconstruction(h: Tensor, weight: Tensor, bias: Tensor, side: int) -> Tensor:
    """Probabilities of v from states: nearest neighbours upsampled, then the filters mirrored."""
    wide = h.repeat_interleave(2, 2).repeat_interleave(2, 3)[:, :, :side, :side]
    back = weight.transpose(0, 1).flip(2, 3)
    return torch.sigmoid(functional.conv2d(wide, back, padding=weight.shape[-1] // 2) + bias)


def divergence(v: Tensor, weight: Tensor, bias: Tensor, visible: Tensor, how: Activation) -> Tensor:
    r"""Energy of the data less energy of its reconstruction: its gradient is that of CD-1.

    E = -\sum h a - c \sum v with the states h held fixed (Hinton 2002), per record and position.
    """
    a = responses(v, weight, bias)
    h = how.states(a).detach()
    dream = reconstruction(h, weight, visible, v.shape[-1]).detach()
    back = responses(dream, weight, bias)
    energy = (how.states(back).detach() * back).sum() - (h * a).sum()
    energy = energy - visible * (v.sum() - dream.sum())
    return energy / (len(v) * a.shape[-1] ** 2)
