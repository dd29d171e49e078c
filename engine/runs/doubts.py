"""Sentences about numbers that are not what their label says.

A solver or a chain that is at no end, and a model that predicts one class for every record.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from datasets import catalog as data_catalog
from engine.core.errors import RequestError
from engine.runs.events import Event, Measured
from engine.runs.job import Job
from engine.runs.results import Results

CONVERGED, MIXING = "converged", "r_hat"
MIXED = 1.05
"""Split R-hat above this: the halves of a chain still differ (Gelman et al. 2013, Section 11.4)."""
STILL = 5
"""A measure that is the same this often, and in the later half of a run, stands still."""
ABOVE_GUESSING = 0.1
"""A share of right answers that is higher than guessing by more than this is no collapse."""


def doubts(label: str, job: Job, results: Results | None, events: Iterable[Event]) -> list[str]:
    """The sentences that a method's results need, by its label; none where all is well.

    Args:
        label: Name of the method, as it is shown.
        job: What was asked for.
        results: What its replicas came to; None before there is anything.
        events: What the run has said; its measurements count.
    """
    if results is None:
        return []
    texts = (_unconverged(results), _unmixed(results), _collapsed(job, events))
    return [f"{label}: {text}" for text in texts if text]


def _unconverged(results: Results) -> str:
    ends = results.gauges.get(CONVERGED, np.ones(0))
    short = np.count_nonzero(ends == 0.0)
    if not short:
        return ""
    return (
        f"the solver stopped before it converged in {short} of {_plural(len(ends), 'repetition')}. "
        "The line is the best it found, not the optimum."
    )


def _unmixed(results: Results) -> str:
    ratios = results.gauges.get(MIXING, np.ones(0))
    apart = np.count_nonzero(ratios > MIXED)
    if not apart:
        return ""
    return (
        f"not converged: ignore this line, or draw for longer. {apart} of "
        f"{_plural(len(ratios), 'chain')} have a split R-hat above {MIXED}."
    )


def _collapsed(job: Job, events: Iterable[Event]) -> str:
    """A classifier that answers as well as guessing, and the same however long it trains.

    Where the largest class holds far more records than its part, a collapse is not seen.
    """
    try:
        classes = data_catalog.card(job.dataset).classes
    except RequestError:  # a table of one's own that has been deleted
        classes = None
    if not classes:
        return ""
    right = _right(events)
    stuck = [row for row, shares in right.items() if _stands_still(shares, classes)]
    if not stuck:
        return ""
    ends = [100.0 * right[row][-1] for row in stuck]
    low, high = f"{min(ends):.1f} %", f"{max(ends):.1f} %"
    span = low if low == high else f"{low} to {high}"
    return (
        f"the test accuracy of {len(stuck)} of {_plural(len(right), 'setting')} stays at guessing "
        f"({span}) however long it trains. The model has probably collapsed and predicts one class "
        "for every record. Try a smaller learning rate."
    )


def _right(events: Iterable[Event]) -> dict[int, list[float]]:
    """The share of right answers of each replica, in the order of its steps."""
    courses: dict[int, dict[int, float]] = defaultdict(dict)
    for event in events:
        if not isinstance(event, Measured) or not {"accuracy", "error"} & set(event.values):
            continue
        name = "accuracy" if "accuracy" in event.values else "error"
        for row, value in zip(event.replicas, event.values[name], strict=True):
            if value is not None:
                courses[row][event.step] = value if name == "accuracy" else 1.0 - value
    return {row: [steps[at] for at in sorted(steps)] for row, steps in courses.items()}


def _stands_still(shares: list[float], classes: int) -> bool:
    last = shares[len(shares) // 2 :]
    low = last[-1] <= 1.0 / classes + ABOVE_GUESSING
    return low and len(last) >= STILL and max(last) - min(last) < 1e-6


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
