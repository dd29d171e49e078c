"""A paper's default view as plain data: its figures at every budget, its cards, its runs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

import streamlit as st
from streamlit import logger

from engine import __version__
from engine.core.gauges import Gauge
from engine.privacy.guarantee import RELATIONS, STATUSES, Guarantee
from engine.runs.job import Job
from pages.ui import words
from pages.ui.bundle import sections
from pages.ui.bundle.drawn import Drawn, split
from pages.ui.charts import curves
from pages.ui.charts.measured import BANDS, Curve, Level
from pages.ui.charts.notes import END
from pages.ui.charts.proof import LEGEND
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.jobs.submit import look
from pages.ui.kit.markdown import html
from pages.ui.paper import ceiling, drawing, panels, parts
from pages.ui.paper.choice import measures
from pages.ui.paper.defaults import addressed, link
from pages.ui.paper.view import COST, WHY, Page, View

NOTHING = "nothing is trained at its default settings: open its page once, then bundle again"


@dataclass(frozen=True)
class Taken:
    """One paper's default view.

    Attributes:
        slug: Key of the paper.
        title: Its title.
        link: The address of the view.
        budgets: The trained grid.
        first: Position in the grid where the slider starts.
        findings: The result in a sentence at each budget, as HTML.
        cards: Every method's guarantee at each budget, by method.
        lines: The same in words.
        labels: The methods' names.
        drawn: One chart for each measure, then those of the page's sections.
        jobs: What is drawn, by method.
        looked: The method that the view looks at.
        absent: Names of the methods whose runs are not here.
    """

    slug: str
    title: str
    link: str
    budgets: list[float]
    first: int
    findings: list[str]
    cards: dict[str, list[Guarantee]]
    lines: dict[str, list[dict[str, str]]]
    labels: dict[str, str]
    drawn: list[Drawn]
    jobs: dict[str, Job]
    looked: str
    absent: tuple[str, ...] = ()


def quiet() -> None:
    """Streamlit warns of every call outside an app; here there is none."""
    st.get_option("logger.level")  # read now, so that it does not undo the next line
    logger.set_log_level("error")


def take(slug: str) -> Taken | None:
    """A paper's default view; None where none of its runs is there."""
    quiet()
    page = addressed(slug, {})
    known, watched = runs(page)
    if not watched:
        return None
    method = page.chosen.method if page.chosen.method in watched else next(iter(watched))
    knob, gauge = page.offers.knobs[BUDGET], page.chosen.gauge
    budgets = list(map(float, knob.values))
    chosen = replace(page.chosen, method=method)
    views = [page.view(watched, replace(chosen, budget=budget)) for budget in budgets]
    cards = {name: [view.guarantee(name) for view in views] for name in watched}
    order = dict.fromkeys((gauge, *measures(page.paper)))
    drawn = [one for name in order if (one := _draw(name, views, budgets)) is not None]
    whole = [replace(one, watched=known) for one in views]
    for section in page.layout.sections:
        if section.tab in (COST, page.layout.shows, WHY):  # all but those of proofs and data
            held = [parts.bare(section, view) for view in whole]
            drawn += sections.charts(section.title, held, budgets)
    return Taken(
        slug=slug,
        title=page.paper.title,
        link=link(page.jobs[method]),
        budgets=budgets,
        first=knob.texts.index(knob.default),
        findings=[html(panels.marked(view)) for view in views],
        cards=cards,
        lines={name: [line(view, name) for view in views] for name in watched},
        labels={name: one.label for name, one in watched.items()},
        drawn=drawn,
        jobs={name: one.job for name, one in watched.items()},
        looked=method,
        absent=tuple(label for name, label in page.labels.items() if name not in watched),
    )


def runs(page: Page) -> tuple[dict[str, Watched], dict[str, Watched]]:
    """What a page draws, by method: all of it, and what is there."""
    known = {name: Watched(page.labels[name], job, look(job)) for name, job in page.jobs.items()}
    return known, {name: one for name, one in known.items() if one.run is not None}


def _draw(name: str, views: list[View], budgets: list[float]) -> Drawn | None:
    """One measure at every budget; None where nothing of it was measured."""
    view = replace(views[0], gauge=name)
    gauge = measures(view.paper)[name]
    by_method, levels = drawing.drawn(view, name)
    lines = [one for one in by_method.values() if one.epsilon]
    if not lines:
        return None
    figures = [_figure(lines, levels, gauge, budget, budgets) for budget in budgets]
    base, frames = split(figures)
    rows = [
        {"Run": one.job.id, **row, "Version": one.job.version or __version__}
        for one in view.watched.values() if one.results is not None
        for row in curves.rows(lines, levels) if row["Method"] == one.label
    ]  # fmt: skip
    raw = "" if gauge.released else f" {words.unmarked(panels.RAW)}"
    caption = f"{gauge.help} {LEGEND} {BANDS}{raw}"
    return Drawn(name, gauge.label, [caption], base, frames, rows)


def _figure(
    lines: list[Curve], levels: list[Level], gauge: Gauge, budget: float, budgets: list[float]
) -> dict[str, Any]:
    """The utility curve of the page, as Plotly's JSON values."""
    made = curves.utility(
        lines, levels, gauge, budget, "bundle", (min(budgets), max(budgets)), by_proof=True
    )
    plain: dict[str, Any] = made.to_plotly_json()
    notes = plain["layout"]["annotations"]  # its legend names the lines
    plain["layout"]["annotations"] = [one for one in notes if one.get("name") != END]
    return plain


def bare(made: str) -> str:
    """The letters of a piece of HTML, without its marks.

    >>> bare("<strong>a</strong> &lt;e&gt;")
    'a <e>'
    """
    return unescape(re.sub(r"<[^>]+>", "", made))


def line(view: View, name: str) -> dict[str, str]:
    """The card of a method in the words of one line of a table, with the odds of its ruler."""
    one, card = view.watched[name], view.guarantee(name)
    claimed, proved = card.epsilon_claimed, card.epsilon_proved
    delta = f" (δ = {words.number(card.delta)})" if card.delta else ""
    delta = f" (δ {card.failure})" if card.failure else delta
    right = ceiling.share(view, name)
    odds = words.odds(proved, card.delta, card.relation, card.unit, right)
    return {
        "method": one.label,
        "status": STATUSES[card.status],
        "claimed": "none" if claimed is None else words.number(claimed),
        "proved": "no proof" if proved is None else f"{words.number(proved)}{delta}",
        "protects": f"{card.unit}: {RELATIONS[card.relation]}",
        "odds": "For comparison only." if card.status == "not_private" else html(odds),
    }


def told(line: Mapping[str, str]) -> str:
    """The same in sentences, without marks."""
    claimed, proved = f"claimed ε {line['claimed']}", f"proved ε {line['proved']}"
    return f"{line['method']}. {line['status']}: {claimed}, {proved}. {bare(line['odds'])}"
