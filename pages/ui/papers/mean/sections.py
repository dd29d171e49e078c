"""Sections of the page on the private mean: the histogram, and bias against noise."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.core.gauges import gauges
from engine.intervals import SHARE
from engine.papers.mean import price
from engine.papers.mean.spec import UNIT
from pages.ui import words
from pages.ui.charts.figure import Figure, Floats, by_row
from pages.ui.charts.marks import bars, path, series, upright, whiskers
from pages.ui.charts.measured import Curve, curve
from pages.ui.charts.theme import INK, MUTED, SERIES, axis, brief, budget_axis, figure, log_axis
from pages.ui.paper.parts import Chart
from pages.ui.paper.pays import quoted
from pages.ui.paper.said import Named
from pages.ui.paper.series import chosen, needed
from pages.ui.paper.view import View

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
        _histogram(noisy, exact, edges, (low, high)),
        by_row(columns),
        {"wrong": np.abs(noisy - exact).mean(), "sum": records},
    )


def _ends(view: View) -> tuple[Floats, Floats]:
    """Where the interval of each bin's share begins and ends, of the repetition that is drawn."""
    found = [one for one in quoted(view) if one.unit == SHARE]
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    return low, high


def lowered(bias: float, bound: float) -> float:
    """How much clipping lowers a mean: what rounding takes is not cut off.

    Args:
        bias: By how much the mean of the clipped and rounded values is lower.
        bound: The clipping bound, of which values are rounded to small parts.
    """
    return 0.0 if bias < bound / price.GRID else bias


def parts(view: View) -> Chart | None:
    """The two parts of the expected error over all budgets: bias by clipping, and noise."""
    results, kinds = view.watched[view.method].results, gauges(view.entry.info)
    bands = [] if results is None else [
        curve(results, name, kinds[name].label, i) for i, name in enumerate(PARTS)
    ]  # fmt: skip
    at = bands[0].at(view.budget) if bands else None
    if results is None or at is None:
        return None
    bound = float(view.spec.bound)
    bands[0] = replace(bands[0], middle=tuple(lowered(one, bound) for one in bands[0].middle))
    bias, noise, _ = (words.amount(one.middle[at], kinds[PARTS[0]]) for one in bands)
    rows = [
        {"Part": one.label, "ε": epsilon, f"Median [{UNIT}]": middle}
        for one in bands
        for epsilon, middle in zip(one.epsilon, one.middle, strict=True)
    ]
    most = lowered(float(np.nanmax(results.gauges["bias"][chosen(view, view.method)])), bound)
    clips = "LOWERS" if bands[0].middle[at] else "SELDOM" if most else "NEVER"
    facts = {"clips": Named(clips), "bias": bias, "noise": noise, "unit": UNIT}
    return Chart(_parts(bands, view.budget), rows, facts)


def _histogram(noisy: Floats, exact: Floats, edges: Floats, ends: tuple[Floats, Floats]) -> Figure:
    """Published counts as bars, and those without noise as steps.

    Args:
        noisy: Published counts, shape (k,).
        exact: Counts without noise, shape (k,).
        edges: Edges of the bins, shape (k + 1,).
        ends: Where the interval of each count begins and ends, shape (k,).
    """
    low, high = ends
    published = bars(
        "Published", (edges[:-1] + edges[1:]) / 2, noisy, SERIES[0], "%{x:.3g}: %{y:.1f} records",
        width=brief(0.94 * np.diff(edges)),
        error_y=whiskers(low, noisy, np.maximum(high, noisy), MUTED, thickness=1.5, width=3),
    )  # fmt: skip
    steps = path(
        "Without noise · not private", edges, np.append(exact, exact[-1]), INK,
        "from %{x:.3g}: %{y} records", width=2, shape="hv",
    )  # fmt: skip
    return figure(
        [published, steps],
        height=380,
        xaxis=axis(f"Value [{UNIT}]"),
        yaxis=axis("Records in the bin", zeroline=True),
    )


def _parts(bands: Sequence[Curve], budget: float) -> Figure:
    """Medians against the budget, both logarithmic, with a rule at the chosen budget.

    Args:
        bands: The parts of the error and their sum; each has been measured. One that is 0
            everywhere has no place on a logarithmic axis.
        budget: The one under the slider.
    """
    drawn = [one for one in bands if max(one.middle) > 0.0]
    heights = [value for one in drawn for value in one.middle]
    return figure(
        [
            series(one.label, brief(one.epsilon), brief(one.middle), one.style,
                   f"<b>{one.label}</b><br>ε = %{{x:g}}: %{{y:.3g}} {UNIT}")
            for one in drawn
        ],
        height=380,
        xaxis=budget_axis(min(drawn[0].epsilon), max(drawn[0].epsilon)),
        yaxis=log_axis(f"Error of the mean [{UNIT}]", heights),
        shapes=[upright(budget, MUTED, dash=None, width=1.2)],
    )  # fmt: skip
