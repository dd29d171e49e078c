"""The page of a paper: its finding, the curve, tabs with what lies behind, the budget at its foot.

A page script is `paper.show("slug")`. A paper that draws something that no other paper has
declares it in `pages/ui/papers/<slug>/layout.toml`. Everything else comes from the paper's
declarations.
"""

from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine import catalog
from engine.method import Paper
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit import address, shell, skip, source
from pages.ui.kit.access import troubles
from pages.ui.kit.glossary import linked
from pages.ui.kit.knobs import pick
from pages.ui.messages import tr
from pages.ui.paper import (
    choice,
    defaults,
    failing,
    foot,
    former,
    kinds,
    panels,
    parts,
    pays,
    published,
    sidebar,
    stages,
    story,
    synthetic,
    total,
)
from pages.ui.paper.choice import PROOF_FIRST, Offers
from pages.ui.paper.view import COST, DATA, PROOF, WHY, Layout, Page, Section, View, offers

GAUGE_HELP = "How the usefulness of the result is measured."
METHOD_HELP = "The method whose guarantee, noise and results are shown."
BY_HELP = (
    "By claim: each point stands at the ε that its paper claims. By proof: at the ε that its noise "
    "proves, or in the column on the right if nothing can be proved."
)
LINES_HELP = (
    "Main lines: the paper's own method as printed and with proof, the best proved method, and no "
    "privacy. All others are thin and grey. Point at one to read its name, or choose it as method."
)
Places = tuple[DeltaGenerator, DeltaGenerator]


def show(slug: str) -> None:
    """Draws the whole page of a paper.

    Args:
        slug: Key of the paper in the catalogue, and the page's name in the address.
    """
    shell.enter()
    paper, layout = catalog.paper(slug), defaults.layout(slug)
    skip.link(f"{slug}.{BUDGET}", "Skip to the privacy budget")
    offered = _offered(paper, layout)
    chosen = choice.read(slug, offered)
    free = [name for section in layout.sections for name in section.free(chosen.dataset)]
    address.settle(shell.script(slug), slug, offered.all, free)
    sidebar.draw(paper, offered, layout, chosen)
    _heading(paper, layout)
    places = foot.place()
    with troubles():
        wanted = defaults.wanted(paper, layout, offered, chosen)
        page = Page(slug, paper, layout, offered, chosen, wanted)
        sidebar.finish(page)
        live.follow(
            lambda watched: _body(page, watched, places),
            f"{slug}.live",
            lambda: stages.shown(page, choice.read(slug, offered)),
        )


def _offered(paper: Paper[Any], layout: Layout) -> Offers:
    """What the widgets offer, with the defaults for the data set that is chosen."""
    slug = paper.slug
    dataset = str(address.value(slug, offers(paper, layout).dataset))
    before = str(st.session_state.get(f"{slug}.{address.TURNED}", dataset))
    now = offers(paper, layout, dataset)
    address.turn(slug, dataset, offers(paper, layout, before).knobs, now.knobs)
    return now


