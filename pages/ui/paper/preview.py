"""A preview of a paper: the budget slider and one curve, for pages that lead on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import streamlit as st

from engine import catalog
from engine.core.spec import Value
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit import address, source
from pages.ui.kit.access import troubles
from pages.ui.kit.offers import figure
from pages.ui.kit.style import sheet
from pages.ui.paper import choice, defaults, foot, panels, stages, total
from pages.ui.paper.view import Layout, Page, offers


@dataclass(frozen=True)
class Preview:
    """One curve of one paper at fixed settings.

    Attributes:
        prefix: What the widgets' names in the address begin with.
        slug: Key of the paper.
        dataset: Name of the data set.
        values: The settings that differ from the defaults.
        gauge: What the curve shows.
        methods: Those that train in seconds; no other is shown.
        repeats: Repetitions of each setting.
        quick: Methods that are repeated twenty times as often.
        method: The one whose guarantee and single releases are shown.
        marked: The one on whose curve some budgets are marked with a name.
        named: These names.
    """

    prefix: str
    slug: str
    dataset: str
    values: Mapping[str, Value]
    gauge: str
    methods: tuple[str, ...]
    repeats: int = 10
    quick: tuple[str, ...] = ()
    method: str = ""
    marked: str = ""
    named: Mapping[float, str] = field(default_factory=dict)


START = Preview(
    "home",
    "survival",
    "flchain",
    {"intervals": 10, "regularisation": 0.01},
    "concordance",
    ("unregularised", "out_pert", "dp_newton"),
    quick=("out_pert", "dp_newton"),
    method="dp_newton",
    marked="out_pert",
)
"""The start page's: a measure that needs no explanation, with the runs that survival opens with."""

STYLE = foot.STYLE + sheet(__file__) + foot.BELOW_LOGO
"""The chart beside slider and sentence where there is room, else between them and the odds."""


def page(one: Preview) -> Page:
    """The preview as a page of its paper, with the chosen methods only.

    Raises:
        SpecError: Settings that contradict each other.
    """
    whole, own = catalog.paper(one.slug), defaults.layout(one.slug)
    marks = {one.marked: one.named}
    layout = Layout(repeats=one.repeats, says=own.says, method=one.method, landmarks=marks)
    shown = tuple(entry for entry in whole.methods if entry.name in one.methods)
    paper = replace(whole, methods=shown)
    offered = offers(paper, layout)
    chosen = replace(
        choice.untouched(offered),
        dataset=one.dataset,
        values=one.values,
        budget=float(address.value(one.prefix, offered.knobs[BUDGET])),
        gauge=one.gauge,
    )
    wanted = choice.jobs(paper, chosen, offered.knobs[BUDGET].values, quick=one.quick)
    return Page(one.prefix, paper, layout, offered, chosen, wanted)


def draw(one: Preview) -> None:
    """Draws the budget slider and the curve."""
    with troubles():
        opened = page(one)
        part = live.Part(
            lambda: replace(stages.shown(opened, opened.chosen), next=tuple),
            lambda watched: _draw(opened, watched),
        )
        live.follow(lambda: part, f"{one.prefix}.live")


def _draw(page: Page, watched: dict[str, Watched]) -> None:
    """The curve, and beside it the slider with what it means."""
    source.name(one.run.id for one in watched.values() if one.run is not None)
    total.draw(page.prefix, watched, page.chosen.focus)
    st.html(STYLE)
    with st.container(key=f"{page.prefix}-preview"):
        told, drawn, meant = st.container(), st.container(), st.container()
    with told:
        chosen = replace(page.chosen, budget=foot.budget(page))
        view = page.view(watched, chosen)
        source.publish(f"index.html?{page.prefix}.{BUDGET}={figure(chosen.budget)}")
        st.markdown(panels.result(view))
    with drawn:
        panels.utility(page, view, fit=True)
    with meant:
        panels.meaning(view)
        live.panel(page.prefix, watched, chosen.focus)
