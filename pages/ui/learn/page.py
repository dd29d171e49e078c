"""Differential privacy in ten minutes: one idea a screen, one control each."""

import streamlit as st

from pages.ui import words
from pages.ui.kit import glossary
from pages.ui.learn import deployments, screens
from pages.ui.learn.names import FORMULAS, ONLY, SCREENS

MINUTES = 10


def show() -> None:
    """Draws the page."""
    only = st.query_params.get(ONLY, "")
    if only in SCREENS:
        screen = screens.SCREENS[SCREENS.index(only)]
        st.title(screen.title, anchor=False)
        _screen(screen)
        st.page_link("pages/learn.py", label="All six ideas", icon=":material/school:")
        return
    st.title("Learn: what ε means")
    st.markdown(
        f"Six ideas, {MINUTES} minutes, no prior knowledge. Each idea has one control: move it and "
        "watch the picture."
    )
    st.toggle("Show formulas", key=FORMULAS, bind="query-params")
    for number, screen in enumerate(screens.SCREENS, 1):
        with st.container(border=True, key=f"learn-{screen.name}"):
            st.header(f"{number}. {screen.title}", anchor=screen.name)
            _screen(screen)
    _budgets()
    _glossary()


def _screen(screen: screens.Screen) -> None:
    """One idea without its heading."""
    st.markdown(screen.text)
    screen.draw()
    if st.session_state.get(FORMULAS):
        st.markdown(screen.formula)


def _budgets() -> None:
    """Published budgets, as context."""
    st.header("Budgets in use", anchor="budgets")
    st.markdown(
        "These budgets are examples, not advice: they protect different things, and some are "
        "spent again every day."
    )
    rows = deployments.LIST
    st.table(
        {
            "Organisation": [one.who for one in rows],
            "What": [one.what for one in rows],
            "ε": [one.epsilon for one in rows],
            "Protects": [one.protects for one in rows],
            "Source": [one.source for one in rows],
        },
        border="horizontal",
    )
    st.caption(f"{deployments.NOTE}{words.sideways(5)}")


def _glossary() -> None:
    """Every term, with an anchor that other pages link to."""
    st.header("Glossary", anchor="glossary")
    with st.grid(2, min_column_width=320):
        for term, text in glossary.TERMS.items():
            with st.container():
                st.subheader(term, anchor=glossary.anchor(term))
                st.markdown(text)
