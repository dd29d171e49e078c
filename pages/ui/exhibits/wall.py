"""Every table and figure at once: one picture of all printed numbers, then a line for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

import streamlit as st

from engine.catalog import catalog
from engine.core.errors import ExplorerError
from engine.runs.exhibit import Exhibit, written
from engine.runs.reference import Reference
from pages.ui.charts.rows import WITHIN, Strip, strips
from pages.ui.exhibits import PREFIX, overview, provenance
from pages.ui.exhibits.overview import BARE, RULE, Line
from pages.ui.kit.access import sentence
from pages.ui.kit.chart import chart
from pages.ui.kit.root import rooted

READ = (
    "Each dot is a printed number: 1 means that the same error was found here. Filled dots lie "
    "within 25 %; numbers that are not errors are compared directly. ✓ reproduced, (✓) with a "
    "caveat, × not reachable as printed."
)
SIGNS = {"reproduced": "✓", "caveat": "(✓)", "unreachable": "×"}
"""What stands behind the name of what is graded."""
EMPTY = {
    "shape": "no number", "open": "nothing ships", "ungraded": "not graded",
    "broken": "cannot be computed",
}  # fmt: skip
"""What stands in the row of what is not graded."""
BESIDE = "Beside the papers"
OTHERS = "Measured for this project, or published by other authors."
WIDTHS = (4, 7)


@dataclass(frozen=True)
class One:
    """A table or figure.

    Attributes:
        slug: Of its paper.
        exhibit: What it is.
        ships: What ships of it.
        line: What became of it.
        query: What its address says.
    """

    slug: str
    exhibit: Exhibit
    ships: Reference | None
    line: Line
    query: Mapping[str, str]

    @property
    def strip(self) -> Strip:
        """Its row of the picture."""
        kind, cells = self.line.kind, self.ships.cells if self.ships else ()
        ratios = [] if kind in BARE else overview.ratios(self.exhibit, cells)
        return Strip(self.exhibit.title, ratios, EMPTY.get(kind, ""), SIGNS.get(kind, ""))


def show(papers: Mapping[str, Mapping[str, Exhibit]]) -> None:
    """Draws the summary of all papers, whose exhibits are given by name."""
    groups = _groups(papers)
    rows = [
        row
        for title, _, some in groups
        for row in (Strip(f"<b>{title}</b>"), *(one.strip for one in some))
    ]
    lines = [one.line for _, _, some in groups for one in some]
    said = f"{near(rows)} {overview.total(lines)}"
    st.markdown(said)
    table = [{"": row.name, "Error here ÷ printed error": r} for row in rows for r in row.ratios]
    st.caption(READ)
    chart(f"{PREFIX}.wall", strips(rows), said, table, 0.0)
    with st.expander("How tables and figures are graded", icon=":material/info:"):
        st.markdown(f"{RULE}\n\n{overview.rest(lines)}")
    for title, citation, some in groups:
        own = some[0].slug if title != BESIDE else "beside"
        with st.container(key=f"{PREFIX}-{own}", border=True, gap="small"):
            st.markdown(f"#### {title}")
            st.caption(citation)
            for one in some:
                _row(one)


def _groups(papers: Mapping[str, Mapping[str, Exhibit]]) -> list[tuple[str, str, list[One]]]:
    """Titles and citations with their exhibits; what is beside a paper comes last, by itself.

    The first exhibit of a paper is what its address shows anyway. Naming it would make Streamlit
    rewrite the address, which adds a step for Back.
    """
    groups, beside = [], list[One]()
    for slug, known in papers.items():
        paper, own = catalog()[slug], list[One]()
        for place, exhibit in enumerate(known.values()):
            ships, line = _outcome(slug, exhibit)
            more = {f"{PREFIX}.{slug}": exhibit.title} if place else {}
            one = One(slug, exhibit, ships, line, {f"{PREFIX}.paper": paper.title, **more})
            (beside if exhibit.beside else own).append(one)
        groups.append((paper.title, paper.citation, own))
    return [group for group in (*groups, (BESIDE, OTHERS, beside)) if group[2]]


def _outcome(slug: str, exhibit: Exhibit) -> tuple[Reference | None, Line]:
    """What ships of an exhibit and what became of it; why it cannot be computed, if so."""
    ships = provenance.ships(slug, exhibit.name)
    try:
        with written():
            return ships, overview.line(exhibit, ships, simulated=overview.simulated(exhibit))
    except ExplorerError as error:
        return None, Line("broken", False, sentence(str(error)))


def near(rows: Sequence[Strip]) -> str:
    """How many of all printed numbers are met, in one sentence."""
    ratios = [ratio for row in rows for ratio in row.ratios]
    met = sum(abs(ratio - 1.0) <= WITHIN + 1e-9 for ratio in ratios)
    return f"**{met} of {len(ratios)}** printed numbers are matched to within 25\u00a0%."


def _row(one: One) -> None:
    """One exhibit: its link, and what became of it."""
    link, text = st.columns(WIDTHS, vertical_alignment="center")
    # An anchor, because Streamlit's own link to the same page leaves no step for Back.
    link.markdown(
        f'<a href="{rooted(f"/{PREFIX}")}?{urlencode(one.query)}" target="_self">'
        f"{escape(one.exhibit.title)}</a>",
        unsafe_allow_html=True,
    )
    text.markdown(overview.finding(one.line))
