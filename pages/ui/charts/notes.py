"""What is written into a cost curve: the chosen budget, named ones, guessing, that it is empty."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure
from pages.ui.charts.heights import Heights
from pages.ui.charts.marks import dots, level, text, upright
from pages.ui.charts.measured import Curve
from pages.ui.charts.proof import Ground, finite
from pages.ui.charts.theme import GROUND, INK, MUTED, brief
from pages.ui.words import number

NOTHING = text(
    "Training: the first points appear soon", 0.5, 0.5, size=15, colour=MUTED, xref="paper",
    yref="paper", bgcolor=GROUND,
)  # fmt: skip
"""What an empty chart says."""


END = "end"
"""Marks the annotations that name lines: the browser moves them beside the chart, apart."""
GUESS = "guess"
"""Marks the words at the line of guessing: the browser shortens them where a curve is below."""
ASIDE, FIRST, NEXT, LAST = 22, 20, 36, 26
"""Pixels from a point to its words: to the right, and up from the first, the next and the last."""


def end(text: str, x: float, y: float, colour: str) -> dict[str, Any]:
    """The name of a line at its end, whose place is as the axes name it."""
    return {
        "name": END, "text": text, "x": x, "y": y,
        "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": colour,
        "ax": 12, "ay": 0, "xanchor": "left", "standoff": 4, "align": "left",
        "font": {"size": 13, "color": colour},
    }  # fmt: skip


def rule(chosen: float) -> dict[str, Any]:
    """A vertical line at the chosen budget."""
    return upright(chosen, MUTED, dash=None, width=1.2)


def guess(height: float) -> dict[str, Any]:
    """A horizontal line where guessing is."""
    return level(height, MUTED, dash="dash", width=1.2)


def guessing(height: float, up: Heights, ground: Ground) -> dict[str, Any]:
    """The words below that line, where budgets end: curves have left it there."""
    said = f"{100 * height:.0f}\u00a0%" if up.share else number(height)
    wrong = " wrong" if up.better == "down" and up.share else ""
    return text(
        f"guessing: {said}{wrong}", float(np.log10(ground.top)), up.place(height), colour=MUTED,
        name=GUESS, xanchor="right", yanchor="top", xshift=-4,
    )  # fmt: skip


def flag(chosen: float, bounds: tuple[float, float], up: Heights, *, above: bool) -> dict[str, Any]:
    """The chosen budget: above the chart, or at the freer end of its rule below a legend.

    Lines get better early on, to the right.
    """
    late, third = (chosen**n >= bounds[0] ** (n - 1) * bounds[1] for n in (2, 3))
    below = not above and third == (up.better == "up")
    made = text(
        f"ε = {chosen:g}", float(np.log10(chosen)), 0 if below else 1, size=13, yref="paper",
        yanchor="bottom" if below or above else "top",
    )  # fmt: skip
    side = {"xanchor": "right" if late else "left", "xshift": -5 if late else 5, "bgcolor": GROUND}
    return made if above else made | side


def mark(figure: Figure, one: Curve, named: Mapping[float, str], up: Heights, proof: bool) -> None:
    """Adds the points of a curve whose budgets have a name, each with its name and its height.

    Args:
        figure: The chart of the curve.
        one: The curve.
        named: The name of each budget; one that has not been measured is left out.
        up: The vertical axis.
        proof: Whether points stand at the budget that is proved, not the one claimed.
    """
    known = {words: at for budget, words in named.items() if (at := one.at(budget)) is not None}
    heights = up.of(one.middle)
    points = [(_across(one, at, proof), heights[at], words) for words, at in known.items()]
    x, y = brief(x for x, _, _ in points), brief(y for _, y, _ in points)
    figure.traces.append(
        dots("", x, y, one.style.colour, "circle", "", size=13, showlegend=False)
    )  # fmt: skip
    figure.layout["annotations"] = [
        *figure.layout.get("annotations", ()),
        *(_name(*point, up, place, len(points) - 1) for place, point in enumerate(points)),
    ]


def _across(one: Curve, at: int, proof: bool) -> float:
    """Where a point stands."""
    proved = one.proved[at] if proof and one.proved else None
    return float(proved) if proved is not None and finite(proved) else one.epsilon[at]


def _name(x: float, y: float, words: str, up: Heights, place: int, end: int) -> dict[str, Any]:
    """The words of a point: above it where the curve has fallen, at its right end to the left.

    Beside a curve that has fallen they have two lines: a narrow chart has no room for longer ones.
    """
    height = f"{100 * y:.0f}\u00a0%" if up.share else number(y)
    last, broken = place == end, "<br>" * (place > 0)
    return {
        "name": "stop", "text": f"{words}: {broken}{height}",
        "x": math.log10(x), "y": up.place(y), "align": "right" if last else "left",
        "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": INK, "standoff": 7,
        "ax": 0 if last else ASIDE, "ay": -(LAST if last else NEXT if place else FIRST),
        "xanchor": "right" if last else "left", "font": {"size": 13, "color": INK},
        **({} if place else {"bgcolor": GROUND}),  # the first may lie on the line of guessing
    }  # fmt: skip
