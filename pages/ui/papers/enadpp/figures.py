"""Figures of training with noise: lines by step, gradients cut, ratios, classes, budgets."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.figure import Figure
from pages.ui.charts.lines import Line
from pages.ui.charts.theme import (
    GROUND,
    INK,
    MUTED,
    SERIES,
    Style,
    axis,
    figure,
    log_axis,
)
from pages.ui.words import number

Floats = NDArray[np.float64]


def norms(counts: Floats, edges: Floats, bound: str, revision: str) -> Figure:
    """How long the records' gradients are, beside the bound that cuts them.

    Args:
        counts: Records in each bin, shape (b,).
        edges: Ends of the bins in units of the bound, shape (b + 1,).
        bound: The bound in words.
        revision: Changes when a zoom should be forgotten.
    """
    share = 100.0 * counts / max(float(counts.sum()), 1.0)
    centre = 0.5 * np.log10(edges[:-1] * edges[1:])  # a logarithmic axis would spoil the widths
    span = [-0.5, 0.5, *(float(end) for end in centre[share > 0])]
    powers = range(math.floor(min(span)), math.ceil(max(span)) + 1)
    return figure(
        [
            _bars("not clipped", centre, share, centre < 0.0, SERIES[0], ""),
            _bars("clipped to the bound", centre, share, centre >= 0.0, SERIES[1], "/"),
        ],
        height=300,
        uirevision=revision,
        barmode="overlay",
        xaxis=axis(
            f"Gradient norm / {bound}",
            range=[min(span) - 0.2, max(span) + 0.2],
            tickvals=list(powers),
            ticktext=[f"{10.0**power:,.10g}" for power in powers],
        ),
        yaxis=axis("Records [%]", rangemode="tozero"),
        shapes=[{
            "type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": MUTED, "width": 1.4, "dash": "dot"},
        }],
    )  # fmt: skip


def _bars(
    name: str, x: Floats, y: Floats, chosen: NDArray[np.bool_], colour: str, pattern: str
) -> dict[str, Any]:
    return {
        "type": "bar", "name": name, "x": x[chosen].tolist(), "y": y[chosen].tolist(),
        "customdata": (10.0 ** x[chosen]).tolist(), "width": 0.09,
        "marker": {"color": colour, "pattern": _pattern(pattern, colour)},
        "hovertemplate": f"<b>{name}</b><br>%{{customdata:.3g}} C: %{{y:.1f}} %<extra></extra>",
    }  # fmt: skip


def _pattern(shape: str, colour: str) -> dict[str, Any]:
    """Stripes in the colour of the ground on a bar's own."""
    return {"shape": shape, "bgcolor": colour, "fgcolor": GROUND, "size": 7, "solidity": 0.2}


def classes(private: Line, exact: Floats | None, chance: float) -> Figure:
    """Share of right answers of each class, with and without privacy."""
    names = [f"{k:g}" for k in private.x]
    above, below = private.high - private.middle, private.middle - private.low
    parts: list[dict[str, Any]] = [{
        "type": "bar", "name": private.label, "x": names, "y": (100 * private.middle).tolist(),
        "marker": {"color": private.style.colour},
        "error_y": {
            "type": "data", "symmetric": False, "array": (100 * above).tolist(),
            "arrayminus": (100 * below).tolist(), "color": INK, "thickness": 1.4,
        },
        "hovertemplate": "<b>%{x}</b>: %{y:.0f} % correct<extra></extra>",
    }]  # fmt: skip
    if exact is not None:
        parts.append({
            "type": "scatter", "mode": "markers", "name": "No privacy", "x": names,
            "y": (100 * exact).tolist(),
            "marker": {
                "symbol": "line-ew-open", "size": 11, "color": MUTED,
                "line": {"width": 3, "color": MUTED},
            },
            "hovertemplate": "<b>%{x}</b>: %{y:.0f} % correct without privacy<extra></extra>",
        })  # fmt: skip
    parts.append({
        "type": "scatter", "mode": "lines", "name": "guessing", "x": names,
        "y": [100 * chance] * len(names), "line": {"color": INK, "dash": "dot", "width": 1.6},
        "hovertemplate": "<b>guessing</b>: %{y:.0f} % correct<extra></extra>",
    })  # fmt: skip
    return figure(
        parts,
        height=380,
        uirevision="classes",
        xaxis=axis("Class", type="category"),
        yaxis=axis("Correct answers [%]", range=[0, 104]),
    )


def budget_ratios(ratios: Mapping[str, Floats], looks: Mapping[str, Style]) -> Figure:
    """Figure 1: both methods' budget ratios of the same features, and the relevances."""
    count = len(ratios["share"])
    names = [str(i + 1) for i in range(count)]
    shapes = {"ADPPL": "", "EnADPP": "/"}
    parts: list[dict[str, Any]] = [
        {
            "type": "bar", "name": name, "x": names, "y": ratios[name].tolist(),
            "marker": {
                "color": looks[name].colour,
                "pattern": _pattern(shapes[name], looks[name].colour),
            },
            "hovertemplate": f"<b>{name}</b><br>feature %{{x}}: α = %{{y:.3f}}<extra></extra>",
        }
        for name in shapes
    ]  # fmt: skip
    parts.append({
        "type": "scatter", "mode": "lines+markers", "name": "share of the relevance", "x": names,
        "y": ratios["share"].tolist(), "line": {"color": INK, "dash": "dot", "width": 2},
        "marker": {"symbol": "circle", "size": 7, "color": INK},
        "hovertemplate": "<b>Share of relevance</b><br>feature %{x}: %{y:.3f}<extra></extra>",
    })  # fmt: skip
    return figure(
        parts,
        uirevision="figure1",
        xaxis=axis("Feature", type="category"),
        yaxis=axis("Budget ratio α, share of relevance", range=[0, 1.04]),
    )


def ledger(spent: Mapping[str, Mapping[str, float]], stated: float) -> Figure:
    """What the printed noise spends under each reading, on one logarithmic axis.

    Args:
        spent: From what is counted, to the reading, to its budget.
        stated: The budget that the paper states.
    """
    values = [v for row in spent.values() for v in row.values()] + [stated]
    marks = zip(spent.items(), ("circle", "diamond", "square"), SERIES[:3], strict=True)
    parts = [
        {
            "type": "scatter", "mode": "markers", "name": name, "x": list(row.values()),
            "y": [f"{reading} " for reading in row],
            "marker": {"symbol": symbol, "size": 13, "color": colour},
            "hovertemplate": f"<b>{name}</b><br>reading %{{y}}: ε = %{{x:,.4g}}<extra></extra>",
        }
        for (name, row), symbol, colour in marks
    ]  # fmt: skip
    return figure(
        parts,
        height=300,
        uirevision="ledger",
        xaxis=log_axis("Spent privacy budget ε", values, showgrid=True),
        yaxis=axis("Reading", autorange="reversed", type="category"),
        shapes=[{
            "type": "line", "x0": stated, "x1": stated, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": INK, "width": 1.4, "dash": "dot"},
        }],
        annotations=[{
            "x": float(np.log10(stated)), "y": 0.7, "yref": "paper", "showarrow": False,
            "text": f"claimed: {number(stated)}", "xanchor": "left", "xshift": 4,
            "bgcolor": GROUND, "font": {"size": 12, "color": INK},
        }],
    )  # fmt: skip
