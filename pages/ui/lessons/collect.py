"""Adding what is shown now to a lesson, from any page."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.core.errors import ExplorerError
from pages.ui import rights
from pages.ui.kit import visitors
from pages.ui.kit.access import sentence
from pages.ui.kit.root import rooted
from pages.ui.lessons import contents, go, library, views
from pages.ui.lessons.schema import View
from pages.ui.messages import tr

TITLE, TEXT, INTO = "collect.title", "collect.text", "collect.into"
SAID = "collect.said"


def offer(page: Any) -> None:
    """Draws the button in the sidebar; nothing on pages that no lesson can show."""
    if (page.url_path or "home") not in views.pages() or not visitors.uploads():
        return
    label = tr("Add this view to a lesson")
    with st.sidebar, st.popover(label, icon=":material/playlist_add:", width="stretch"):
        own = {
            name: contents.find(name) for name in library.names()
            if rights.may("edit a lesson", name)
        }  # fmt: skip
        titles = {name: held.title for name, held in own.items() if held.lesson is not None}
        new = tr("A new lesson")
        into = st.selectbox(tr("Lesson"), [*library.latest(titles), ""], key=INTO,
                            format_func={**_labels(titles, new), "": new}.__getitem__)  # fmt: skip
        if not into:
            st.text_input(tr("Title of the new lesson"), key=TITLE, max_chars=100)
        st.text_area(tr("What to look at in this view"), key=TEXT, max_chars=1000)
        st.button(tr("Add"), icon=":material/add:", key="collect.add", on_click=_add,
                  args=(page, into))  # fmt: skip
        if said := st.session_state.pop(SAID, ""):
            st.markdown(said)


def _labels(titles: Mapping[str, str], new: str) -> dict[str, str]:
    """What each lesson is called in the list: a title that is there twice has its name beside."""
    seen = Counter((*titles.values(), new))
    return {
        name: f"{title} ({name})" if seen[title] > 1 else title for name, title in titles.items()
    }


def _add(page: Any, into: str) -> None:
    """Adds the view and says where it went."""
    view = View(address=go.here(page), text=st.session_state.get(TEXT) or "Look at this view.")
    try:
        name = contents.add(view, into, st.session_state.get(TITLE) or "", rights.editor())
    except ExplorerError as error:
        st.session_state[SAID] = f":material/error: {sentence(str(error))}"
    else:
        st.session_state[TEXT] = ""
        made = contents.find(name).lesson
        count = len(made.views) if made else 0
        st.session_state[SAID] = (
            f":material/check: Added as view {count}. [Open the lesson]"
            f"({rooted('/lessons')}?lesson={name})"
        )
