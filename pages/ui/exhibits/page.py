"""The Reproduce page: choose an exhibit, see theirs beside ours, compute it again here.

A paper appears here as soon as it names its exhibits; nothing on this page knows which.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from engine.catalog import catalog
from engine.cli import shared
from engine.runs.exhibit import Cell, Exhibit, exhibits, written
from engine.runs.job import Job
from engine.runs.reference import Reference
from pages.ui import words
from pages.ui.charts import agreement
from pages.ui.charts import exhibit as drawing
from pages.ui.exhibits import PREFIX, attacks, overview, provenance, wall
from pages.ui.exhibits import table as layout
from pages.ui.exhibits.outcome import Chosen, jobs, shown
from pages.ui.exhibits.rerun import controls, panel, scratch
from pages.ui.jobs import clock, live
from pages.ui.jobs import submit as asking
from pages.ui.kit import address, source
from pages.ui.kit.access import troubles
from pages.ui.kit.offers import Offer
from pages.ui.kit.plot import plot
from pages.ui.paper import foot

PAGE = "pages/reproduce.py"
INTRODUCTION = (
    "The papers' tables and figures, with each printed number beside the one that the same "
    "settings give here. You can open or repeat every run behind them."
)
MISSING = "Only the paper's numbers are available. Run a quick version to add ours."
ALL = "All papers"
BEGUN, ANOTHER = "reproduce.begun", "reproduce.another"
"""What an exhibit begins with, by its name, and whether another one was just chosen."""
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZΑ-Ω])")
SHORT = 80
"""Letters in all that stand side by side; more go into a list."""
SOURCES = Offer(
    "from",
    ("Shipped with the app", "Full size, here", "Quick look, here"),
    ("shipped", "full", "quick"),
    "Shipped with the app",
)
SOURCE_HELP = (
    "Shipped numbers were computed at full size beforehand. Here means on this machine: at full "
    "size, or as a quick look with fewer repetitions or records."
)


def show() -> None:
    """Draws the page."""
    st.title("Reproduce", anchor=False)
    st.html(foot.STYLE + foot.BELOW_LOGO)
    st.markdown(INTRODUCTION)
    papers = _papers()
    if not papers:
        st.info("No paper has a table or figure here yet.", icon=":material/lightbulb:")
        return
    titles = {slug: catalog()[slug].title for slug in papers}
    which = Offer("paper", (ALL, *titles.values()), ("", *titles), ALL)
    within = {slug: _exhibits(slug, known) for slug, known in papers.items()}
    address.settle(PAGE, PREFIX, [which, *within.values(), SOURCES])
    slug = _choose("Paper", which)
    if not slug:
        st.session_state.pop(ANOTHER, None)
        wall.show(papers)
        attacks.show()
        return
    exhibit = papers[slug][_choose("Table or figure", within[slug])]
    st.caption(catalog()[slug].citation)
    with troubles():
        st.header(exhibit.title)
        ships = provenance.ships(slug, exhibit.name)
        with written():
            sizes = {size: jobs(exhibit, size == "full") for size in ("full", "quick")}
            simulated = overview.simulated(exhibit)
            line = overview.line(exhibit, ships, simulated=simulated)
        st.markdown(overview.finding(line))
        _explain(exhibit.caption)
        _about(sizes["full"])
        source = "formula"
        if sizes["full"]:
            with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
                offered = _sources(f"{slug}/{exhibit.name}", sizes, ships)
                source = _choose("Our numbers", offered, SOURCE_HELP)
                controls(sizes, ships.seconds if ships else 0.0, _again)
        wanted = sizes["quick" if source == "quick" else "full"]
        chosen = Chosen(slug, exhibit, source, wanted, ships)
        ticking = chosen.here and any(one.active for one in chosen.watched().values())
        st.fragment(_body, run_every=clock.pace() if ticking else None)(chosen, ticking)


def _papers() -> dict[str, dict[str, Exhibit]]:
    """Every paper's exhibits by name; of a paper whose exhibits cannot be read, why."""
    papers = {}
    for slug in catalog():
        with troubles():
            if known := exhibits(slug):
                papers[slug] = known
    return papers


def _explain(caption: str) -> None:
    """The first two sentences of a caption, and the rest on request."""
    sentences = SENTENCE.split(caption)
    st.markdown(" ".join(sentences[:2]))
    if more := " ".join(sentences[2:]):
        with st.expander("How the numbers were made", icon=":material/info:"):
            st.markdown(more)


def _exhibits(slug: str, known: Mapping[str, Exhibit]) -> Offer:
    titles = tuple(exhibit.title for exhibit in known.values())
    return Offer(slug, titles, tuple(known), titles[0])


def _choose(title: str, offer: Offer, help: str | None = None) -> str:
    """What is chosen, side by side if the texts are short; another begins with what ships."""
    more: dict[str, Any] = {
        "key": f"{PREFIX}.{offer.field}", "bind": "query-params",
        "on_change": None if offer.field == SOURCES.field else _reset,
    }  # fmt: skip
    if sum(map(len, offer.texts)) > SHORT:
        text = st.selectbox(title, offer.texts, offer.texts.index(offer.default), **more)
    else:
        text = st.segmented_control(
            title, offer.texts, default=offer.default, required=True, help=help, wrap=True, **more
        )
    return str(offer.value(str(text)))


