"""A paper at a glance: the budget slider and one curve, for pages that lead on."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import streamlit as st

from engine import catalog
from engine.core.spec import Value
from pages.ui.jobs import live
from pages.ui.jobs import submit as asking
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit import address
from pages.ui.kit.access import troubles
from pages.ui.paper import panels
from pages.ui.paper.view import Choices, Layout, Page, jobs, offers

REPEATS = 20


def glance(
    prefix: str,
    slug: str,
    dataset: str,
    values: Mapping[str, Value],
    gauge: str,
    methods: Collection[str],
) -> None:
    """Draws the budget slider and the curve of a paper at fixed settings.

    Args:
        prefix: What the widgets' names in the address begin with.
        slug: Key of the paper.
        dataset: Name of the data set.
        values: The settings that differ from the defaults.
        gauge: What the curve shows.
        methods: Those that train at once; no other is shown.
    """
    whole, layout = catalog.paper(slug), Layout(repeats=REPEATS)
    shown = tuple(entry for entry in whole.methods if entry.name in methods)
    paper = replace(whole, methods=shown)
    offered = offers(paper, layout)
    budget = offered.knobs[BUDGET]
    choices = Choices(dataset, values, REPEATS)
    with troubles():
        wanted = jobs(paper, choices, budget.values)
        asking.start(wanted, {BUDGET: float(address.value(prefix, budget))}, passing=False)

        def body(page: Page, watched: dict[str, Watched]) -> None:
            _draw(page, watched, gauge)

        live.follow(body, Page(prefix, paper, layout, offered, choices, wanted))


def _draw(page: Page, watched: dict[str, Watched], gauge: str) -> None:
    """The curve, and beside it the slider with what it means."""
    left, right = st.columns([5, 3], gap="large")
    with right:
        chosen = panels.budget(page)
        view = page.view(watched, chosen, str(page.offers.method.values[0]), gauge)
        panels.meaning(view)
        live.panel(page.prefix, watched, {BUDGET: chosen})
    with left:
        panels.utility(page, view)
