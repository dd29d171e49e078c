"""A small picture of a cost curve, for a card: lines alone, without axes."""

import math
from collections.abc import Callable, Mapping, Sequence

from pages.ui.charts.theme import SERIES

WIDTH, HEIGHT, EDGE = 300, 96, 6
COLOURS = (
    "#2a7fca", "#c85c12", "#1c8b6c", "#b25ca7", "#8c7c0f", "#3a93c9", "#c05b72", "#6876c8",
    "#5a8f00", "#947744",
)  # fmt: skip
"""Those of the charts, halfway between light and dark: an image knows no theme."""
NONE = "#7c8f93"
Points = Sequence[Sequence[float]]


def sketch(lines: Mapping[str, Points], none: float | None) -> str:
    """An SVG picture of few lines.

    Args:
        lines: By the stand-in for their colour: budgets with errors, both positive.
        none: The error without privacy; None or 0 where it cannot be drawn.
    """
    every = [point for points in lines.values() for point in points]
    heights = [y for _, y in every] + ([none] if none else [])
    across = _scale([x for x, _ in every], WIDTH)
    up = _scale(heights, HEIGHT)
    parts = [
        _path([(across(x), HEIGHT - up(y)) for x, y in points], COLOURS[SERIES.index(colour)])
        for colour, points in lines.items() if points
    ]  # fmt: skip
    if none:
        level = HEIGHT - up(none)
        parts.append(_path([(0, level), (WIDTH, level)], NONE, "2 5"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" fill="none" stroke-linejoin="round">{"".join(parts)}</svg>'
    )


def _scale(values: Sequence[float], length: int) -> Callable[[float], float]:
    """Positions of positive numbers on a logarithmic scale, within the edges."""
    low, high = math.log(min(values)), math.log(max(values))
    reach = (high - low) or 1.0
    return lambda value: EDGE + (length - 2 * EDGE) * (math.log(value) - low) / reach


def _path(points: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> str:
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{steps}" stroke="{colour}" stroke-width="2.5"{dashed}/>'
