"""Compositions of Gaussian releases in closed form: mu-Gaussian privacy.

A composition of Gaussian mechanisms, each with a noise multiplier of its own, is exactly one
Gaussian mechanism of multiplier (sum 1/sigma_j^2)^(-1/2) (Dong et al. 2022, Corollary 3.3), also
when each is chosen after seeing the ones before it. Balle and Wang (2018, Theorem 8) give its
delta at any epsilon, for whichever neighbours the sensitivity speaks of.
"""

import math

from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    GaussianDpEvent,
    NoOpDpEvent,
    SelfComposedDpEvent,
)
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

LARGEST = 1e6
"""An epsilon that nobody asks for; above it the answer is infinity."""


def strength(event: DpEvent) -> float | None:
    """mu^2 = sum 1/sigma^2 of a composition of Gaussians; None if anything else is in it."""
    match event:
        case NoOpDpEvent():
            return 0.0
        case GaussianDpEvent(noise_multiplier=sigma):
            return float(sigma) ** -2 if sigma > 0 else math.inf
        case SelfComposedDpEvent(event=part, count=times):
            one = strength(part)
            return None if one is None else times * one
        case ComposedDpEvent(events=parts):
            found = [strength(part) for part in parts]
            return None if None in found else math.fsum(x for x in found if x is not None)
        case _:
            return None


def delta(mu: float, epsilon: float) -> float:
    """Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), without overflow."""
    away = epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))
    return float(ndtr(mu / 2.0 - epsilon / mu)) - math.exp(min(away, 0.0))


def epsilon(mu: float, target: float) -> float:
    """The smallest epsilon at which mu-Gaussian privacy has delta at most `target`, in nats.

    Args:
        mu: Sensitivity over standard deviation of the one equivalent Gaussian.
        target: delta, above 0.
    """
    if mu <= 0.0 or delta(mu, 0.0) <= target:
        return 0.0
    if not math.isfinite(mu) or delta(mu, LARGEST) > target:
        return math.inf
    root = float(brentq(lambda e: delta(mu, e) - target, 0.0, LARGEST, xtol=1e-12, rtol=1e-12))
    return root * (1.0 + 1e-9) + 1e-12  # on the private side of the root


def multiplier(target: float, failure: float) -> float:
    """The smallest noise multiplier of one Gaussian that is (target, failure)-private."""
    root = float(
        brentq(lambda log_mu: epsilon(math.exp(log_mu), failure) - target, -25.0, 12.0, xtol=1e-9)
    )
    mu = math.exp(root)
    while epsilon(mu, failure) > target:  # step to the private side
        mu *= 1.0 - 1e-9
    return 1.0 / mu
