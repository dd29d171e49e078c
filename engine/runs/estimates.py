"""What a person would quote of a run, with intervals: first of all its coefficients. No torch here.

Coefficients are in the units of their table. An interval counts sampling and noise: a method that
can tell keeps the covariance of its estimate's error, which follows from what it released, so that
an interval costs nothing more. Its coverage is measured in `benchmarks.coverage`; where noise is
far larger than sampling, or events are few beside it, the error is not normal any more, and no
interval is given.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from pkgutil import resolve_name

import numpy as np

from datasets.base import Card, Floats
from engine.catalog import paper
from engine.core.spec import Spec
from engine.intervals import CUBE, FEWEST, LEVEL, NOISIEST, Estimate, around
from engine.method import Arrays
from engine.runs.job import Job

UNKNOWN = "the size of this method's error is unknown"
NOISY = "noise hides too much: an interval would not cover as often as it says"
FEW = "too few records have one of the two values: noise hides how many"
CROWDED = "all values lie in a small part of the public range: noise hides how they are spread"
BESIDE = "it is correlated with a covariate that has no interval"
DATED = (
    "it counts calendar years: later records are followed for less time, which no interval counts"
)
YEARS = (1800.0, 2100.0)
"""A column whose public range lies in here is taken to count calendar years."""
PARTS, NARROW, RARE, TIED = 16.0, 1.55, 3.0, 0.3
"""Parts of a column's range that are counted, the least of them that a column is spread over, the
same where it is 0 or 1, and the largest correlation with the error of one that has no interval: by
measurement on simulated tables and on resampled public ones."""
SCALED = ("coefficients", "span", "norm")
"""Arrays of a run that keeps coefficients of scaled covariates, which stand last."""


def has(arrays: Arrays, card: Card) -> bool:
    """Whether a run keeps coefficients, the last of them one for each column of the table."""
    kept = all(name in arrays for name in SCALED)
    return kept and arrays["span"].shape[-1:] == (len(card.features),)


def others(
    job: Job, row: int, card: Card, arrays: Arrays, gauges: Mapping[str, float]
) -> tuple[Estimate, ...]:
    """What else a person would quote of one replica, as the paper declares it.

    Args:
        job: The request.
        row: Which replica.
        card: The data set's.
        arrays: What the run keeps.
        gauges: What the replica came to.
    """
    declared = paper(job.paper).estimates
    if not declared:
        return ()
    own = {name: array[row] for name, array in arrays.items()}
    spec = job.batch().specs[row]
    found: tuple[Estimate, ...] = resolve_name(declared)(job.entry(), spec, card, own, gauges)
    return found


def estimates(
    arrays: Arrays, row: int, card: Card, spec: Spec, unsure: str = ""
) -> tuple[Estimate, ...]:
    """The coefficients of one replica.

    Args:
        arrays: What a run keeps: `coefficients` (R, d), `span` (R, p), `norm` (R,), and where the
            method tells its error `uncertainty` (R, d, d), `sampling` (R, d) and
            `events_per_noise` (R,).
        row: Which replica.
        card: The data set's.
        spec: The replica's settings, of them ε and δ.
        unsure: Why the method gives no intervals, where it does not (`Entry.unsure`).
    """
    width = np.asarray(arrays["span"][row], np.float64) * float(arrays["norm"][row])
    p = len(width)
    found = np.asarray(arrays["coefficients"][row][-p:], np.float64) / width
    if "uncertainty" not in arrays:
        return tuple(_made(card, i, found, None, unsure or UNKNOWN) for i in range(p))
    from engine.privacy.gaussian import multiplier

    covariance = np.asarray(arrays["uncertainty"][row], np.float64)[-p:, -p:]
    whole = np.sqrt(np.diagonal(covariance)) / width
    alone = np.asarray(arrays["sampling"][row][-p:], np.float64) / width
    clear = float(arrays["events_per_noise"][row])
    budget = (float(vars(spec)[name]) for name in ("epsilon", "delta"))  # of one Gaussian release
    few = clear < max(FEWEST, CUBE * arrays["coefficients"].shape[-1] ** 3)
    why = _hidden(card, covariance, (whole, alone), clear * multiplier(*budget), few)
    return tuple(_made(card, i, found, (whole[i], alone[i]), why[i]) for i in range(p))


def _hidden(
    card: Card, covariance: Floats, errors: tuple[Floats, Floats], events: float, few: bool
) -> list[str]:
    """Why each coefficient has no interval; empty where it has one.

    What is known of a column are noisy counts in sixteenths of its public range. Where it is
    spread over few of them, or is 0 or 1 and rarely one of both, its counts say little, and the
    errors of its coefficient are not what they seem; nor are those of coefficients that go with it.
    The same holds of calendar years. The error of sampling is that of a cohort whose members leave
    whatever their covariates are; a study that ends for all on one day follows later members for
    less time, so that the events tell less of such a column than its spread over all records says
    (type I censoring with staggered entry: Klein and Moeschberger 2003, Section 3.2). What is
    released about this is too noisy to correct an interval by.

    Args:
        card: The data set's.
        covariance: Of the errors, scaled, shape (p, p).
        errors: Their deviations in the units of the table, and those of sampling alone, (p,) each.
        events: The released number of events.
        few: Whether they are few beside the noise.
    """
    whole, alone = errors
    with np.errstate(all="ignore"):
        noisy = np.logical_or(~(whole <= NOISIEST * alone), few)
        if card.bounds is None:
            return [NOISY if one else "" for one in noisy]
        low, high = np.array(card.bounds.covariates, np.float64).T
        spread = PARTS / (np.sqrt(max(events, 1.0)) * alone * (high - low))
        rare = np.logical_and((low == 0.0) & (high == 1.0), spread < RARE)
        dated = np.logical_and(low >= YEARS[0], high <= YEARS[1])
        bad = rare | dated | (spread < NARROW)
        size = np.sqrt(np.diagonal(covariance))
        tied = (np.abs(covariance / size / size[:, None])[:, bad] > TIED).any(axis=1)
    reasons = ((noisy, NOISY), (dated, DATED), (rare, FEW), (bad, CROWDED), (tied, BESIDE))
    return [
        next((why for where, why in reasons if np.asarray(where)[i]), "") for i in range(len(whole))
    ]


def _made(
    card: Card, i: int, found: Floats, errors: tuple[float, float] | None, why: str
) -> Estimate:
    value, unit = float(found[i]), card.units[i] if card.units else ""
    if errors is None or not math.isfinite(value + sum(errors)):
        return Estimate(card.features[i], unit, value, None, None, LEVEL, None, why or UNKNOWN)
    made = around(card.features[i], unit, value, errors, LEVEL)
    return replace(made, low=None, high=None, why=why) if why else made
