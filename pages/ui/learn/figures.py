"""Figures of the page Learn."""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.papers.mean.spec import UNIT
from pages.ui import words
from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import dots, level, path, series
from pages.ui.charts.measured import Curve
from pages.ui.charts.notes import rule
from pages.ui.charts.theme import (
    GRID,
    INK,
    MARKERS,
    MUTED,
    SERIES,
    Style,
    axis,
    brief,
    figure,
    log_axis,
)
from pages.ui.learn import maths
from pages.ui.learn.maths import COUNT, MOST, Densities, total

HEIGHT = 340


def overlap(densities: Densities, epsilon: float, names: Mapping[str, str]) -> Figure:
    """Two densities of a noisy count, and the area that they share; names of lines and axes."""
    shared = np.minimum(densities.without, densities.present)
    x = [round(float(v), 2) for v in densities.x]
    area = path(names["overlap"], x, shared, GRID, mode="none", fill="tozeroy", fillcolor=GRID)
    lines = [
        path(name, x, y, colour, "%{x:.1f}: %{y:.3f}", dash=dash)
        for name, y, colour, dash in (
            (names["without"], densities.without, SERIES[0], "solid"),
            (names["present"], densities.present, SERIES[1], "dash"),
        )
    ]
    return figure(
        [area, *lines],
        height=HEIGHT,
        xaxis=axis(names["x"], range=[COUNT - 12, COUNT + 13]),
        yaxis=axis(names["y"], showticklabels=False, rangemode="tozero"),
        uirevision=f"overlap/{epsilon:g}",
    )


def clipping(
    bounds: Sequence[float], noise: Sequence[float], bias: Curve | None, both: Curve | None,
    chosen: float, names: Mapping[str, str],
) -> Figure:  # fmt: skip
    """Bias and noise of a clipped mean against its bound, with a rule at the chosen one."""
    parts = [(names["noise"], bounds, noise, Style(SERIES[0], "solid", "circle"))]
    if bias is not None:
        parts.append(
            (names["bias"], bias.epsilon, bias.middle, Style(SERIES[1], "dash", "diamond"))
        )
    if both is not None:
        parts.append((names["both"], both.epsilon, both.middle, Style(INK, "dot", "square")))
    traces = [
        series(name, brief(x), brief(y), look, f"<b>{name}</b><br>B = %{{x:g}}: %{{y:.3g}} {UNIT}")
        for name, x, y, look in parts
    ]
    return figure(
        traces,
        height=HEIGHT,
        xaxis=log_axis(names["x"], bounds),
        yaxis=axis(names["y"], rangemode="tozero"),
        shapes=[rule(chosen)],
    )


def answers(chosen: int, names: Mapping[str, str]) -> Figure:
    """How often a guess may be right, at most, after some answers."""
    counts = list(range(1, MOST + 1))
    rates = [words.best_guess(total(count)) for count in counts]
    line = path(names["most"], counts, brief(rates), SERIES[0], "%{x}: %{y:.1%}")
    now = brief([words.best_guess(total(chosen))])
    point = dots(names["chosen"], [chosen], now, SERIES[0], "circle-open", "", size=14, ring=3)
    return figure(
        [line, point],
        height=HEIGHT,
        showlegend=False,
        xaxis=axis(names["x"]),
        yaxis=axis(names["y"], range=[0.45, 1.02], tickformat=".0%"),
        shapes=[rule(chosen)],
    )


def game(published: float, names: Mapping[str, str]) -> Figure:
    """The published mean between the two means that it may come of."""
    means = ((maths.OTHERS, "outside", 0), (maths.OTHERS + maths.STEP, "inside", 1))
    marks = [
        dots(names[name], [at], [0.0], SERIES[i], MARKERS[i], "%{x:.3g}", size=14)
        for at, name, i in means
    ]
    found = dots(names["published"], brief([published]), [0.0], INK, "x", "%{x:.3g}", size=16)
    return figure(
        [*marks, found],
        height=190,
        xaxis=axis(names["x"]),
        yaxis={"visible": False, "range": [-1.0, 1.0], "fixedrange": True},
        shapes=[level(0.0, MUTED, dash=None, width=1, xref="x domain")],
    )
