"""The way to the engine: one client for all sessions, and its troubles in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import streamlit as st

from engine.client import Client
from engine.errors import ExplorerError, StoreError
from engine.store import home


def client() -> Client:
    """The client of this process's store; shared by all sessions."""
    return _client(str(home()))


@st.cache_resource(max_entries=4, show_spinner=False)
def _client(folder: str) -> Client:
    found = Client(Path(folder))
    with suppress(StoreError):  # what can be read is still shown; whoever writes says why not
        found.register_app()
    return found


@contextmanager
def troubles() -> Iterator[None]:
    """Shows an error of the engine as one sentence; the rest of the page goes on."""
    try:
        yield
    except ExplorerError as error:
        st.error(sentence(error), icon=":material/error:")


def sentence(error: ExplorerError) -> str:
    """An error as a sentence that ends."""
    text = str(error).strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
