"""The language of a session: what the address says, and what it said last."""

import streamlit as st

from pages.ui import messages
from pages.ui.kit.address import LANG

KEPT = "tongue.kept"


def _kept() -> str:
    return str(st.session_state.get(KEPT, messages.SOURCE))


def settle() -> None:
    """Reads the language of the address, or writes the one that was chosen into it."""
    messages.found_by(_kept)
    asked = st.query_params.get(LANG)
    if asked in messages.languages():
        st.session_state[KEPT] = asked
    elif _kept() != messages.SOURCE:
        st.query_params[LANG] = _kept()
    elif asked is not None:
        del st.query_params[LANG]


def offer() -> None:
    """The choice of a language, in the menu of pages that are translated."""
    codes = list(messages.languages())
    if len(codes) > 1:
        st.sidebar.selectbox(
            messages.tr("Language"), codes, codes.index(_kept()), key="tongue.chosen",
            format_func=messages.languages().__getitem__, on_change=_choose,
            help=messages.tr("Home, Learn and the labels of charts are translated."),
        )  # fmt: skip


def _choose() -> None:
    """Speaks the chosen language from now on, here and on every page."""
    st.session_state[KEPT] = st.query_params[LANG] = st.session_state["tongue.chosen"]
