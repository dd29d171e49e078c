"""Utility against privacy: a line per method with its spread, and lines that cost nothing."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.gauges import Column, Gauge
from engine.privacy.guarantee import Status
from engine.runs.results import Results
from pages.ui.charts import proof
from pages.ui.charts.figure import Figure
from pages.ui.charts.proof import BRIEF, NOWHERE, STATUS, Ground, finite
from pages.ui.charts.theme import (
    GROUND,
    INK,
    MUTED,
    Style,
    axis,
    band,
    brief,
    figure,
    log_axis,
    reference_style,
    style,
)
from pages.ui.words import SHARE, amount, number, unit

INNER = (0.1, 0.9)
"""The band holds four fifths of the repetitions."""
BANDS = 8
"""Curves that have bands; of more, only the one that is looked at has."""


@dataclass(frozen=True)
class Curve:
    """One method's utility over the budgets that have been measured.

    Attributes:
        label: Name of the method.
        style: Its look.
        epsilon: Budgets with at least one measurement, ascending.
        middle: Median over the repetitions.
        low: Their 10 % quantile.
        high: Their 90 % quantile.
        count: Repetitions measured at each budget.
        brief: Its name in the legend, where the label is long.
        status: How far the argument for its privacy carries; None where that is not said.
        proved: The budget that is proved at each of `epsilon`, None where no finite one is;
            empty while it is not worked out.
    """

    label: str
    style: Style
    epsilon: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]
    brief: str = ""
    status: Status | None = None
    proved: tuple[float | None, ...] = ()

    @property
    def legend(self) -> str:
        """Its name with its status."""
        return _named(self.brief or self.label, self.status)

    def at(self, epsilon: float) -> int | None:
        """The position of a budget on this curve; None where nothing is measured yet."""
        near = [i for i, known in enumerate(self.epsilon) if math.isclose(known, epsilon)]
        return near[0] if near else None


@dataclass(frozen=True)
class Level:
    """A method that spends no budget: one number."""

    label: str
    style: Style
    value: float
    brief: str = ""
    status: Status | None = None

    @property
    def legend(self) -> str:
        """Its name with its status."""
        return _named(self.brief or self.label, self.status)


def _named(name: str, status: Status | None) -> str:
    """A name with its status, which says "with proof" already."""
    if status == "proved":
        name = name.removesuffix(", with proof")
    return f"{name} · {BRIEF[status]}" if status else name


@functools.lru_cache(maxsize=256)
def curve(
    results: Results, gauge: str, label: str, position: int, axis_name: str = "epsilon"
) -> Curve:
    """A method's curve from its results; replicas that diverged or wait are left out.

    Kept while the slider moves: results hash by identity, and a run's new ones are new.
    """
    values, at = results.gauges[gauge], results.axes[axis_name]
    points = []
    for budget in np.unique(at):
        column = values[at == budget]
        column = column[np.isfinite(column)]
        if len(column):
            points.append((float(budget), *spread(column), len(column)))
    columns: Sequence[tuple[Any, ...]] = list(zip(*points, strict=True)) or [()] * 5
    epsilon, middle, low, high, count = columns
    return Curve(label, style(position), epsilon, middle, low, high, count)


def spread(column: Column) -> tuple[float, float, float]:
    """Median and the two quantiles of the band, of finite values."""
    middle, low, high = np.quantile(column, (0.5, *INNER))
    return float(middle), float(low), float(high)


def level(results: Results, gauge: str, label: str, position: int) -> Level | None:
    """The median of a method that spends no budget; None while there is none."""
    column = results.gauges[gauge]
    column = column[np.isfinite(column)]
    return (
        Level(label, reference_style(position), float(np.median(column))) if len(column) else None
    )


def utility(
    curves: Sequence[Curve], levels: Sequence[Level], gauge: Gauge, chosen: float, revision: str,
    bounds: tuple[float, float], by_proof: bool = False, closer: str = "",
) -> Figure:  # fmt: skip
    """Utility against budget, with a rule at the chosen one.

    Args:
        curves: One per method that spends budget.
        levels: One per reference.
        gauge: What is measured.
        chosen: The budget under the slider.
        revision: Changes when a zoom should be forgotten.
        bounds: Smallest and largest budget of the slider.
        by_proof: Whether points stand at the budget that is proved, not the one claimed.
        closer: Label of the method that is looked at; among many it alone has a band.
    """
    log = gauge.scale == "log"
    ground = Ground(bounds, [p for one in curves for p in one.proved], by_proof)
    shown = ".1%" if gauge.unit == SHARE else ".3g"
    bands = {closer} if len(curves) > BANDS else {one.label for one in curves}
    traces = [t for one in curves for t in _lines(one, ground, shown)[one.label not in bands :]]
    traces += [_level(one, ground, shown) for one in levels if one.value > 0 or not log]
    traces += [_chosen(one, chosen, ground) for one in curves if one.at(chosen) is not None]
    words = {"up": " · higher is better", "down": " · lower is better", "neither": ""}
    title = f"{gauge.label}{unit(gauge)}{words[gauge.better]}"
    heights = _drawn(curves, levels)
    yaxis = log_axis(title, heights) if log else axis(title)
    yaxis |= {"tickformat": ".0%"} if gauge.unit == SHARE else {}
    empty: dict[str, Any] = {} if heights else {"showticklabels": False, "range": [0.0, 1.0]}
    return figure(
        traces,
        uirevision=revision,
        xaxis=ground.axis(),
        yaxis={**yaxis, **empty},
        shapes=[_rule(chosen), *ground.shapes()],
        annotations=[_flag(chosen, bounds, gauge), *([] if heights else [_NOTHING])],
    )


_NOTHING = {
    "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False,
    "text": "Training: the first points appear soon", "bgcolor": GROUND,
    "font": {"size": 15, "color": MUTED},
}  # fmt: skip
"""What an empty chart says."""


def _drawn(curves: Sequence[Curve], levels: Sequence[Level]) -> list[float]:
    """Every height that is drawn."""
    return [v for one in curves for v in (*one.low, *one.high)] + [one.value for one in levels]


def _lines(one: Curve, ground: Ground, shown: str) -> list[dict[str, Any]]:
    """The band and the line of one method."""
    look, x = proof.look(one.style, one.status), ground.places(one.epsilon, one.proved)
    proved = [
        f"{number(p)} proved" if p is not None and finite(p) else NOWHERE for p in one.proved
    ] or [NOWHERE if one.status == "not_private" else "not worked out yet"] * len(one.epsilon)
    hover = (
        f"<b>{one.label}</b>{f', {STATUS[one.status]}' if one.status else ''}<br>"
        "ε: %{customdata[3]:g} claimed, %{customdata[4]}"
        f"<br>median %{{y:{shown}}}"
        f"<br>4 of 5 repetitions: %{{customdata[0]:{shown}}} to %{{customdata[1]:{shown}}}"
        "<br>%{customdata[2]} repetitions<extra></extra>"
    )
    line = {
        "type": "scatter", "mode": "lines+markers", "name": one.legend,
        "legendgroup": one.label, "x": brief(x), "y": brief(one.middle),
        "customdata": list(
            zip(brief(one.low), brief(one.high), one.count, one.epsilon, proved, strict=True)
        ),
        "hovertemplate": hover,
        "line": {"color": look.colour, "dash": look.dash, "width": 2.5},
        "marker": {
            "symbol": look.marker, "size": 8, "color": look.colour,
            "line": {"width": 2, "color": look.colour},
        },
    }  # fmt: skip
    return [band(x, one.low, one.high, look.colour, one.label), line]


def _level(one: Level, ground: Ground, shown: str) -> dict[str, Any]:
    """A horizontal line across the whole chart."""
    return {
        "type": "scatter", "mode": "lines", "name": one.legend,
        "legendgroup": one.label, "x": brief([ground.low, ground.end]),
        "y": [one.value, one.value],
        "line": {"color": one.style.colour, "dash": one.style.dash, "width": 1.8},
        "hovertemplate": f"<b>{one.legend}</b><br>%{{y:{shown}}}<extra></extra>",
    }  # fmt: skip


def _chosen(one: Curve, chosen: float, ground: Ground) -> dict[str, Any]:
    """A ring around the point under the slider."""
    position = one.at(chosen)
    assert position is not None
    look, x = proof.look(one.style, one.status), ground.places(one.epsilon, one.proved)
    return {
        "type": "scatter", "mode": "markers", "legendgroup": one.label, "showlegend": False,
        "x": brief([x[position]]), "y": brief([one.middle[position]]), "hoverinfo": "skip",
        "marker": {
            "symbol": f"{one.style.marker}-open", "size": 15, "color": look.colour,
            "line": {"width": 2.5, "color": look.colour},
        },
    }  # fmt: skip


def _rule(chosen: float) -> dict[str, Any]:
    """A vertical line at the chosen budget."""
    return {
        "type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper",
        "layer": "below", "line": {"color": MUTED, "width": 1.2},
    }  # fmt: skip


def _flag(chosen: float, bounds: tuple[float, float], gauge: Gauge) -> dict[str, Any]:
    """The chosen budget at the freer end of its rule: lines get better early on, to the right."""
    late, third = (chosen**n >= bounds[0] ** (n - 1) * bounds[1] for n in (2, 3))
    below = third == (gauge.better == "up")
    return {
        "x": float(np.log10(chosen)), "y": 0 if below else 1, "yref": "paper",
        "yanchor": "bottom" if below else "top", "bgcolor": GROUND, "text": f"ε = {chosen:g}",
        "showarrow": False, "xanchor": "right" if late else "left", "xshift": -5 if late else 5,
        "font": {"size": 13, "color": INK},
    }  # fmt: skip


def rows(curves: Sequence[Curve], levels: Sequence[Level]) -> list[dict[str, Any]]:
    """The same numbers as a table, one row per method and budget."""
    table: list[dict[str, Any]] = [
        {
            "Method": one.label, "ε": one.epsilon[i], "Median": one.middle[i],
            "10 %": one.low[i], "90 %": one.high[i], "Repetitions": one.count[i],
            **({"Proved ε": one.proved[i]} if one.proved else {}),
            **({"Status": STATUS[one.status]} if one.status else {}),
        }
        for one in curves
        for i in range(len(one.epsilon))
    ]  # fmt: skip
    return table + [
        {
            "Method": one.label, "ε": None, "Median": one.value, "10 %": None, "90 %": None,
            "Repetitions": 1, **({"Status": STATUS[one.status]} if one.status else {}),
        }
        for one in levels
    ]  # fmt: skip


def reading(curves: Sequence[Curve], gauge: Gauge, chosen: float) -> str:
    """What the chart shows at the chosen budget, in one sentence for those who hear it."""
    said = [
        f"{one.label} {amount(one.middle[i], gauge)}"
        for one in curves
        if (i := one.at(chosen)) is not None
    ]
    if not said:
        return f"{gauge.label} against the privacy budget; no points yet."
    return f"{gauge.label} at epsilon {chosen:g}: {', '.join(said)}."


def medians(curves: Mapping[str, Curve], chosen: float) -> dict[str, float]:
    """Each method's median at the chosen budget, where measured."""
    return {
        name: one.middle[i] for name, one in curves.items() if (i := one.at(chosen)) is not None
    }
