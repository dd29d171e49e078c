r"""How hidden units read their states: an activation function, or a polynomial in its place.

A polynomial takes X = a / Z with the local response normalisation Z of Phan et al. (2017),
Section 3.1, so that X lies in [-1, 1].
"""

from collections.abc import Callable
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
            function of a.
        name: The activation function, which also says between what bounds states lie.
    """

    coefficients: tuple[float, ...] = ()
    name: str = "sigmoid"

    def states(self, a: Tensor) -> Tensor:
        """States in the shape of `a`: in [0, 1], or in [-1, 1] where the function has both signs.

        Those of the logistic function are probabilities. Even functions are taken less their
        value at 0: a layer above them would else see almost the same number everywhere, and its
        own normalisation would bound all its responses to 1.
        """
        rest = 1.0 if self.name in EVEN else 0.0
        if not self.coefficients:
            return FUNCTIONS[self.name](a) - rest
        least = 0.0 if self.name in POSITIVE else -1.0
        return horner(a / normaliser(a), self.coefficients).clamp(least, 1.0) - rest


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "arctan": torch.atan,
    "softsign": functional.softsign,
    "sinusoid": torch.sin,
    "sinc": lambda a: torch.sinc(a / torch.pi),
    "gaussian": lambda a: torch.exp(-a.square()),
}
"""The functions of `polynomials.ACTIVATIONS` for tensors."""
POSITIVE = ("sigmoid", "gaussian", polynomials.RECTIFIER)
"""Functions that have one sign."""
EVEN = ("sinc", "gaussian")
"""Functions that are 1 at 0 and fall to both sides."""


def exact(name: str = "sigmoid") -> Activation:
    """The true function; the rectifier is bounded by the normalisation, as Section 3.1 asks."""
    if name == polynomials.RECTIFIER:
        return expansion("chebyshev", 1, name)
    return Activation(name=name)


def expansion(polynomial: str, degree: int, name: str = "sigmoid") -> Activation:
    """The polynomial of a spec."""
    found = polynomials.coefficients(polynomial, degree, name)
    return Activation(tuple(map(float, found)), name)


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
