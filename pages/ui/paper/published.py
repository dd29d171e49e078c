"""Where the static pages show a view of a paper, which they do for what ships."""

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from engine.runs import shipped
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice, stages
from pages.ui.paper.choice import Chosen
from pages.ui.paper.view import COST, DATA, Page

METHOD = "method"
"""The list of methods in the address."""


def place(page: Page, chosen: Chosen) -> str:
    """The static page with these settings, for `source.publish`; empty where there is none.

    They hold what pages open with at every budget, in all tabs but that of the data, and the same
    with another shipped stop of one main slider, or with another method.
    """
    first = choice.untouched(page.offers)
    if st.query_params.get(f"{page.prefix}.tab", COST) == DATA:
        return ""
    same = {name: getattr(first, name) for name in ("budget", "values", "method", "lines")}
    if replace(chosen, **same) != first:
        return ""
    moved = [field for field, value in chosen.values.items() if value != first.values[field]]
    other = [METHOD] if chosen.method != first.method else []
    if (
        len([*moved, *other]) > 1
        or set(moved) - page.layout.main
        or not _ships(page, chosen.method)
    ):
        return ""
    said = {**chosen.values, METHOD: chosen.method, BUDGET: chosen.budget}
    fields = [*moved, *other, *([BUDGET] if chosen.budget != first.budget else [])]
    offers = page.offers.knobs | {METHOD: page.offers.method}
    texts = {f"{page.prefix}.{field}": offers[field].text(said[field]) for field in fields}
    return f"{page.prefix}/index.html{f'?{urlencode(texts)}' if texts else ''}"


def _ships(page: Page, method: str) -> bool:
    """Whether a run of a method ships with these settings, whole or coarse."""
    job = page.jobs[method]
    return any(shipped.find(one.id) for one in (job, stages.sketch(page, job)))
