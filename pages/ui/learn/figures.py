"""Figures of the page Learn."""

from collections.abc import Sequence

import numpy as np

from engine.papers.mean.spec import UNIT
from pages.ui import words
from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import dots, path, series
from pages.ui.charts.measured import Curve
from pages.ui.charts.notes import rule
from pages.ui.charts.theme import GRID, INK, SERIES, Style, axis, brief, figure, log_axis
from pages.ui.learn.maths import COUNT, MOST, Densities, total

HEIGHT = 340


def overlap(densities: Densities, epsilon: float) -> Figure:
    """Two densities of a noisy count, and the area that they share."""
    shared = np.minimum(densities.without, densities.present)
    x = [round(float(v), 2) for v in densities.x]
    area = path("Overlap", x, shared, GRID, mode="none", fill="tozeroy", fillcolor=GRID)
    lines = [
        path(name, x, y, colour, "%{x:.1f}: density %{y:.3f}", dash=dash)
        for name, y, colour, dash in (
            (f"Without you: {COUNT} people", densities.without, SERIES[0], "solid"),
            (f"With you: {COUNT + 1} people", densities.present, SERIES[1], "dash"),
        )
    ]
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
    parts = [("Noise", bounds, noise, Style(SERIES[0], "solid", "circle"))]
    if bias is not None:
        parts.append(("Bias", bias.epsilon, bias.middle, Style(SERIES[1], "dash", "diamond")))
    if both is not None:
        parts.append(("Expected error", both.epsilon, both.middle, Style(INK, "dot", "square")))
    traces = [
        series(name, brief(x), brief(y), look, f"<b>{name}</b><br>B = %{{x:g}}: %{{y:.3g}} {UNIT}")
        for name, x, y, look in parts
    ]
    return figure(
        traces,
        height=HEIGHT,
        xaxis=log_axis(f"Clipping bound B [{UNIT}]", bounds),
        yaxis=axis(f"Error of the mean [{UNIT}]", rangemode="tozero"),
        shapes=[rule(chosen)],
    )


def answers(chosen: int) -> Figure:
    """How often a guess may be right, at most, after some answers."""
    counts = list(range(1, MOST + 1))
    rates = [words.best_guess(total(count)) for count in counts]
    line = path("At most", counts, brief(rates), SERIES[0], "%{x} answers: %{y:.1%}")
    now = brief([words.best_guess(total(chosen))])
    point = dots("Chosen", [chosen], now, SERIES[0], "circle-open", "", size=14, ring=3)
    return figure(
        [line, point],
        height=HEIGHT,
        showlegend=False,
        xaxis=axis("Answers published"),
        yaxis=axis("Guesses that are right, at most", range=[0.45, 1.02], tickformat=".0%"),
        shapes=[rule(chosen)],
    )
