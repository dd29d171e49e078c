"""Colours, dashes and axes that all figures share.

Colours are stand-ins, the same as Streamlit's: the browser replaces them by the theme's own,
so one figure reads well in light and in dark. Colour never stands alone: every series has a dash
and a marker of its own too.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pages.ui.charts.figure import Figure

SERIES = tuple(f"#{number:06d}" for number in range(1, 11))
GRID, MUTED, INK, GROUND = "#000035", "#000036", "#000037", "#000038"
BROKEN = "#000022"
"""What does not hold."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = (
    "circle", "diamond", "square", "triangle-up", "triangle-down", "triangle-left", "star",
    "hexagon",
)  # fmt: skip
"""No cross: it marks releases that fail."""
BAND = 0.16
"""Opacity of a band."""
PER_CENT = (100.0, "\u00a0%")
"""What shares are multiplied by where they are written, and their sign."""
ROUND_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Style:
    """How one series looks, wherever it is drawn."""

    colour: str
    dash: str
    marker: str


def style(position: int) -> Style:
    """The look of the series at a position of its paper's list."""
    return Style(
        SERIES[position % len(SERIES)],
        DASHES[position % len(DASHES)],
        MARKERS[position % len(MARKERS)],
    )


def reference_style(position: int) -> Style:
    """The look of a reference line: grey and dotted, told apart by how far the dots lie."""
    return Style(MUTED, ("dot", "2px,6px", "1px,9px", "2px,12px")[position % 4], "line-ew")


def figure(traces: Sequence[dict[str, Any]], *, height: int = 420, **layout: Any) -> Figure:
    """A figure in the house style; zoom and hidden series survive a redraw."""
    base: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 56, "b": 8},
        "hovermode": "closest",
        "dragmode": False,
        "uirevision": "keep",
        "legend": {
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom",
            "font": {"size": 13},
        },
        "hoverlabel": {"font": {"size": 13}},
    }  # fmt: skip
    # the browser puts the theme's template in
    return Figure(list(traces), {**base, **layout, "template": {}})


def brief(values: Iterable[float]) -> list[float]:
    """Numbers at the precision of a screen: a picture travels at every move of the slider."""
    return [float(f"{value:.4g}") for value in values]


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title."""
    plain: dict[str, Any] = {
        "title": {"text": title, "font": {"size": 14}, "standoff": 12},
        "tickfont": {"size": 13},
        "ticklabelstandoff": 4,
        "zeroline": False,
    }
    return plain | more


def log_axis(title: str, values: Iterable[float], **more: Any) -> dict[str, Any]:
    """A logarithmic axis for the given values, with plain figures at round places."""
    known = [value for value in values if 0 < value < math.inf]
    low, high = (min(known), max(known)) if known else (0.1, 10.0)
    ticks = _ticks(low, high)
    text = [f"{tick:,.10g}" for tick in ticks]
    empty = {} if known else {"range": [math.log10(low), math.log10(high)]}
    return axis(title, type="log", tickvals=ticks, ticktext=text, **empty, **more)


def _ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 … over a short range, powers of ten over a long one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1.0, 2.0, 5.0) if last - first <= 2 else (1.0,)
    every = max(1, (last - first) // 6)
    ticks = [step * 10.0**power for power in range(first, last + 1, every) for step in steps]
    return [float(f"{tick:.6g}") for tick in ticks]


def even(low: float, high: float) -> list[float]:
    """About six round places at the same distance."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(one * power for one in (1.0, 2.0, 2.5, 5.0, 10.0) if one * power >= rough * 0.8)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{at * step:.6g}") for at in range(first, last + 1)]


def marked(places: Sequence[float], scale: float = 1.0, sign: str = "") -> dict[str, Any]:
    """Ticks of an axis at the given places, with as many decimals as they need."""
    return {
        "tickvals": list(places), "ticktext": [f"{scale * place:,.10g}{sign}" for place in places]
    }  # fmt: skip


def budget_axis(low: float, high: float) -> dict[str, Any]:
    """The horizontal axis of privacy budgets, which says which end protects more."""
    ticks = [tick for tick in ROUND_TICKS if low * 0.999 <= tick <= high * 1.001]
    return axis(
        "← more private      Privacy budget ε      less private →",
        type="log",
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
        tickangle=0,
        showgrid=True,
        gridcolor=GRID,
    )


def band(
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    colour: str,
    group: str,
    **more: Any,
) -> dict[str, Any]:
    """A filled band behind a line of the same group, with no hover of its own."""
    return {
        "type": "scatter", "mode": "none", "fill": "toself", "hoverinfo": "skip",
        "x": brief([*x, *reversed(x)]), "y": brief([*high, *reversed(low)]),
        "line": {"width": 0, "color": colour}, "fillcolor": colour, "opacity": BAND,
        "legendgroup": group, "showlegend": False, **more,
    }  # fmt: skip
