"""A lesson as one file that needs no server: its views in order, also to be printed."""

import json
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from plotly.utils import PlotlyJSONEncoder

from engine.core import files
from engine.core.errors import ExplorerError, RequestError
from pages.ui.bundle import filled as templates
from pages.ui.bundle.filled import within_script
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import plot, shell
from pages.ui.kit.markdown import html, paragraphs
from pages.ui.kit.markdown import plain as unmarked
from pages.ui.learn.declared import SCREENS, filled
from pages.ui.lessons import contents, library
from pages.ui.lessons.experiment import GROUPS
from pages.ui.lessons.schema import Lesson, Question, View
from pages.ui.paper.defaults import addressed
from pages.ui.paper.view import COST
from pages.ui.site import learn
from pages.ui.site.blocks import plain
from pages.ui.site.frame import charts, embed, sheet, slider
from pages.ui.site.states import Find, State, Tab, ships, state, tab, there

HERE = Path(__file__).parent
TEMPLATE, SCRIPT = HERE / "lesson.html", HERE / "lesson.js"
NOT_HERE = "This view needs the app: open {address} there."
SLIDER = "Privacy budget ε"
CHART = '{title}<div class="chart"></div><p class="small caption"></p>'
ELSEWHERE = '<a href="../../{place}">Open this view</a>.'


@dataclass(frozen=True)
class Shown:
    """What a view draws, at every stop of one slider.

    Attributes:
        label: Of the slider.
        field: Its name in the address.
        texts: Its stops.
        first: Position of the stop that the view opens with.
        findings: The sentence at each stop, as HTML.
        meanings: What stands below the slider at each stop, as HTML.
        charts: Each in its parts: what stays, what each stop changes, and how to read it.
        told: Sentences and tables besides, at each stop, as HTML.
    """

    label: str
    field: str
    texts: list[str]
    first: int
    findings: list[str]
    meanings: list[str]
    charts: list[dict[str, Any]]
    told: list[str]

    def json(self) -> dict[str, Any]:
        """What the script reads."""
        return {key: value for key, value in vars(self).items() if key not in ("label", "field")}


def lesson(path: Path, name: str) -> None:
    """Writes a lesson into one file.

    Args:
        path: The HTML file.
        name: Of the lesson.

    Raises:
        RequestError: There is no such lesson, it has mistakes, or the file cannot be written.
    """
    with files.asked(path):
        files.give(path, text(name).encode())


def text(name: str) -> str:
    """A lesson as one page.

    Raises:
        RequestError: There is no such lesson, or it has mistakes.
    """
    held = _found(name)
    parts, states = _parts(held, NOT_HERE, lambda view: _screen(view) or _page(view, there))
    known = json.dumps(states, cls=PlotlyJSONEncoder, ensure_ascii=False)
    return templates.filled(
        TEMPLATE.read_text(encoding="utf-8"),
        {
            "TITLE": escape(unmarked(held.title)), "HEADING": html(held.title),
            "ABOUT": paragraphs(held.text), "VIEWS": parts, "SHEET": sheet(),
            "PLOTLY": plot.LIBRARY.read_text(encoding="utf-8"), "CHARTS": charts(),
            "DATA": within_script(known), "SCRIPT": SCRIPT.read_text(encoding="utf-8"),
        },
    )  # fmt: skip


def taken(name: str) -> tuple[list[Any], str]:
    """A lesson that comes with the app, among the static pages: its states and its page."""
    held = _found(name)
    parts, states = _parts(held, ELSEWHERE, lambda view: _page(view, ships, (COST,)))
    return states, f"<h1>{html(held.title)}</h1>{paragraphs(held.text)}{parts}"


def listed() -> str:
    """The list of the lessons that come with the app."""
    boxes = "".join(
        f'<a class="card" href="{name}/index.html"><h2>{html(held.title)}</h2>'
        f'{paragraphs(held.text)}<p class="small">{escape(contents.size(held))}</p></a>'
        for name in library.ORDER for held in (_found(name),)
    )  # fmt: skip
    return f'<h1>Lessons</h1><p>{escape(library.WHAT)}</p><div class="cards">{boxes}</div>'


def _found(name: str) -> Lesson:
    held = contents.find(name)
    if held.lesson is None:
        raise RequestError(f"lesson {name}: {held.mistakes[0]}")
    return held.lesson


def _parts(
    lesson: Lesson, instead: str, take: Callable[[View], Shown | None]
) -> tuple[str, list[Any]]:
    """The views as HTML, and what each draws.

    Args:
        lesson: The lesson.
        instead: What stands where a view draws nothing here, with the place of its address.
        take: What a view draws; None where that needs another page.
    """
    shown = [take(view) for view in lesson.views]
    pairs = enumerate(zip(lesson.views, shown, strict=True), 1)
    parts = "".join(_view(n, view, instead, one) for n, (view, one) in pairs)
    return parts, [one and one.json() for one in shown]


