"""Where somebody is in a lesson."""

from dataclasses import dataclass

import streamlit as st

from engine.core.errors import ExplorerError
from pages.ui.kit.address import LESSON, VIEW
from pages.ui.lessons import library
from pages.ui.lessons.schema import Lesson, View


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


def place() -> Place | None:
    """Where the address says that somebody is; None outside lessons, and a sentence if it errs.

    Raises:
        ExplorerError: There is no such lesson or view, or the lesson has mistakes.
    """
    name = st.query_params.get(LESSON, "")
    if not name:
        return None
    held = library.find(name)
    if held.lesson is None:
        raise ExplorerError(f"lesson: {held.title}: {held.mistakes[0]}")
    text, count = st.query_params.get(VIEW, "1"), len(held.lesson.views)
    if not text.isdecimal() or not 1 <= int(text) <= count:
        raise ExplorerError(f"view: expected a number from 1 to {count}, got {text!r}")
    return Place(name, held.lesson, int(text))
