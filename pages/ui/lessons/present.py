"""Presenter mode: one chart, large type, and keys that move through the views."""

from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.kit import shell
from pages.ui.kit.address import PRESENT
from pages.ui.lessons import go, keys, notes, question
from pages.ui.lessons.go import Place
from pages.ui.lessons.schema import View

STYLE = Path(__file__).with_suffix(".css")


def on() -> bool:
    """Whether the address asks for presenter mode."""
    return st.query_params.get(PRESENT) == "1"


def begin(page: Any, place: Place | None) -> None:
    """Draws the frame and does what a key asked for.

    Args:
        page: The page that is shown.
        place: Where the lesson stands; None outside lessons, when keys walk through the papers.
    """
    st.html(STYLE)
    names = list(shell.papers())
    here = names.index(page.url_path) + 1 if page.url_path in names else 0
    lesson, number = ("", here) if place is None else (place.name, place.number)
    moved = keys.listen(
        "present", lesson, number, notes.address(lesson, number) if lesson else ""
    ).get("move")
    if moved is None:
        return
    by = int(moved["by"])
    if by == 0:
        st.query_params.pop(PRESENT, None)
        st.rerun()
    elif place is None:
        at = min(max(number + by, 1), len(names)) - 1
        go.show(View(address=f"/{names[at]}", text=""), {})
    else:
        _step(place, by)


def _step(place: Place, by: int) -> None:
    """To the next view; an open question is answered first."""
    asked = place.view.question
    if by > 0 and asked is not None and question.given(asked) is None:
        question.remember(asked, question.PASSED)
        st.rerun()
    if by < 0 or not place.last:
        go.to(place.name, place.lesson, place.number + by)