def _screen(view: View) -> Shown | None:
    """A screen of Learn; None for other pages, and for the game, which draws as it is played."""
    screen = SCREENS.get(view.settings.get("learn.screen", "")) if view.page == "learn" else None
    if screen is None or screen.plays:
        return None
    one, control = learn.stops(screen), screen.control
    stops, wanted = list(one["stops"]), view.settings.get(control.key, "")
    beside = zip(one["images"], one["more"], one["captions"], strict=True)
    return Shown(
        label=filled(control.label),
        field=control.key,
        texts=one["texts"],
        first=stops.index(wanted) if wanted in stops else one["first"],
        findings=one["said"],
        meanings=[""] * len(stops),
        charts=[{"base": one["base"], "frames": one["frames"]}] if one["base"] else [],
        told=[f"{image}{more}<p class=small>{caption}</p>" for image, more, caption in beside],
    )


def _page(view: View, find: Find, among: Container[str] | None = None) -> Shown | None:
    """A tab of a paper's page; None for other pages and tabs and what is not there."""
    if view.page not in shell.papers():
        return None
    with suppress(ExplorerError):  # settings that contradict each other: its page says so
        page = addressed(view.page, view.settings)
        name = page.offers.tab.read(view.settings.get(f"{view.page}.tab", COST))[0]
        if among is not None and name not in among:
            return None
        if name != COST:
            found = tab(page, find, name)
            return _tab(view.page, found) if found else None
        if drawn := state(page, find):
            chart = {"base": drawn.base, "frames": drawn.frames}
            return _shown(view.page, drawn, drawn.findings, [chart], [])
    return None


def _tab(slug: str, held: Tab) -> Shown:
    """A tab that is not the first: its charts, each with its sentence, and what it tells."""
    every = range(len(held.budgets))
    charts = [
        {"title": block.title, **one.json(plain)}
        for block in held.blocks for one in block.drawn if one.base
    ]  # fmt: skip
    told = ["".join("".join(block.told[at]) for block in held.blocks if block.told) for at in every]
    return _shown(slug, held, [""] * len(every), charts, told)


def _shown(
    slug: str, held: State | Tab, findings: list[str], charts: list[dict[str, Any]], told: list[str]
) -> Shown:
    """A page with its budget slider."""
    field, rulers = f"{slug}.{BUDGET}", held.rulers
    return Shown(SLIDER, field, held.budgets, held.first, findings, rulers, charts, told)


def _view(number: int, view: View, instead: str, shown: Shown | None) -> str:
    """One view: what to look at, what is asked, and the places of its charts and its slider.

    Where something is asked, the chart is behind the fold with the answer, as the app shows it
    once the question is answered.
    """
    asked = view.question
    chart = _charts(number, view, shown, embeds=instead == ELSEWHERE) if shown else ""
    said = f"<h2>{number}</h2>{paragraphs(view.text)}"
    said += chart if asked is None else _asked(asked, chart)
    if shown:
        return f'<section class="drawn" data-chart="view-{number}">{said}</section>'
    path, _, query = escape(view.address.lstrip("/")).partition("?")
    screen = view.settings.get("learn.screen", "")
    place = f"{path}/index.html?{query}{'#screen-' * bool(screen)}{escape(screen)}"
    here = instead.format(address=escape(view.address), place=place)
    return f"<section>{said}<p>{here}</p></section>"


def _charts(number: int, view: View, shown: Shown, *, embeds: bool) -> str:
    """The places of a view's sentence, its charts, its slider and what its stop means.

    What the view hides is not shown, and a slider that it locks does not move.
    """
    foot, moves = "budget" in view.hide, shown.field not in view.hide
    moved = slider(f"slider-{number}", shown.label, waits=shown.field in view.lock)
    titles = ["", *(one.get("title", "") for one in shown.charts)]
    drawn = "".join(
        CHART.format(title=f"<h3>{escape(title)}</h3>" * (title != before))
        for before, title in pairwise(titles)
    )
    return (
        f'<div class="shown"><p class="finding"></p>{drawn}<div class="told"></div>'
        f"<div{' hidden' * foot}><div{' hidden' * (not moves)}>{moved}</div>"
        f'<div class="meaning"></div></div>{embed(f"view-{number}") * embeds}</div>'
    )


def _asked(question: Question, chart: str) -> str:
    """A question with its options; explanations and the answer are behind folds.

    A print leaves folds as they are.

    Args:
        question: The question.
        chart: What is shown with the answer.
    """
    options = "".join(f"<li>{escape(one)}</li>" for one in question.options)
    right = f"<p>Option {question.answer}.</p>" if question.answer else ""
    right += paragraphs(question.reveal)
    arms = "".join(
        f"<details><summary>Explanation {group}</summary>{paragraphs(arm)}</details>"
        for group, arm in zip(GROUPS, question.arms, strict=False)
    )
    return (
        f"<p><strong>{escape(question.text)}</strong></p><ol>{options}</ol>{arms}"
        f'<details class="answer"><summary>Answer</summary>{right}{chart}'
        "</details>"
    )
