r"""Convolutional restricted Boltzmann machines with dynamic biases (equations 23 to 26).

All E replicas of one repetition see the same windows, so a layer's maps are (m, E K, h, w) and
one convolution serves all. Hidden biases are b_k + B_k x + \eta_k s and visible ones
c + A x + \eta s, with x a user's own attributes and s the mean of the friends' influence \psi.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Generator, Tensor
from torch.nn import functional

from engine.training.activations import Activation

Layer: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
"""Weight (E, K, C, h, w), bias b (E, K), B with \\eta_k (E, K, q), c (E,), A with \\eta (E, q)."""
START = 0.1
"""Deviation of fresh weights times the root of a patch's size."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a layer.

    Attributes:
        channels: Maps that come in, C.
        units: Maps that go out, K.
        kernel: Attributes and times that a filter spans.
        same: Whether maps keep their size; else a filter must fit.
        pool: Side of the squares whose largest state is kept; 1 for all states.
    """

    channels: int
    units: int
    kernel: tuple[int, int]
    same: bool = True
    pool: int = 2

    def fresh(self, sources: Sequence[Generator], own: int, device: torch.device) -> Layer:
        """Fresh parameters, one row for each generator."""
        size = (self.units, self.channels, *self.kernel)
        fan = self.channels * self.kernel[0] * self.kernel[1]
        weight = torch.stack([torch.randn(size, generator=g) for g in sources])
        count = len(sources)
        zeros = [(count, self.units), (count, self.units, own), (count,), (count, own)]
        first, *rest = (torch.zeros(shape, device=device) for shape in zeros)
        return (weight * (START * (10.0 / fan) ** 0.5)).to(device), first, rest[0], rest[1], rest[2]

    def margins(self) -> tuple[int, int, int, int]:
        """Zeros before and after the times, and before and after the attributes."""
        if not self.same:
            return 0, 0, 0, 0
        tall, wide = self.kernel[0] - 1, self.kernel[1] - 1
        return wide // 2, wide - wide // 2, tall // 2, tall - tall // 2


def responses(v: Tensor, layer: Layer, own: Tensor, shape: Shape) -> Tensor:
    """W * v + b for v (m, C, h, w), shared, or (m, E C, h, w); shape (m, E, K, h', w')."""
    weight, bias, dynamic = layer[0], layer[1], layer[2]
    replicas = len(weight)
    wide = functional.pad(v, shape.margins())
    if v.shape[1] == shape.channels:
        a = functional.conv2d(wide, weight.flatten(0, 1))
        a = a.view(len(v), replicas, shape.units, *a.shape[2:])
    else:  # one by one in memory of their own: half the time of a grouped convolution
        each = wide.view(len(v), replicas, shape.channels, *wide.shape[2:]).unbind(1)
        maps = [functional.conv2d(x.contiguous(), w) for x, w in zip(each, weight, strict=True)]
        a = torch.stack(maps, 1)
    extra = bias + torch.einsum("mq,ekq->mek", own, dynamic)
    return a + extra[..., None, None]


def states(a: Tensor, how: Activation) -> Tensor:
    """States of responses (m, E, K, h, w), in the same shape."""
    return how.states(a.flatten(0, 1)).view_as(a)


def reconstruction(h: Tensor, layer: Layer, own: Tensor, shape: Shape) -> Tensor:
    """Probabilities of what came in, less 1/2 as the windows are, shape (m, E C, h, w)."""
    weight, visible, dynamic = layer[0], layer[3], layer[4]
    left, right, top, bottom = shape.margins()
    back = functional.conv_transpose2d(h.flatten(1, 2), weight.flatten(0, 1), groups=len(weight))
    back = back[:, :, top : back.shape[2] - bottom, left : back.shape[3] - right]
    bias = visible + own @ dynamic.T
    wide = bias.repeat_interleave(shape.channels, 1)[..., None, None]
    return torch.sigmoid(back + wide) - 0.5


def divergence(v: Tensor, layer: Layer, own: Tensor, how: Activation, shape: Shape) -> Tensor:
    r"""Energy of the data less energy of its reconstruction: its gradient is that of CD-1.

    E = -\sum h a - c \sum v with the states h held fixed (Hinton 2002), per window and position,
    summed over the replicas.
    """
    replicas = len(layer[0])
    a = responses(v, layer, own, shape)
    h = states(a.detach(), how)
    with torch.no_grad():
        dream = reconstruction(h, layer, own, shape)
    back = responses(dream, layer, own, shape)
    energy = (states(back.detach(), how) * back).sum() - (h * a).sum()
    pixels = v.view(len(v), -1, shape.channels, *v.shape[2:]).sum((2, 3, 4))
    dreamt = dream.view(len(v), replicas, -1).sum(2)
    bias = layer[3] + own @ layer[4].T
    energy = energy - (bias * (pixels - dreamt)).sum()
    return energy / (len(v) * a[0, 0, 0].numel())


def pooled(h: Tensor, shape: Shape) -> Tensor:
    """The largest value of each square, shape (m, E K, h', w'); at an odd edge of what is there.

    Two maxima of neighbours are a tenth of the time of the library's pooling on a processor.
    """
    maps = h.flatten(1, 2)
    return maps if shape.pool == 1 else _halved(_halved(maps, 2), 3)


def _halved(maps: Tensor, side: int) -> Tensor:
    even = maps.shape[side] // 2
    first, second = (
        maps[:, :, k : 2 * even : 2] if side == 2 else maps[..., k : 2 * even : 2] for k in (0, 1)
    )
    larger = torch.maximum(first, second)
    if maps.shape[side] == 2 * even:
        return larger
    return torch.cat([larger, maps.narrow(side, 2 * even, 1)], side)


def passed_on(a: Tensor, how: Activation, shape: Shape) -> Tensor:
    """The largest state of each square, from responses (m, E, K, h, w), shape (m, E K, h', w').

    Where states rise with their arguments, a quarter of them is read.
    """
    arguments = how.argument(a.flatten(0, 1)).view_as(a)
    if how.rising:
        return how.of(pooled(arguments, shape))
    return pooled(how.of(arguments), shape)
