"""What is proved of a curve: how its line looks, and where its points stand on the axis."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.privacy.guarantee import STATUSES, Status
from pages.ui.charts.marks import box
from pages.ui.charts.theme import GRID, MUTED, Style, budget_axis

STATUS = {status: words.lower() for status, words in STATUSES.items()}
"""As the hover, the table and a sentence say it: the words of the card."""
BRIEF = STATUS | {"proved_under_assumption": "assumption"}
"""As the legend says it, where there is little room."""
DASHED: dict[Status, str] = {"heuristic": "dash", "not_private": "dot"}
"""The lines of what has no proof; all others are solid."""
LEGEND = (
    "Solid and filled: proved. Solid and hollow: proved under an assumption. Dashed and hollow: "
    "heuristic, not proved. Dotted: not private."
)
NOWHERE = "no proof"
"""The column for points of which no budget is proved."""
WIDE = 0.07
"""Half of the column's width, as a part of that of the budgets."""


def look(style: Style, status: Status | None) -> Style:
    """A method's colour and marker, with the line that its status asks for."""
    if status is None:
        return style
    colour = MUTED if status == "not_private" else style.colour
    hollow = "" if status == "proved" else "-open"
    return Style(colour, DASHED.get(status, "solid"), f"{style.marker}{hollow}")


def finite(proved: float | None) -> bool:
    """Whether a finite budget is proved."""
    return proved is not None and math.isfinite(proved)


class Ground:
    """The horizontal axis: budgets, and beyond them a column for what has no finite one.

    It is the same whether points stand where they claim or where they are proved, so that a
    move from one to the other moves nothing else.

    Attributes:
        low: The left end.
        top: Where budgets end.
        column: Where points without a finite budget stand; None where there are none.
        measure: What takes the place of the proved budget, in words; empty for the budget itself.
    """

    def __init__(
        self,
        bounds: tuple[float, float],
        proved: Sequence[float | None],
        by_proof: bool,
        measure: str = "",
    ) -> None:
        known = [float(one) for one in proved if one is not None and math.isfinite(one) and one > 0]
        self.by_proof, self.measure = by_proof, measure
        self.low = min(bounds[0], *known) * 0.9 if known else bounds[0] * 0.9
        self.top = max(bounds[1], *known) * 1.11 if known else bounds[1] * 1.11
        lost = len(known) < len(proved)
        reach = self.top / self.low
        self.column = self.top * reach**WIDE if lost else None

    @property
    def end(self) -> float:
        """The right end."""
        return self.top if self.column is None else self.column * (self.column / self.top)

    def places(self, epsilon: Sequence[float], proved: Sequence[float | None]) -> list[float]:
        """Where points stand that claim `epsilon` and of which `proved` is proved."""
        if not self.by_proof or len(proved) != len(epsilon):
            return list(epsilon)
        assert self.column is not None or all(map(finite, proved))
        return [
            float(p) if p is not None and finite(p) else float(self.column or 0.0) for p in proved
        ]

    def axis(self, held: str = "") -> dict[str, Any]:
        """The axis with its ends and, where there is one, the tick of the column.

        Args:
            held: What stands in the column, from its lowest to its highest point.
        """
        made = budget_axis(self.low, self.top)
        which = "Proved" if self.by_proof else "Claimed"
        said = self.measure or f"{which} privacy budget ε"
        made["title"]["text"] = f"← more private      {said}      less private →"
        if self.column is not None:
            made["tickvals"] = [*made["tickvals"], self.column]
            made["ticktext"] = [
                *made["ticktext"],
                f"{NOWHERE}:<br>{held}" if self.by_proof and held else NOWHERE,
            ]
        return made | {"range": [float(np.log10(self.low)), float(np.log10(self.end))]}

    def shapes(self) -> list[dict[str, Any]]:
        """The ground of the column."""
        if self.column is None:
            return []
        return [box((self.top * 1.02, self.end), fill=GRID, opacity=0.35, yref="paper")]
