"""The page of a paper: claim, knobs, curve, guarantee, and whatever the paper adds.

A page script is `paper.show("slug")`. A paper that draws something that no other paper has
declares it as LAYOUT in `pages/ui/papers/<slug>/layout.py`. Everything else comes from the
paper's declarations.
"""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine import catalog
from engine.method import Paper
from pages.ui.jobs import live
from pages.ui.jobs import submit as asking
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit import address, shell
from pages.ui.kit.access import troubles
from pages.ui.kit.knobs import pick
from pages.ui.paper import defaults, panels, sidebar
from pages.ui.paper.view import Layout, Page, Section, View, jobs, offers

GAUGE_HELP = "How the usefulness of the result is measured."
METHOD_HELP = "Its guarantee, its readings and its parameters are shown below."


def show(slug: str) -> None:
    """Draws the whole page of a paper.

    Args:
        slug: Key of the paper in the catalogue, and the page's name in the address.
    """
    shell.enter()
    paper, layout = catalog.paper(slug), defaults.layout(slug)
    offered = offers(paper, layout)
    dataset = str(address.value(slug, offered.dataset))
    free = [name for section in layout.sections for name in section.free(dataset)]
    address.settle(f"pages/{slug}.py", slug, offered.all, free)
    choices = sidebar.choose(paper, offered, layout)
    _heading(paper, layout)
    with troubles():
        wanted = jobs(paper, choices, offered.knobs[BUDGET].values, layout.by_hand)
        if layout.automatic and choices.dataset not in layout.ask_first:
            focus = {BUDGET: float(address.value(slug, offered.knobs[BUDGET]))}
            quick = {name: job for name, job in wanted.items() if name not in layout.by_hand}
            asking.start(quick, focus, layout.last)
        page = Page(slug, paper, layout, offered, choices, wanted)
        sidebar.finish(page)
        live.follow(_body, page)


def _heading(paper: Paper[Any], layout: Layout) -> None:
    """Title, what it is about, what the paper claims, and where."""
    st.title(paper.title)
    if layout.words:
        st.markdown(layout.words)
    st.caption(f"**The paper claims** {paper.claim} {paper.citation}.")


def _body(page: Page, watched: dict[str, Watched]) -> None:
    """Everything that follows the budget slider; alone redrawn when it moves.

    What needs a guarantee comes last, into places that are kept for it: an accountant may
    take a second for a budget that it has not seen, and no chart waits for it.
    """
    view, place = _controls(page, watched)
    late = [(place, panels.meaning)]
    live.panel(page.prefix, watched, {BUDGET: view.budget})

    def utility(view: View) -> None:
        pick(page.prefix, page.offers.gauge, "Measured by", GAUGE_HELP, st.container())
        panels.utility(page, view)
        late.append((st.container(), panels.caption))

    parts = [Section("What privacy costs", utility), *page.layout.sections]
    beside = Section("At this budget", panels.readings)
    for row in _rows([*parts[:2], beside, *parts[2:]]):
        columns = st.columns(len(row), gap="large")
        for column, section in zip(columns, row, strict=True):
            with column, troubles():
                st.subheader(section.title)
                section.draw(view)
    for place, draw in late:
        with place, troubles():
            draw(view)
    st.header("What stands behind these numbers")
    panels.guarantees(view)


def _rows(sections: list[Section]) -> list[list[Section]]:
    """Sections two in a row, a wide one alone."""
    rows: list[list[Section]] = []
    for section in sections:
        if section.wide or not rows or len(rows[-1]) == 2 or rows[-1][0].wide:
            rows.append([section])
        else:
            rows[-1].append(section)
    return rows


def _controls(page: Page, watched: dict[str, Watched]) -> tuple[View, DeltaGenerator]:
    """The budget and the method.

    Returns:
        What the sections draw from, and the place for what both mean.
    """
    with st.container(border=True):
        left, right = st.columns([3, 2], gap="large")
        with left:
            chosen = panels.budget(page)
            method = _method(page)
        gauge = str(address.value(page.prefix, page.offers.gauge))
        view = page.view(watched, chosen, method, gauge)
    return view, right


def _method(page: Page) -> str:
    """The method to look at closely."""
    offer = page.offers.method
    if len(offer.texts) == 1:
        return str(offer.values[0])
    text = pick(page.prefix, offer, "Look closely at", METHOD_HELP, st.container())
    return str(offer.value(text))
