"""Figures of the deep belief network: epochs, polynomials, bounds, filters, noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts import lines
from pages.ui.charts.figure import Figure
from pages.ui.charts.lines import Line
from pages.ui.charts.size import powers
from pages.ui.charts.theme import (
    GROUND,
    INK,
    MUTED,
    SERIES,
    axis,
    brief,
    figure,
    log_axis,
    style,
)

Floats = NDArray[np.float64]

ROW = 8
"""Small pictures in a row."""
GAP = 1
"""Pixels between two small pictures."""
LEAST = 1e-12
"""Errors below are rounding."""


def course(
    drawn: Sequence[Line], ends: Sequence[Line], titles: tuple[str, str], revision: str, **y: Any
) -> Figure:
    """Lines by epoch on a logarithmic axis.

    Args:
        drawn: The lines.
        ends: Those of `drawn` that cannot go on, since their budget is spent.
        titles: Of the two axes.
        revision: Changes when a zoom should be forgotten.
        y: More for the vertical axis.
    """
    made = lines.lines(drawn, titles, revision, height=380, **y)
    made.layout["xaxis"] = log_axis(titles[0], [float(x) for one in drawn for x in one.x])
    made.traces += [_end(one) for one in ends]
    return made


def _end(one: Line) -> dict[str, Any]:
    """A cross where a line's budget is spent; the legend says so, clear of other lines."""
    return {
        "type": "scatter", "mode": "markers", "x": brief(one.x[-1:]),
        "y": brief(one.middle[-1:]), "name": "budget spent", "legendgroup": one.label,
        "marker": {"symbol": "x", "size": 12, "color": one.style.colour}, "cliponaxis": False,
        "hovertemplate": f"{one.label}: budget spent<extra></extra>",
    }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Shape:
    """A polynomial that stands for an activation.

    Attributes:
        label: What it is called.
        values: Its heights, shape (k,).
        error: Largest distance from the activation.
    """

    label: str
    values: Floats
    error: float


def polynomials(
    x: Floats, name: str, exact: Floats, shapes: Sequence[Shape], revision: str
) -> Figure:
    """An activation with all that stands for it, and the error of each below."""
    parts: list[dict[str, Any]] = [_over(x, exact, name, MUTED, "solid", "y", width=6)]
    for i, one in enumerate(shapes):
        look = style(i)
        parts += [
            _over(x, one.values, one.label, look.colour, look.dash, "y"),
            _over(
                x,
                _clipped(one.values - exact),
                one.label,
                look.colour,
                look.dash,
                "y2",
                legend=False,
            ),
        ]
    least = max(LEAST, min(one.error for one in shapes) / 10.0)
    return figure(
        parts,
        height=560,
        uirevision=revision,
        xaxis=axis("Response X [-1 to 1]", range=[-1.02, 1.02], anchor="y2"),
        yaxis=axis("Height", domain=[0.5, 1.0]),
        yaxis2=powers("Size of the error", [one.error for one in shapes] + [least])
        | {"domain": [0.0, 0.4], "range": [float(np.log10(least)) - 0.2, 0.3]},
    )


def _clipped(error: Floats) -> Floats:
    """Sizes of errors; where a polynomial meets the function there is none to draw."""
    clipped: Floats = np.maximum(np.abs(error), LEAST)
    return clipped


def _over(
    x: Floats, y: Floats, name: str, colour: str, dash: str, where: str, *, width: float = 2.5,
    legend: bool = True,
) -> dict[str, Any]:  # fmt: skip
    return {
        "type": "scatter", "mode": "lines", "x": brief(x), "y": brief(y), "name": name,
        "legendgroup": name, "showlegend": legend, "yaxis": where, "xaxis": "x",
        "line": {"color": colour, "dash": dash, "width": width},
        "opacity": 0.45 if width > 4 else 1.0,
        "hovertemplate": f"<b>{name}</b><br>X = %{{x:.2f}}: %{{y:.4f}}<extra></extra>",
    }  # fmt: skip


def mosaic(pictures: Floats, *, signed: bool, revision: str) -> Figure:
    """Small pictures side by side, each scaled by its own largest value.

    Args:
        pictures: Shape (k, h, w).
        signed: Whether both signs matter; else the pictures are grey values.
        revision: Changes when a zoom should be forgotten.
    """
    whole = _tiled(pictures)
    scale = (
        [[0.0, SERIES[1]], [0.5, GROUND], [1.0, SERIES[0]]]
        if signed
        else [[0.0, GROUND], [1.0, INK]]
    )
    hidden = {
        "showgrid": False, "zeroline": False, "showline": False, "ticks": "",
        "showticklabels": False, "constrain": "domain",
    }  # fmt: skip
    rows = -(-len(pictures) // ROW)
    trace = {
        "type": "heatmap", "z": [[None if v != v else float(v) for v in row]
                                 for row in whole.round(3)],
        "zmin": -1.0 if signed else 0.0, "zmax": 1.0, "colorscale": scale, "showscale": False,
        "hoverongaps": False, "hovertemplate": "%{z:.2f} of the largest<extra></extra>",
    }  # fmt: skip
    return figure(
        [trace],
        height=66 * rows + 16,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        uirevision=revision,
        xaxis=hidden,
        yaxis={**hidden, "autorange": "reversed", "scaleanchor": "x"},
    )


def _tiled(pictures: Floats) -> Floats:
    """The pictures in rows, with gaps of NaN between them."""
    count, height, width = pictures.shape
    rows = -(-count // ROW)
    whole = np.full((rows * (height + GAP) - GAP, ROW * (width + GAP) - GAP), np.nan)
    for i, one in enumerate(pictures):
        largest = float(np.abs(one).max(initial=0.0)) or 1.0
        top, left = i // ROW * (height + GAP), i % ROW * (width + GAP)
        whole[top : top + height, left : left + width] = one / largest
    return whole


def ratios(by_layer: Mapping[str, Floats], revision: str) -> Figure:
    """Noise over signal of each thing that gets noise, with the spread of the repetitions."""
    spread = {name: np.quantile(values, (0.1, 0.5, 0.9)) for name, values in by_layer.items()}
    middle = np.array([three[1] for three in spread.values()])
    above = np.array([three[2] - three[1] for three in spread.values()])
    below = np.array([three[1] - three[0] for three in spread.values()])
    loud = middle >= 1.0
    names = [f"{name} " for name in spread]
    traces = [
        {
            "type": "scatter", "mode": "markers", "name": label,
            "x": brief(middle[chosen]), "y": [names[i] for i in np.flatnonzero(chosen)],
            "error_x": {
                "type": "data", "symmetric": False, "array": brief(above[chosen]),
                "arrayminus": brief(below[chosen]), "color": INK, "thickness": 1.4,
            },
            "marker": {"symbol": symbol, "size": 13, "color": colour},
            "hovertemplate": "<b>%{y}</b><br>noise %{x:.3g} times the signal<extra></extra>",
        }
        for label, chosen, symbol, colour in (
            ("signal is larger", ~loud, "circle", SERIES[0]),
            ("noise is larger", loud, "diamond", SERIES[1]),
        )
        if chosen.any()
    ]  # fmt: skip
    reach = [float(v) for v in middle[middle > 0]] + [1.0]
    return figure(
        traces,
        height=130 + 38 * len(names),
        uirevision=revision,
        xaxis=log_axis("Noise to signal [times]", reach, showgrid=True),
        yaxis=axis("", type="category", categoryorder="array", categoryarray=names[::-1]),
        shapes=[{
            "type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper",
            "layer": "below", "line": {"color": INK, "width": 1.4, "dash": "dot"},
        }],
    )  # fmt: skip
