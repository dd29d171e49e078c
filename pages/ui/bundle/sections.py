"""The charts of a page besides its curve: what its sections draw, at every budget."""

import json
import re
from collections.abc import Iterator, Sequence

from pages.ui.bundle.drawn import Drawn, Figure, split
from pages.ui.kit.chart import Picture, named
from pages.ui.paper import parts
from pages.ui.paper.view import COST, WHY, Layout, Section, View

SENTENCE = re.compile(r"(?<=[.!?])\s+")
ELSEWHERE = ("sidebar", "* tab", " above holds")
"""Parts of sentences that speak of what a bundle does not hold."""


def drawn(layout: Layout, views: Sequence[View], budgets: Sequence[float]) -> Iterator[Drawn]:
    """The charts that sections draw as they open, in all tabs but those of proofs and data.

    A chart that is not there at every budget is left out: a slider could not move it.

    Args:
        layout: The paper's.
        views: The page at each budget.
        budgets: The same budgets.
    """
    for section in layout.sections:
        if section.tab in (COST, layout.shows, WHY):
            yield from _section(section, views, budgets)


def _section(section: Section, views: Sequence[View], budgets: Sequence[float]) -> Iterator[Drawn]:
    """The charts of one section."""
    seen = [{key: rest for key, *rest in parts.taken(section, view)} for view in views]
    for key in (key for key in seen[0] if all(key in one for one in seen)):
        pictures, captions = zip(*(one[key] for one in seen), strict=True)
        base, frames = split(list(map(_figure, pictures)))
        rows = [
            {"Privacy budget ε": budget, **row}
            for budget, one in zip(budgets, pictures, strict=True)
            for row in one.rows
        ]
        said = [one.alt for one in pictures]
        yield Drawn(named(key), section.title, _here(captions[0]), base, frames, rows, said)


def _figure(picture: Picture) -> Figure:
    """A figure's JSON values, without the mark of the slider's move that it belongs to."""
    figure: Figure = json.loads(picture.text)
    figure["layout"].pop("meta", None)
    return figure


def _here(text: str) -> str:
    """A caption without sentences that speak of other parts of the page."""
    kept = [one for one in SENTENCE.split(text) if not any(part in one for part in ELSEWHERE)]
    return " ".join(kept)
