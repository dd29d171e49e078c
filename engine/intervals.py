r"""Intervals that count sampling and noise, from what was released alone. No torch here.

An interval at level L holds the truth in a share L of studies: tables that are drawn again, with
noise that is drawn again. How large the noise is, is public, so an interval costs no budget.
`benchmarks.coverage` measures how often each kind holds the truth.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from engine.privacy.mechanisms import Gaussian, Laplace

Floats = NDArray[np.float64]

LEVEL = 0.95
"""How often an interval holds the truth, if tables were drawn again and again."""
NOISIEST = 2.0
"""Largest error of a coefficient, in errors from sampling alone, for which an interval is given."""
FEWEST, CUBE = 400.0, 1.4
"""Least events for each unit of noise, over the whole run, with which fits have intervals, and the
same over the cube of the number of parameters: by measurement."""
HALVINGS = 34
"""Steps of a bisection: the ends are then exact to ten digits."""
SHARE = "of 1"
"""Unit of an estimate between 0 and 1."""
TESTED = "share of new records that are classified correctly"
FAR = 20.0
"""Deviations beyond which noise is not looked for: Laplace noise is there in 10^-12."""
LEAST, TOO_FEW = 200, "fewer than 200 records are tested: the interval would hold too often"
NEAR, EVENTS = 2.0, 4.0
"""A share counts as near 0 or 1 within so many deviations of the noise, and so many records."""


@dataclass(frozen=True)
class Estimate:
    """A number that a person would quote.

    Attributes:
        name: What is estimated.
        unit: Its unit, or what 1 means.
        estimate: Of a coefficient on the scale of the link: the logarithm of an odds or a hazard
            ratio.
        low: Where its interval begins; None where there is none.
        high: Where it ends; None where there is none, or where it has no end within the study.
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
    why: str = ""


def normal(level: float = LEVEL) -> float:
    """How many standard deviations a normal interval reaches to each side."""
    return NormalDist().inv_cdf(0.5 + 0.5 * level)


def student(freedom: int, level: float = LEVEL) -> float:
    """How many standard errors an interval reaches to each side, where they are estimated."""
    from scipy.stats import t

    return float(t.ppf(0.5 + 0.5 * level, freedom))


def around(
    name: str, unit: str, value: float, errors: tuple[float, float], level: float = LEVEL
) -> Estimate:
    """An estimate whose error is normal.

    Args:
        name: What is estimated.
        unit: Its unit.
        value: The estimate.
        errors: Standard deviations of the error, and of sampling alone.
        level: Of the interval.
    """
    whole, alone = (normal(level) * float(error) for error in errors)
    ends = value - whole, value + whole
    return Estimate(name, unit, value, *ends, level, (value - alone, value + alone))


def below(x: Floats, noise: Laplace | Gaussian | None, deviation: float = 0.0) -> Floats:
    r"""The chance that noise and a normal error together are at most x, of the shape of x.

    For a normal error of deviation s and Laplace noise of scale b, with u = s/b,
    \Phi(x/s) - (e^{u^2/2 - x/b} \Phi(x/s - u) - e^{u^2/2 + x/b} \Phi(-x/s - u))/2.
    Without either it is a step, which counts half where x is 0.
    """
    from scipy.special import log_ndtr, ndtr  # takes a while to load

    if isinstance(noise, Gaussian):
        deviation, noise = math.hypot(deviation, noise.scale), None
    if noise is None:
        return 0.5 * (1.0 + np.sign(x)) if deviation == 0.0 else np.asarray(ndtr(x / deviation))
    tail = 0.5 * np.exp(-np.abs(x) / noise.scale)
    if deviation <= 1e-3 * noise.scale:
        return np.where(x < 0.0, tail, 1.0 - tail)
    u, away = deviation / noise.scale, np.abs(x) / deviation  # symmetric: worked out for x >= 0
    left = np.exp(0.5 * u * u - u * away + log_ndtr(away - u))
    right = np.exp(0.5 * u * u + u * away + log_ndtr(-away - u))
    up: Floats = ndtr(away) - 0.5 * (left - right)
    return np.where(x < 0.0, 1.0 - up, up)


