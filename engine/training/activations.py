r"""How hidden units read their states: the logistic function, or a polynomial in its place.

A polynomial takes X = a / Z with the local response normalisation Z of Phan et al. (2017),
Section 3.1, so that X lies in [-1, 1].
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.training import polynomials

Q, REACH, ALPHA, BETA = 2.0, 5, 1e-4, 0.75
"""Constants of the local response normalisation (Section 3.1)."""


@dataclass(frozen=True)
class Activation:
    """How states are read from responses.

    Attributes:
        coefficients: Of the polynomial in X = a/Z, the constant first; empty for the true
            logistic function of a.
    """

    coefficients: tuple[float, ...] = ()

    def states(self, a: Tensor) -> Tensor:
        """Probabilities in [0, 1], in the shape of `a`."""
        if not self.coefficients:
            return torch.sigmoid(a)
        return horner(a / normaliser(a), self.coefficients).clamp(0.0, 1.0)


def logistic() -> Activation:
    """The true logistic function."""
    return Activation()


def expansion(polynomial: str, degree: int) -> Activation:
    """The polynomial of a spec."""
    return Activation(tuple(map(float, polynomials.coefficients(polynomial, degree))))


def taylor() -> Activation:
    r"""pCDBN_TE: \sigma(X) = (1 + tanh(X/2))/2 with tanh x = x - x^3/3 + 2x^5/15."""
    half = polynomials.taylor("tanh") * 0.5 ** np.arange(6) / 2.0
    half[0] += 0.5
    return Activation(tuple(map(float, half)))


def line() -> Activation:
    """pCDBN_PW: the straight line closest to the logistic function."""
    return Activation(tuple(map(float, polynomials.line("sigmoid"))))


def horner(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """The polynomial at x."""
    value = torch.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value


def normaliser(a: Tensor) -> Tensor:
    r"""Z = max(|a|, (q + \alpha \sum a_m^2)^\beta) over neighbouring maps; a is (m, K, h, w)."""
    squares = functional.pad(a.square(), (0, 0, 0, 0, REACH // 2, REACH // 2))
    near = sum(squares[:, i : i + a.shape[1]] for i in range(REACH))
    return torch.maximum(a.abs(), (Q + ALPHA * torch.as_tensor(near)).pow(BETA))
