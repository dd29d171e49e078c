r"""Polynomials in place of activations on [-1, 1], and how far they are from them.

Coefficients are in powers of X, the constant first. Plain numpy: pages draw them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial import chebyshev as cheb
from numpy.typing import NDArray

from engine.core.errors import RequestError, SpecError

Floats: TypeAlias = NDArray[np.float64]
Function: TypeAlias = Callable[[Floats], Floats]

ACTIVATIONS: dict[str, Function] = {
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "tanh": np.tanh,
    "arctan": np.arctan,
    "softsign": lambda x: x / (1.0 + np.abs(x)),
    "sinusoid": np.sin,
    "sinc": lambda x: np.sinc(x / np.pi),
    "gaussian": lambda x: np.exp(-(x**2)),
}
"""The functions of Section 3.1; sinc is sin(x)/x."""
RECTIFIER = "relu"
"""A polynomial already, once its argument is bounded (Section 3.1)."""
NODES = 2048
"""Points of the quadrature; coefficients are exact to rounding for smooth functions."""

_PRINTED: dict[int, tuple[float, ...]] = {
    1: (1 / 2, 1 / 2),
    2: (3 / 4, 2 / 4, -1 / 4),
    3: (2 / 4, 3 / 4, 0.0, -1 / 4),
    5: (10 / 16, 17 / 16, -4 / 16, -14 / 16, 2 / 16, 5 / 16),
    7: (16 / 32, 35 / 32, 0.0, -35 / 32, 0.0, 21 / 32, 0.0, -5 / 32),
}
_TAYLOR: dict[str, tuple[float, ...]] = {
    "sigmoid": (1 / 2, 1 / 4, 0.0, -1 / 48, 0.0, 1 / 480),
    "tanh": (0.0, 1.0, 0.0, -1 / 3, 0.0, 2 / 15),
    "arctan": (0.0, 1.0, 0.0, -1 / 3, 0.0, 1 / 5),
    "sinusoid": (0.0, 1.0, 0.0, -1 / 6, 0.0, 1 / 120),
    "sinc": (1.0, 0.0, -1 / 6, 0.0, 1 / 120),
    "gaussian": (1.0, 0.0, -1.0, 0.0, 1 / 2),
}


@dataclass(frozen=True, eq=False)
class Fit:
    """A polynomial beside the function that it stands for.

    Attributes:
        name: As a chart shows it.
        coefficients: In powers of X, shape (degree + 1,).
        error: Largest distance from the function on [-1, 1].
    """

    name: str
    coefficients: Floats
    error: float


def activation(name: str) -> Function:
    """The function of that name.

    Raises:
        RequestError: There is none.
    """
    if name not in ACTIVATIONS:
        raise RequestError(f"activation: expected one of {', '.join(ACTIVATIONS)}, got {name!r}")
    return ACTIVATIONS[name]


@lru_cache(maxsize=256)
def series(name: str, terms: int) -> Floats:
    r"""Chebyshev coefficients A_0/2, A_1, ... of an activation, shape (terms,).

    A_k = (2/\pi) \int f T_k / \sqrt{1 - x^2}, by Gauss-Chebyshev quadrature.
    """
    angle = (np.arange(NODES) + 0.5) * np.pi / NODES
    values = activation(name)(np.cos(angle))
    coefficients = np.array([2.0 * np.mean(values * np.cos(k * angle)) for k in range(terms)])
    coefficients[0] /= 2.0
    return coefficients


def chebyshev(name: str, degree: int) -> Floats:
    """The truncated Chebyshev expansion in powers of X, shape (degree + 1,)."""
    expansion = np.zeros(degree + 1)
    powers = cheb.cheb2poly(series(name, degree + 1))
    expansion[: len(powers)] = powers
    return expansion


def printed(degree: int) -> Floats:
    """The polynomial that the paper prints (L = 7) or its program holds (2, 3, 5).

    They are steps from 0 at -1 to 1 at 1, not approximations of the logistic function. For
    L = 5 the program divides by 2, which gives 8 at 1; here it is 16. L = 1 is the line.

    Raises:
        SpecError: No polynomial of that degree is printed.
    """
    if degree not in _PRINTED:
        raise SpecError(
            "degree",
            f"expected one of {', '.join(map(str, _PRINTED))} where printed, got {degree}",
        )
    return np.array(_PRINTED[degree])


def taylor(name: str) -> Floats:
    """The Taylor polynomial at 0, of degree 4 or 5; for tanh x - x^3/3 + 2x^5/15.

    Raises:
        RequestError: Softsign, whose second derivative jumps at 0.
    """
    if name not in _TAYLOR:
        raise RequestError(f"activation: expected one of {', '.join(_TAYLOR)}, got {name!r}")
    return np.array(_TAYLOR[name])


def line(name: str) -> Floats:
    """c_2 + c_1 x: the straight line closest to the function in the mean square on [-1, 1]."""
    x, weight = np.polynomial.legendre.leggauss(64)
    y = activation(name)(x)
    return np.array([np.sum(weight * y) / 2.0, 1.5 * np.sum(weight * x * y)])


def coefficients(polynomial: str, degree: int, name: str = "sigmoid") -> Floats:
    """The polynomial of a spec for an activation, in powers of X.

    The paper prints polynomials for the logistic function alone; others have their Chebyshev
    expansion. The rectifier is X itself where X is positive, whatever the degree.
    """
    if name == RECTIFIER:
        return np.array([0.0, 1.0])
    if polynomial == "printed" and name == "sigmoid":
        return printed(degree)
    return chebyshev(name, degree)


def error(coefficients: Floats, name: str) -> float:
    """Largest distance from the activation on [-1, 1], on a fine grid."""
    x = np.linspace(-1.0, 1.0, 20_001)
    return float(np.abs(Polynomial(coefficients)(x) - activation(name)(x)).max())


def fits(name: str, degree: int) -> tuple[Fit, ...]:
    """All approximations of one activation: Chebyshev, printed, Taylor and line."""
    named = [(f"Chebyshev, L = {degree}", chebyshev(name, degree))]
    if name == "sigmoid" and degree in _PRINTED:
        named.append((f"As printed, L = {degree}", printed(degree)))
    if name in _TAYLOR:
        named.append(("Taylor (TE)", taylor(name)))
    named.append(("Line (PW)", line(name)))
    return tuple(Fit(label, c, error(c, name)) for label, c in named)


@dataclass(frozen=True)
class Bounds:
    r"""Lemma 3 for one function and degree, in units of N_H^2 K.

    Attributes:
        lower: (\pi/4)|A_{L+1}|; 0 where the next coefficient vanishes by symmetry.
        measured: S_L, the largest error of the truncated expansion.
        upper: (4 + (4/\pi^2) log L) U_L.
        best: U_L, the error of the best polynomial, at least `lower` and at most `measured`;
            estimated from the next coefficient that is not zero.
    """

    lower: float
    measured: float
    upper: float
    best: float


def lemma3(name: str, degree: int) -> Bounds:
    r"""Bounds of the truncation error (Lemma 3, after Rivlin).

    U_L is replaced by the sum of the neglected |A_k|, which is never smaller, so the
    upper bound stands.
    """
    tail = np.abs(series(name, max(degree + 40, 200)))[degree + 1 :]
    best = float(tail.sum())
    upper = (4.0 + 4.0 / np.pi**2 * np.log(degree)) * best
    measured = error(chebyshev(name, degree), name)
    return Bounds(float(np.pi / 4 * tail[0]), measured, float(upper), min(best, measured))
