"""What is written into a cost curve: the chosen budget, where guessing is, and that it is empty."""

from typing import Any

import numpy as np

from pages.ui.charts.heights import Heights
from pages.ui.charts.marks import level, text, upright
from pages.ui.charts.proof import Ground
from pages.ui.charts.theme import GROUND, MUTED
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
        yanchor="bottom" if below or above else "top", bgcolor=GROUND,
    )  # fmt: skip
    side = {"xanchor": "right" if late else "left", "xshift": -5 if late else 5}
    return made if above else made | side
