"""The page of a paper: its finding, the curve, tabs with what lies behind, the budget at its foot.

A page script is `paper.show("slug")`. A paper that draws something that no other paper has
declares it in `pages/ui/papers/<slug>/layout.toml`. Everything else comes from the paper's
declarations.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine import catalog
from engine.method import Paper
from pages.ui import words
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.jobs.moving import Moving
from pages.ui.kit import address, chart, shell, skip, source
from pages.ui.kit.access import troubles
from pages.ui.kit.glossary import linked
from pages.ui.kit.knobs import either, menu, pick
from pages.ui.messages import tr
from pages.ui.paper import (
    choice,
    defaults,
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
from pages.ui.paper.choice import ALL, BY, FEW_LINES, MAIN, PROOF_FIRST, Offers
from pages.ui.paper.view import COST, DATA, PROOF, WHY, Layout, Page, Section, View, offers

BACK = "back"
"""Ends the key of the budget to which the address has moved the slider."""
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
    drawing, last = sidebar.Drawing(foot.place()), list[Page]()
    redraw = partial(sidebar.redraw, slug, layout, drawing)
    sidebar.draw(paper, offered, layout, chosen, redraw)
    _heading(paper, layout)

    def part() -> live.Part:
        return _part(opened(), chosen.method, drawing.place)

    def opened() -> Page:
        now = choice.read(slug, offered)
        if not last or last[0].chosen != now:
            wanted = defaults.wanted(paper, layout, offered, now)
            fewer = defaults.fewer(paper, layout, offered, now, wanted)
            last[:] = [Page(slug, paper, layout, offered, now, wanted, fewer, redraw)]
        return last[0]

    with troubles():
        sidebar.finish(slug, layout, opened)
    live.follow(part, sidebar.live(slug))
    drawing.over = True


def _part(page: Page, method: str, place: DeltaGenerator) -> live.Part:
    """Everything that follows the runs.

    Args:
        page: The page as its sliders stand now.
        method: The method whose settings stand in the sidebar.
        place: Where the slider and its meaning go.
    """
    if page.chosen.method != method:
        st.rerun()  # the sidebar begins with the settings of the method that is looked at
    return live.Part(
        lambda: stages.shown(page, choice.read(page.prefix, page.offers)),
        lambda watched: _body(page, watched, place),
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
            if layout.words:
                st.markdown(layout.words)
            st.markdown(f"**The paper claims** {paper.claim}\n\n{paper.citation}.")


def _body(page: Page, watched: dict[str, Watched], place: DeltaGenerator) -> Moving[View]:
    """Everything that follows the runs, with places for what follows the budget slider too.

    Only the open tab is drawn. What needs a guarantee comes last, into places that are kept for
    it: an accountant may take seconds for a budget that it has not seen, and no chart waits.
    """
    moving = Moving(lambda: _view(page, watched))
    with place:  # the places within belong to this part: they are there whenever it is drawn
        slider, meaning = foot.halves()
    prefix, tab, focus = page.prefix, page.offers.tab, {BUDGET: moving.now.budget}
    with slider:
        moving.piece(partial(_slider, page, focus), foot.beside(page))
    moving.piece(partial(_said, page), moving.own)
    total.draw(prefix, watched, focus, waits=moving.now.waits)
    tabs = st.tabs(
        tab.texts, default=tab.default, key=f"{prefix}.tab", on_change="rerun", bind="query-params",
    )  # fmt: skip
    for name, one in zip(tab.texts, tabs, strict=True):
        if one.open:
            with one:
                _tab(page, moving, name, focus)
    moving.piece(foot.meaning, meaning)
    moving.piece(partial(_end, page))
    return moving


def _slider(page: Page, focus: dict[str, float], view: View) -> None:
    """The budget slider; where its address has moved it, all is drawn again, once.

    Back in the browser does so, and the slider reads its address only when it is drawn: after the
    view was made.
    """
    focus[BUDGET] = foot.slider(page)
    before = st.session_state.pop(key := f"{page.prefix}.{BACK}", None)
    if focus[BUDGET] not in (view.budget, before):
        st.session_state[key] = focus[BUDGET]
        st.rerun()


def _end(page: Page, view: View) -> None:
    """Asks for the guarantees that the curve lacks, once all else is there."""
    panels.work_out(view, [float(value) for value in page.offers.knobs[BUDGET].values])


def _view(page: Page, watched: dict[str, Watched]) -> View:
    """What the sections draw from: the widgets below the slider move without the whole page."""
    source.name(one.run.id for one in watched.values() if one.run is not None)
    chosen = choice.read(page.prefix, page.offers)
    if chosen.method != page.chosen.method:
        st.rerun()  # a list of methods among the pieces says another one
    source.publish(published.place(page, chosen))
    view = replace(page.view(watched, chosen), pick=lambda: _method(page))
    view = replace(view, former=former.ghosts(page.prefix, view))
    return replace(view, up=former.axis(page.prefix, view))


def _said(page: Page, view: View) -> None:
    """The sentence, in a place that a script tells screen readers to follow."""
    with st.container(key=f"{page.prefix}-finding", gap=None):
        st.markdown(_finding(page, view))


def _finding(page: Page, view: View) -> str:
    """The sentence above the chart, with a mark where nobody's data are behind it."""
    said = panels.result(view) or page.layout.words
    return f"{said}{former.stored(page, view)}{words.simulated(view.data.simulated)}"