def _heading(paper: Paper[Any], layout: Layout) -> None:
    """The title, and on request what the paper is about, what it claims, and where."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.title(paper.title, anchor=False)
        with st.popover("About", icon=":material/info:", type="tertiary"):
            _about(paper, layout)


def _about(paper: Paper[Any], layout: Layout) -> None:
    if layout.words:
        st.markdown(layout.words)
    st.markdown(f"**The paper claims** {paper.claim}\n\n{paper.citation}.")


def _body(page: Page, watched: dict[str, Watched], places: Places) -> None:
    """Everything that follows the budget slider; alone redrawn when it moves.

    Only the open tab is drawn. What needs a guarantee comes last, into places that are kept for
    it: an accountant may take seconds for a budget that it has not seen, and no chart waits.
    """
    source.name(one.run.id for one in watched.values() if one.run is not None)
    slider, meaning = places
    with slider:
        foot.budget(page)
    prefix, offered = page.prefix, page.offers
    chosen = choice.read(prefix, offered)  # the widgets below move without the rest of the page
    if chosen.method != page.chosen.method:
        st.rerun()  # the sidebar begins with the settings of the method that is looked at
    source.publish(published.place(page, chosen))
    view = replace(page.view(watched, chosen), pick=lambda: _method(page))
    view = replace(view, former=former.ghosts(prefix, view))
    view = replace(view, up=former.axis(prefix, view))
    st.markdown(f"{panels.result(view) or page.layout.words}{former.stored(page, view)}")
    total.draw(prefix, watched, {BUDGET: view.budget})
    tabs = st.tabs(
        offered.tab.texts, default=offered.tab.default, key=f"{prefix}.tab", on_change="rerun",
        bind="query-params",
    )  # fmt: skip
    for name, tab in zip(offered.tab.texts, tabs, strict=True):
        if tab.open:
            with tab:
                _tab(page, view, name)
    with meaning, troubles():
        foot.meaning(view)
    grid = [float(value) for value in offered.knobs[BUDGET].values]
    panels.work_out(view, grid)


def _tab(page: Page, view: View, name: str) -> None:
    """What one tab holds."""
    if name == COST:
        _cost(page, view)
    else:
        own = any(section.picks for section in page.layout.sections if section.tab == name)
        if name != DATA and not own:
            _method(page)
        if name == PROOF:
            panels.guarantees(page, view)
        if name == page.layout.shows:
            pays.line(view)
    _sections(page, view, name)
    if name == WHY:
        failing.section(view)
    if name == DATA:
        sidebar.describe(view.data)
        with troubles():
            synthetic.section(page.prefix, view.data.name)


def _cost(page: Page, view: View) -> None:
    """The curve, what it is drawn by, what is under way, and on request every measure."""
    by_proof = view.by == PROOF_FIRST
    with st.container(key=f"{page.prefix}-story"):
        panels.utility(page, view, by_proof, below=lambda: _drawn_by(page))
        if told := page.layout.story(view):
            story.draw(page.prefix, told, view.budget)
    live.panel(page.prefix, view.watched, {BUDGET: view.budget})
    kinds.note(view.proved, view.measure)
    panels.caption(view)
    more = st.expander(
        "Every measure at this budget", icon=":material/straighten:", on_change="rerun",
        key=f"{page.prefix}.readings",
    )  # fmt: skip
    if more.open:
        with more:
            panels.readings(view)


def _drawn_by(page: Page) -> None:
    """Where points stand, the measure, and the method to look at."""
    by = page.offers.by
    with st.container(horizontal=True, vertical_alignment="top"):
        st.segmented_control(
            "Show ε as", by.texts, default=by.default, required=True, help=linked(BY_HELP),
            key=f"{page.prefix}.by", bind="query-params",
        )  # fmt: skip
        lines = page.offers.lines
        st.segmented_control(
            "Lines", lines.texts, default=lines.default, required=True, help=LINES_HELP,
            key=f"{page.prefix}.lines", bind="query-params",
        )  # fmt: skip
        pick(page.prefix, page.offers.gauge, "Measured by", GAUGE_HELP, st.container(width=240))
        _method(page)
        place = st.container(width=240)
        pick(page.prefix, page.offers.measure, kinds.TITLE, kinds.HELP, place)


def _method(page: Page) -> None:
    """The method to look at closely."""
    if len(page.offers.method.texts) > 1:
        pick(page.prefix, page.offers.method, "Method", METHOD_HELP, st.container(width=240))


def _sections(page: Page, view: View, tab: str) -> None:
    """The paper's own parts of a tab, two in a row."""
    for row in _rows([section for section in page.layout.sections if section.tab == tab]):
        columns = st.columns(len(row), gap="large")
        for column, section in zip(columns, row, strict=True):
            with column, troubles():
                st.subheader(tr(section.title), anchor=False)
                parts.draw(section, view)


def _rows(sections: list[Section]) -> list[list[Section]]:
    """Sections two in a row, a wide one alone."""
    rows: list[list[Section]] = []
    for section in sections:
        if section.wide or not rows or len(rows[-1]) == 2 or rows[-1][0].wide:
            rows.append([section])
        else:
            rows[-1].append(section)
    return rows
