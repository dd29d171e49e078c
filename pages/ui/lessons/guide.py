"""What a lesson adds to every page: its words and questions above, what it hides and locks."""

from typing import Any

import streamlit as st

from engine.core.errors import ExplorerError
from pages.ui.kit import lock
from pages.ui.kit.access import sentence
from pages.ui.kit.address import LESSON, VIEW
from pages.ui.lessons import experiment, go, library, present, question
from pages.ui.lessons.go import Place
from pages.ui.lessons.schema import View
from pages.ui.lessons.views import PARTS


def before(page: Any) -> None:
    """Draws what the lesson says above a page; stops there while its question is open."""
    lock.hold(())
    go.remember(page)
    if page.url_path == "lessons":
        return
    place = _place()
    if present.on():
        present.begin(page, place)
    if place is None:
        return
    if place.view.page != (page.url_path or "home"):
        _back(place)
        return
    lock.hold(place.view.lock)
    _hide(place.view)
    waiting = place.view.question is not None and question.given(place.view.question) is None
    if waiting:
        st.title(place.lesson.title, anchor=False)
    with st.container(border=True, key="lesson"):
        _words(place, waiting)
    if waiting:
        st.stop()


def _place() -> Place | None:
    """Where the address says that somebody is; a wrong one is said. None outside lessons."""
    name, text = st.query_params.get(LESSON, ""), st.query_params.get(VIEW, "1")
    if not name:
        return None
    try:
        held = library.find(name)
        if held.lesson is None:
            raise ExplorerError(f"lesson: {held.title}: {held.mistakes[0]}")
        count = len(held.lesson.views)
        if not text.isdecimal() or not 1 <= int(text) <= count:
            raise ExplorerError(f"view: expected a number from 1 to {count}, got {text!r}")
        return Place(name, held.lesson, int(text))
    except ExplorerError as error:
        st.warning(f"Link value ignored: {sentence(str(error))}", icon=":material/link_off:")
        return None


def _words(place: Place, waiting: bool) -> None:
    """Text, question and buttons."""
    count = len(place.lesson.views)
    st.caption(f":material/co_present: {place.lesson.title} · {place.number} of {count}")
    asked = place.view.question
    if asked is None or waiting or not present.on():  # a presenter's answer follows the text
        st.markdown(place.view.text)
    if asked is not None and waiting:
        kind = experiment if asked.arms else question
        if present.on():
            question.poll(asked, kind.counted)
        else:
            kind.ask(asked)
        return
    if asked is not None:
        question.reveal(asked, (experiment if asked.arms else question).answered)
    with st.container(horizontal=True, key="lesson-steps"):
        if place.number > 1 and st.button("Back", icon=":material/arrow_back:", key="lesson.back"):
            go.to(place.name, place.lesson, place.number - 1)
        if place.last:
            st.page_link("pages/lessons.py", label="End of the lesson", icon=":material/flag:")
        elif st.button("Next", icon=":material/arrow_forward:", key="lesson.next", type="primary"):
            go.to(place.name, place.lesson, place.number + 1)


def _back(place: Place) -> None:
    """The way back to a lesson whose view is on another page."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="lesson"):
        st.markdown(f"This page is not the view of the lesson **{place.lesson.title}**.")
        if st.button("Back to the lesson", key="lesson.return"):
            go.to(place.name, place.lesson, place.number)


def _hide(view: View) -> None:
    """Leaves out what the view hides: parts, and settings by their keys, which were checked."""
    places = [PARTS[one] for one in view.hide if one in PARTS]
    for key in view.hide:
        if key not in PARTS:
            name = "".join(one if one.isalnum() or one in "-_" else "-" for one in key)
            places.append(f".st-key-{name}")
    if places:
        st.html(f"<style>{', '.join(places)} {{ display: none !important }}</style>")
