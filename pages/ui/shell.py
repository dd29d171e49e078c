"""What every page does first."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

ENTERED = "shell.entered"


def mark() -> None:
    """Says that the app's entry script has run in this session."""
    st.session_state[ENTERED] = True


def enter() -> None:
    """Goes through the app's entry script if that has been left out.

    Streamlit looks for pages in this folder by itself until `st.navigation` is called for
    the first time. A fresh server whose first visitor follows a link to an inner page would
    run that page alone; running it again goes the right way.
    """
    if not st.session_state.get(ENTERED):
        mark()  # once is enough, whatever happens
        PagesManager.uses_pages_directory = False  # what `st.navigation` would have said
        st.rerun()
