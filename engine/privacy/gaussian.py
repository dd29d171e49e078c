"""The exact curve of Gaussian releases of all records, which needs no accountant."""

import math

from dp_accounting import ComposedDpEvent, DpEvent, GaussianDpEvent, SelfComposedDpEvent
from scipy.optimize import brentq
from scipy.special import log_ndtr


def epsilon(precision: float, delta: float) -> float:
    r"""The exact epsilon of Gaussian releases without sampling, in nats.

    Releases with noise multipliers s_i, adaptive or not, are as private as one release
    with 1/s^2 = \sum_i 1/s_i^2 (Dong, Roth and Su 2022, Corollary 2), whose curve is
    \delta(\varepsilon) = \Phi(1/2s - \varepsilon s) - e^\varepsilon \Phi(-1/2s - \varepsilon s)
    (Balle and Wang 2018, Theorem 8).

    Args:
        precision: \sum_i 1/s_i^2; infinite for a release without noise.
        delta: The additive term of (ε, δ)-privacy.
    """
    if not 0 < precision < math.inf:
        return precision
    mu = precision**0.5

    def excess(at: float) -> float:
        return _log_curve(mu, at) - math.log(delta)

    if excess(0.0) <= 0:
        return 0.0
    high = 0.5 * precision + math.sqrt(2.0 * precision * math.log(1.0 / delta)) + 1e-9  # zCDP
    return float(brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-12))


def multiplier(target: float, delta: float) -> float:
    """The noise multiplier of one Gaussian release of all records that costs `target` at `delta`.

    The other root of the curve of `epsilon`: rounded up, so that it never costs more.

    >>> round(multiplier(1.0, 1e-5), 4)
    3.7306
    """

    def excess(log_multiplier: float) -> float:
        return _log_curve(math.exp(-log_multiplier), target) - math.log(delta)

    return math.exp(float(brentq(excess, -12.0, 25.0, xtol=1e-10)) + 1e-9)


def _log_curve(mu: float, at: float) -> float:
    r"""\log\delta(\varepsilon) of a Gaussian release whose sensitivity is mu deviations."""
    left, right = log_ndtr(mu / 2 - at / mu), at + log_ndtr(-mu / 2 - at / mu)
    return float(left + math.log(-math.expm1(min(right - left, -1e-300))))


def precision(event: DpEvent) -> float | None:
    r"""\sum 1/s^2 over an event that is made of Gaussian releases alone; None otherwise."""
    match event:
        case GaussianDpEvent(noise_multiplier=multiplier):
            return 1.0 / multiplier**2 if multiplier > 0 else math.inf
        case SelfComposedDpEvent(event=part, count=times):
            inner = precision(part)
            return None if inner is None else times * inner
        case ComposedDpEvent(events=parts):
            each = [precision(part) for part in parts]
            known = [one for one in each if one is not None]
            return math.fsum(known) if known and len(known) == len(each) else None
        case _:
            return None
