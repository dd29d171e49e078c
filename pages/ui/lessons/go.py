"""From one view of a lesson to another."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.ui.kit import labels, shell
from pages.ui.kit.address import COMMON, LANG, LESSON, PRESENT, VIEW
from pages.ui.learn import pictures
from pages.ui.learn.declared import ONLY, SCREENS
from pages.ui.lessons.schema import Lesson, View
from pages.ui.lessons.views import offered

HERE = "lesson.here"
"""Under which a session remembers which page it shows."""
OPENED = "lesson.opened"
"""Under which a session remembers a view of the page that it showed, until that view is drawn."""


@dataclass(frozen=True)
class Place:
    """Where somebody is in a lesson.

    Attributes:
        name: The lesson's, in the address.
        lesson: The lesson.
        number: Of the view, from 1.
    """

    name: str
    lesson: Lesson
    number: int

    @property
    def view(self) -> View:
        """What is shown."""
        return self.lesson.views[self.number - 1]

    @property
    def last(self) -> bool:
        """Whether no view follows."""
        return self.number == len(self.lesson.views)


def to(name: str, lesson: Lesson, number: int) -> None:
    """Opens a view by its number, from 1; a number beyond the ends opens the first or last."""
    number = min(max(number, 1), len(lesson.views))
    view = lesson.views[number - 1]
    show(view, {LESSON: name, VIEW: str(number)})


def show(view: View, more: dict[str, str]) -> None:
    """Opens the page of a view with its settings, in presenter mode if this page is.

    On the page that is shown already, settings are set as widgets say them, since their names in
    the address are the widgets' own.
    """
    _settle(view)
    kept = {key: st.query_params[key] for key in (PRESENT, LANG) if key in st.query_params}
    if st.session_state.get(HERE) != view.page:
        st.switch_page(shell.script(view.page), query_params={**view.settings, **kept, **more})
    st.session_state[OPENED] = view
    only = {ONLY: view.settings[ONLY]} if ONLY in view.settings else {}
    told = {**only, **kept, **more}
    for key in {*COMMON, ONLY} - {*told}:  # each change of the address is a step of the way back
        st.query_params.pop(key, None)
    st.query_params.update(told)
    st.rerun()


def drawn(view: View) -> None:
    """Settles a view that was opened on its own page, before its widgets are drawn.

    While a question is open they are not drawn, and Streamlit forgets what they were told to say.
    """
    if st.session_state.pop(OPENED, None) == view:
        _settle(view)


def remember(page: Any) -> None:
    """Notes which page is shown."""
    st.session_state[HERE] = page.url_path or "home"


def _settle(view: View) -> None:
    """Makes widgets of that page say what the view says, or what the page opens with.

    A widget that stays on the screen would otherwise go before the address.
    """
    known = offered(view.page)
    texts = {key: one.read(view.settings.get(key, one.default))[0] for key, one in known.items()}
    if view.page == "learn":
        texts = _learned(view)
    for key, text in texts.items():
        st.session_state[key] = text


def _learned(view: View) -> dict[str, str]:
    """Where the controls of Learn stand in a view: an address leaves out what they begin with."""
    texts = dict[str, str]()
    for screen in SCREENS.values():
        if pictures.options(screen) and view.settings.get(ONLY, screen.name) == screen.name:
            key = screen.control.key
            text = view.settings.get(key, pictures.first(screen))
            slides = screen.name not in ("attack", "papers")  # lists say their labels
            texts[key] = text if slides else labels.label(text)
    return texts


def here(page: Any) -> str:
    """The address of what is shown now, without the lesson that it is shown in."""
    pairs = {key: st.query_params[key] for key in st.query_params if key not in COMMON}
    path = page.url_path or ""
    return f"/{path}?{urlencode(pairs)}" if pairs else f"/{path}"
