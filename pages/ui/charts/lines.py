"""Lines with the spread of their repetitions, against training steps or anything else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import level
from pages.ui.charts.measured import INNER
from pages.ui.charts.theme import (
    GROUND,
    INK,
    MUTED,
    Style,
    axis,
    band,
    budget_axis,
    figure,
    log_axis,
)

POINTS = 120
"""A line is drawn through at most this many points."""


@dataclass(frozen=True, eq=False)
class Line:
    """A line with the spread of its repetitions.

    Attributes:
        label: What it is called.
        style: Its look.
        x: Where it is drawn, shape (k,).
        middle: Median over the repetitions, shape (k,).
        low: Their 10 % quantile, shape (k,).
        high: Their 90 % quantile, shape (k,).
    """

    label: str
    style: Style
    x: Floats
    middle: Floats
    low: Floats
    high: Floats


def line(label: str, look: Style, x: NDArray[Any], values: Floats) -> Line | None:
    """A line from values (k, r) of r repetitions; None where nothing is finite."""
    values = np.where(np.isfinite(values), values, np.nan)
    kept = np.flatnonzero(np.isfinite(values).any(axis=1))
    if not len(kept):
        return None
    kept = kept[np.unique(np.linspace(0, len(kept) - 1, min(len(kept), POINTS)).astype(int))]
    seen = values[kept]
    quantile = np.nanquantile if np.isnan(seen).any() else np.quantile  # twenty times as fast
    low, middle, high = quantile(seen, (INNER[0], 0.5, INNER[1]), axis=1)
    return Line(label, look, np.asarray(x, np.float64)[kept], middle, low, high)


def lines(
    drawn: Sequence[Line],
    titles: tuple[str, str],
    *,
    across: str = "",
    ticks: Sequence[float] = (),
    log: bool = False,
    rule: tuple[float, str] | None = None,
    under: bool = False,
    height: int = 300,
    **y: Any,
) -> Figure:
    """Lines with bands.

    Args:
        drawn: The lines.
        titles: Of the two axes.
        across: How the horizontal axis is drawn: "log", "budgets" (without a title of its own), or
            empty for a linear one from zero.
        ticks: Where a linear one has ticks, with its ends beside them; empty for anywhere.
        log: Whether heights are logarithmic.
        rule: A height to compare with, and what it is.
        under: Whether its words stand below it, where lines begin above it.
        height: Of the figure, in pixels.
        y: More for the vertical axis.
    """
    heights = [float(v) for one in drawn for v in (*one.low, *one.high)]
    heights += [rule[0]] if rule else []
    return figure(
        [trace for one in drawn for trace in _line(one, log)],
        height=height,
        xaxis=_across(drawn, titles[0], across, ticks),
        yaxis=log_axis(titles[1], heights, **y) if log else axis(titles[1], **y),
        shapes=[level(rule[0], MUTED)] if rule else [],
        annotations=[_flag(*rule, log, under)] if rule else [],
    )


def _across(
    drawn: Sequence[Line], title: str, across: str, ticks: Sequence[float]
) -> dict[str, Any]:
    """The horizontal axis."""
    x = [float(x) for one in drawn for x in one.x]
    if across:
        return log_axis(title, x) if across == "log" else budget_axis(min(x), max(x))
    ends = {"tickvals": list(ticks), "range": [ticks[0] - 0.4, ticks[-1] + 0.4]} if ticks else {}
    return axis(title, rangemode="tozero", **ends)


def _line(one: Line, log: bool) -> list[dict[str, Any]]:
    """The band and the line; on a logarithmic axis nothing falls to zero."""
    least = 1e-12 if log else -np.inf
    low, middle, high = (np.maximum(v, least).tolist() for v in (one.low, one.middle, one.high))
    few = {"mode": "lines+markers"} if len(one.x) <= 12 else {"mode": "lines"}
    return [
        band(one.x.tolist(), low, high, one.style.colour, one.label),
        {
            "type": "scatter", **few, "name": one.label, "legendgroup": one.label,
            "x": one.x.tolist(), "y": middle, "customdata": list(zip(low, high, strict=True)),
            "line": {"color": one.style.colour, "dash": one.style.dash, "width": 2.5},
            "marker": {"symbol": one.style.marker, "size": 7, "color": one.style.colour},
            "hovertemplate": (
                "<b>%{fullData.name}</b><br>%{x:,.4g}: %{y:.3g}<br>4 of 5 repetitions: "
                "%{customdata[0]:.3g} to %{customdata[1]:.3g}<extra></extra>"
            ),
        },
    ]  # fmt: skip


def _flag(height: float, text: str, log: bool, under: bool) -> dict[str, Any]:
    return {
        "x": 0.01, "xref": "paper", "xanchor": "left", "showarrow": False,
        "yanchor": "top" if under else "bottom", "text": text, "bgcolor": GROUND,
        "y": float(np.log10(height)) if log else height,
        "font": {"size": 12, "color": INK},
    }  # fmt: skip


def rows(drawn: Sequence[Line], head: str) -> list[dict[str, Any]]:
    """The lines as a table, at up to eleven places each."""
    return [
        {
            "Line": one.label, head: float(one.x[i]), "Median": float(one.middle[i]),
            "10 %": float(one.low[i]), "90 %": float(one.high[i]),
        }
        for one in drawn
        for i in np.unique(np.linspace(0, len(one.x) - 1, 11).round().astype(int))
    ]  # fmt: skip
