r"""Noise on whole numbers, drawn in whole-number arithmetic: nothing is rounded. No torch here.

The laws are P[x] \propto \exp(-|x| / b) and P[x] \propto \exp(-x^2 / (2 \sigma^2)) over all whole
numbers x, with rational b and \sigma^2. Both are drawn by coins whose chances are rational numbers
or exponentials of them, and each such coin comes from uniform whole numbers, which come from random
bits (Canonne, Kamath and Steinke 2020, "The discrete Gaussian for differential privacy",
Algorithms 1 to 3). So draws have exactly these laws, if the bits are fair.

Guarantees:
    A value of whole numbers that moves by at most D in L1 norm is D/b-private with the first law
    (ibid., Section 5.2; Ghosh, Roughgarden and Sundararajan 2012). One that moves by at most D in
    L2 norm is D^2/(2 \sigma^2)-concentrated with the second (ibid., Theorem 14), in any number of
    coordinates, and so are several such releases by the sum, adaptive or not. `epsilon` turns that
    into (\varepsilon, \delta) (ibid., Proposition 12).
    The value plus noise is a whole number, computed without rounding, so nothing is assumed of
    real arithmetic. How long a draw takes depends on the noise and is not covered.
"""

import math
from collections.abc import Callable
from fractions import Fraction

Bits = Callable[[int], int]
"""So many fair random bits, as a whole number: `random.SystemRandom().getrandbits`."""
FINE = 2**20
"""Scales are rounded up to multiples of 1/FINE."""


def below(count: int, bits: Bits) -> int:
    """A whole number from 0 to count - 1, each with the same chance."""
    while True:
        drawn = bits((count - 1).bit_length()) if count > 1 else 0
        if drawn < count:
            return drawn


def coin(chance: Fraction, bits: Bits) -> bool:
    """True with that chance, from 0 to 1."""
    return below(chance.denominator, bits) < chance.numerator


def coin_exp(rate: Fraction, bits: Bits) -> bool:
    """True with chance exp(-rate), for a rate of at least 0 (Algorithm 1)."""
    for _ in range(math.floor(rate)):
        if not coin_exp_small(Fraction(1), bits):
            return False
    return coin_exp_small(rate - math.floor(rate), bits)


def coin_exp_small(rate: Fraction, bits: Bits) -> bool:
    """The same for a rate from 0 to 1: whether the first coin of chance rate/k to fail is odd."""
    k = 1
    while coin(rate / k, bits):
        k += 1
    return k % 2 == 1


def laplace(scale: Fraction, bits: Bits) -> int:
    """A whole number x with chance proportional to exp(-|x| / scale) (Algorithm 2)."""
    whole, parts = scale.numerator, scale.denominator
    while True:
        size = below(whole, bits)
        if not coin_exp(Fraction(size, whole), bits):
            continue
        while coin_exp_small(Fraction(1), bits):
            size += whole
        size //= parts
        negative = coin(Fraction(1, 2), bits)
        if not (negative and size == 0):
            return -size if negative else size


def gaussian(variance: Fraction, bits: Bits) -> int:
    """A whole number x with chance proportional to exp(-x^2 / (2 variance)) (Algorithm 3)."""
    scale = math.isqrt(math.floor(variance)) + 1
    while True:
        drawn = laplace(Fraction(scale), bits)
        away = abs(drawn) - variance / scale
        if coin_exp(away * away / (2 * variance), bits):
            return drawn


def up(value: float | Fraction) -> Fraction:
    """A rational number that is at least the value and a few digits long: more noise, not less."""
    return Fraction(math.ceil(Fraction(value) * FINE) + 1, FINE)


def epsilon(precision: float, delta: float) -> float:
    r"""The \varepsilon of Gaussian noise on whole numbers, from the sum of its D_i^2 / \sigma_i^2.

    The least over \alpha > 1 of \alpha\rho + (\log(1/\delta) + (\alpha - 1)\log(1 - 1/\alpha) -
    \log\alpha) / (\alpha - 1), with \rho half the sum: every \alpha gives a valid bound.

    >>> round(epsilon(1.0 / 4.0**2, 1e-5), 4)
    1.0123
    """
    from scipy.optimize import minimize_scalar

    rho = precision / 2.0

    def bound(log_more: float) -> float:
        more = math.exp(log_more)  # alpha - 1
        spare = -math.log(delta) - more * math.log1p(1.0 / more) - math.log1p(more)
        return rho * (1.0 + more) + spare / more

    return max(0.0, float(minimize_scalar(bound, bounds=(-5.0, 25.0), method="bounded").fun))


def stretch(precision: float, target: float, delta: float) -> float:
    r"""By how much all deviations grow so that the noise on whole numbers costs `target`, at least.

    Gaussian noise on real numbers has an exact curve that is a little lower than the bound that
    holds on whole ones.
    """
    from scipy.optimize import brentq

    def excess(log_factor: float) -> float:
        return epsilon(precision * math.exp(-2.0 * log_factor), delta) - target

    return math.exp(float(brentq(excess, -1.0, 4.0, xtol=1e-9)) + 1e-6)
