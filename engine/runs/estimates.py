"""What a person would quote of a run, with intervals: first of all its coefficients. No torch here.

Coefficients are in the units of their table. An interval counts sampling and noise: a method that
can tell keeps the covariance of its estimate's error, which follows from what it released, so that
an interval costs nothing more. Its coverage is measured in `benchmarks.coverage`; where noise is
far larger than sampling, or events are few beside it, the error is not normal any more, and no
interval is given.
"""

import importlib
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from datasets.base import Card, Floats
from engine.catalog import paper
from engine.intervals import FEWEST, LEVEL, NOISIEST, Estimate, around
from engine.method import Arrays
from engine.runs.job import Job

UNKNOWN = "this method does not know how large its error is"
NOISY = "noise hides too much: an interval would not cover as often as it says"
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
    module, _, name = paper(job.paper).estimates.partition(":")
    if not module:
        return ()
    own = {name: array[row] for name, array in arrays.items()}
    found: tuple[Estimate, ...] = getattr(importlib.import_module(module), name)(
        job.entry(), job.batch().specs[row], card, own, gauges
    )
    return found


def estimates(
    arrays: Arrays, row: int, card: Card, level: float = LEVEL, unsure: str = ""
) -> tuple[Estimate, ...]:
    """The coefficients of one replica.

    Args:
        arrays: What a run keeps: `coefficients` (R, d), `span` (R, p), `norm` (R,), and where the
            method tells its error `uncertainty` (R, d, d), `sampling` (R, d) and
            `events_per_noise` (R,).
        row: Which replica.
        card: The data set's.
        level: Of the intervals, between 0 and 1.
        unsure: Why the method gives no intervals, where it does not (`Entry.unsure`).
    """
    width = np.asarray(arrays["span"][row], np.float64) * float(arrays["norm"][row])
    p = len(width)
    found = np.asarray(arrays["coefficients"][row][-p:], np.float64) / width
    if "uncertainty" not in arrays:
        return tuple(_made(card, i, found, level, None, unsure or UNKNOWN) for i in range(p))
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
    value, unit = float(found[i]), card.units[i] if card.units else ""
    if errors is None or not math.isfinite(value + sum(errors)):
        return Estimate(card.features[i], unit, value, None, None, level, None, why or UNKNOWN)
    made = around(card.features[i], unit, value, errors, level)
    return replace(made, low=None, high=None, why=why) if why else made
