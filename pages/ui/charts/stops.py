"""Budgets that have a name, marked on a curve with the height that it has there."""

import math
from collections.abc import Mapping
from typing import Any

from pages.ui.charts.figure import Figure
from pages.ui.charts.heights import Heights
from pages.ui.charts.marks import dots
from pages.ui.charts.measured import Curve
from pages.ui.charts.proof import finite
from pages.ui.charts.theme import GROUND, INK, brief
from pages.ui.words import number

ASIDE, FIRST, NEXT, LAST = 22, 20, 32, 30
"""Pixels from a point to its words: to the right, and up from the first, the next and the last."""


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
    """The words of a point: above it where the curve has fallen, at its right end to the left."""
    height = f"{100 * y:.0f}\u00a0%" if up.share else number(y)
    last = place == end
    return {
        "name": "stop", "text": f"{words}: {height}", "x": math.log10(x), "y": up.place(y),
        "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": INK, "standoff": 7,
        "ax": 0 if last else ASIDE, "ay": -(LAST if last else NEXT if place else FIRST),
        "xanchor": "right" if last else "left", "font": {"size": 13, "color": INK},
        **({} if place else {"bgcolor": GROUND}),  # the first may lie on the line of guessing
    }  # fmt: skip
