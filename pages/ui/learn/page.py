"""Differential privacy in ten minutes: one idea a screen, which asks before it shows."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from engine.service.watching import Stage
from pages.ui import words
from pages.ui.jobs import live
from pages.ui.jobs.live import Shown, Watched
from pages.ui.kit import address, glossary, labels, shell, source
from pages.ui.kit.access import troubles
from pages.ui.kit.address import PRESENT
from pages.ui.kit.chart import chart
from pages.ui.kit.lock import locked
from pages.ui.learn import ask, deployments, game, maths, pictures
from pages.ui.learn.declared import FORMULAS, ONLY, SCREENS, WORDS, Screen, filled
from pages.ui.messages import tr

RUN = "clipping"
"""The screen that shows a run."""


def show() -> None:
    """Draws the page."""
    only = st.query_params.get(ONLY, "")
    if only in SCREENS:
        st.title(filled(SCREENS[only].title), anchor=False)
        _screen(SCREENS[only])
        st.page_link("pages/learn.py", label=tr("All seven ideas"), icon=":material/school:")
        return
    st.title(tr("Learn: what ε means"))
    st.markdown(filled(WORDS["intro"]))
    st.caption(filled(WORDS["session"]))
    st.toggle(tr("Show formulas"), key=FORMULAS, bind="query-params")
    ask.quiz(ask.BEFORE)
    for number, screen in enumerate(SCREENS.values(), 1):
        with st.container(border=True, key=f"learn-{screen.name}"):
            st.header(f"{number}. {filled(screen.title)}", anchor=screen.name)
            _screen(screen)
    ask.quiz(ask.AFTER)
    _budgets()
    _glossary()


def _screen(screen: Screen) -> None:
    """One idea without its heading: its text and answer, its question, and then its picture."""
    with st.container(key=f"learn-text-{screen.name}"):
        st.markdown(filled(screen.text))
        if screen.name != RUN:  # whose answer follows the run
            ask.reveal(screen, None)
    if ask.waits(screen):
        ask.predict(screen)
    elif not pictures.options(screen):
        st.markdown(screen.says("nothing"))
    elif screen.name == RUN:
        with troubles():
            job = maths.clipping()
            shown = Shown({"laplace": job}, {"laplace": "Laplace"}, asks=((job, Stage.FULL),))
            live.follow(lambda: live.Part(lambda: shown, partial(_moving, screen)), "learn.live")
    else:
        st.fragment(_moving)(screen, {})
    if st.session_state.get(FORMULAS):
        st.markdown(tr(screen.formula))


def _moving(screen: Screen, watched: dict[str, Watched]) -> None:
    """The control, and what it shows; of a run the answer too."""
    one = watched.get("laplace")
    results = None if one is None else one.results
    if screen.name == RUN:
        ask.reveal(screen, results)
    text = _control(screen)
    source.publish(f"learn/index.html?{urlencode({screen.control.key: text})}")
    shown = pictures.DRAWN[screen.name](screen, text, results)
    if screen.plays:
        game.draw(screen, text, shown)
        return
    if shown.image:
        st.image(shown.image, width=600, alt=screen.says("alt", shown.facts))
    with st.container(key=f"learn-{screen.name}-finding", gap=None):
        st.markdown(said := screen.says("finding", shown.facts))
    if shown.figure is not None:
        source.name(() if one is None else [one.job.id])
        key, presented = f"{screen.control.key}.chart", st.query_params.get(PRESENT) == "1"
        chart(key, shown.figure, said, shown.rows, shown.budget, fit=presented)
        source.name(())
    if shown.more:
        st.markdown(shown.more)
    if caption := screen.says("caption", shown.facts):
        st.caption(caption)
    if shown.leads:
        st.page_link(shell.script(shown.leads), label=screen.says("open"),
                     icon=":material/arrow_forward:")  # fmt: skip


def _control(screen: Screen) -> str:
    """The text that the control stands at; the address holds it."""
    key, label, help = screen.control.key, filled(screen.control.label), filled(screen.control.help)
    stops, first = pictures.options(screen), pictures.first(screen)
    if screen.control.lists:
        return _listed(key, label, help, stops, first)
    return str(st.select_slider(label, stops, first, key=key, help=help, bind="query-params",
                                disabled=locked(key)))  # fmt: skip


def _listed(key: str, label: str, help: str, stops: Sequence[str], first: str) -> str:
    """A list of names: in the visitor's language here, and in English in the address.

    Streamlit would write into the address what the list shows, which other languages do not offer.
    """
    names, said = {one: labels.label(one) for one in stops}, st.query_params.get(key, first)
    chosen = next((one for one in stops if said in (one, names[one])), first)
    st.session_state[key] = chosen
    st.selectbox(
        label, stops, key=key, help=help, format_func=names.__getitem__, disabled=locked(key),
        on_change=lambda: address.say(key, str(st.session_state[key]), first),
    )  # fmt: skip
    return chosen


def _budgets() -> None:
    """Published budgets, as context."""
    st.header(tr("Budgets in use"), anchor="budgets")
    st.markdown(
        tr(
            "These budgets are examples, not advice: they protect different things, and some are "
            "spent again every day."
        )
    )
    rows, note = deployments.shown()
    st.table(rows, border="horizontal")
    st.caption(f"{note}{words.sideways(5)}")


def _glossary() -> None:
    """Every term, with an anchor that other pages link to."""
    st.header(tr("Glossary"), anchor="glossary")
    with st.grid(2, min_column_width=320):
        for term, text in glossary.TERMS.items():
            with st.container():
                st.subheader(tr(term), anchor=glossary.anchor(term))
                st.markdown(tr(text))
