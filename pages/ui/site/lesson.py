"""A lesson as one file that needs no server: its views in order, also to be printed."""

import json
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from plotly.utils import PlotlyJSONEncoder

from engine.core import files
from engine.core.errors import ExplorerError, RequestError
from pages.ui.bundle.filled import filled, within_script
from pages.ui.kit import plot, shell
from pages.ui.lessons import library
from pages.ui.lessons.schema import Lesson, Question, View
from pages.ui.paper.defaults import addressed
from pages.ui.site.frame import charts, embed, sheet, slider
from pages.ui.site.states import Find, ships, state, there

HERE = Path(__file__).parent
TEMPLATE, SCRIPT = HERE / "lesson.html", HERE / "lesson.js"
NOT_HERE = "This view needs the app: open {address} there."
ELSEWHERE = '<a href="../../{place}">Open this view</a>.'


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
    parts, states = _parts(held, NOT_HERE, there)
    known = json.dumps(states, cls=PlotlyJSONEncoder, ensure_ascii=False)
    return filled(
        TEMPLATE.read_text(encoding="utf-8"),
        {
            "TITLE": escape(held.title), "ABOUT": escape(held.text),
            "VIEWS": parts, "SHEET": sheet(),
            "PLOTLY": plot.LIBRARY.read_text(encoding="utf-8"), "CHARTS": charts(),
            "DATA": within_script(known), "SCRIPT": SCRIPT.read_text(encoding="utf-8"),
        },
    )  # fmt: skip


def taken(name: str) -> tuple[list[Any], str]:
    """A lesson that comes with the app, among the static pages: its states and its page."""
    held = _found(name)
    parts, states = _parts(held, ELSEWHERE, ships)
    return states, f"<h1>{escape(held.title)}</h1><p>{escape(held.text)}</p>{parts}"


def listed() -> str:
    """The list of the lessons that come with the app."""
    boxes = "".join(
        f'<a class="card" href="{name}/index.html"><h2>{escape(held.title)}</h2>'
        f'<p>{escape(held.text)}</p><p class="small">{escape(library.size(held))}</p></a>'
        for name in library.ORDER for held in (_found(name),)
    )  # fmt: skip
    return f'<h1>Lessons</h1><p>{escape(library.WHAT)}</p><div class="cards">{boxes}</div>'


def _found(name: str) -> Lesson:
    held = library.find(name)
    if held.lesson is None:
        raise RequestError(f"lesson {name}: {held.mistakes[0]}")
    return held.lesson


def _parts(lesson: Lesson, instead: str, find: Find) -> tuple[str, list[Any]]:
    """The views as HTML, and what each draws.

    Args:
        lesson: The lesson.
        instead: What stands where a view draws nothing here, with the place of its address.
        find: Whether a run can be used.
    """
    states = [_state(view, find) for view in lesson.views]
    pairs = enumerate(zip(lesson.views, states, strict=True), 1)
    return "".join(_view(n, view, instead, state is not None) for n, (view, state) in pairs), states


def _state(view: View, find: Find) -> dict[str, Any] | None:
    """What a view of a paper's page draws; None for other pages and what is not there."""
    if view.page not in shell.papers():
        return None
    with suppress(ExplorerError):  # settings that contradict each other: its page says so
        if drawn := state(addressed(view.page, view.settings), find):
            return {key: part for key, part in vars(drawn).items() if key != "cards"}
    return None


def _view(number: int, view: View, instead: str, drawn: bool) -> str:
    """One view: what to look at, what is asked, and the places of its chart and its slider."""
    said = f"<p>{escape(view.text)}</p>{_asked(view.question) if view.question else ''}"
    if not drawn:
        path, _, query = escape(view.address.lstrip("/")).partition("?")
        screen = view.settings.get("learn.screen", "")
        place = f"{path}/index.html?{query}{'#screen-' * bool(screen)}{escape(screen)}"
        here = instead.format(address=escape(view.address), place=place)
        return f"<section><h2>{number}</h2>{said}<p>{here}</p></section>"
    return (
        f'<section class="drawn" data-chart="view-{number}"><h2>{number}</h2>{said}'
        '<p class="finding"></p><div class="chart"></div>'
        f'{slider(f"epsilon-{number}", "Privacy budget ε")}<div class="meaning"></div>'
        f"{embed(f'view-{number}') * (instead == ELSEWHERE)}</section>"
    )


def _asked(question: Question) -> str:
    """A question with its options; the answer is behind a fold, which a print leaves closed."""
    options = "".join(f"<li>{escape(one)}</li>" for one in question.options)
    right = f"Option {question.answer}. " if question.answer else ""
    return (
        f"<p><strong>{escape(question.text)}</strong></p><ol>{options}</ol>"
        f"<details><summary>Answer</summary><p>{right}{escape(question.reveal)}</p></details>"
    )
