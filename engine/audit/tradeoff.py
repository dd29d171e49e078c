r"""Trade-off curves: the misses of the best test at each share of false alarms.

The empirical curve of a score comes with a region that holds the true one with the stated
confidence, at all thresholds at once: the inequality of Dvoretzky, Kiefer and Wolfowitz bounds
both distribution functions. The proved curve is \Phi(\Phi^{-1}(1 - a) - \mu) for Gaussian noise
(Dong, Roth and Su 2022, Equation 6), and max(0, 1 - \delta - e^\varepsilon a,
e^{-\varepsilon}(1 - \delta - a)) for (\varepsilon, \delta) (Wasserman and Zhou 2010).
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.audit.bounds import Scores
from engine.audit.report import Audit

Floats = NDArray[np.float64]

POINTS = 51
"""Points of a curve."""


def curves(scores: Scores, audit: Audit) -> dict[str, Floats]:
    """The empirical curve with its region, and the proved or claimed one.

    Returns:
        `alarms`, `misses`, `misses_low`, `misses_high` and `misses_proved`, shape (POINTS,)
        each; the last is NaN where nothing is proved or claimed.
    """
    alarms = np.linspace(0.0, 1.0, POINTS)
    apart = _apart(len(scores.without), audit.confidence)
    apart_present = _apart(len(scores.present), audit.confidence)
    return {
        "alarms": alarms,
        "misses": empirical(scores, alarms),
        "misses_low": np.maximum(empirical(scores, alarms + apart) - apart_present, 0.0),
        "misses_high": np.minimum(empirical(scores, alarms - apart) + apart_present, 1.0),
        "misses_proved": proved(alarms, audit),
    }


def _apart(count: int, confidence: float) -> float:
    """How far an empirical distribution function is from the true one at most; half the risk."""
    return math.sqrt(math.log(4.0 / (1.0 - confidence)) / (2.0 * count))


def empirical(scores: Scores, alarms: Floats) -> Floats:
    """Misses of the score's tests with at most so many false alarms, shape of `alarms`."""
    without, present = np.sort(scores.without), np.sort(scores.present)
    allowed = np.floor(np.clip(alarms, 0.0, 1.0) * len(without) + 1e-9).astype(int)
    cut = np.where(
        allowed >= len(without), -np.inf, without[::-1][np.minimum(allowed, len(without) - 1)]
    )
    misses: Floats = np.searchsorted(present, cut, side="right") / len(present)
    return misses


def proved(alarms: Floats, audit: Audit) -> Floats:
    """The fewest misses that the proof, or else the claim, allows, shape of `alarms`."""
    from scipy.special import ndtr, ndtri

    if audit.mu_proved is not None:
        hits: Floats = ndtr(ndtri(1.0 - alarms) - audit.mu_proved)
        return hits
    bound = audit.epsilon_claimed if audit.epsilon_proved is None else audit.epsilon_proved
    if bound is None:
        return np.full(len(alarms), np.nan)
    rest = 1.0 - audit.delta - alarms
    steep = 1.0 - audit.delta - math.exp(min(bound, 700.0)) * alarms
    return np.maximum(0.0, np.maximum(steep, math.exp(-bound) * rest))
