"""Figures of the page Learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.papers.mean.spec import UNIT
from pages.ui import words
from pages.ui.charts.figure import Figure
from pages.ui.charts.measured import Curve
from pages.ui.charts.theme import GRID, INK, MUTED, SERIES, axis, brief, figure, log_axis
from pages.ui.learn.maths import COUNT, MOST, Densities, total

HEIGHT = 340


def overlap(densities: Densities, epsilon: float) -> Figure:
    """Two densities of a noisy count, and the area that they share."""
    shared = np.minimum(densities.without, densities.present)
    area = {
        "type": "scatter", "mode": "none", "fill": "tozeroy", "name": "Overlap",
        "x": [round(float(v), 2) for v in densities.x], "y": brief(shared), "fillcolor": GRID,
        "hoverinfo": "skip",
    }  # fmt: skip
    lines = [
        {
            "type": "scatter", "mode": "lines", "name": name,
            "x": [round(float(v), 2) for v in densities.x], "y": brief(y),
            "line": {"color": colour, "dash": dash, "width": 2.5},
            "hovertemplate": "%{x:.1f}: density %{y:.3f}<extra></extra>",
        }
        for name, y, colour, dash in (
            (f"Without you: {COUNT} people", densities.without, SERIES[0], "solid"),
            (f"With you: {COUNT + 1} people", densities.present, SERIES[1], "dash"),
        )
    ]  # fmt: skip
    return figure(
        [area, *lines],
        height=HEIGHT,
        xaxis=axis("Published count", range=[COUNT - 12, COUNT + 13]),
        yaxis=axis("How likely", showticklabels=False, rangemode="tozero"),
        uirevision=f"overlap/{epsilon:g}",
    )


def clipping(
    bounds: Sequence[float], noise: Sequence[float], bias: Curve | None, both: Curve | None,
    chosen: float,
) -> Figure:  # fmt: skip
    """Bias and noise of a clipped mean against its bound, with a rule at the chosen one."""
    parts: list[tuple[str, Sequence[float], Sequence[float], str, str, str]] = [
        ("Noise", bounds, noise, SERIES[0], "solid", "circle")
    ]
    if bias is not None:
        parts.append(("Bias", bias.epsilon, bias.middle, SERIES[1], "dash", "diamond"))
    if both is not None:
        parts.append(("Expected error", both.epsilon, both.middle, INK, "dot", "square"))
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "name": name, "x": brief(x), "y": brief(y),
            "line": {"color": colour, "dash": dash, "width": 2.5},
            "marker": {"symbol": marker, "size": 8, "color": colour},
            "hovertemplate": f"<b>{name}</b><br>B = %{{x:g}}: %{{y:.3g}} {UNIT}<extra></extra>",
        }
        for name, x, y, colour, dash, marker in parts
    ]  # fmt: skip
    return figure(
        traces,
        height=HEIGHT,
        xaxis=log_axis(f"Clipping bound B [{UNIT}]", bounds),
        yaxis=axis(f"Error of the mean [{UNIT}]", rangemode="tozero"),
        shapes=[_rule(chosen)],
    )


def answers(chosen: int) -> Figure:
    """How often a guess may be right, at most, after some answers."""
    counts = list(range(1, MOST + 1))
    rates = [words.best_guess(total(count)) for count in counts]
    line = {
        "type": "scatter", "mode": "lines", "name": "At most", "x": counts, "y": brief(rates),
        "line": {"color": SERIES[0], "width": 2.5},
        "hovertemplate": "%{x} answers: %{y:.1%}<extra></extra>",
    }  # fmt: skip
    point = {
        "type": "scatter", "mode": "markers", "name": "Chosen", "x": [chosen],
        "y": brief([words.best_guess(total(chosen))]), "hoverinfo": "skip",
        "marker": {"size": 14, "color": SERIES[0], "symbol": "circle-open", "line": {"width": 3}},
    }  # fmt: skip
    return figure(
        [line, point],
        height=HEIGHT,
        showlegend=False,
        xaxis=axis("Answers published"),
        yaxis=axis("Guesses that are right, at most", range=[0.45, 1.02], tickformat=".0%"),
        shapes=[_rule(chosen)],
    )


def _rule(at: float) -> dict[str, Any]:
    """A vertical line at what is chosen."""
    return {
        "type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": "below",
        "line": {"color": MUTED, "width": 1.2},
    }  # fmt: skip
