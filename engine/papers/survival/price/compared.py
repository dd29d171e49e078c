r"""What a private log-rank test releases, and what follows from it alone. No torch, and no data.

Guarantees:
    One table of counts: records by group, by whether they end with the event, and by the interval
    in which they end; people who reach the horizon without it are counted apart. The group follows
    from the record's own covariates and public bounds, so a record is in one cell and replacing it
    moves two cells by 1: L2 sensitivity \sqrt2, as for the Kaplan-Meier curve. Everything else
    follows from the noisy table.

With d_{gt} and r_{gt} the events and the records at risk of group g in interval t, s = r_1/r and
h = d/r, the statistic is U = \sum_t (d_{1t} - d_t s_t), its variance by chance
\sum_t d_t s_t (1 - s_t)(1 - h_t) (Mantel 1966). A person who is censored within an interval is
at risk for half of it, as for the Kaplan-Meier curve: at risk to its end, a group whose members
leave faster would seem to live longer. To first order, one event more of group g in interval u
changes U by a_{gu} - \sum_{t \le u} h_t a_{gt}, with a_1 = 1 - s and a_0 = -s, one censored record
by -\sum_{t < u} h_t a_{gt} - h_u a_{gu}/2, and one at the horizon by -\sum_t h_t a_{gt}.
Independent noise of deviation \sigma in each cell adds \sigma^2 times the sum of their squares to
the variance.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from engine.papers.survival.price.curve import counts
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.releases import Release

Floats = NDArray[np.float64]

FEWEST = 2.0
"""Records for each interval and deviation of the noise, below which no test is given: the error of
the first kind is then below its level, by measurement."""


def releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One noisy table."""
    return (Release(counts(spec), what="counts by group, outcome and interval"),)


def log_rank(table: Floats, noise: float) -> tuple[Floats, Floats]:
    """The statistic U and its variance where groups do not differ, shape (R,) each.

    Args:
        table: Counts by group, shape (R, 2, 2q + 1): of censored records and of events in each
            interval, and of people who reach the horizon.
        noise: Standard deviation of the noise in each.
    """
    censored, events = np.split(table[:, :, :-1], 2, axis=2)
    leaving = censored + events
    at_risk = leaving[:, :, ::-1].cumsum(2)[:, :, ::-1] + table[:, :, -1:] - 0.5 * censored
    every = np.maximum(at_risk.sum(1), 1.0)
    share = np.clip(at_risk[:, 1] / every, 0.0, 1.0)
    happened = events.sum(1)
    hazard = np.clip(happened / every, 0.0, 1.0)
    apart = (events[:, 1] - happened * share).sum(1)
    chance = (happened * share * (1.0 - share) * (1.0 - hazard)).sum(1)
    moved = np.stack([-share, 1.0 - share], axis=1)
    part = hazard[:, None] * moved
    later = part.cumsum(2)
    squares = (moved - later) ** 2 + (later - 0.5 * part) ** 2
    blurred = noise**2 * (squares.sum((1, 2)) + (later[:, :, -1] ** 2).sum(1))
    return apart, np.maximum(chance, 0.0) + blurred


def significance(table: Floats, noise: float, records: int) -> tuple[Floats, Floats]:
    """The statistic in standard errors and its two-sided p-value, (R,); NaN where there is none.

    Args:
        table: As in `log_rank`.
        noise: Standard deviation of the noise in each count.
        records: n, which is public.
    """
    apart, variance = log_rank(table, noise)
    hidden = records < FEWEST * noise * (table.shape[2] // 2)
    score = np.full(len(table), np.nan) if hidden else apart / np.sqrt(np.maximum(variance, 1e-12))
    return score, np.array([math.erfc(abs(z) / math.sqrt(2.0)) for z in score])


def power(
    spec: SurvivalSpec, records: int, events: int, ratio: float, level: float = 0.05
) -> float:
    """The chance that the test finds a hazard ratio between two groups of equal size.

    From the table that is expected: exponential times, and as many events as are known, all that
    are censored at the end. It reads no record.

    Args:
        spec: The settings.
        records: n.
        events: How many have the event, which is public.
        ratio: Hazard of the second group over that of the first.
        level: Of the test.
    """
    q = spec.intervals
    share = min(max(events / records, 1e-6), 1.0 - 1e-6)
    low, high = 0.0, 60.0  # the first group's hazard over the study, by bisection
    for _ in range(60):
        middle = 0.5 * (low + high)
        found = 1.0 - 0.5 * (math.exp(-middle) + math.exp(-middle * ratio))
        low, high = (middle, high) if found < share else (low, middle)
    table = np.zeros((1, 2, 2 * q + 1))
    for g, hazard in enumerate((low, low * ratio)):
        left = np.exp(-hazard * np.arange(q + 1) / q)
        table[0, g, q : 2 * q] = 0.5 * records * -np.diff(left)
        table[0, g, -1] = 0.5 * records * left[-1]
    noise = counts(spec).scale
    if records < FEWEST * noise * q:
        return math.nan
    apart, variance = log_rank(table, noise)
    z, far = NormalDist().inv_cdf(1.0 - 0.5 * level), float(apart[0] / math.sqrt(variance[0]))
    return NormalDist().cdf(far - z) + NormalDist().cdf(-far - z)
