"""The charts of a page besides its curve: what its sections draw, at every budget."""

import json
import re
from collections.abc import Iterator, Sequence

from pages.ui.bundle.drawn import Drawn, Figure, split
from pages.ui.kit.chart import Picture, named
from pages.ui.paper.parts import Bare

SENTENCE = re.compile(r"(?<=[.!?])\s+")
ELSEWHERE = ("sidebar", "* tab", " above holds")
"""Parts of sentences that speak of what a bundle does not hold."""


def charts(title: str, held: Sequence[Bare], budgets: Sequence[float]) -> Iterator[Drawn]:
    """The charts of one section as it opens.

    A chart that is not there at every budget is left out: a slider could not move it.

    Args:
        title: Of the section.
        held: What it holds at each budget.
        budgets: The same budgets.
    """
    seen = [{key: rest for key, *rest in one.charts} for one in held]
    for key in (key for key in seen[0] if all(key in one for one in seen)):
        pictures, captions, said = zip(*(one[key] for one in seen), strict=True)
        yield joined(key, title, list(map(here, captions)), pictures, list(said), budgets)


def joined(
    key: str,
    title: str,
    captions: list[str],
    pictures: Sequence[Picture | None],
    said: list[str],
    budgets: Sequence[float],
) -> Drawn:
    """A chart at every budget.

    Args:
        key: Its key on the page.
        title: What it shows.
        captions: How to read it, at each budget; a single one for all.
        pictures: The chart at each budget; None where it is not there.
        said: Its message at each budget.
        budgets: The same budgets.
    """
    there = [_figure(one) for one in pictures if one is not None]
    base, moved = split(there) if there else ({}, [])
    rest = iter(moved)
    frames = [{} if one is None else next(rest) for one in pictures]
    rows = [
        {"Privacy budget ε": budget, **row}
        for budget, one in zip(budgets, pictures, strict=True) if one is not None
        for row in one.rows
    ]  # fmt: skip
    return Drawn(named(key), title, captions, base, frames, rows, said)


def _figure(picture: Picture) -> Figure:
    """A figure's JSON values, without the mark of the slider's move that it belongs to."""
    figure: Figure = json.loads(picture.text)
    figure["layout"].pop("meta", None)
    return figure


def here(text: str) -> str:
    """A text without sentences that speak of other parts of the page."""
    kept = [one for one in SENTENCE.split(text) if not any(part in one for part in ELSEWHERE)]
    return " ".join(kept)
