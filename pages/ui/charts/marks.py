"""The marks that charts are made of, as Plotly's JSON names them: lines, dots, bars, pixels."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.theme import GROUND, INK, SERIES, Style, brief

Values: TypeAlias = NDArray[Any] | Sequence[Any]
GREY = [[0.0, GROUND], [1.0, INK]]
SIGNED = [[0.0, SERIES[1]], [0.5, GROUND], [1.0, SERIES[0]]]
"""Colours of pictures, from the smallest value to the largest."""
BARE = {"showgrid": False, "zeroline": False, "showline": False, "ticks": ""}
"""An axis of which nothing is drawn but its ticks' words."""
HIDDEN = {**BARE, "showticklabels": False}
"""An axis of which nothing is drawn."""


def _sent(values: Values) -> list[Any]:
    """Arrays at the precision of a screen, anything else as it is."""
    return brief(values) if isinstance(values, np.ndarray) else list(values)


def _said(name: str, hover: str) -> dict[str, str]:
    """The name in the legend and the words at the pointer; nothing where there are none."""
    named = {"name": name} if name else {}
    words = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
    return named | words


def path(
    name: str, x: Values, y: Values, colour: str, hover: str = "", *, width: float = 2.5,
    dash: str | None = None, shape: str | None = None, mode: str = "lines", **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """A line."""
    line = {"color": colour, "dash": dash, "width": width, "shape": shape}
    return {
        "type": "scatter", "mode": mode, "x": _sent(x), "y": _sent(y),
        "line": line, **_said(name, hover), **more,
    }  # fmt: skip


def series(
    name: str, x: Values, y: Values, look: Style, hover: str, size: int = 8, **more: Any
) -> dict[str, Any]:
    """A line with a marker at each place, in the look of a series."""
    marker = {"symbol": look.marker, "size": size, "color": look.colour}
    return path(
        name, x, y, look.colour, hover, dash=look.dash, mode="lines+markers", marker=marker, **more
    )


def dots(
    name: str, x: Values, y: Values, colour: Any, symbol: Any, hover: str, *, size: Any = 12,
    ring: float = 0.0, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """Markers; `ring` is how thick their outline is."""
    outline = {"line": {"width": ring, "color": colour}} if ring else {}
    return {
        "type": "scatter", "mode": "markers", "x": _sent(x), "y": _sent(y),
        **{"marker": {"symbol": symbol, "size": size, "color": colour, **outline}, **more},
        **_said(name, hover),
    }  # fmt: skip


def among(name: str, x: Values, names: Sequence[str], colour: str, symbol: str) -> dict[str, Any]:
    """Markers in the rows of names."""
    said = f"<b>%{{y}}</b><br>{name}: %{{x:.3g}}"
    return dots(name, x, names, colour, symbol, said, ring=2.5)


def bars(name: str, x: Values, y: Values, colour: str, hover: str, **more: Any) -> dict[str, Any]:
    """Bars; `pattern` is what is drawn on them."""
    marker: dict[str, Any] = {"color": colour}
    if (pattern := more.pop("pattern", None)) is not None:
        marker["pattern"] = {
            "shape": pattern, "bgcolor": colour, "fgcolor": GROUND, "size": 7, "solidity": 0.2
        }  # fmt: skip
    return {
        "type": "bar", "x": _sent(x), "y": _sent(y), "marker": marker,
        **_said(name, hover), **more,
    }  # fmt: skip


def whiskers(
    low: NDArray[Any], middle: NDArray[Any], high: NDArray[Any], colour: str = INK, **more: Any
) -> dict[str, Any]:
    """From the low end to the high end of what is drawn at the middle."""
    return {
        "type": "data", "symmetric": False, "array": brief(high - middle),
        "arrayminus": brief(middle - low), "color": colour, "thickness": 1.4, **more,
    }  # fmt: skip


def pixels(z: NDArray[Any], hover: str, *, signed: bool = False, **more: Any) -> dict[str, Any]:
    """A picture: values between 0 and 1, or -1 and 1 where both signs matter; NaN is a gap."""
    rows = [[None if v != v else float(v) for v in row] for row in z.round(3)]
    return {
        "type": "heatmap", "z": rows, "zmin": -1.0 if signed else 0.0, "zmax": 1.0,
        "colorscale": SIGNED if signed else GREY, "showscale": False, **_said("", hover), **more,
    }  # fmt: skip


def upright(
    at: float, colour: str = INK, *, dash: str | None = "dot", width: float = 1.4,
    layer: str | None = "below",
) -> dict[str, Any]:  # fmt: skip
    """A line over the whole height."""
    return {
        "type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": layer,
        "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def level(
    at: float, colour: str = INK, *, dash: str | None = "dot", width: float = 1.4,
    xref: str | None = "paper",
) -> dict[str, Any]:  # fmt: skip
    """A line over the whole width."""
    return {
        "type": "line", "x0": 0, "x1": 1, "xref": xref, "y0": at, "y1": at, "layer": "below",
        "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def box(
    x: tuple[float, float], y: tuple[float, float] = (0, 1), *, fill: str | None = None,
    opacity: float = 1.0, dashed: bool = False, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """A rectangle: filled and without an outline, or with a dotted one; of the whole height."""
    return {
        "type": "rect", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "fillcolor": fill,
        "opacity": opacity, "layer": None if dashed else "below",
        "line": {"color": INK, "width": 2, "dash": "dot"} if dashed else {"width": 0}, **more,
    }  # fmt: skip


RING = "ring"
"""Marks the shapes around chosen points."""


def circle(x: float, y: float, colour: str, *, size: float, width: float) -> dict[str, Any]:
    """A ring around a point, of so many pixels.

    Plotly places no circle by negative pixels on a logarithmic axis, so it is four curves.
    """
    r = 0.5 * size
    k = round(0.5523 * r, 2)  # of a quarter circle's control points
    path = (
        f"M{-r},0C{-r},{k},{-k},{r},0,{r}C{k},{r},{r},{k},{r},0"
        f"C{r},{-k},{k},{-r},0,{-r}C{-k},{-r},{-r},{-k},{-r},0Z"
    )
    return {
        "type": "path", "path": path, "name": RING, "xsizemode": "pixel", "ysizemode": "pixel",
        "xanchor": x, "yanchor": y, "line": {"color": colour, "width": width},
    }  # fmt: skip


def text(
    words: str, x: float, y: float, *, size: int = 12, colour: str = INK, **more: Any
) -> dict[str, Any]:
    """Words in a chart."""
    return {
        "text": words, "x": x, "y": y, "showarrow": False, "font": {"size": size, "color": colour},
        **more,
    }  # fmt: skip


def joined(parts: Iterable[Sequence[Any]]) -> list[Any]:
    """Lines as one, with gaps between them."""
    return [value for part in parts for value in (*part, None)]
