"""Figures of the page on the private mean."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.papers.mean.spec import UNIT
from pages.ui.charts.figure import Figure
from pages.ui.charts.measured import Curve
from pages.ui.charts.theme import INK, MUTED, SERIES, axis, brief, budget_axis, figure, log_axis

Floats = NDArray[np.float64]


def histogram(
    noisy: Floats, exact: Floats, edges: Floats, revision: str,
    ends: tuple[Floats, Floats] | None = None,
) -> Figure:  # fmt: skip
    """Published counts as bars, and those without noise as steps.

    Args:
        noisy: Published counts, shape (k,).
        exact: Counts without noise, shape (k,).
        edges: Edges of the bins, shape (k + 1,).
        revision: Changes when a zoom should be forgotten.
        ends: Where the interval of each count begins and ends, shape (k,); None for none.
    """
    middle = (edges[:-1] + edges[1:]) / 2
    bars = {
        "type": "bar", "name": "Published", "x": brief(middle), "y": brief(noisy),
        "width": brief(0.94 * np.diff(edges)), "marker": {"color": SERIES[0]},
        "hovertemplate": "%{x:.3g}: %{y:.1f} records<extra></extra>",
    }  # fmt: skip
    if ends is not None:
        low, high = ends
        bars["error_y"] = {
            "type": "data", "symmetric": False, "array": brief(np.maximum(high - noisy, 0.0)),
            "arrayminus": brief(noisy - low), "color": MUTED, "thickness": 1.5, "width": 3,
        }  # fmt: skip
    steps = {
        "type": "scatter", "mode": "lines", "name": "Without noise · not private",
        "x": brief(edges), "y": brief([*exact, exact[-1]]),
        "line": {"color": INK, "width": 2, "shape": "hv"},
        "hovertemplate": "from %{x:.3g}: %{y} records<extra></extra>",
    }  # fmt: skip
    return figure(
        [bars, steps],
        height=380,
        uirevision=revision,
        xaxis=axis(f"Value [{UNIT}]"),
        yaxis=axis("Records in the bin", zeroline=True),
    )


def parts(drawn: Sequence[Curve], chosen: float, revision: str) -> Figure:
    """Medians against the budget, both logarithmic, with a rule at the chosen budget.

    Args:
        drawn: The parts of the error and their sum; each has been measured.
        chosen: The budget under the slider.
        revision: Changes when a zoom should be forgotten.
    """
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "name": one.label,
            "x": brief(one.epsilon), "y": brief(one.middle),
            "line": {"color": one.style.colour, "dash": one.style.dash, "width": 2.5},
            "marker": {"symbol": one.style.marker, "size": 8, "color": one.style.colour},
            "hovertemplate": f"<b>{one.label}</b><br>ε = %{{x:g}}: %{{y:.3g}} {UNIT}"
            "<extra></extra>",
        }
        for one in drawn
    ]  # fmt: skip
    heights = [value for one in drawn for value in one.middle]
    return figure(
        traces,
        height=380,
        uirevision=revision,
        xaxis=budget_axis(min(drawn[0].epsilon), max(drawn[0].epsilon)),
        yaxis=log_axis(f"Error of the mean [{UNIT}]", heights),
        shapes=[{
            "type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper",
            "layer": "below", "line": {"color": MUTED, "width": 1.2},
        }],
    )  # fmt: skip
