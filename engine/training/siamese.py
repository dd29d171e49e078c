r"""A Siamese network: two branches with one set of weights, each an auto-encoder.

A record of training is a pair of persons; the branches are places, so values have
shape (R, B, features, places). A layer that is used at P places has a gradient of P
outer products for each pair, which is a convolution's with P positions, so the
closed forms of `engine.training.weights` hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.layers import Activation, Layer, Norm, Tensors
from engine.training.network import Network, Parameters
from engine.training.weights import Linear, position_norms

MARGIN = 1.0
"""Squared distance of two codes at which a pair is as likely of one class as of two."""
REBUILT = 1.0
"""Weight of the mean squared error of the rebuilt features against the comparison's loss."""


@dataclass(frozen=True)
class Shared:
    """A linear layer used at every place; parameters W (R, outputs, inputs) and b (R, outputs)."""

    inputs: int
    outputs: int

    def init(self, generators: Sequence[torch.Generator]) -> Tensors:
        """As a linear layer's."""
        return Linear(self.inputs, self.outputs).init(generators)

    def forward(self, parameters: Tensors, x: Tensor) -> Tensor:
        """From (R, B, inputs, P) to (R, B, outputs, P)."""
        weight, bias = parameters
        return _columns(torch.baddbmm(bias[:, None], _rows(x), weight.mT), x)

    def backward(self, parameters: Tensors, x: Tensor, y: Tensor, signal: Tensor) -> Tensor:
        """W^T applied to the signal of each place."""
        return _columns(torch.bmm(_rows(signal), parameters[0]), x)

    def norms(self, norm: Norm, x: Tensor, signal: Tensor) -> Tensor:
        """Of the sum over the places, not a bound of it."""
        sizes = position_norms(norm, x.flatten(0, 1), signal.flatten(0, 1))
        return sizes.view(x.shape[:2])

    def total(self, x: Tensor, signal: Tensor) -> Tensors:
        """One matrix product sums the outer products over records and places."""
        return torch.bmm(_rows(signal).mT, _rows(x)), signal.sum((1, 3))


def _rows(x: Tensor) -> Tensor:
    """(R, B, features, P) as (R, B P, features)."""
    return x.transpose(2, 3).flatten(1, 2)


def _columns(rows: Tensor, like: Tensor) -> Tensor:
    """The inverse of `_rows`, with the records and places of `like`."""
    shape = (len(like), like.shape[1], like.shape[3], rows.shape[-1])
    return rows.view(shape).transpose(2, 3)


@dataclass(frozen=True)
class Siamese:
    """Encoders that are compared by their codes, and decoders that rebuild the input.

    Attributes:
        layers: The encoder's layers, then the decoder's.
        code: How many of them are the encoder's: the code is the value after so many.
    """

    layers: tuple[Layer, ...]
    code: int

    def init(self, seeds: Sequence[int], device: torch.device) -> Parameters:
        """Fresh parameters; equal seeds give equal rows on every device."""
        return Network(self.layers).init(seeds, device)

    def values(self, parameters: Parameters, x: Tensor) -> list[Tensor]:
        """Input, every layer's values, and last what the loss is made of, shape (R, B, 2).

        That is the squared distance of the two codes, and the mean squared error of
        the rebuilt features.
        """
        branch = Network(self.layers).values(parameters, x)
        apart = _distances(branch[self.code])[..., 0]
        error = (branch[-1] - x).square().mean((2, 3))
        return [*branch, torch.stack((apart, error), -1)]

    def outputs(self, parameters: Parameters, x: Tensor) -> Tensor:
        """For episodes (R, B, features, 1 + ways): how near the first is to each of the others.

        Minus the squared distance of codes, shape (R, B, ways); one example of each
        class is compared with, and the nearest one's class is the answer.
        """
        encoder = Network(self.layers[: self.code])
        return -_distances(encoder.outputs(parameters[: self.code], x))

    def signals(self, parameters: Parameters, values: list[Tensor], last: Tensor) -> list[Tensor]:
        """The signal at every layer's values, from that at distance and error."""
        x, code, rebuilt = values[0], values[self.code], values[-2]
        scale = 2.0 / (x.shape[2] * x.shape[3])
        ends = self._through(
            slice(self.code, None), parameters, values, (rebuilt - x) * (scale * _wide(last, 1))
        )
        difference = 2.0 * _wide(last, 0) * (code[..., :1] - code[..., 1:2])
        first = self.layers[self.code]
        joined = first.backward(parameters[self.code], code, values[self.code + 1], ends[0])
        pushed = joined + torch.cat((difference, -difference), -1)
        return [*self._through(slice(0, self.code), parameters, values, pushed), *ends]

    def _through(
        self, part: slice, parameters: Parameters, values: list[Tensor], last: Tensor
    ) -> list[Tensor]:
        """Signals at the values of some layers, from that at the last of them."""
        start, stop, _ = part.indices(len(self.layers))
        own = Network(self.layers[part])
        return own.signals(parameters[part], values[start : stop + 1], last)

    def explained(self, values: list[Tensor]) -> tuple[int, Tensor]:
        """Where relevance begins, and with what: each code neuron's part of the distance.

        A squared distance is a sum over the code's neurons; each place has half of a
        neuron's part.
        """
        code = values[self.code]
        part = 0.5 * (code[..., :1] - code[..., 1:2]).square()
        return self.code, part.expand_as(code)


def _distances(code: Tensor) -> Tensor:
    """Squared distances of the first place to the others, from (R, B, k, P) to (R, B, P - 1)."""
    return (code[..., :1] - code[..., 1:]).square().sum(2)


def _wide(last: Tensor, column: int) -> Tensor:
    """One column of (R, B, 2) against values (R, B, features, P)."""
    return last[..., column, None, None]


def siamese(inputs: int, hidden: int, code: int) -> Siamese:
    """Auto-encoder branches inputs-hidden-code-hidden-inputs with tanh units between."""
    bend = Activation("tanh")
    encoder = (Shared(inputs, hidden), bend, Shared(hidden, code))
    decoder = (Shared(code, hidden), bend, Shared(hidden, inputs))
    return Siamese((*encoder, *decoder), len(encoder))


def pair_loss(outputs: Tensor, same: Tensor) -> tuple[Tensor, Tensor]:
    r"""Loss of pairs (R, B) and its derivative by distance and error, (R, B, 2).

    A pair is of one class with probability s(MARGIN - d^2), s the logistic function;
    the loss is minus the log-likelihood plus the weighted error of the auto-encoders.

    Args:
        outputs: Squared distance and error, (R, B, 2).
        same: 1 where both are of one class, else 0, shape (R, B).
    """
    sign = 2.0 * same - 1.0
    excess = sign * (outputs[..., 0] - MARGIN)
    losses = functional.softplus(excess) + REBUILT * outputs[..., 1]
    pull = sign * torch.sigmoid(excess)
    return losses, torch.stack((pull, torch.full_like(pull, REBUILT)), -1)
