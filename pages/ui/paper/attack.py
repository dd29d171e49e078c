"""What attacks on a method have shown: a lower bound on the budget that it really spends."""

import streamlit as st

from pages.ui.paper.view import Page, View

NOT_YET = "not yet"


def attacked(view: View) -> float | None:
    """The largest budget that an attack has shown the method to spend; None before any attack."""
    return None


def section(page: Page, view: View) -> None:
    """What attacks have shown of the method that is looked at."""
    st.markdown(f":material/swords: {view.entry.label} has not been attacked yet.")
