"""Lines against the size of something, for any paper."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.charts.figure import Figure
from pages.ui.charts.theme import INK, axis, figure, log_axis, style
from pages.ui.words import number


def against(
    x: Sequence[float],
    parts: Mapping[str, Sequence[float]],
    titles: tuple[str, str],
    chosen: float,
    revision: str,
    height: int = 380,
    log: bool = False,
) -> Figure:
    """Positive numbers against a size, logarithmic if asked, with a rule at the chosen one.

    Zeros are left out, since the axis is logarithmic.
    """
    traces = []
    for i, (name, values) in enumerate(parts.items()):
        look = style(i)
        traces.append({
            "type": "scatter", "mode": "lines+markers", "name": name, "x": list(x),
            "y": [value if value > 0 else None for value in values],
            "line": {"color": look.colour, "dash": look.dash, "width": 2.5},
            "marker": {"symbol": look.marker, "size": 8, "color": look.colour},
            "hovertemplate": f"<b>{name}</b><br>%{{x}}: %{{y:.3g}}<extra></extra>",
        })  # fmt: skip
    every = [value for values in parts.values() for value in values]
    return figure(
        traces,
        height=height,
        uirevision=revision,
        xaxis=axis(
            titles[0],
            tickvals=list(x),
            ticktext=[f"{at:g}" for at in x],
            tickangle=0,
            type="log" if log else "linear",
        ),
        yaxis=powers(titles[1], every),
        shapes=[{
            "type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper",
            "layer": "below", "line": {"color": INK, "width": 1.4, "dash": "dot"},
        }],
    )  # fmt: skip


def powers(title: str, values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis whose small ticks are written as powers of ten."""
    made = log_axis(title, values)
    return made | {"ticktext": [number(tick).removeprefix("1·") for tick in made["tickvals"]]}
