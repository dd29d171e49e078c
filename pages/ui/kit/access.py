"""The way to the engine: one client for all sessions, and its troubles in one sentence."""

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import streamlit as st

from engine.core.errors import ExplorerError, StoreError
from engine.core.home import home
from engine.service.board import Board
from engine.service.client import Client
from pages.ui.words import escaped

SHOWN = "access.shown"
FIELD = re.compile(r"^\w+(?=:)")


def client() -> Client:
    """The client of this process's store; shared by all sessions."""
    return _client(str(home()))


def board() -> Board:
    """What this process last saw of its store; shared by all sessions."""
    return _board(str(home()))


@functools.lru_cache(maxsize=4)
def _board(folder: str) -> Board:
    return Board(_client(folder))


@functools.lru_cache(maxsize=4)
def _client(folder: str) -> Client:
    opened = Client(Path(folder))
    with suppress(StoreError):  # what can be read is still shown; a write says why not
        opened.register_app()
    return opened


@contextmanager
def troubles() -> Iterator[None]:
    """Shows an error of the engine as one sentence; the rest of the page goes on.

    What has been said since `afresh` is not said again: many parts of a page ask the same.
    """
    try:
        yield
    except ExplorerError as error:
        text = sentence(str(error))
        shown = st.session_state.setdefault(SHOWN, set())
        if text in shown:
            st.markdown(":material/error: This setting is not available: see the message above.")
        else:
            shown.add(text)
            st.error(text, icon=":material/error:")


def afresh() -> None:
    """Forgets what has been said: a page, or a part of it, is drawn again."""
    st.session_state[SHOWN] = set()


def sentence(error: str) -> str:
    """The text of an error as a sentence: it begins large and ends; a field is named in words.

    It may repeat what a user's file or address says, so nothing in it is more than words.
    """
    text = FIELD.sub(lambda match: match[0].replace("_", " "), error.strip().rstrip("."))
    return f"{escaped(text[:1].upper() + text[1:])}." if text else ""
