"""Coefficients of a fitted model in the units of its table, with intervals. No torch here.

An interval counts sampling and noise: a method that can tell keeps the covariance of its estimate's
error, which follows from what it released, so that an interval costs nothing more. Its coverage is
measured in `benchmarks.coverage`; where noise is far larger than sampling, or events are few beside
it, the error is not normal any more, and no interval is given.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from datasets.base import Card, Floats
from engine.method import Arrays

LEVEL = 0.95
"""How often an interval holds the truth, if tables were drawn again and again."""
NOISIEST = 2.0
"""Largest error, in errors from sampling alone, for which an interval is given."""
FEWEST = 400.0
"""Least events for each unit of noise, over the whole run, with which intervals are given."""
UNKNOWN = "this method does not know how large its error is"
NOISY = "noise hides too much: an interval would not cover as often as it says"
SCALED = ("coefficients", "span", "norm")
"""Arrays of a run that keeps coefficients of scaled covariates, which stand last."""


@dataclass(frozen=True)
class Estimate:
    """The effect of one unit more of a covariate.

    Attributes:
        name: The covariate.
        unit: Its unit, or what 1 means.
        estimate: On the scale of the link: the logarithm of an odds or a hazard ratio.
        low: Where its interval begins; None where there is none.
        high: Where it ends.
        level: Of the interval.
        naive: Ends of an interval that counts sampling alone, as if there were no noise: it covers
            less often than it says. None where there is none.
        why: Why there is no interval; empty where there is one.
    """

    name: str
    unit: str
    estimate: float
    low: float | None
    high: float | None
    level: float
    naive: tuple[float, float] | None
    why: str


def has(arrays: Arrays, card: Card) -> bool:
    """Whether a run keeps coefficients, the last of them one for each column of the table."""
    kept = all(name in arrays for name in SCALED)
    return kept and arrays["span"].shape[-1:] == (len(card.features),)


def estimates(arrays: Arrays, row: int, card: Card, level: float = LEVEL) -> tuple[Estimate, ...]:
    """The coefficients of one replica.

    Args:
        arrays: What a run keeps: `coefficients` (R, d), `span` (R, p), `norm` (R,), and where the
            method tells its error `uncertainty` (R, d, d), `sampling` (R, d) and
            `events_per_noise` (R,).
        row: Which replica.
        card: The data set's.
        level: Of the intervals, between 0 and 1.
    """
    width = np.asarray(arrays["span"][row], np.float64) * float(arrays["norm"][row])
    p = len(width)
    found = np.asarray(arrays["coefficients"][row][-p:], np.float64) / width
    if "uncertainty" not in arrays:
        return tuple(_made(card, i, found, level, None, UNKNOWN) for i in range(p))
    whole = np.sqrt(np.diagonal(np.asarray(arrays["uncertainty"][row], np.float64)))[-p:] / width
    alone = np.asarray(arrays["sampling"][row][-p:], np.float64) / width
    hidden = (whole > NOISIEST * alone) | (float(arrays["events_per_noise"][row]) < FEWEST)
    return tuple(
        _made(card, i, found, level, (whole[i], alone[i]), NOISY if hidden[i] else "")
        for i in range(p)
    )


def _made(
    card: Card, i: int, found: Floats, level: float,
    errors: tuple[float, float] | None, why: str,
) -> Estimate:  # fmt: skip
    value, reach = float(found[i]), NormalDist().inv_cdf(0.5 + 0.5 * level)
    unit = card.units[i] if card.units else ""
    if errors is None or not math.isfinite(value + sum(errors)):
        return Estimate(card.features[i], unit, value, None, None, level, None, why or UNKNOWN)
    whole, alone = (reach * float(error) for error in errors)
    low, high = (None, None) if why else (value - whole, value + whole)
    naive = (value - alone, value + alone)
    return Estimate(card.features[i], unit, value, low, high, level, naive, why)
