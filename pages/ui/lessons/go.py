"""From one view of a lesson to another."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.ui.kit import address, shell
from pages.ui.kit.address import COMMON, LANG, LESSON, PRESENT, VIEW
from pages.ui.lessons import views
from pages.ui.lessons.schema import Lesson, View

HERE = "lesson.here"
"""Under which a session remembers which page it shows."""


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

    What the session remembers of that page is forgotten, so that a setting which the view leaves
    out stands where the page opens with it.
    """
    for key in views.remembered(view.page, map(str, st.session_state)):
        del st.session_state[key]
    kept = {key: st.query_params[key] for key in (PRESENT, LANG) if key in st.query_params}
    query = {**view.query, **kept, **more}
    if st.session_state.get(HERE) == view.page:
        address.follow(query)
    st.switch_page(shell.script(view.page), query_params=query)


def remember(page: Any) -> None:
    """Notes which page is shown."""
    st.session_state[HERE] = page.url_path or "home"


def here(page: Any) -> str:
    """The address of what is shown now, without the lesson that it is shown in."""
    pairs = {key: st.query_params.get_all(key) for key in st.query_params if key not in COMMON}
    path = page.url_path or ""
    return f"/{path}?{urlencode(pairs, doseq=True)}" if pairs else f"/{path}"
