"""How near our number is to the printed one: in words, with a sign, and in colour last."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.runs.exhibit import Cell

PRINTED = "as printed"
NEAR, FAIR = 0.10, 0.25
"""How far, relative to the printed number, ours may lie from it."""
NAMES = {"near": "near", "fair": "fair", "far": "off"}
LOOK = {"near": ("green", "✓"), "fair": ("blue", "≈"), "above": ("orange", "↑")}
LOOK |= {"below": ("orange", "↓")}
LEGEND = (
    "Below each of our numbers stands its ratio to the printed one: ✓ near, within 10\u00a0%; "
    "≈ fair, within 25\u00a0%; ↑ ↓ off, further away."
)


@dataclass(frozen=True)
class Count:
    """How many printed numbers ours are near to, in one variant."""

    variant: str
    printed: int
    near: int
    fair: int


def variants(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Our readings of the paper: the printed one first, the others in reading order."""
    found = dict.fromkeys(cell.variant for cell in cells)
    return tuple(sorted(found, key=lambda variant: variant != PRINTED))


def known(value: float | None) -> float | None:
    """A number; None for what is missing, not measured or diverged."""
    return value if value is not None and math.isfinite(value) else None


def grade(cell: Cell) -> str:
    """A key of NAMES; empty where there is nothing to compare."""
    ratio = known(cell.ratio)
    if ratio is None:
        return ""
    off = abs(ratio - 1.0) - 1e-9
    return "near" if off <= NEAR else "fair" if off <= FAIR else "far"


def mark(cell: Cell) -> str:
    """The ratio and its grade as Markdown; empty where there is nothing to compare."""
    name, ratio = grade(cell), cell.ratio
    if not name or ratio is None:
        return ""
    colour, sign = LOOK[name if name != "far" else "above" if ratio > 1 else "below"]
    text = f"{ratio:.2f}" if 0.1 <= ratio < 100 else f"{ratio:.2g}"
    return f":small[:{colour}[{sign} {text}, {NAMES[name]}]]"


def tally(cells: Sequence[Cell]) -> list[Count]:
    """How many are near, for each variant."""
    counted = Counter((cell.variant, grade(cell)) for cell in cells)
    found = []
    for variant in variants(cells):
        near, fair, far = (counted[variant, name] for name in NAMES)
        if near + fair + far:
            found.append(Count(variant, near + fair + far, near, fair))
    return found


def _head(variant: str) -> str:
    """What a sentence on a variant begins with; nothing where there is one without a name."""
    return f"{variant[:1].upper()}{variant[1:]}: " if variant else ""


def summary(cells: Sequence[Cell]) -> str:
    """The tally in a sentence for each variant; empty while there is nothing to compare."""
    parts = [
        f"{_head(one.variant)}{one.near} of {one.printed} numbers are "
        f"within 10\u00a0% of the paper's, {one.near + one.fair} within 25\u00a0%."
        for one in tally(cells)
    ]
    return " ".join(parts)
