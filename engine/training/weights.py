r"""Layers with weights, and the closed forms of their per-record gradient norms.

For one record a linear layer's gradient is the outer product \delta a^T, so
\|\delta a^T\|_2 = \|\delta\|_2 \|a\|_2 and \|\delta a^T\|_1 = \|\delta\|_1 \|a\|_1
(Goodfellow 2015; Li et al. 2022): no gradient of a single record is ever built. A
convolution uses its weights at T positions; its record gradient is the sum of T
outer products. Its squared L2 norm is \sum_{s,t} (\delta_s \cdot \delta_t)(a_s \cdot a_t),
or, where that is dearer, it is built for a slab of few records at a time. Such sums may
cancel, so their norms are rounded up: the clipped sum in single precision keeps its bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn import functional, grad

from engine.training.layers import Norm, Tensors
from engine.training.steady import steady

torch.backends.cudnn.allow_tf32 = False
"""A clipped sum in less than single precision would break the bound that its norms keep."""
SLAB = 2**21
"""Most numbers of record gradients that lie in memory at once."""


@dataclass(frozen=True)
class Linear:
    """y = W x + b; parameters W (R, outputs, inputs) and b (R, outputs)."""

    inputs: int
    outputs: int

    def init(self, generators: Sequence[torch.Generator]) -> Tensors:
        """Normal weights of variance 2 / inputs (He et al. 2015) and no bias."""
        shape, width = (self.outputs, self.inputs), math.sqrt(2.0 / self.inputs)
        weight = torch.stack([torch.randn(shape, generator=g) * width for g in generators])
        return weight, torch.zeros(len(generators), self.outputs)

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """From (R, B, inputs) to (R, B, outputs)."""
        weight, bias = parameters
        return torch.baddbmm(bias[:, None], x, weight.mT)

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """W^T applied to the signal."""
        return torch.bmm(signal, parameters[0])

    def norms(self, norm: Norm, x: Tensor, signal: Tensor) -> Tensor:
        """The product of two norms; the 1 stands for the bias, whose input is one."""
        if norm == "l1":
            return signal.abs().sum(2) * (x.abs().sum(2) + 1)
        return signal.square().sum(2) * (x.square().sum(2) + 1)

    def total(self, x: Tensor, signal: Tensor) -> Tensors:
        """One matrix product sums the outer products over the records."""
        return torch.bmm(signal.mT, x), signal.sum(1)


@dataclass(frozen=True)
class Convolution:
    """Square filters; parameters W (R, outputs, inputs, size, size) and b (R, outputs)."""

    inputs: int
    outputs: int
    size: int
    stride: int = 1
    padding: int = 0

    def init(self, generators: Sequence[torch.Generator]) -> Tensors:
        """Normal weights of variance 2 / fan-in (He et al. 2015) and no bias."""
        shape = (self.outputs, self.inputs, self.size, self.size)
        width = math.sqrt(2.0 / (self.inputs * self.size**2))
        weight = torch.stack([torch.randn(shape, generator=g) * width for g in generators])
        return weight, torch.zeros(len(generators), self.outputs)

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """From (R, B, inputs, H, W) to (R, B, outputs, H', W')."""
        weight, bias = parameters
        y = functional.conv2d(
            _together(x), weight.flatten(0, 1), bias.flatten(), self.stride, self.padding,
            groups=len(x),
        )  # fmt: skip
        return _apart(y, len(x))

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """The transposed convolution of the signal."""
        back = grad.conv2d_input(  # type: ignore[no-untyped-call]
            _together(x).shape, parameters[0].flatten(0, 1), _together(signal),
            self.stride, self.padding, groups=len(x),
        )  # fmt: skip
        return _apart(back, len(x))

    def norms(self, norm: Norm, x: Tensor, signal: Tensor) -> Tensor:
        """A slab of records at a time, by whichever form is cheaper."""
        sizes = (signal[0, 0, 0].numel(), self.inputs * self.size**2, self.outputs)
        gram, step = _plan(norm, *sizes)
        step = max(1, step // len(x))
        parts = [
            self._slab(norm, gram, xs, ds)
            for xs, ds in zip(torch.split(x, step, 1), torch.split(signal, step, 1), strict=True)
        ]
        return torch.cat(parts, 1)

    def _slab(self, norm: Norm, gram: bool, x: Tensor, signal: Tensor) -> Tensor:
        """The norms of some records, from signals (R b, outputs, T), patches (R b, fan-in, T)."""
        patches = self._patches(x.flatten(0, 1))
        delta = signal.flatten(3).flatten(0, 1)
        return _norms(norm, gram, patches, delta).view(x.shape[:2])

    def _patches(self, x: Tensor) -> Tensor:
        """What each position sees, shape (N, fan-in, T): a copy of a view, faster than im2col."""
        side, stride = self.size, self.stride
        wide = functional.pad(x, [self.padding] * 4) if self.padding else x
        view: Tensor = wide.unfold(2, side, stride).unfold(3, side, stride)
        return view.permute(0, 1, 4, 5, 2, 3).reshape(len(x), self.inputs * side**2, -1)

    @steady
    def total(self, x: Tensor, signal: Tensor) -> Tensors:
        """The gradient of the summed loss: one convolution."""
        shape = (len(x) * self.outputs, self.inputs, self.size, self.size)
        weight = grad.conv2d_weight(  # type: ignore[no-untyped-call]
            _together(x), shape, _together(signal), self.stride, self.padding, groups=len(x)
        )
        return weight.view(len(x), self.outputs, *shape[1:]), signal.sum((1, 3, 4))


def position_norms(norm: Norm, x: Tensor, signal: Tensor) -> Tensor:
    """Norms of sums of outer products over positions, a slab of records at a time.

    Args:
        norm: In which norm.
        x: What each position sees, shape (N, fan-in, T).
        signal: The signal at each position, shape (N, outputs, T).

    Returns:
        Shape (N,): squared in L2, as it is in L1; the bias is counted in.
    """
    gram, step = _plan(norm, x.shape[2], x.shape[1], signal.shape[1])
    pairs = zip(torch.split(x, step), torch.split(signal, step), strict=True)
    return torch.cat([_norms(norm, gram, xs, ds) for xs, ds in pairs])


def _plan(norm: Norm, positions: int, fan_in: int, outputs: int) -> tuple[bool, int]:
    """Whether products of positions are cheaper than gradients, and how many records fit."""
    whole = outputs * fan_in
    gram = norm == "l2" and positions * (outputs + fan_in) < whole
    held = positions * max(positions, fan_in) if gram else max(whole, positions * fan_in)
    return gram, max(1, SLAB // held)


def _norms(norm: Norm, gram: bool, patches: Tensor, delta: Tensor) -> Tensor:
    """The norms of one slab of patches (N, fan-in, T) and signals (N, outputs, T), rounded up."""
    margin = _rounding(norm, patches, delta)
    if norm == "l1":
        gradient = torch.bmm(delta, patches.mT).abs().sum((1, 2))
        return gradient + delta.sum(2).abs().sum(1) + margin
    if gram:  # differences of large numbers: what they lose is negligible in double precision
        a, d = patches.double(), delta.double()
        squares = (torch.bmm(d.mT, d) * (torch.bmm(a.mT, a) + 1)).sum((1, 2)).clamp(min=0)
    else:
        squares = torch.bmm(delta, patches.mT).square().sum((1, 2)) + delta.sum(2).square().sum(1)
    return (squares.sqrt().to(margin.dtype) + margin).square()


def _rounding(norm: Norm, patches: Tensor, delta: Tensor) -> Tensor:
    r"""Most that a sum over T positions is off in norm, once in its norm and once in the sum.

    Terms may cancel, and the sum of T rounded terms is off by up to (T + 2) u \sum_t
    \|\delta_t\| \|(a_t, 1)\| (Higham 2002, Section 3.1), however short it is itself; u is half
    of the step between 1 and the next number. In L2 the sum is at most
    \|\delta\|_F (\|a\|_F + \sqrt T) (Cauchy and Schwarz), which needs no norm of a position.
    """
    count = delta.shape[2]
    if norm == "l1":
        terms: Tensor = (vector_norm(delta, 1, 1) * (vector_norm(patches, 1, 1) + 1)).sum(1)
    else:
        inputs: Tensor = vector_norm(patches.flatten(1), dim=1) + math.sqrt(count)
        terms = inputs * vector_norm(delta.flatten(1), dim=1)
    unit: float = torch.finfo(delta.dtype).eps * (count + 2)
    return unit * terms


def _together(x: Tensor) -> Tensor:
    """(R, B, C, H, W) as (B, R C, H, W), so that one grouped convolution serves all replicas."""
    return x.transpose(0, 1).flatten(1, 2)


def _apart(y: Tensor, replicas: int) -> Tensor:
    """The inverse of `_together`."""
    return y.view(len(y), replicas, -1, *y.shape[2:]).transpose(0, 1)
