"""Charts of many rows on one axis: printed numbers beside ours, and the budgets of every method."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import box, dots, path, text
from pages.ui.charts.theme import BROKEN, GRID, INK, MUTED, SERIES, axis, brief, figure
from pages.ui.words import at_least, number

HIGH = 20
"""Pixels of a row."""
HEAD = 84
"""Pixels of the legend and the axis, which stand above the rows."""
WITHIN = 0.25
"""How far ours may lie from the printed number to count as met."""
FAR = 5.0
"""A ratio beyond this, or below its inverse, stands at the edge."""
LEAST, MOST = 0.1, 100.0
"""The budgets that are drawn; an attack below them stands at the edge."""


@dataclass(frozen=True)
class Strip:
    """A table or figure: where its numbers lie.

    Attributes:
        name: Its name; in bold and without numbers, that of a group.
        ratios: Ours over the printed number, in errors.
        words: What stands in the row where there is no ratio.
        sign: What became of it, behind its name.
    """

    name: str
    ratios: Sequence[float] = ()
    words: str = ""
    sign: str = ""


@dataclass(frozen=True)
class Marks:
    """A method: its budgets, each None where there is none.

    Attributes:
        name: Its name; in bold and without marks, that of a group.
        claimed: What is claimed.
        proved: What is proved.
        attacked: What an attack has shown.
        broken: Whether the attack is above claim or proof.
        assumed: Whether the proof holds under an assumption alone.
    """

    name: str
    claimed: float | None = None
    proved: float | None = None
    attacked: float | None = None
    broken: bool = False
    assumed: bool = False


def strips(rows: Sequence[Strip]) -> Figure:
    """A dot for each printed number: how far ours lies from it."""
    near: list[tuple[float, float, str]] = []
    far: list[tuple[float, float, str]] = []
    for place, row in enumerate(rows):
        for i, ratio in enumerate(row.ratios):
            inside = abs(ratio - 1.0) <= WITHIN + 1e-9
            at = min(max(ratio, 1 / FAR), FAR)
            shift = ((i % 5) - 2) * 0.11 * (len(row.ratios) > 2)
            (near if inside else far).append(
                (at, place + shift, f"{row.name}: {ratio:.2f} times the printed error")
            )
    ticks = (1 / FAR, 0.5, 1.0, 2.0, FAR)
    every = [ratio for row in rows for ratio in row.ratios]
    labels = [f"{tick:g}" for tick in ticks]
    if min(every, default=1.0) < 1 / FAR:
        labels[0] = f"≤ {labels[0]}"
    if max(every, default=1.0) > FAR:
        labels[-1] = f"≥ {labels[-1]}"
    return _drawn(
        [_points(near, "within 25 %", "circle", SERIES[0]),
         _points(far, "further away", "circle-open", SERIES[1])],
        [f"{row.name} {row.sign}".rstrip() for row in rows],
        axis(
            "← smaller · Error here ÷ printed error · larger →", type="log",
            tickvals=list(ticks), ticktext=labels,
        ),
        (0.17, 5.8),
        shapes=[box((1 - WITHIN, 1 + WITHIN), fill=SERIES[0], opacity=0.13, yref="paper")],
        annotations=[
            text(row.words, 0.0, place, colour=MUTED)
            for place, row in enumerate(rows) if row.words
        ],
    )  # fmt: skip


def marks(rows: Sequence[Marks]) -> Figure:
    """Three marks a row, as on the ruler: claimed above, proved on, attacked below the line."""
    kinds = {
        ("claimed", False): ("diamond", -0.24), ("proved", False): ("square", 0.0),
        ("proved", True): ("square-open", 0.0), ("attacked", False): ("triangle-up", 0.24),
    }  # fmt: skip
    traces = []
    for broken in (False, True):
        for (kind, assumed), (symbol, shift) in kinds.items():
            called = f"{kind}{' under an assumption' * assumed}"
            told = at_least if kind == "attacked" else number
            points = [
                (min(max(value, LEAST), MOST), place + shift,
                 f"{row.name}<br>{called}: ε {told(value)}")
                for place, row in enumerate(rows)
                if (value := getattr(row, kind)) is not None
                and broken == (row.broken and kind == "attacked")
                and assumed == (row.assumed and kind == "proved")
            ]  # fmt: skip
            if points:
                name = f"{kind}, above claim or proof" if broken else called
                traces.append(_points(points, name, symbol, BROKEN if broken else INK))
    ticks = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
    labels = ["≤ 0.1", *(f"{tick:g}" for tick in ticks[1:])]
    return _drawn(
        [_gaps(rows), *traces],
        [row.name for row in rows],
        axis("Privacy budget ε", type="log", tickvals=list(ticks), ticktext=labels),
        (0.085, 75.0),
    )


def _gaps(rows: Sequence[Marks]) -> dict[str, Any]:
    """Red lines from what is claimed or proved to the attack above it."""
    x: list[float | None] = []
    y: list[float | None] = []
    for place, row in enumerate(rows):
        held = [value for value in (row.claimed, row.proved) if value is not None]
        if row.broken and held and row.attacked is not None:
            x += [min(held), min(row.attacked, MOST), None]
            y += [place + 0.24, place + 0.24, None]
    return path("", x, y, BROKEN, width=2, showlegend=False)


def _points(
    points: Sequence[tuple[float, float, str]], name: str, symbol: str, colour: str
) -> dict[str, Any]:
    """Marks of one kind, with what is said of each."""
    x, y, said = zip(*points, strict=True) if points else ((), (), ())
    return dots(
        name, brief(x), y, colour, symbol, "%{text}", size=8, ring=1.5, text=list(said)
    )  # fmt: skip


def _drawn(
    traces: list[dict[str, Any]], names: Sequence[str], across: dict[str, Any],
    reach: tuple[float, float], **more: Any,
) -> Figure:  # fmt: skip
    """A figure of rows from top to bottom, as high as they need."""
    low, high = (math.log10(end) for end in reach)
    rows = {
        "tickvals": list(range(len(names))), "ticktext": list(names), "showgrid": False,
        "range": [len(names) - 0.4, -0.6],
    }  # fmt: skip
    return figure(
        traces,
        height=HIGH * len(names) + HEAD,
        margin={"l": 8, "r": 16, "t": HEAD, "b": 8},
        xaxis=across
        | {"range": [low, high], "showgrid": True, "gridcolor": GRID, "tickangle": 0}
        | {"side": "top"},
        legend={
            "orientation": "h",
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
        },
        yaxis=axis("", **rows) | {"tickfont": {"size": 12}},
        meta={"rows": True},
        uirevision="rows",
        **more,
    )
