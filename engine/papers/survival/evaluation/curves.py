r"""Survival curves and ratios from the arrays that a run keeps. No torch: pages call this live.

Coefficients f = [\alpha; \beta] are those of the scaled covariates; profiles and ratios here are
in the units of the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.intervals import normal
from engine.method import Arrays
from engine.papers.survival.price.sensitivity import basis

Floats = NDArray[np.float64]

FASTEST = 30.0
"""The complementary log-log link is cut here: nobody survives such an interval."""
LARGEST = 500.0
"""Exponents beyond this are cut: the curve is 0 or 1 long before."""


@dataclass(frozen=True, eq=False)
class Scale:
    """How the covariates and the time of a table were scaled.

    Attributes:
        centre: What was taken from each covariate, shape (p,).
        span: What it was divided by, shape (p,).
        norm: What all of them were then divided by.
        horizon: The longest time, in the table's unit.
    """

    centre: Floats
    span: Floats
    norm: float
    horizon: float

    @classmethod
    def read(cls, arrays: Arrays, row: int) -> Self:
        """The scale in a run's arrays: the same in every row, NaN until that replica ends."""
        return cls(
            np.asarray(arrays["centre"][row], np.float64),
            np.asarray(arrays["span"][row], np.float64),
            float(arrays["norm"][row]),
            float(arrays["horizon"][row]),
        )

    def covariates(self, profiles: Floats | Sequence[Sequence[float]]) -> Floats:
        """Profiles (m, p) in the table's units as scaled covariates, shape (m, p)."""
        x: Floats = (np.asarray(profiles, np.float64) - self.centre) / self.span / self.norm
        return x


def survival(
    coefficients: Floats, x: Floats, intervals: int, knots: int, link: str = "logit"
) -> Floats:
    r"""S at the start and at the end of each interval: 1, then \prod_{r \le s} (1 - h_r).

    Args:
        coefficients: Shape (R, d).
        x: Scaled covariates of m profiles, shape (m, p).
        intervals: q.
        knots: e.
        link: Between the linear predictor and the hazard h.

    Returns:
        Shape (R, m, q + 1).
    """
    rate = _rate(_predictor(coefficients, x, intervals, knots), link)
    start = np.zeros((*rate.shape[:2], 1))
    curve: Floats = np.exp(-np.concatenate([start, rate.cumsum(axis=2)], axis=2))
    return curve


def _rate(eta: Floats, link: str) -> Floats:
    """-log(1 - h) of a linear predictor, as in `links`, without torch."""
    if link == "cloglog":
        rate: Floats = np.exp(np.minimum(eta, FASTEST))
    elif link == "probit":
        from scipy.special import log_ndtr

        rate = -log_ndtr(-eta)
    else:
        rate = np.logaddexp(0.0, eta)
    return rate


def slopes(f: Floats, x: Floats, intervals: int, knots: int, link: str) -> Floats:
    r"""Gradients of log(-log S) by the coefficients f (d,), shape (m, q, d).

    Args:
        f: The coefficients of one replica.
        x: Scaled covariates of m profiles, shape (m, p).
        intervals: q.
        knots: e.
        link: The logit or the complementary log-log.
    """
    eta = _predictor(f[None], x, intervals, knots)[0]
    total = _rate(eta, link).cumsum(axis=1)
    rise = np.exp(np.minimum(eta, FASTEST)) if link == "cloglog" else np.exp(-np.logaddexp(0, -eta))
    over = (rise[:, :, None] * basis(intervals, knots)).cumsum(axis=1)
    whole = np.concatenate([over, rise.cumsum(axis=1)[:, :, None] * x[:, None]], axis=2)
    gradient: Floats = whole / np.maximum(total, 1e-300)[:, :, None]
    return gradient


def times(scale: Scale, intervals: int) -> Floats:
    """When `survival` is taken, in the table's unit, shape (q + 1,)."""
    ends: Floats = scale.horizon * np.arange(intervals + 1) / intervals
    return ends


def _predictor(coefficients: Floats, x: Floats, intervals: int, knots: int) -> Floats:
    """The linear predictor, shape (R, m, q), cut where exponentials would overflow."""
    f = np.asarray(coefficients, np.float64)
    baseline = f[:, :knots] @ basis(intervals, knots).T
    eta = (f[:, knots:] @ np.asarray(x).T)[:, :, None] + baseline[:, None, :]
    return np.clip(eta, -LARGEST, LARGEST)


def ratios(beta: Floats, scale: Scale) -> Floats:
    """What one unit more of each covariate does to odds or hazard, shape (..., p).

    Args:
        beta: Scaled coefficients of the covariates, shape (..., p).
        scale: How they are scaled.
    """
    log_ratio = np.asarray(beta) / (scale.span * scale.norm)
    ratio: Floats = np.exp(np.clip(log_ratio, -LARGEST, LARGEST))
    return ratio


def confidence(beta: Floats, errors: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """95 % confidence limits of `ratios`, from standard errors of the shape of `beta`."""
    beta, reach = np.asarray(beta), normal() * np.asarray(errors)
    return ratios(beta - reach, scale), ratios(beta + reach, scale)


def band(values: Floats, low: float = 0.05, high: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Low quantile, median and high quantile over the replicas, which come first.

    Replicas that are not finite are left out; NaN where none is left.
    """
    values = np.asarray(values, np.float64)
    fine = values[np.isfinite(values).reshape(len(values), -1).all(axis=1)]
    if not len(fine):
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing, nothing
    below, middle, above = np.quantile(fine, (low, 0.5, high), axis=0)
    return below, middle, above
