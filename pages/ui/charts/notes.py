"""What is written into a cost curve: the chosen budget, where guessing is, and that it is empty."""

from typing import Any

import numpy as np

from pages.ui.charts.heights import Heights
from pages.ui.charts.proof import Ground
from pages.ui.charts.theme import GROUND, INK, MUTED
from pages.ui.words import number

NOTHING = {
    "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False,
    "text": "Training: the first points appear soon", "bgcolor": GROUND,
    "font": {"size": 15, "color": MUTED},
}  # fmt: skip
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
    return {
        "type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper",
        "layer": "below", "line": {"color": MUTED, "width": 1.2},
    }  # fmt: skip


def guess(height: float) -> dict[str, Any]:
    """A horizontal line where guessing is."""
    return {
        "type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": height, "y1": height,
        "layer": "below", "line": {"color": MUTED, "width": 1.2, "dash": "dash"},
    }  # fmt: skip


def guessing(height: float, up: Heights, ground: Ground) -> dict[str, Any]:
    """The words below that line, where budgets end: curves have left it there."""
    said = f"{100 * height:.0f}\u00a0%" if up.share else number(height)
    wrong = " wrong" if up.better == "down" and up.share else ""
    return {
        "name": GUESS, "x": float(np.log10(ground.top)), "xanchor": "right", "y": up.place(height),
        "yanchor": "top", "text": f"guessing: {said}{wrong}", "showarrow": False, "xshift": -4,
        "font": {"size": 12, "color": MUTED},
    }  # fmt: skip


def flag(chosen: float, bounds: tuple[float, float], up: Heights, *, above: bool) -> dict[str, Any]:
    """The chosen budget: above the chart, or at the freer end of its rule below a legend.

    Lines get better early on, to the right.
    """
    late, third = (chosen**n >= bounds[0] ** (n - 1) * bounds[1] for n in (2, 3))
    below = not above and third == (up.better == "up")
    made = {
        "x": float(np.log10(chosen)), "y": 0 if below else 1, "yref": "paper",
        "yanchor": "bottom" if below or above else "top", "bgcolor": GROUND,
        "text": f"ε = {chosen:g}", "showarrow": False, "font": {"size": 13, "color": INK},
    }  # fmt: skip
    side = {"xanchor": "right" if late else "left", "xshift": -5 if late else 5}
    return made if above else made | side
