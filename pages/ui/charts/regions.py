"""How much each pair of regions counts, as a square of regions by regions; two squares abreast."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import box, text
from pages.ui.charts.theme import GROUND, SERIES, axis, figure

GAP = 0.06
"""Between two squares, as a part of the width."""


def square(shares: Floats, regions: int) -> Floats:
    """Shares of pairs (pairs,), upper triangle row by row, as (regions, regions); NaN on the line.

    Raises:
        ValueError: Another number of pairs.
    """
    upper = np.triu_indices(regions, 1)
    grid = np.full((regions, regions), np.nan)
    grid[upper] = shares
    grid.T[upper] = shares
    return grid


def connections(squares: Sequence[tuple[str, Floats]], outlined: int) -> Figure:
    """Squares side by side in one scale of colours.

    Args:
        squares: Names, and per cent (regions, regions).
        outlined: The first so many regions are outlined.
    """
    most = max(float(np.nanmax(values)) for _, values in squares)
    wide = (1.0 + GAP) / len(squares) - GAP
    layout: dict[str, Any] = {}
    traces, shapes, words = [], [], []
    for i, (name, values) in enumerate(squares):
        end, left = str(i + 1) if i else "", i * (wide + GAP)
        traces.append(_trace(values, most, end, last=i + 1 == len(squares)))
        shapes.append(_outline(outlined, end))
        words.append(_word(name, left + wide / 2))
        plain = {"showgrid": False, "showline": False, "dtick": 4, "tick0": 4}
        layout[f"xaxis{end}"] = axis("Region", domain=[left, left + wide], **plain)
        layout[f"yaxis{end}"] = axis(
            "" if i else "Region", autorange="reversed", anchor=f"x{end}",
            showticklabels=not i, **plain,
        )  # fmt: skip
    return figure(
        traces, height=360, margin={"l": 8, "r": 8, "t": 32, "b": 8},
        shapes=shapes, annotations=words, **layout,
    )  # fmt: skip


def _trace(values: Floats, most: float, end: str, *, last: bool) -> dict[str, Any]:
    """One square; the last one has the scale of colours beside it."""
    places = list(range(1, len(values) + 1))
    shown = [[None if np.isnan(v) else round(float(v), 3) for v in row] for row in values]
    return {
        "type": "heatmap", "x": places, "y": places, "z": shown, "zmin": 0.0, "zmax": most,
        "xaxis": f"x{end}", "yaxis": f"y{end}", "xgap": 1, "ygap": 1, "showscale": last,
        "colorscale": [[0.0, GROUND], [1.0, SERIES[0]]],
        "colorbar": {"title": {"text": "% of all", "side": "right"}, "thickness": 12},
        "hovertemplate": "regions %{y} and %{x}: %{z:.2f} % of all<extra></extra>",
    }  # fmt: skip


def _outline(regions: int, end: str) -> dict[str, Any]:
    side = 0.5, regions + 0.5
    return box(side, side, dashed=True, xref=f"x{end}", yref=f"y{end}")


def _word(words: str, at: float) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    return text(words, at, 1.0, size=14, **place)