def reach(noise: Laplace | Gaussian, deviation: float, level: float = LEVEL) -> float:
    """How far to each side an error of noise and a normal part reaches at a level."""
    low, high = 0.0, 60.0 * (deviation + noise.scale)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        inside = 2.0 * float(below(np.array([middle]), noise, deviation)[0]) - 1.0
        low, high = (middle, high) if inside < level else (low, middle)
    return high


def shares(
    counts: Floats, records: int, noise: Laplace | Gaussian | None, level: float = LEVEL
) -> tuple[Floats, Floats]:
    r"""Intervals for shares of a population, from counts of records with noise, (k,) each.

    A count is binomial plus noise, so the chance F(c; p) of a count of at most c is known for
    every share p. The interval holds all p with F(c; p) >= t(p) and 1 - F(c; p) >= 1 - L - t(p)
    (Neyman 1937). t is half of 1 - L, less near 0 and more near 1, where an interval can only fail
    on one side. Noise has a density, so the level is exact; without noise, a count that is met
    counts half ("mid-P"), and the level is nearly exact.

    Args:
        counts: Released counts, shape (k,).
        records: How many records they are of.
        noise: Mechanism of each count; None where the count is exact.
        level: Of the intervals.
    """
    from scipy.special import bdtr, gammaln

    counts = np.asarray(counts, np.float64)
    far = math.ceil(FAR * _deviation(noise))  # within so many records noise decides
    # a window of counts, or all of them where it would be wider; outside them there is no count
    first = np.zeros(len(counts)) if 2 * far >= records else np.round(counts) - far
    k = first[:, None] + np.arange(min(2 * far, records) + 1.0)
    chance = np.where((k >= 0) & (k <= records), below(counts[:, None] - k, noise), 0.0)
    k = np.clip(k, 0.0, records)
    ways = gammaln(records + 1.0) - gammaln(k + 1.0) - gammaln(records - k + 1.0)
    under = first - 1.0  # all counts up to this one are below, whatever the noise
    near = min(0.5, (EVENTS + NEAR * _deviation(noise)) / records)

    def tails(p: Floats) -> tuple[Floats, Floats]:
        """What counts below and above are likelier than their parts of 1 - level, at shares p."""
        p = np.clip(p, 1e-300, 1.0 - 1e-16)
        weight = np.exp(ways + k * np.log(p)[:, None] + (records - k) * np.log1p(-p)[:, None])
        least = np.where(under < 0, 0.0, bdtr(np.clip(under, 0, records), records, p))
        less, half = least + (weight * chance).sum(1), 0.5 * (1.0 - level)
        share = np.minimum(1.0, p / near) + np.maximum(0.0, 1.0 - (1.0 - p) / near)
        return less - half * share, 1.0 - less - half * (2.0 - share)

    low, _ = _bracket(lambda p: tails(p)[1] < 0.0, len(chance))
    _, high = _bracket(lambda p: tails(p)[0] >= 0.0, len(chance))
    return low, high


def accuracy(right: float, records: int) -> Estimate:
    """How often a model is right on new records, from the share of tested records that it was."""
    if records < LEAST or not math.isfinite(right):
        why = TOO_FEW if records < LEAST else "the training diverged"
        return Estimate(TESTED, SHARE, right, None, None, LEVEL, None, why)
    low, high = shares(np.array([round(right * records)]), records, None)
    return Estimate(TESTED, SHARE, right, float(low[0]), float(high[0]), LEVEL, None)


def _deviation(noise: Laplace | Gaussian | None) -> float:
    if noise is None:
        return 0.0
    return noise.scale * (math.sqrt(2.0) if isinstance(noise, Laplace) else 1.0)


def _bracket(before: Callable[[Floats], NDArray[np.bool_]], k: int) -> tuple[Floats, Floats]:
    """Up to which share each of k conditions holds, from both sides; 0 and 1 are exact."""
    low, high = np.zeros(k), np.ones(k)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        left = before(middle)
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return low, high
