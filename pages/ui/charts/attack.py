"""What an attack found, and what a proof allows one: a ruler, histograms, trade-offs of errors."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import dots, level, path
from pages.ui.charts.size import powers
from pages.ui.charts.theme import INK, MUTED, SERIES, axis, band, brief, figure, log_axis
from pages.ui.words import at_least, number

BINS = 40
FLOOR = 0.01
"""Where a budget of 0 is drawn on a logarithmic ruler."""
NEAR = 0.35
"""Two marks on one side, nearer than this share of the ruler, have their words left and right."""
MARKS = {
    "Claimed": ("diamond", SERIES[0], "top center"),
    "Proved": ("square", SERIES[1], "bottom center"),
    "Attacked": ("triangle-up", SERIES[2], "top center"),
}
ERRORS = "%{x:.0%} false alarms: %{y:.1%} missed"
"""What the pointer says of the two errors of a test."""


def ruler(claimed: float | None, proved: float | None, attacked: float | None) -> Figure:
    """What is claimed, proved and attacked as marks on one logarithmic axis; None has no mark."""
    known = {"Claimed": claimed, "Proved": proved, "Attacked": attacked}
    shown = {name: v for name, v in known.items() if v is not None and math.isfinite(v)}
    values = [max(v, FLOOR) for v in shown.values()]
    low, high = (min(values) / 5.0, max(values) * 3.0) if values else (0.1, 10.0)
    sides = _sides(shown, math.log(high / low))
    traces: list[dict[str, Any]] = []
    for name, value in shown.items():
        symbol, colour, place = MARKS[name]
        told = at_least if name == "Attacked" else number
        text = f"{name} {told(value)}" if value >= FLOOR else f"{name}: nothing shown"
        traces.append(
            dots(name, brief([max(value, FLOOR)]), [0.0], colour, symbol, "%{text}", size=15,
                 mode="markers+text", text=[text], textposition=sides.get(name, place),
                 cliponaxis=False)
        )  # fmt: skip
    return figure(
        traces,
        height=150,
        showlegend=False,
        xaxis=log_axis("Privacy budget ε", [low, high], range=[math.log10(low), math.log10(high)]),
        yaxis={"visible": False, "range": [-1.0, 1.0], "fixedrange": True},
        shapes=[level(0.0, MUTED, dash=None, width=1, xref="x domain")],
    )


def _sides(shown: Mapping[str, float], whole: float) -> dict[str, str]:
    """Where words above the ruler stand if they would meet; `whole` is its logarithmic length."""
    if not {"Attacked", "Claimed"} <= set(shown):
        return {}
    apart = math.log(max(shown["Attacked"], FLOOR) / max(shown["Claimed"], FLOOR))
    if abs(apart) >= NEAR * whole:
        return {}
    left, right = ("Attacked", "Claimed") if apart <= 0 else ("Claimed", "Attacked")
    return {left: "top left", right: "top right"}


def histograms(without: Floats, present: Floats) -> Figure:
    """The attacker's score of trainings without and with the person, one behind the other."""
    both = np.concatenate([without, present])
    low, high = np.quantile(both, (0.005, 0.995))
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    traces = [
        {
            "type": "bar", "name": name, "x": brief((edges[1:] + edges[:-1]) / 2.0),
            "y": np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist(),
            "marker": {"color": colour, "pattern": {"shape": shape}}, "opacity": 0.6,
        }
        for name, values, colour, shape in (
            ("Without this record", without, SERIES[0], ""),
            ("With this record", present, SERIES[2], "/"),
        )
    ]  # fmt: skip
    return figure(
        traces,
        height=300,
        barmode="overlay",
        bargap=0.0,
        xaxis=axis("Attacker's score"),
        yaxis=axis("Trainings"),
    )


def tradeoff(alarms: Floats, misses: Floats, low: Floats, high: Floats, allowed: Floats) -> Figure:
    """Misses of the attack by its false alarms, beside what the proof allows and a blind guess."""
    traces = [
        band(brief(alarms), brief(low), brief(high), SERIES[2], "attack"),
        path("Attack, with its 95 % region", alarms, misses, SERIES[2], ERRORS, width=2,
             legendgroup="attack"),
        path("Blind guess", alarms, 1.0 - alarms, MUTED, ERRORS, width=2, dash="dot"),
    ]  # fmt: skip
    if np.isfinite(allowed).all():
        name = "Fewest misses allowed"
        traces.append(path(name, alarms, allowed, INK, ERRORS, width=2, dash="dash"))
    return figure(
        traces,
        height=320,
        xaxis=axis("False alarms [share]", range=[0, 1]),
        yaxis=axis("Misses [share]", range=[0, 1]),
    )


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


def allowed(alarms: Sequence[float], misses: Sequence[float]) -> Figure:
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
