"""How near our number is to the printed one: in words, with a sign, and in colour last.

Errors are compared, not accuracies: 97 % and 94 % right differ by half of the errors made.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.runs.exhibit import Cell, Exhibit
from pages.ui.words import number

PRINTED = "as printed"
SPOKEN = {"rigorous": "with proof", "sensitivity 1": "with smaller noise"}
"""Variants whose name on a page is another."""
NEAR, FAIR = 0.10, 0.25
"""How far, relative to the printed error, ours may lie from it."""
SKILL = 0.1
"""Less than this part of the way from blind guessing to no error is called guessing."""
LOOK = {
    "near": ("green", "✓", "near"),
    "fair": ("blue", "≈", "fair"),
    "above": ("orange", "↑", "larger"),
    "below": ("violet", "↓", "smaller"),
    "guess": ("red", "✗", "guess"),
}
"""Colour, sign and word of each grade."""
LEGEND = (
    "Below each number computed here is {what}: ✓ near, within 10\u00a0%; ≈ fair, within "
    "25\u00a0%; ↑ larger or ↓ smaller by more. "
)
ERRORS, NUMBERS = "its error divided by the paper's", "its ratio to the paper's"
GUESSING = "✗ guess: hardly better than blind guessing. "
SPREAD = "± is the standard deviation over the repetitions (random seeds)."


@dataclass(frozen=True)
class Count:
    """How many printed numbers ours are near to, in one variant."""

    variant: str
    printed: int
    near: int
    fair: int
    guess: int


def variants(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Our readings of the paper: the printed one first, the others in reading order."""
    names = dict.fromkeys(cell.variant for cell in cells)
    return tuple(sorted(names, key=lambda variant: variant != PRINTED))


def spoken(variant: str) -> str:
    """A variant as a page calls it."""
    return SPOKEN.get(variant, variant)


def known(value: float | None) -> float | None:
    """A number; None for what is missing, not measured or diverged."""
    return value if value is not None and math.isfinite(value) else None


def grade(exhibit: Exhibit, cell: Cell) -> str:
    """A key of LOOK; empty where there is nothing to compare."""
    ratio = known(exhibit.ratio(cell)) if exhibit.graded else None
    if ratio is None or cell.ours is None:
        return ""
    off = abs(ratio - 1.0) - 1e-9
    if off > NEAR and guessed(exhibit, cell):
        return "guess"
    if off > FAIR:
        return "above" if ratio > 1.0 else "below"
    return "near" if off <= NEAR else "fair"


def guessed(exhibit: Exhibit, cell: Cell) -> bool:
    """Whether our number is hardly better than blind guessing."""
    blind = exhibit.guess(cell)
    if cell.ours is None or not math.isfinite(blind):
        return False
    return exhibit.error(cell.ours) > (1.0 - SKILL) * exhibit.error(blind)


def badge(exhibit: Exhibit, cell: Cell) -> str:
    """The ratio and its grade as Markdown; empty where there is nothing to compare."""
    name, ratio = grade(exhibit, cell), exhibit.ratio(cell)
    if not name or ratio is None:
        return ""
    colour, sign, word = LOOK[name]
    text = f"{ratio:.2f}" if 0.1 <= ratio < 100 else number(ratio, 2)
    return f":small[:{colour}[{sign} {text}, {word}]]"


def tally(exhibit: Exhibit, cells: Sequence[Cell]) -> list[Count]:
    """How many are near, for each variant."""
    counted = Counter((cell.variant, grade(exhibit, cell)) for cell in cells)
    counts = []
    for variant in variants(cells):
        graded = {name: counted[variant, name] for name in LOOK}
        if every := sum(graded.values()):
            counts.append(Count(variant, every, graded["near"], graded["fair"], graded["guess"]))
    return counts


def _head(variant: str) -> str:
    """What a sentence on a variant begins with; nothing where there is one without a name."""
    text = spoken(variant)
    return f"{text[:1].upper()}{text[1:]}: " if text else ""


def among(count: int, every: int, noun: str) -> str:
    """How many of how many, with the verb: "1 of 1 number is", "5 of 14 errors are"."""
    return f"{count} of {every} {noun}{' is' if every == 1 else 's are'}"


def summary(exhibit: Exhibit, cells: Sequence[Cell]) -> str:
    """The tally in a sentence for each variant; empty while there is nothing to compare."""
    what = "error" if exhibit.whole else "number"
    parts = []
    for one in tally(exhibit, cells):
        text = (
            f"{_head(one.variant)}{among(one.near, one.printed, what)} within 10\u00a0% of the "
            f"paper's, {one.near + one.fair} within 25\u00a0%"
        )
        parts.append(text + (f", {one.guess} no better than guessing." if one.guess else "."))
    return " ".join(parts)


def legend(exhibit: Exhibit, cells: Sequence[Cell]) -> str:
    """How to read the signs and the ± of a table; an exhibit beside the paper says it itself."""
    if exhibit.beside:
        return ""
    grades = {grade(exhibit, cell) for cell in cells} - {""}
    signs = LEGEND.format(what=ERRORS if exhibit.whole else NUMBERS) if grades else ""
    spread = any(known(cell.spread) is not None for cell in cells)
    return f"{signs}{GUESSING * ('guess' in grades)}{SPREAD * spread}".rstrip()
