"""Sections of the page on the private mean: the histogram, and bias against noise."""

import numpy as np

from engine.core.gauges import gauges
from engine.intervals import SHARE
from engine.papers.mean.spec import UNIT
from pages.ui import words
from pages.ui.charts.figure import Floats
from pages.ui.charts.measured import curve
from pages.ui.paper.parts import Chart
from pages.ui.paper.pays import quoted
from pages.ui.paper.series import needed
from pages.ui.paper.view import View
from pages.ui.papers.mean import figures

PARTS = ("bias", "deviation", "expected")


def histogram(view: View) -> Chart:
    """The counts of one repetition, with and without noise."""
    names = ("histogram", "histogram_exact", "edges")
    noisy, exact, edges = (one[0] for one in needed(view, view.method, *names))
    records = float(exact.sum())
    low, high = (records * end for end in _ends(view))
    columns = {
        "From": edges[:-1], "To": edges[1:], "Published": noisy, "At least": low, "At most": high,
        "Without noise": exact,
    }  # fmt: skip
    return Chart(
        figures.histogram(noisy, exact, edges, (low, high)),
        [{name: float(one[i]) for name, one in columns.items()} for i in range(len(noisy))],
        {"wrong": np.abs(noisy - exact).mean(), "sum": records},
    )


def _ends(view: View) -> tuple[Floats, Floats]:
    """Where the interval of each bin's share begins and ends, of the repetition that is drawn."""
    found = [one for one in quoted(view) if one.unit == SHARE]
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    return low, high


def parts(view: View) -> Chart | None:
    """The two parts of the expected error over all budgets: bias by clipping, and noise."""
    results, kinds = view.watched[view.method].results, gauges(view.entry.info)
    bands = [] if results is None else [
        curve(results, name, kinds[name].label, i) for i, name in enumerate(PARTS)
    ]  # fmt: skip
    at = bands[0].at(view.budget) if bands else None
    if at is None:
        return None
    bias, noise, _ = (words.amount(one.middle[at], kinds[PARTS[0]]) for one in bands)
    rows = [
        {"Part": one.label, "ε": epsilon, f"Median [{UNIT}]": middle}
        for one in bands
        for epsilon, middle in zip(one.epsilon, one.middle, strict=True)
    ]
    facts = {"bias": bias, "noise": noise, "unit": UNIT}
    return Chart(figures.parts(bands, view.budget), rows, facts)
