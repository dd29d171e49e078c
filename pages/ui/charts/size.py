"""Lines against the size of something, for any paper."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import series, upright
from pages.ui.charts.theme import axis, figure, log_axis, style
from pages.ui.words import number


def against(
    x: Sequence[float],
    parts: Mapping[str, Sequence[float]],
    titles: tuple[str, str],
    chosen: float,
    height: int = 380,
    log: bool = False,
) -> Figure:
    """Positive numbers against a size, logarithmic if asked, with a rule at the chosen one.

    Zeros are left out, since the axis is logarithmic.
    """
    every = [value for values in parts.values() for value in values]
    return figure(
        [
            series(name, x, [value if value > 0 else None for value in values], style(i),
                   f"<b>{name}</b><br>%{{x}}: %{{y:.3g}}")
            for i, (name, values) in enumerate(parts.items())
        ],
        height=height,
        xaxis=axis(
            titles[0],
            tickvals=list(x),
            ticktext=[f"{at:g}" for at in x],
            tickangle=0,
            range=_room(x, log),
            type="log" if log else "linear",
        ),
        yaxis=powers(titles[1], every),
        shapes=[upright(chosen)],
    )  # fmt: skip


def _room(x: Sequence[float], log: bool) -> list[float]:
    """The ends of the horizontal axis, with a little room; powers on a logarithmic one."""
    low, high = (math.log10(end) if log else end for end in (min(x), max(x)))
    spare = 0.06 * ((high - low) or 1.0)
    return [low - spare, high + spare]


def powers(title: str, values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis whose small ticks are written as powers of ten."""
    made = log_axis(title, values)
    return made | {"ticktext": [number(tick).removeprefix("1·") for tick in made["tickvals"]]}
