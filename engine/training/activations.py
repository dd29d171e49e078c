r"""How hidden units read their states: an activation function, or a polynomial in its place.

A polynomial takes X = a / Z with the local response normalisation Z of Phan et al. (2017),
Section 3.1, so that X lies in [-1, 1].
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.polynomial import Polynomial
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
        return self.of(self.argument(a))

    def argument(self, a: Tensor) -> Tensor:
        """What the function takes: X for a polynomial, the responses themselves without."""
        return bounded(a) if self.coefficients else a

    def of(self, x: Tensor) -> Tensor:
        """States of arguments of any shape."""
        rest = 1.0 if self.name in EVEN else 0.0
        if not self.coefficients:
            return FUNCTIONS[self.name](x) - rest
        least = 0.0 if self.name in POSITIVE else -1.0
        return horner(x, self.coefficients).clamp(least, 1.0) - rest

    @cached_property
    def rising(self) -> bool:
        """Whether a larger argument never gives a smaller state.

        The largest state of several is then that of the largest argument.
        """
        if not self.coefficients:
            return self.name in RISING
        slopes = Polynomial(self.coefficients).deriv()(np.linspace(-1.0, 1.0, 2001))
        return bool(np.min(slopes) >= -1e-9)


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
RISING = ("sigmoid", "tanh", "arctan", "softsign")
"""Functions that rise everywhere."""
EVEN = ("sinc", "gaussian")
"""Functions that are 1 at 0 and fall to both sides."""


def exact(name: str = "sigmoid") -> Activation:
    """The true function; the rectifier is bounded by the normalisation, as Section 3.1 asks."""
    if name == polynomials.RECTIFIER:
        return expansion("chebyshev", 1, name)
    return Activation(name=name)


def expansion(polynomial: str, degree: int, name: str = "sigmoid") -> Activation:
    """The polynomial of a spec."""
    coefficients = polynomials.coefficients(polynomial, degree, name)
    return Activation(tuple(map(float, coefficients)), name)


def taylor() -> Activation:
    r"""pCDBN_TE: \sigma(X) = (1 + tanh(X/2))/2 with tanh x = x - x^3/3 + 2x^5/15."""
    half = polynomials.taylor("tanh") * 0.5 ** np.arange(6) / 2.0
    half[0] += 0.5
    return Activation(tuple(map(float, half)))


def line() -> Activation:
    """pCDBN_PW: the straight line closest to the logistic function."""
    return Activation(tuple(map(float, polynomials.line("sigmoid"))))


def horner(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """The polynomial at x; one in X^2 but for its constant and a factor X takes half the steps."""
    low, rest = coefficients[0], coefficients[1:]
    if len(rest) > 1 and not any(rest[1::2]):
        return _steps(x.square(), rest[::2]).mul_(x).add_(low)
    return _steps(x, coefficients)


def _steps(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    value = torch.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value.mul_(x).add_(c)
    return value


def bounded(a: Tensor) -> Tensor:
    r"""X = a / Z in [-1, 1], for a (m, K, h, w).

    With Y = (q + \alpha \sum a_m^2)^\beta, a / max(|a|, Y) is a / Y cut at -1 and 1, and
    Y = \sqrt{y \sqrt y} for \beta = 3/4. A matrix product adds up the neighbouring maps.
    """
    maps = a.shape[1]
    band = torch.ones(maps, maps, dtype=a.dtype, device=a.device)
    band = band.triu(-(REACH // 2)).tril(REACH // 2)
    squares = a.detach().square().flatten(2)
    y = torch.baddbmm(
        squares.new_tensor(Q), band.expand(len(a), -1, -1), squares, alpha=ALPHA
    ).view_as(a)
    x: Tensor = a / (y.sqrt() * y).sqrt_()
    return x.clamp_(-1.0, 1.0) if not x.requires_grad else x.clamp(-1.0, 1.0)
