"""The pictures that a person saw before the last move: shown faded until the new ones are there.

Kept in the session by page, data set, method and place: the last that were drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
from cachetools import LRUCache

from engine.runs.job import Job
from pages.ui.kit import chart
from pages.ui.kit.chart import Picture
from pages.ui.kit.offers import figure
from pages.ui.kit.style import sheet
from pages.ui.messages import numbered, tr
from pages.ui.paper.former import changed
from pages.ui.paper.view import View

KEY = "faded.seen"
MOST = 8
"""Places that a session keeps, the latest: their pictures are sent as they are."""

Named = tuple[str, Picture]
"""A picture with its key on the page."""


@dataclass(frozen=True)
class Seen:
    """What was seen in a place.

    Attributes:
        job: The run of the method that was looked at.
        budget: The budget under the slider.
        pictures: What was drawn.
    """

    job: Job
    budget: float
    pictures: tuple[Named, ...]


def keep(view: View, place: str, pictures: Sequence[Named]) -> None:
    """Notes what is drawn in a place of a page."""
    if not pictures:
        return
    seen = Seen(view.watched[view.method].job, view.budget, tuple(pictures))
    st.session_state.setdefault(KEY, LRUCache(MOST))[_at(view, place)] = seen


def draw(view: View, place: str, drawn: Sequence[Named] = ()) -> None:
    """Draws what was seen in a place, and says what it was drawn for, while something new comes.

    Args:
        view: Where the runs stand.
        place: The place.
        drawn: What is there already.
    """
    seen: Seen | None = st.session_state.get(KEY, {}).get(_at(view, place))
    if seen is None or not _coming(view):
        return
    there = {key for key, _ in drawn}
    said = _before(view, seen)
    with st.container(key=f"{view.paper.slug}-{place}-faded"):
        st.html(sheet(__file__))
        st.caption(f":material/history: {said}")
        for key, picture in seen.pictures:
            if key not in there:
                chart.draw(key, replace(picture, alt=f"{said}. {picture.alt}"))


def _before(view: View, seen: Seen) -> str:
    """That something was seen before, and for which settings that have changed since."""
    settings = [changed(view.paper, seen.job, view.watched[view.method].job)]
    settings += [f"ε = {figure(seen.budget)}"] * (seen.budget != view.budget)
    said = numbered(", ".join(filter(None, settings)))
    return tr("Before: {settings}").format(settings=said) if said else tr("Before")


def _coming(view: View) -> bool:
    """Whether something trains that the page shows, or is still to be asked for."""
    runs = [one.run for whole in view.watched.values() for one in whole.every]
    return any(run is not None and run.active for run in runs) or not any(runs)


def _at(view: View, place: str) -> tuple[str, ...]:
    return view.paper.slug, view.data.name, view.method, place
