"""Figures of the deep belief network: epochs, polynomials, bounds, filters, noise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.lines import Line
from pages.ui.charts.marks import HIDDEN, dots, path, pixels, upright, whiskers
from pages.ui.charts.size import powers
from pages.ui.charts.theme import MUTED, SERIES, axis, figure, log_axis, style

ROW = 8
"""Small pictures in a row."""
GAP = 1
"""Pixels between two small pictures."""
LEAST = 1e-12
"""Errors below are rounding."""


def crosses(ends: Sequence[Line]) -> Callable[[Figure, Sequence[Line]], None]:
    """Adds a cross where a line's budget is spent; the legend says so, clear of other lines."""

    def change(made: Figure, drawn: Sequence[Line]) -> None:
        made.traces += [
            dots("budget spent", one.x[-1:], one.middle[-1:], one.style.colour, "x",
                 f"{one.label}: budget spent", legendgroup=one.label, cliponaxis=False)
            for one in ends
        ]  # fmt: skip

    return change


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


def polynomials(x: Floats, name: str, exact: Floats, shapes: Sequence[Shape]) -> Figure:
    """An activation with all that stands for it, and the error of each below."""
    parts = [_over(x, exact, name, MUTED, "solid", yaxis="y", width=6, opacity=0.45)]
    for i, one in enumerate(shapes):
        look = (one.label, style(i).colour, style(i).dash)
        error = np.maximum(np.abs(one.values - exact), LEAST)  # where they meet there is none
        parts += [
            _over(x, one.values, *look, yaxis="y"),
            _over(x, error, *look, yaxis="y2", showlegend=False),
        ]
    least = max(LEAST, min(one.error for one in shapes) / 10.0)
    return figure(
        parts,
        height=560,
        xaxis=axis("Response X [-1 to 1]", range=[-1.02, 1.02], anchor="y2"),
        yaxis=axis("Height", domain=[0.5, 1.0]),
        yaxis2=powers("Size of the error", [one.error for one in shapes] + [least])
        | {"domain": [0.0, 0.4], "range": [float(np.log10(least)) - 0.2, 0.3]},
    )


def _over(x: Floats, y: Floats, name: str, colour: str, dash: str, **more: Any) -> dict[str, Any]:
    said = f"<b>{name}</b><br>X = %{{x:.2f}}: %{{y:.4f}}"
    own = {"legendgroup": name, "showlegend": True, "opacity": 1.0, "xaxis": "x", **more}
    return path(name, x, y, colour, said, dash=dash, **own)


def mosaic(pictures: Floats, *, signed: bool, across: int = ROW) -> Figure:
    """Small pictures side by side, each scaled by its own largest value.

    Args:
        pictures: Shape (k, h, w).
        signed: Whether both signs matter; else the pictures are grey values.
        across: Pictures in a row.
    """
    hidden = {**HIDDEN, "constrain": "domain"}
    said = "%{z:.2f} of the largest"
    return figure(
        [pixels(tiled(pictures, across), said, signed=signed, hoverongaps=False)],
        height=66 * -(-len(pictures) // across) + 16,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        xaxis=hidden,
        yaxis={**hidden, "autorange": "reversed", "scaleanchor": "x"},
    )


def tiled(pictures: Floats, across: int = ROW) -> Floats:
    """The pictures in rows, with gaps of NaN between them."""
    count, height, width = pictures.shape
    rows = -(-count // across)
    whole = np.full((rows * (height + GAP) - GAP, across * (width + GAP) - GAP), np.nan)
    for i, one in enumerate(pictures):
        largest = float(np.abs(one).max(initial=0.0)) or 1.0
        top, left = i // across * (height + GAP), i % across * (width + GAP)
        whole[top : top + height, left : left + width] = one / largest
    return whole


def ratios(by_layer: Mapping[str, Floats]) -> Figure:
    """Noise over signal of each thing that gets noise, with the spread of the repetitions."""
    low, middle, high = np.array([np.quantile(v, (0.1, 0.5, 0.9)) for v in by_layer.values()]).T
    loud = middle >= 1.0
    names = np.array([f"{name} " for name in by_layer])
    traces = [
        dots(label, middle[some], names[some].tolist(), colour, symbol,
             "<b>%{y}</b><br>noise %{x:.3g} times the signal", size=13,
             error_x=whiskers(low[some], middle[some], high[some]))
        for label, some, symbol, colour in (
            ("signal is larger", ~loud, "circle", SERIES[0]),
            ("noise is larger", loud, "diamond", SERIES[1]),
        )
        if some.any()
    ]  # fmt: skip
    reach = [float(v) for v in middle[middle > 0]] + [1.0]
    return figure(
        traces,
        height=130 + 38 * len(names),
        xaxis=log_axis("Noise to signal [times]", reach, showgrid=True),
        yaxis=axis("", type="category", categoryorder="array", categoryarray=names[::-1].tolist()),
        shapes=[upright(1)],
    )