def _sources(name: str, sizes: Mapping[str, Mapping[str, Job]], ships: Reference | None) -> Offer:
    """Where the numbers of an exhibit may come from; another one begins with what is there.

    What it begins with stays while it is open, so that the address says what is chosen.
    """
    key, begun = f"{PREFIX}.{SOURCES.field}", st.session_state.get(BEGUN, {})
    if name not in begun or key not in st.session_state:
        begun = {name: SOURCES.text(_there(sizes, ships))}
        st.session_state[BEGUN] = begun
    if st.session_state.pop(ANOTHER, False):
        st.session_state[key] = begun[name]
    return replace(SOURCES, default=begun[name])


def _there(sizes: Mapping[str, Mapping[str, Job]], ships: Reference | None) -> str:
    """What ships; where nothing does, the size of which more runs are here, if any is."""
    if ships is not None:
        return "shipped"
    parts = {size: _part(wanted) for size, wanted in sizes.items()}
    return max(parts, key=lambda size: parts[size]) if any(parts.values()) else "shipped"


def _part(wanted: Mapping[str, Job]) -> float:
    """The part of some jobs that somebody has asked for."""
    watched = live.watch(wanted, {name: name for name in wanted})
    return sum(one.run is not None for one in watched.values()) / max(1, len(watched))


def _reset() -> None:
    st.session_state[f"{PREFIX}.{SOURCES.field}"] = SOURCES.default
    st.session_state[ANOTHER] = True


def _again(size: str, wanted: Mapping[str, Job]) -> None:
    """Asks for the jobs of a size that are not done, and shows what comes of them."""
    asking.restart(wanted.values(), {})
    st.session_state[f"{PREFIX}.from"] = SOURCES.text(size)


def _about(wanted: Mapping[str, Job]) -> None:
    """Marks an exhibit that rests on simulated records."""
    if names := provenance.simulated(wanted):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("Simulated data", icon=":material/casino:", color="violet")
            st.caption(f"No real person's record is in {names}.", width="content")


def _body(chosen: Chosen, ticking: bool) -> None:
    """Progress and numbers; alone redrawn while runs are under way."""
    with troubles():
        watched = chosen.watched()
        if chosen.here and ticking != any(one.active for one in watched.values()):
            st.rerun()  # the clock starts or stops with the work
        if chosen.here:
            panel(watched)
        elif chosen.source == "shipped" and chosen.ships is None:
            st.info(MISSING, icon=":material/lightbulb:")
        cells, origin = shown(chosen, watched)
        _numbers(chosen, cells, origin)
        with st.container(horizontal=True):
            _take(chosen, cells)
            if chosen.here:
                scratch(watched)
        provenance.show(chosen.slug, chosen.exhibit, watched, chosen.source != "quick")


def _numbers(chosen: Chosen, cells: Sequence[Cell], origin: str) -> None:
    """The table or the figure, how near it comes to the paper, and its origin."""
    exhibit = chosen.exhibit
    if exhibit.axis:
        revision = f"{chosen.slug}/{exhibit.name}"
        figure = drawing.plot(exhibit, cells, revision, _lines(revision, exhibit, cells))
        said = drawing.reading(exhibit, cells)
        plot(figure.to_json(), f"{PREFIX}.{revision}", said, source.line())
        if any(agreement.known(cell.spread) for cell in cells):
            st.caption("Bands: ± one standard deviation over the repetitions (random seeds).")
    else:
        better = drawing.DIRECTION.get(exhibit.better, "")
        st.markdown(f"**{exhibit.quantity}**{better}")
        table = layout.table(exhibit, cells)
        st.table(
            table, hide_index=True, border="horizontal", alt=drawing.reading(exhibit, cells),
            width="stretch" if len(table) > words.FEW_COLUMNS else "content",
        )  # fmt: skip
        st.caption(f"{agreement.legend(exhibit, cells)}{words.sideways(len(table))}")
    if text := agreement.summary(exhibit, cells):
        st.markdown(text)
    for note in exhibit.notes:
        quote = f" “{note.quote}”" if note.quote else ""
        where = f" ({note.source})" if note.source else ""
        st.markdown(f"- **{note.row}**: {note.text}{quote}{where}")
    if origin:
        st.caption(origin)
    _rows(chosen, cells)


def _lines(key: str, exhibit: Exhibit, cells: Sequence[Cell]) -> Sequence[str]:
    """Which of our lines are drawn: all of a few, else the first ones and whatever is chosen."""
    names = drawing.names(exhibit, cells)
    if len(names) <= drawing.MOST:
        return names
    with st.popover(f"Choose among {len(names)} lines", icon=":material/stacked_line_chart:"):
        return st.multiselect(
            "Lines in the chart", names, names[: drawing.MOST], key=f"{PREFIX}.{key}.lines"
        )


def _rows(chosen: Chosen, cells: Sequence[Cell]) -> None:
    """The same numbers as rows."""
    rows = layout.rows(chosen.exhibit, cells)
    twin = st.expander(
        "All numbers as rows", key=f"{PREFIX}.rows", on_change="rerun",
        icon=":material/table_rows:",
    )  # fmt: skip
    if twin.open:
        twin.dataframe(rows, hide_index=True, alt=drawing.reading(chosen.exhibit, cells))


def _take(chosen: Chosen, cells: Sequence[Cell]) -> None:
    """A button for the same numbers as a file."""
    rows = layout.rows(chosen.exhibit, cells)
    name = f"{chosen.slug}-{chosen.exhibit.name}-{chosen.source}.csv"
    st.download_button(
        "Download as CSV", lambda: spreadsheet(rows), name, "text/csv", key=f"{PREFIX}.csv",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def spreadsheet(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as comma-separated values, none of which is a formula."""
    return shared.spreadsheet(rows[0] if rows else (), (row.values() for row in rows))
