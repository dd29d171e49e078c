"""A preview of a paper: the budget slider and one curve, for pages that lead on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

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
    """

    prefix: str
    slug: str
    dataset: str
    values: Mapping[str, Value]
    gauge: str
    methods: tuple[str, ...]
    repeats: int = 20


START = Preview(
    "home",
    "survival",
    "flchain",
    {"intervals": 10, "regularisation": 0.01},
    "concordance",
    ("unregularised", "out_pert", "obj_pert", "dp_gd"),
)
"""The start page's: a measure that needs no explanation, and few intervals, so that the curve
rises above guessing within the slider's range."""


def page(one: Preview) -> Page:
    """The preview as a page of its paper, with the chosen methods only.

    Raises:
        SpecError: Settings that contradict each other.
    """
    whole, layout = catalog.paper(one.slug), Layout(repeats=one.repeats)
    shown = tuple(entry for entry in whole.methods if entry.name in one.methods)
    paper = replace(whole, methods=shown)
    offered = offers(paper, layout)
    choices = Choices(one.dataset, one.values, one.repeats)
    wanted = jobs(paper, choices, offered.knobs[BUDGET].values)
    return Page(one.prefix, paper, layout, offered, choices, wanted)


def draw(one: Preview) -> None:
    """Draws the budget slider and the curve."""
    with troubles():
        opened = page(one)
        budget = opened.offers.knobs[BUDGET]
        focus = {BUDGET: float(address.value(one.prefix, budget))}
        asking.start(opened.jobs, focus, passing=False)

        def body(page: Page, watched: dict[str, Watched]) -> None:
            _draw(page, watched, one.gauge)

        live.follow(body, opened)


def _draw(page: Page, watched: dict[str, Watched], gauge: str) -> None:
    """The curve, and beside it the slider with what it means."""
    left, right = st.columns([5, 3], gap="large")
    with right:
        chosen = panels.budget(page, wrap=True)
        view = page.view(watched, chosen, str(page.offers.method.values[0]), gauge)
        panels.meaning(view)
        live.panel(page.prefix, watched, {BUDGET: chosen})
    with left:
        panels.utility(page, view)
