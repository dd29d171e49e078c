"""The preview on the start page: one curve of one paper at fixed settings, and its slider."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import streamlit as st

from engine import catalog
from engine.core.spec import Value
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit import address, source
from pages.ui.kit.access import troubles
from pages.ui.kit.chart import show
from pages.ui.kit.offers import figure
from pages.ui.kit.style import sheet
from pages.ui.paper import choice, defaults, foot, panels, stages, total
from pages.ui.paper.view import Layout, Page, offers

PREFIX, SLUG, DATASET = "home", "survival", "flchain"
VALUES: Mapping[str, Value] = {"intervals": 10, "regularisation": 0.01}
"""The settings, which are those of runs that survival opens with."""
GAUGE = "concordance"
"""A measure that needs no explanation."""
NAMED, LOOKED = "out_pert", "dp_newton"
"""The method on whose curve some budgets have a name, and the one whose guarantee is shown."""
METHODS = ("unregularised", NAMED, LOOKED)
"""Methods that train in seconds; no other is shown."""

STYLE = foot.STYLE + sheet(__file__) + foot.BELOW_LOGO
"""The chart beside slider and sentence where there is room, else between them and the odds."""


def page(named: Mapping[float, str] = MappingProxyType({})) -> Page:
    """The preview as a page of its paper, with few of its methods.

    Args:
        named: Budgets that the curve of one method marks, by name.

    Raises:
        SpecError: Settings that contradict each other.
    """
    whole = catalog.paper(SLUG)
    layout = Layout(says=defaults.layout(SLUG).says, method=LOOKED, landmarks={NAMED: named})
    paper = replace(whole, methods=tuple(one for one in whole.methods if one.name in METHODS))
    offered = offers(paper, layout)
    budget = float(address.value(PREFIX, offered.knobs[BUDGET]))
    chosen = replace(
        choice.untouched(offered), dataset=DATASET, values=VALUES, budget=budget, gauge=GAUGE
    )
    wanted = choice.jobs(paper, chosen, offered.knobs[BUDGET].values, quick=(NAMED, LOOKED))
    return Page(PREFIX, paper, layout, offered, chosen, wanted)


def draw(named: Mapping[float, str]) -> None:
    """Draws the budget slider and the curve, some of whose budgets have names."""
    with troubles():
        opened = page(named)
        part = live.Part(
            lambda: replace(stages.shown(opened, opened.chosen), next=tuple),
            lambda watched: _draw(opened, watched),
        )
        live.follow(lambda: part, f"{PREFIX}.live")


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
        with st.container(key=f"{page.prefix}-finding", gap=None):
            st.markdown(panels.result(view))
    with drawn:
        show(f"{page.prefix}.{panels.CURVE}", panels.curve(page, view, fit=True))
    with meant:
        panels.meaning(view)
        live.panel(page.prefix, watched, chosen.focus)
