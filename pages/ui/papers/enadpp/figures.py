"""Figures of training with noise: gradients cut, ratios, classes, budgets."""

import math
from collections.abc import Mapping

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.lines import Line
from pages.ui.charts.marks import bars, dots, path, text, upright, whiskers
from pages.ui.charts.theme import GROUND, INK, MUTED, SERIES, Style, axis, figure, log_axis
from pages.ui.words import number


def norms(counts: Floats, edges: Floats, bound: str, *, rescaled: bool = False) -> Figure:
    """How long the records' gradients are, beside the bound that cuts them.

    Args:
        counts: Records in each bin, shape (b,).
        edges: Ends of the bins in units of the bound, shape (b + 1,).
        bound: The bound in words.
        rescaled: Whether every gradient is scaled, so that none is clipped.
    """
    share = 100.0 * counts / max(float(counts.sum()), 1.0)
    centre = 0.5 * np.log10(edges[:-1] * edges[1:])  # a logarithmic axis would spoil the widths
    span = [-0.5, 0.5, *(float(end) for end in centre[share > 0])]
    powers = range(math.floor(min(span)), math.ceil(max(span)) + 1)
    short, long = (
        ("shorter than C", "longer than C") if rescaled else ("not clipped", "clipped to the bound")
    )
    sides = ((short, centre < 0.0, SERIES[0], ""), (long, centre >= 0.0, SERIES[1], "/"))
    return figure(
        [
            bars(name, centre[some], share[some], colour,
                 f"<b>{name}</b><br>%{{customdata:.3g}} C: %{{y:.1f}} %", width=0.09,
                 customdata=(10.0 ** centre[some]).tolist(), pattern=pattern)
            for name, some, colour, pattern in sides
        ],
        height=300,
        barmode="overlay",
        xaxis=axis(
            f"Gradient norm / {bound}",
            range=[min(span) - 0.2, max(span) + 0.2],
            tickvals=list(powers),
            ticktext=[f"{10.0**power:,.10g}" for power in powers],
        ),
        yaxis=axis("Records [%]", rangemode="tozero"),
        shapes=[upright(0, MUTED, layer=None)],
    )  # fmt: skip


def classes(private: Line, exact: Floats | None, chance: float) -> Figure:
    """Share of right answers of each class, with and without privacy."""
    names = [f"{k:g}" for k in private.x]
    low, middle, high = (100 * one for one in (private.low, private.middle, private.high))
    parts = [
        bars(private.label, names, middle, private.style.colour, "<b>%{x}</b>: %{y:.0f} % correct",
             error_y=whiskers(low, middle, high))
    ]  # fmt: skip
    if exact is not None:
        said = "<b>%{x}</b>: %{y:.0f} % correct without privacy"
        parts.append(
            dots("No privacy", names, 100 * exact, MUTED, "line-ew-open", said, size=11, ring=3)
        )
    said = "<b>guessing</b>: %{y:.0f} % correct"
    level = [100 * chance] * len(names)
    parts.append(path("guessing", names, level, INK, said, dash="dot", width=1.6))
    return figure(
        parts,
        height=380,
        xaxis=axis("Class", type="category"),
        yaxis=axis("Correct answers [%]", range=[0, 104]),
    )


def budget_ratios(ratios: Mapping[str, Floats], looks: Mapping[str, Style]) -> Figure:
    """Figure 1: both methods' printed ratios of the same features, and ADPPL's as it is trained."""
    names = [str(i + 1) for i in range(len(ratios["share"]))]
    parts = [
        bars(name, names, ratios[printed], looks[name].colour,
             f"<b>{name}</b><br>feature %{{x}}: α = %{{y:.3f}}", pattern=pattern)
        for name, printed, pattern in (("ADPPL", "share", ""), ("EnADPP", "EnADPP", "/"))
    ]  # fmt: skip
    parts.append(
        path("share over the largest share", names, ratios["ADPPL"], INK,
             "<b>ADPPL, trained here</b><br>feature %{x}: α = %{y:.3f}", dash="dot", width=2,
             mode="lines+markers", marker={"symbol": "circle", "size": 7, "color": INK})
    )  # fmt: skip
    return figure(
        parts,
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
    return figure(
        [
            dots(name, list(row.values()), [f"{reading} " for reading in row], colour, symbol,
                 f"<b>{name}</b><br>reading %{{y}}: ε = %{{x:,.4g}}", size=13)
            for (name, row), symbol, colour in marks
        ],
        height=300,
        xaxis=log_axis("Spent privacy budget ε", values, showgrid=True),
        yaxis=axis("Reading", autorange="reversed", type="category"),
        shapes=[upright(stated, layer=None)],
        annotations=[
            text(f"claimed: {number(stated)}", float(np.log10(stated)), 0.7, yref="paper",
                 xanchor="left", xshift=4, bgcolor=GROUND)
        ],
    )  # fmt: skip
