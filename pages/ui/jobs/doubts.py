"""Sentences about numbers that are not what their label says: a solver or a chain at no end."""

from collections.abc import Iterable

import numpy as np

from engine.runs.results import Results
from pages.ui import words

CONVERGED, MIXING = "converged", "r_hat"
MIXED = 1.05
"""Split R-hat above this: the halves of a chain still differ (Gelman et al. 2013, Section 11.4)."""


def doubts(found: Iterable[tuple[str, Results | None]]) -> list[str]:
    """One sentence for each method, by its label, whose results need one."""
    return [
        text
        for label, results in found
        if results is not None
        for text in (_unconverged(label, results), _unmixed(label, results))
        if text
    ]


def _unconverged(label: str, results: Results) -> str:
    ends = results.gauges.get(CONVERGED, np.ones(0))
    short = np.count_nonzero(ends == 0.0)
    if not short:
        return ""
    return (
        f"{label}: the solver stopped before it converged in {short} of "
        f"{words.plural(len(ends), 'repetition')}. The line is the best it found, not the optimum."
    )


def _unmixed(label: str, results: Results) -> str:
    ratios = results.gauges.get(MIXING, np.ones(0))
    apart = np.count_nonzero(ratios > MIXED)
    if not apart:
        return ""
    return (
        f"{label}: {apart} of {words.plural(len(ratios), 'chain')} have not mixed (split R-hat "
        f"above {MIXED}), so their draws are not yet from the distribution. Draw for longer."
    )
