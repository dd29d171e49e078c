"""Figures of the page on the private mean."""

from collections.abc import Sequence

import numpy as np

from engine.papers.mean.spec import UNIT
from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import bars, path, series, upright, whiskers
from pages.ui.charts.measured import Curve
from pages.ui.charts.theme import INK, MUTED, SERIES, axis, brief, budget_axis, figure, log_axis


def histogram(noisy: Floats, exact: Floats, edges: Floats, ends: tuple[Floats, Floats]) -> Figure:
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


def parts(drawn: Sequence[Curve], chosen: float) -> Figure:
    """Medians against the budget, both logarithmic, with a rule at the chosen budget.

    Args:
        drawn: The parts of the error and their sum; each has been measured.
        chosen: The budget under the slider.
    """
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
        shapes=[upright(chosen, MUTED, dash=None, width=1.2)],
    )  # fmt: skip