def _tab(page: Page, moving: Moving[View], name: str, focus: Mapping[str, float]) -> None:
    """What one tab holds."""
    if name == COST:
        _cost(page, moving, focus)
    else:
        own = any(section.picks for section in page.layout.sections if section.tab == name)
        if name != DATA and not own:
            _method(page)
        if name == PROOF:
            moving.piece(lambda view: panels.guarantees(page, view))
    if name == _stands(page, page.layout.shows):
        moving.piece(pays.line)
    _sections(page, moving, name)
    if name == _stands(page, WHY):
        moving.piece(panels.failing)
    if name == DATA:
        data = moving.now.data
        sidebar.describe(data)
        with troubles():
            synthetic.section(page.prefix, data.name)


def _stands(page: Page, tab: str) -> str:
    """The tab for what every paper shows in the tab of that name: where it has none, the first."""
    return tab if tab in page.layout.tabs else COST


def _cost(page: Page, moving: Moving[View], focus: Mapping[str, float]) -> None:
    """The curve, what it is drawn by, what is under way, and on request every measure."""
    curve = partial(panels.curve, page, fit=True)
    key = f"{page.prefix}.{panels.CURVE}"
    with st.container(key=f"{page.prefix}-story"):
        moving.piece(lambda view: chart.draw(key, curve(view)), first=True)
        table = _drawn_by(page, key)
        if table.open:
            moving.piece(lambda view: chart.tell(table, key, curve(view)), table)
        st.html(story.STYLE)
        moving.piece(lambda view: story.draw(view, page.layout.story(view.left)))
    moving.last(lambda: live.panel(page.prefix, moving.now.watched, focus))
    moving.piece(panels.caption)
    more = st.expander(
        panels.READINGS, icon=":material/straighten:", on_change="rerun",
        key=f"{page.prefix}.readings",
    )  # fmt: skip
    if more.open:
        moving.piece(panels.readings, more)


def _drawn_by(page: Page, key: str) -> Any:
    """Which lines there are, and what the axes show; returns the opener of the numbers."""
    names = {ALL: f"All {len(page.paper.methods)} methods", FEW_LINES: FEW_LINES}
    with st.container(horizontal=True):
        _method(page)
        if len(page.paper.methods) > MAIN:
            icon = ":material/stacked_line_chart:"
            either(page.prefix, page.offers.lines, names, LINES_HELP, icon)
        _axes(page)
        return chart.opener(key)


def _axes(page: Page) -> None:
    """What the chart measures, and how its horizontal axis is to be read."""
    with st.popover("Axes", icon=":material/straighten:", type="tertiary"):
        pick(page.prefix, page.offers.gauge, "Measured by", GAUGE_HELP, st.container().selectbox)
        scales(page.prefix)


def scales(prefix: str) -> tuple[str, str]:
    """Asks how the horizontal axis is to be read: whose ε, and as which measure of privacy."""
    by = st.segmented_control(
        "Show ε as", BY, default=PROOF_FIRST, required=True, help=linked(BY_HELP),
        key=f"{prefix}.by", bind="query-params",
    )  # fmt: skip
    return str(by), pick(prefix, kinds.MEASURES, kinds.TITLE, kinds.HELP, st.container().selectbox)


def _method(page: Page) -> None:
    """The method to look at closely."""
    if len(page.offers.method.texts) > 1:
        menu(page.prefix, page.offers.method, "Method", METHOD_HELP, ":material/timeline:")


def _sections(page: Page, moving: Moving[View], tab: str) -> None:
    """The paper's own parts of a tab, two in a row."""
    for row in _rows([section for section in page.layout.sections if section.tab == tab]):
        columns = st.columns(len(row), gap="large")
        for column, section in zip(columns, row, strict=True):
            with column:
                st.subheader(tr(section.title), anchor=False)
                moving.piece(partial(parts.draw, section))


def _rows(sections: list[Section]) -> list[list[Section]]:
    """Sections two in a row, a wide one alone."""
    rows: list[list[Section]] = []
    for section in sections:
        if section.wide or not rows or len(rows[-1]) == 2 or rows[-1][0].wide:
            rows.append([section])
        else:
            rows[-1].append(section)
    return rows
