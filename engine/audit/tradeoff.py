r"""Trade-off curves: the misses of the best test at each share of false alarms.

The empirical curve of a score comes with a region that holds the true one with the stated
confidence, at all thresholds at once: the inequality of Dvoretzky, Kiefer and Wolfowitz bounds
both distribution functions. What is proved is `engine.audit.limits`'s.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.audit.bounds import Scores

Floats = NDArray[np.float64]

POINTS = 51
"""Points of a curve."""


def curves(
    scores: Scores, confidence: float, allowed: Callable[[Floats], Floats]
) -> dict[str, Floats]:
    """The empirical curve with its region, and the proved or claimed one.

    Args:
        scores: Of trainings without and with the witness.
        confidence: Probability with which the region holds the whole true curve.
        allowed: The fewest misses that are proved or claimed at shares of false alarms.

    Returns:
        `alarms`, `misses`, `misses_low`, `misses_high` and `misses_proved`, shape (POINTS,)
        each; the last is NaN where nothing is proved or claimed.
    """
    alarms = np.linspace(0.0, 1.0, POINTS)
    apart = _apart(len(scores.without), confidence)
    apart_present = _apart(len(scores.present), confidence)
    return {
        "alarms": alarms,
        "misses": empirical(scores, alarms),
        "misses_low": np.maximum(empirical(scores, alarms + apart) - apart_present, 0.0),
        "misses_high": np.where(
            alarms < apart,  # the true rate of every test that was counted may be above
            1.0,
            np.minimum(empirical(scores, alarms - apart) + apart_present, 1.0),
        ),
        "misses_proved": allowed(alarms),
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
