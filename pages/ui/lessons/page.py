"""The page of the lessons: take one, make one, share one, read the speaker's notes."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from engine.core.errors import ExplorerError, RequestError
from pages.ui import rights, words
from pages.ui.kit import visitors
from pages.ui.kit.access import sentence, troubles
from pages.ui.kit.address import LESSON
from pages.ui.kit.root import rooted
from pages.ui.lessons import contents, go, library, notes, schema, train
from pages.ui.lessons import rights as lessons
from pages.ui.lessons.contents import Held
from pages.ui.lessons.schema import Lesson

NEW = Path(__file__).with_name("new.toml")
"""What a new lesson begins with."""
HOW = (
    "A lesson is a text file. Each view has the address of a page, as the address bar shows it, "
    "and a text. It may hide parts (`sidebar`, `tabs`, `budget`, or a setting), lock settings, "
    "ask a question first, and hold notes for the speaker."
)
SHARED = (
    "Everyone who opens this app can see lessons made here. Only you and people with its editing "
    "link can change a lesson of yours. Answers are counted without names."
)
NOTED = "N opens the speaker's notes, "
OTHERS = "Somebody else made this lesson. You can save a copy and change the copy."
TEXT, SAID, WRONG, FILE = "lessons.text", "lessons.said", "lessons.wrong", "lessons.file"
BEGAN = "lessons.began"
"""Under which a session keeps the file that the text of an editor began from, by lesson."""


def show() -> None:
    """Draws the page: all lessons, or the one in the address."""
    name = st.query_params.get(LESSON, "")
    if name and notes.wanted():
        notes.show(name)
        return
    if said := st.session_state.pop(SAID, ""):
        st.success(said, icon=":material/check:")
    if wrong := st.session_state.pop(WRONG, ""):
        st.error(wrong, icon=":material/error:")
    held = None
    if name:
        try:
            held = contents.find(name)
        except ExplorerError as error:
            st.warning(f"Link value ignored: {sentence(str(error))}", icon=":material/link_off:")
    if held is None:
        _all()
    else:
        _one(held)


def _all() -> None:
    """Every lesson in a box."""
    st.title("Lessons")
    st.markdown(library.WHAT)
    with st.grid(2, min_column_width=320):
        for name in library.names():
            with troubles(), st.container(border=True, height="stretch"):
                _box(contents.find(name))
    if not visitors.uploads():
        return
    st.header("Make a lesson")
    st.markdown(
        "Open any page, set it as you like, and choose *Add this view to a lesson* in its sidebar. "
        "Or begin with a file:"
    )
    if st.button("New lesson", icon=":material/add:", key="lessons.new"):
        with troubles():
            text = NEW.read_text(encoding="utf-8")
            st.query_params[LESSON] = library.keep(text, editor=rights.editor())
            st.rerun()
    st.file_uploader("Lesson file", ["toml", "txt"], key=FILE, on_change=_bring, max_upload_size=1,
                     help="A file from *Download*, yours or a colleague's.")  # fmt: skip
    st.caption(f":material/group: {SHARED}")


def _bring() -> None:
    """Keeps a file that was chosen as a lesson of one's own, and opens it."""
    if (file := st.session_state.get(FILE)) is not None:
        _keep(lambda: library.read(file.getvalue()))


def _keep(read: Callable[[], str], name: str = "") -> None:
    """Keeps a text as a lesson, says how many mistakes it has, and opens it.

    Args:
        read: Gives the text.
        name: The lesson that it replaces, if its file is as the text began; empty for a new one of
            one's own.
    """
    try:
        text = read()
        began = f"{BEGAN}.{name}"
        if name in library.names() and contents.find(name).text != st.session_state.get(began):
            raise RequestError(
                "lesson: expected the file as this text began, got one that was changed meanwhile; "
                "copy what you changed, open this page again and paste it there"
            )
        st.query_params[LESSON] = (rights.do("edit a lesson", name, text) if name
                                   else library.keep(text, editor=rights.editor()))  # fmt: skip
        st.session_state[began] = text
    except ExplorerError as error:
        st.session_state[WRONG] = sentence(str(error))
        return
    wrong = schema.read(text)[1]
    more = f", with {words.plural(len(wrong), 'mistake')}" if wrong else ""
    st.session_state[SAID] = f"Saved{more}."


def _box(held: Held) -> None:
    """One lesson in the list."""
    st.subheader(held.title, anchor=False)
    if held.lesson is None:
        st.markdown(f":material/error: {words.escaped(held.mistakes[0])}")
        if more := len(held.mistakes) - 1:
            st.caption(f"And {words.plural(more, 'more mistake')}.")
    else:
        st.markdown(held.lesson.text)
        st.caption(contents.size(held.lesson))
    with st.container(horizontal=True):
        if held.lesson is not None and st.button(
            "Start", icon=":material/play_arrow:", key=f"start-{held.name}", type="primary"
        ):
            go.to(held.name, held.lesson, 1)
        if st.button("Details", key=f"open-{held.name}", type="tertiary"):
            st.query_params[LESSON] = held.name
            st.rerun()


