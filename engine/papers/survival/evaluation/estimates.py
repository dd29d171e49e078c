r"""Median survival and the curves of persons, with intervals, from what was released. No torch.

Where a band holds the curve at each time in 95 of 100 studies, the times at which it contains 1/2
hold the median as often: the band holds the curve at the median's own time.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from datasets.base import Card, Floats
from engine.intervals import LEVEL, Estimate, normal
from engine.method import Arrays, Entry
from engine.papers.survival.evaluation.curves import Scale, slopes, survival
from engine.papers.survival.spec import SurvivalSpec

BEYOND = "the curve stays above one half until the end of the study"
UNKNOWN = "noise left no curve"


def estimates(
    entry: Entry[SurvivalSpec], spec: SurvivalSpec, card: Card, arrays: Arrays,
    gauges: Mapping[str, float],
) -> tuple[Estimate, ...]:  # fmt: skip
    """The median survival of everyone, of a method that releases their curve.

    Args:
        entry: The method.
        spec: Its settings.
        card: The data set's.
        arrays: `km_private`, `km_low` and `km_high`, (q + 1,) each, and `horizon`.
        gauges: What the replica came to.
    """
    if "km_low" not in arrays:
        return ()
    curve, low, high = (
        np.asarray(arrays[f"km_{name}"], np.float64) for name in ("private", "low", "high")
    )
    return (median(curve, low, high, float(arrays["horizon"]), card.time_unit),)


def median(
    curve: Floats, low: Floats, high: Floats, horizon: float, unit: str, name: str = "median"
) -> Estimate:
    """When a curve has fallen to one half, between the times at which its band's ends have.

    Args:
        curve: From time 0 to the horizon, evenly, shape (q + 1,).
        low: Where its band begins, shape (q + 1,).
        high: Where it ends, shape (q + 1,).
        horizon: The last time.
        unit: Of time.
        name: What it is the median of.
    """
    when = np.linspace(0.0, horizon, len(curve))
    middle, first, last = (_falls(when, one) for one in (curve, low, high))
    why = BEYOND if np.isfinite(low).all() else UNKNOWN
    if first is None:
        return Estimate(name, unit, np.nan, None, None, LEVEL, None, why)
    return Estimate(name, unit, np.nan if middle is None else middle, first, last, LEVEL, None)


def _falls(when: Floats, curve: Floats) -> float | None:
    """The first time at which a curve is at most one half, straight between its points."""
    under = np.flatnonzero(curve <= 0.5)
    if not len(under):
        return None
    i = int(under[0])
    if i == 0:
        return float(when[0])
    share = (curve[i - 1] - 0.5) / (curve[i - 1] - curve[i])
    return float(when[i - 1] + share * (when[i] - when[i - 1]))


def bands(
    coefficients: Floats, covariance: Floats, x: Floats, spec: SurvivalSpec
) -> tuple[Floats, Floats]:
    r"""Where the true curves of persons lie at each time, shape (m, q + 1) each.

    The error of the coefficients is normal, so that of log(-log S) is nearly so, with the variance
    g^T V g, g its gradient (the delta method; Kalbfleisch and Prentice 2002, Section 1.4).

    Args:
        coefficients: Of one release, shape (d,).
        covariance: V, of their error, from sampling and from noise, shape (d, d).
        x: Scaled covariates of m persons, shape (m, p).
        spec: Intervals, knots and link.
    """
    q, e, link = spec.intervals, spec.knots, spec.link
    curve = survival(coefficients[None], x, q, e, link)[0]
    gradient = slopes(coefficients, x, q, e, link)
    error = np.sqrt(np.einsum("mti,ij,mtj->mt", gradient, covariance, gradient))
    error = np.concatenate([np.zeros((len(x), 1)), error], axis=1)
    with np.errstate(divide="ignore"):
        log = np.log(curve)
    far = np.exp(normal() * error)
    return np.exp(log * far), np.exp(log / far)


def persons(
    arrays: Arrays, row: int, profiles: Floats, spec: SurvivalSpec, found: Sequence[Estimate]
) -> tuple[Floats, Floats, Floats] | None:
    """Curves of persons by one release with their bands, (m, q + 1) each; None where none is.

    There is one where every coefficient has an interval: a person's curve needs all of them.

    Args:
        arrays: What a run keeps, as `engine.runs.estimates.estimates` reads it.
        row: Which replica.
        profiles: Covariates in the units of the table, shape (m, p).
        spec: Its settings.
        found: Its coefficients.
    """
    if not found or any(one.low is None for one in found):
        return None
    scaled = Scale.read(arrays, row).covariates(profiles)
    f = np.asarray(arrays["coefficients"][row], np.float64)
    covariance = np.asarray(arrays["uncertainty"][row], np.float64)
    low, high = bands(f, covariance, scaled, spec)
    curve = survival(f[None], scaled, spec.intervals, spec.knots, spec.link)[0]
    return low, curve, high
