r"""Layers without weights of their own: what they compute, and how a signal returns through them.

A layer is a frozen description; its parameters are a tuple of tensors, each with
the replicas R as its leading axis. Values run forward with shape (R, B, ...): B
records of each replica. Signals are derivatives of one record's loss with respect
to that record's values, so they have the same shape and no sum over B in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

Tensors: TypeAlias = tuple[Tensor, ...]
Norm: TypeAlias = Literal["l1", "l2"]


class Layer(Protocol):
    """One step of a network."""

    def init(self, generators: Sequence[torch.Generator]) -> Tensors:
        """Fresh parameters on the CPU, one row for each generator; empty if it has none."""

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """The layer's values."""

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """The signal at `x` from the signal at `y`, where `y` is `forward(parameters, x)`."""

    def norms(self, norm: Norm, x: Tensor, signal: Tensor) -> Tensor:
        """Each record's gradient norm, shape (R, B): squared in L2, as it is in L1."""

    def total(self, x: Tensor, signal: Tensor) -> Tensors:
        """The records' gradients summed, shaped as the parameters."""


class Fixed:
    """The part of a layer that has nothing to learn."""

    def init(self, generators: Sequence[torch.Generator]) -> Tensors:
        """No parameters."""
        return ()

    def norms(self, norm: Norm, x: Tensor, signal: Tensor) -> Tensor:
        """Zero: there is no gradient."""
        return x.new_zeros(x.shape[:2])

    def total(self, x: Tensor, signal: Tensor) -> Tensors:
        """No gradient."""
        return ()


@dataclass(frozen=True)
class Activation(Fixed):
    """A function of each value by itself.

    Attributes:
        name: Which one. The bounded ones keep gradients small (Papernot et al. 2021).
    """

    name: Literal["relu", "tanh", "sigmoid", "identity"] = "relu"

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """Of the shape of `x`."""
        match self.name:
            case "relu":
                return torch.relu(x)
            case "tanh":
                return torch.tanh(x)
            case "sigmoid":
                return torch.sigmoid(x)
            case "identity":
                return x

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """The derivative, written in the value `y` itself."""
        match self.name:
            case "relu":
                return signal * (y > 0)
            case "tanh":
                return signal * (1 - y.square())
            case "sigmoid":
                return signal * (y * (1 - y))
            case "identity":
                return signal


@dataclass(frozen=True)
class Flatten(Fixed):
    """Images (R, B, C, H, W) as rows (R, B, C H W)."""

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """A view where memory allows."""
        return x.flatten(2)

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """The same numbers in the shape of `x`."""
        return signal.reshape(x.shape)


@dataclass(frozen=True)
class MaxPool(Fixed):
    """The largest value of each square of 2 x 2 pixels, squares side by side.

    Written as two maxima of neighbours: on a processor thirty times as fast as the
    library's pooling, which takes more time there than the convolutions around it.
    """

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """Shape (R, B, C, H // 2, W // 2)."""
        tall = self._rows(x)
        return torch.maximum(tall[..., ::2], tall[..., 1::2])

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """The whole signal goes to one pixel that won; pixels outside all squares get none."""
        tall = self._rows(x)
        up = torch.empty_like(tall)
        torch.mul(signal, tall[..., ::2] >= tall[..., 1::2], out=up[..., ::2])
        torch.sub(signal, up[..., ::2], out=up[..., 1::2])
        height, width = 2 * y.shape[-2], 2 * y.shape[-1]
        back = torch.empty_like(x) if x.shape[-2:] == (height, width) else torch.zeros_like(x)
        inner, seen = back[..., :height, :width], x[..., :height, :width]
        torch.mul(up, seen[..., ::2, :] >= seen[..., 1::2, :], out=inner[..., ::2, :])
        torch.sub(up, inner[..., ::2, :], out=inner[..., 1::2, :])
        return back

    def _rows(self, x: Tensor) -> Tensor:
        """The larger of each pair of rows, of an even number of columns."""
        even = x[..., : x.shape[-2] // 2 * 2, : x.shape[-1] // 2 * 2]
        return torch.maximum(even[..., ::2, :], even[..., 1::2, :])


@dataclass(frozen=True)
class MeanPool(Fixed):
    """The mean of each square of `size` pixels, squares side by side."""

    size: int = 2

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """Shape (R, B, C, H // size, W // size)."""
        pooled: Tensor = functional.avg_pool2d(x.flatten(0, 2), self.size)
        return pooled.view(*x.shape[:3], *pooled.shape[1:])

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """Every pixel of a square gets its share; pixels outside all squares get none."""
        wide = signal.repeat_interleave(self.size, -1).repeat_interleave(self.size, -2)
        short = (x.shape[-1] - wide.shape[-1], x.shape[-2] - wide.shape[-2])
        return functional.pad(wide, (0, short[0], 0, short[1])) / self.size**2
