"""What a lesson adds to every page: its words and questions above, what it hides and locks."""

from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.core.errors import ExplorerError
from pages.ui.kit import lock, shell
from pages.ui.kit.access import sentence
from pages.ui.kit.address import LESSON, VIEW
from pages.ui.lessons import contents, experiment, go, present, question, views
from pages.ui.lessons.go import Place
from pages.ui.lessons.schema import View, got, position
from pages.ui.lessons.views import PARTS
from pages.ui.words import escaped

NOTES = "lesson.notes"
"""Under which a session remembers what to say of an address that was put right."""


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
    _lock(place.view)
    _hide(place.view)
    waiting = place.view.question is not None and question.given(place.view.question) is None
    if waiting:
        st.title(place.lesson.title, anchor=False)
    with st.container(border=True, key="lesson"):
        _words(place, waiting)
    if waiting:
        _forget()
        st.stop()


def _place() -> Place | None:
    """Where the address says that somebody is; a wrong one is said. None outside lessons."""
    name, text = st.query_params.get(LESSON, ""), st.query_params.get(VIEW, "1")
    if not name:
        return None
    try:
        held = contents.find(name)
        if held.lesson is None:
            raise ExplorerError(f"lesson: {held.title}: {held.mistakes[0]}")
        number, count = position(text), len(held.lesson.views)
        if not 1 <= number <= count:
            raise ExplorerError(f"view: expected a number from 1 to {count}, got {got(text)}")
        return Place(name, held.lesson, number)
    except ExplorerError as error:
        st.warning(f"Link value ignored: {sentence(str(error))}", icon=":material/link_off:")
        return None


def _lock(view: View) -> None:
    """Locks what the view locks, and puts back what an address says otherwise of it."""
    lock.hold(view.lock)
    asked = {key: st.query_params.get_all(key) for key in st.query_params}
    kept, notes, known = dict(asked), list[str](), views.offered(view.page)
    put = dict[str, str]()
    for key in filter(_from_address, view.lock):
        offer, wanted = known.get(key), view.settings.get(key)
        first = offer.default if offer else ""
        right, got = wanted or first, asked.get(key, [first])[-1]
        if got == right or (offer and offer.read(got)[0] == offer.read(right)[0]):
            continue
        kept.pop(key, None)
        kept |= {key: [wanted]} if wanted else {}
        put[key] = right
        if key in st.session_state:
            st.session_state[key] = right
        if key in asked:
            notes.append(f"{key}: expected {right}, which the lesson locks, got {got}")
    if kept != asked:
        st.session_state[NOTES] = notes
        try:
            st.switch_page(shell.script(view.page), query_params=kept)
        except StreamlitAPIException:  # widgets on the screen are bound to names of the address
            for key, right in put.items():
                st.session_state[key] = right
            st.rerun()
    for note in st.session_state.pop(NOTES, ()):
        st.warning(escaped(f"Link value ignored: {note}."), icon=":material/link_off:")


def _from_address(key: str) -> bool:
    """Whether a setting comes from the address now, and not from what this session holds."""
    context = get_script_run_ctx()
    back = context is not None and context.is_history_navigation
    return back or key not in st.session_state


def _forget() -> None:
    """Lets no part of the page that was shown before be drawn again by itself.

    Streamlit forgets such parts where a script comes to its end, not where it stops. A part that is
    drawn without its page has no place there: the browser shows an error until it loads the page.
    """
    context = get_script_run_ctx()
    if context is not None:
        context.fragment_storage.clear(context.shared.new_fragment_ids.snapshot())


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
