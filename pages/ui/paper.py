"""The page of a paper: claim, knobs, curve, guarantee, and whatever the paper adds.

A page script is `paper.show("slug")`, with a `Layout` where it draws something that no
other paper has. Everything else comes from the paper's declarations.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from datasets import catalog as data_catalog
from engine import catalog
from engine.job import Job
from engine.method import Paper
from pages.ui import address, live, panels, shell, sidebar
from pages.ui.access import troubles
from pages.ui.knobs import pick
from pages.ui.live import BUDGET
from pages.ui.view import Choices, Layout, Offers, View, jobs, offers


@dataclass(frozen=True)
class Page:
    """What stays as it is while the budget slider moves."""

    paper: Paper[Any]
    layout: Layout
    offers: Offers
    choices: Choices
    jobs: dict[str, Job]
    ticking: bool


def show(slug: str, layout: Layout | None = None) -> None:
    """Draws the whole page of a paper.

    Args:
        slug: Key of the paper in the catalogue, and the page's name in the address.
        layout: What differs from the common page.
    """
    shell.enter()
    paper, layout = catalog.paper(slug), layout or Layout()
    offered = offers(paper, layout)
    dataset = _dataset(slug, offered)
    free = [name for section in layout.sections for name in section.free(dataset)]
    address.settle(f"pages/{slug}.py", slug, offered.all, free)
    choices = sidebar.choose(paper, offered, layout)
    _heading(paper)
    with troubles():
        wanted = jobs(paper, choices, offered.knobs[BUDGET].values)
        focus = {BUDGET: _budget(slug, offered)}
        if layout.automatic:
            live.start(wanted, focus)
        ticking = any(one.active for one in live.watch(wanted, _labels(paper)).values())
        page = Page(paper, layout, offered, choices, wanted, ticking)
        st.fragment(_body, run_every=live.TICK if ticking else None)(page)


def glance(slug: str, gauge: str) -> None:
    """Draws only the budget slider and the curve of a paper, with its default settings.

    Args:
        slug: Key of the paper.
        gauge: What the curve shows.
    """
    paper = catalog.paper(slug)
    offered = offers(paper, Layout())
    choices = Choices(paper.datasets[0], {}, Layout().repeats)
    with troubles():
        wanted = jobs(paper, choices, offered.knobs[BUDGET].values)
        live.start(wanted, {BUDGET: _budget(slug, offered)})
        ticking = any(one.active for one in live.watch(wanted, _labels(paper)).values())
        page = Page(paper, Layout(), offered, choices, wanted, ticking)
        st.fragment(_glance, run_every=live.TICK if ticking else None)(page, gauge)


def _glance(page: Page, gauge: str) -> None:
    """The slider, what it means, and the curve."""
    with troubles():
        watched = live.watch(page.jobs, _labels(page.paper))
        if page.ticking != any(one.active for one in watched.values()):
            st.rerun()
        left, right = st.columns([5, 3], gap="large")
        with right:
            chosen = panels.budget(page.paper, page.offers)
            method = str(page.offers.method.values[0])
            view = _view(page, watched, chosen, method, gauge)
            panels.meaning(view)
            live.panel(page.paper.slug, watched, {BUDGET: chosen})
        with left:
            panels.utility(view, page.offers)


def _view(
    page: Page, watched: dict[str, live.Watched], chosen: float, method: str, gauge: str
) -> View:
    """What the sections draw from."""
    return View(
        paper=page.paper,
        data=data_catalog.card(page.choices.dataset),
        spec=page.jobs[method].spec().replace(**{BUDGET: chosen}),
        method=method,
        gauge=gauge,
        watched=watched,
    )


def _dataset(slug: str, offered: Offers) -> str:
    """The data set that the address or the widget says, before either is settled."""
    text = st.session_state.get(f"{slug}.dataset") or st.query_params.get(f"{slug}.dataset", "")
    return str(offered.dataset.value(offered.dataset.read(str(text))[0]))


def _budget(slug: str, offered: Offers) -> float:
    """The budget under the slider, before the slider is drawn."""
    offer = offered.knobs[BUDGET]
    text = st.session_state.get(f"{slug}.{BUDGET}") or st.query_params.get(f"{slug}.{BUDGET}", "")
    return float(offer.value(offer.read(str(text))[0]))


def _labels(paper: Paper[Any]) -> dict[str, str]:
    return {entry.name: entry.label for entry in paper.methods}


def _heading(paper: Paper[Any]) -> None:
    """Title, claim and source."""
    st.title(paper.title)
    st.markdown(paper.claim)
    st.caption(paper.citation)


def _body(page: Page) -> None:
    """Everything that follows the budget slider; alone redrawn when it moves."""
    with troubles():
        watched = live.watch(page.jobs, _labels(page.paper))
        if page.ticking != any(one.active for one in watched.values()):
            st.rerun()  # the clock starts or stops with the work
        view = _controls(page, watched)
        live.panel(page.paper.slug, watched, {BUDGET: view.budget})
        _utility(page, view)
        for section in page.layout.sections:
            st.header(section.title)
            section.draw(view)
        st.header("What stands behind these numbers")
        panels.guarantees(view)


def _controls(page: Page, watched: dict[str, live.Watched]) -> View:
    """The budget, the method and what both mean; returns what the sections draw from."""
    slug, offered = page.paper.slug, page.offers
    with st.container(border=True, key=f"{slug}.controls"):
        left, right = st.columns([3, 2], gap="large")
        with left:
            chosen = panels.budget(page.paper, offered)
            method = _method(page)
        gauge = st.session_state.get(f"{slug}.gauge") or offered.gauge.default
        view = _view(page, watched, chosen, method, str(offered.gauge.value(gauge)))
        with right:
            panels.meaning(view)
    return view


def _method(page: Page) -> str:
    """The method to look at closely."""
    offer = page.offers.method
    help = "Its guarantee, its readings and its parameters are shown below."
    if len(offer.texts) == 1:
        return str(offer.values[0])
    return str(offer.value(pick(page.paper.slug, offer, "Look closely at", help, st.container())))


def _utility(page: Page, view: View) -> None:
    """The curve and, beside it, the readings at the chosen budget."""
    st.header("What privacy costs")
    left, right = st.columns([13, 6], gap="large")
    with left:
        pick(page.paper.slug, page.offers.gauge, "Measured by", GAUGE_HELP, st.container())
        panels.utility(view, page.offers)
        panels.caption(view)
    with right:
        panels.readings(view)


GAUGE_HELP = "How the usefulness of the result is measured."
