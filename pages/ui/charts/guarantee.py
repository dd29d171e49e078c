"""The whole of a guarantee: δ for every ε, and what a test may do at best."""

from collections.abc import Sequence
from typing import Any

from pages.ui.charts.figure import Figure
from pages.ui.charts.size import powers
from pages.ui.charts.theme import INK, MUTED, SERIES, axis, figure


def deltas(epsilons: Sequence[float], proved: Sequence[float], at: float, delta: float) -> Figure:
    """The failure probability that is proved at each ε, with the card's own point marked."""
    line = {
        "type": "scatter", "mode": "lines", "name": "Proved", "x": list(epsilons),
        "y": [value if value > 0 else None for value in proved], "line": {"color": SERIES[0]},
        "hovertemplate": "ε = %{x:.3g}: δ = %{y:.2g}<extra></extra>",
    }  # fmt: skip
    point = {
        "type": "scatter", "mode": "markers", "name": "This card", "x": [at], "y": [delta],
        "marker": {"color": INK, "size": 10, "symbol": "diamond"},
        "hovertemplate": "ε = %{x:.3g}: δ = %{y:.2g}<extra></extra>",
    }  # fmt: skip
    marked = [point] if delta > 0 and at <= epsilons[-1] else []
    return figure(
        [line, *marked],
        height=300,
        xaxis=axis("Privacy budget ε"),
        yaxis=powers("Failure probability δ", [value for value in proved if value > 0]),
    )


def tradeoff(alarms: Sequence[float], misses: Sequence[float]) -> Figure:
    """The fewest misses that are proved at each rate of false alarms, beside a blind guess."""
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "name": name, "x": list(alarms), "y": list(y),
            "line": {"color": colour, "dash": dash},
            "hovertemplate": "%{x:.0%} false alarms: %{y:.1%} missed<extra></extra>",
        }
        for name, y, colour, dash in (
            ("Fewest misses proved", misses, SERIES[0], "solid"),
            ("Blind guess", [1.0 - alarm for alarm in alarms], MUTED, "dot"),
        )
    ]  # fmt: skip
    return figure(
        traces,
        height=300,
        xaxis=axis("False alarms", range=[0, 1], tickformat=".0%"),
        yaxis=axis("Misses", range=[0, 1], tickformat=".0%"),
    )
