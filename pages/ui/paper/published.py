"""Where the static pages show a view of a paper, which they do for what ships."""

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from engine.runs import shipped
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice, stages
from pages.ui.paper.choice import Chosen
from pages.ui.paper.defaults import layout
from pages.ui.paper.view import COST, DATA, Page


def place(page: Page, chosen: Chosen) -> str:
    """The static page with these settings, for `source.publish`; empty where there is none.

    They hold what pages open with at every budget, in all tabs but that of the data, and the first
    tab with every shipped stop of one main slider at a time.
    """
    first = choice.untouched(page.offers)
    tab = st.query_params.get(f"{page.prefix}.tab", COST)
    if tab == DATA:
        return ""
    if replace(chosen, budget=first.budget, values=first.values, lines=first.lines) != first:
        return ""
    moved = [field for field, value in chosen.values.items() if value != first.values[field]]
    main = {field for group in page.layout.stops for field in group}
    if len(moved) > (tab == COST) or set(moved) - main or not _ships(page, chosen.method):
        return ""
    fields = [*moved, *([BUDGET] if chosen.budget != first.budget else [])]
    texts = {
        f"{page.prefix}.{field}": page.offers.knobs[field].text(
            chosen.budget if field == BUDGET else chosen.values[field]
        )
        for field in fields
    }
    return f"{page.prefix}/index.html{f'?{urlencode(texts)}' if texts else ''}"


def _ships(page: Page, method: str) -> bool:
    """Whether a run of a method ships with these settings, whole or coarse."""
    knob, job = page.offers.knobs[BUDGET], page.jobs[method]
    coarse = stages.quickest(job, knob.value(knob.default), layout(page.prefix).sketch)
    return any(shipped.find(one.id) for one in (job, coarse))
