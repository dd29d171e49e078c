"""The whole of a guarantee: δ for every ε, and what a test may do at best."""

from collections.abc import Sequence

from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import dots, path
from pages.ui.charts.size import powers
from pages.ui.charts.theme import INK, MUTED, SERIES, axis, figure

ERRORS = "%{x:.0%} false alarms: %{y:.1%} missed"
"""What the pointer says of the two errors of a test."""


def deltas(epsilons: Sequence[float], proved: Sequence[float], at: float, delta: float) -> Figure:
    """The failure probability that is proved at each ε, with the card's own point marked."""
    hover = "ε = %{x:.3g}: δ = %{y:.2g}"
    heights = [value if value > 0 else None for value in proved]
    line = path("Proved", epsilons, heights, SERIES[0], hover, width=2)
    point = dots("This card", [at], [delta], INK, "diamond", hover, size=10)
    marked = [point] if delta > 0 and at <= epsilons[-1] else []
    return figure(
        [line, *marked],
        height=300,
        xaxis=axis("Privacy budget ε"),
        yaxis=powers("Failure probability δ", [value for value in proved if value > 0]),
    )


def tradeoff(alarms: Sequence[float], misses: Sequence[float]) -> Figure:
    """The fewest misses that are proved at each rate of false alarms, beside a blind guess."""
    blind = [1.0 - alarm for alarm in alarms]
    return figure(
        [
            path("Fewest misses proved", alarms, misses, SERIES[0], ERRORS, width=2),
            path("Blind guess", alarms, blind, MUTED, ERRORS, width=2, dash="dot"),
        ],
        height=300,
        xaxis=axis("False alarms", range=[0, 1], tickformat=".0%"),
        yaxis=axis("Misses", range=[0, 1], tickformat=".0%"),
    )
