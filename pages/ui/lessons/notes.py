"""The speaker's notes, in a window of their own that follows the presenter's."""

from urllib.parse import urlencode

import streamlit as st

from engine.core.errors import ExplorerError
from pages.ui import rights
from pages.ui.kit.access import sentence
from pages.ui.kit.address import LESSON, VIEW
from pages.ui.kit.root import rooted
from pages.ui.lessons import contents, keys
from pages.ui.lessons.question import plain
from pages.ui.lessons.schema import position

NOTES = "notes"
REFUSED = (
    "Notes: expected the lesson's owner, its editing link, or a browser on the machine that serves "
    "the app, got another visitor."
)
STYLE = """<style>
[data-testid=stSidebar], [data-testid=stExpandSidebarButton] { display: none !important }
</style>"""


def wanted() -> bool:
    """Whether the address asks for the notes."""
    return st.query_params.get(NOTES) == "1"


def address(lesson: str, view: int) -> str:
    """The notes of a lesson, for those who may read them; empty for others."""
    if not rights.reads(lesson):
        return ""
    key = {rights.KEY: kept} if (kept := rights.key()) else {}
    query = urlencode({LESSON: lesson, NOTES: "1", VIEW: str(view), **key})
    return f"{rooted('/lessons')}?{query}"


def show(name: str) -> None:
    """Draws the notes of one view, and what comes next."""
    st.html(STYLE)
    try:
        lesson = contents.find(name).lesson
    except ExplorerError as error:
        st.title("Notes")
        st.warning(sentence(str(error)), icon=":material/link_off:")
        return
    if lesson is None:
        st.title("Notes")
        st.warning("This lesson has mistakes.", icon=":material/error:")
        return
    if not rights.reads(name):
        st.title("Notes")
        st.warning(REFUSED, icon=":material/lock:")
        return
    count = len(lesson.views)
    number = min(max(position(st.query_params.get(VIEW, "1")), 1), count)
    moved = keys.listen("notes", name, number)
    if moved.get("view") and moved["view"] != number:
        st.query_params[VIEW] = str(moved["view"])
        st.rerun()
    view = lesson.views[number - 1]
    st.title(f"{number} of {count}: {lesson.title}", anchor=False)
    st.markdown(f"## {view.notes or 'No notes for this view.'}")
    st.markdown(f"On the screen: {view.text}")
    if view.question is not None:
        right = view.question.answer
        said = f" The answer: {plain(view.question.options[right - 1])}." if right else ""
        st.markdown(f"Question: {plain(view.question.text)}{said}")
    if number < count:
        st.caption(f"Next: {lesson.views[number].text}")
    st.caption("Arrow and page keys move the presenter's window too.")
