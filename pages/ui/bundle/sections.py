"""The charts of a page besides its curve: what its sections draw, at every budget."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui.bundle.drawn import Drawn, Figure, split
from pages.ui.kit import chart
from pages.ui.kit.chart import Picture
from pages.ui.paper.view import COST, WHY, Layout, Section, View

SENTENCE = re.compile(r"(?<=[.!?])\s+")
ELSEWHERE = ("sidebar", "* tab", " above holds")
"""Parts of sentences that speak of what a bundle does not hold."""


@dataclass
class _Seen:
    """One chart, and what is said below it."""

    key: str
    picture: Picture
    below: str = ""


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
    seen = [{one.key: one for one in _see(section.draw, view)} for view in views]
    for key in (key for key in seen[0] if all(key in one for one in seen)):
        each = [one[key] for one in seen]
        base, frames = split([_figure(one.picture) for one in each])
        rows = [
            {"Privacy budget ε": budget, **row}
            for budget, one in zip(budgets, each, strict=True)
            for row in one.picture.rows
        ]
        name = re.sub(r"\W+", "-", key.partition(".")[2].removesuffix(".chart"))
        said = [one.picture.alt for one in each]
        yield Drawn(f"chart-{name}", section.title, _here(each[0].below), base, frames, rows, said)


def _figure(picture: Picture) -> Figure:
    """A figure's JSON values, without the mark of the slider's move that it belongs to."""
    figure: Figure = json.loads(picture.text)
    figure["layout"].pop("meta", None)
    return figure


def _here(text: str) -> str:
    """A caption without sentences that speak of other parts of the page."""
    kept = [one for one in SENTENCE.split(text) if not any(part in one for part in ELSEWHERE)]
    return " ".join(kept)


def _see(draw: Callable[[View], None], view: View) -> list[_Seen]:
    """The charts that a section draws, each with the captions that follow it or the next one."""
    seen: list[_Seen] = []

    def below(text: str, *rest: Any, **more: Any) -> None:
        if seen:
            seen[-1].below = f"{seen[-1].below} {text}".strip()

    with _captions(below), chart.kept(lambda key, picture: seen.append(_Seen(key, picture))):
        draw(view)
    for one, after in zip(reversed(seen[:-1]), reversed(seen[1:]), strict=True):
        one.below = one.below or after.below
    return seen


@contextmanager
def _captions(below: Callable[..., None]) -> Iterator[None]:
    """Hands captions over; for a process of its own, whose Streamlit draws nothing."""
    was = st.caption
    setattr(st, "caption", below)  # noqa: B010  (a bound method, to the type checker)
    try:
        yield
    finally:
        setattr(st, "caption", was)  # noqa: B010