def _one(held: Held) -> None:
    """One lesson: start, share, present, edit."""
    st.title(held.title, anchor=False)
    for mistake in held.mistakes:
        st.error(words.escaped(mistake), icon=":material/error:")
    if held.lesson is not None:
        st.markdown(held.lesson.text)
        _begin(held.name, held.lesson)
        for number, view in enumerate(held.lesson.views, 1):
            asked = " · a question" if view.question else ""
            address = view.address.replace("`", "")
            st.markdown(f"{number}. {view.text}  \n`{address}`{asked}")
        if rights.may("edit a lesson", held.name):
            with troubles():
                train.offer(held.lesson)
        _share(held, held.lesson)
    _edit(held)
    if st.button("All lessons", icon=":material/arrow_back:", key="lessons.all", type="tertiary"):
        st.query_params.clear()
        st.rerun()


def _begin(name: str, lesson: Lesson) -> None:
    """Start it, present it, or take it as a file, which holds its answers."""
    reads = rights.reads(name)
    with st.container(horizontal=True):
        if st.button("Start", icon=":material/play_arrow:", key="lessons.start", type="primary"):
            go.to(name, lesson, 1)
        if st.button("Present", icon=":material/slideshow:", key="lessons.present",
                     help="One chart, large type. Arrow and page keys move through the views, "
                     f"{NOTED * reads}Escape ends."):  # fmt: skip
            go.show(lesson.views[0], {LESSON: name, "view": "1", "present": "1"})
        if reads:
            st.download_button(
                "As one file", lambda: _file(name), f"{name}.html", "text/html", on_click="ignore",
                icon=":material/draft:", key="lessons.file",
                help="Its views with their charts and sliders. The file needs no server and no "
                "network, and prints as a handout.",
            )  # fmt: skip


def _file(name: str) -> str:
    """The lesson as one page, made when somebody asks for it."""
    from pages.ui.site import lesson  # draws every view: seconds that no other visit needs

    return lesson.text(name)


def _share(held: Held, lesson: Lesson) -> None:
    """The link and the class's answers."""
    name, path = held.name, library.path_of(held.name)
    st.markdown(f"Share this lesson by its address: `{rooted('/lessons')}?lesson={name}`")
    keys = [key for view in lesson.views if view.question for key in view.question.keys]
    if not rights.may("clear the answers", name):
        return
    if drawn := lessons.key(path):
        link = f"{rooted('/lessons')}?lesson={name}&{rights.KEY}={drawn}"
        st.markdown(f"With this link others can change it: `{link}`")
    if not keys:
        return
    with st.popover("Clear the class's answers", icon=":material/delete:"):
        sure = st.checkbox("Clear every answer to this lesson's questions")
        if st.button("Clear", disabled=not sure, key="lessons.forget"):
            with troubles():
                rights.do("clear the answers", name, keys)
                st.session_state[SAID] = "The answers are cleared."
                st.rerun()


def _edit(held: Held) -> None:
    """The file: to read and copy, and to change where it was made here; it holds the answers."""
    if not visitors.uploads():
        return
    with st.expander(
        "The file of this lesson", icon=":material/edit:", expanded=held.lesson is None
    ):
        mine = rights.may("edit a lesson", held.name)
        st.markdown(HOW)
        key, began = f"{TEXT}.{held.name}", f"{BEGAN}.{held.name}"
        typed = st.session_state.get(key)
        if typed is None or typed == st.session_state.get(began):  # nothing was changed here yet
            st.session_state[key] = st.session_state[began] = held.text
        st.text_area("Lesson file", height=420, key=key)
        with st.container(horizontal=True):
            st.download_button(
                "Download", held.text, f"{held.name}.toml", "text/plain", on_click="ignore",
                icon=":material/download:",
            )  # fmt: skip
            label = "Save" if mine else "Save as a lesson of your own"
            st.button(label, icon=":material/save:", key="lessons.save", on_click=_keep,
                      args=(lambda: str(st.session_state[key]), held.name if mine else ""),
                      type="primary")  # fmt: skip
            if mine:
                st.button("Delete", icon=":material/delete:", key="lessons.delete",
                          on_click=_delete, args=(held.name,))  # fmt: skip
        st.caption(f":material/group: {SHARED if mine or not held.own else OTHERS}")


def _delete(name: str) -> None:
    """Removes a lesson that was made here."""
    with troubles():
        rights.do("delete a lesson", name)
        st.query_params.clear()
        st.session_state[SAID] = "The lesson is deleted."
