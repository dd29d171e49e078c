"""A lesson as one file that needs no server: its views in order, also to be printed."""

import json
from html import escape
from pathlib import Path
from typing import Any

from plotly.utils import PlotlyJSONEncoder

from engine.core import files
from engine.core.errors import ExplorerError, RequestError
from pages.ui.bundle.filled import filled, within_script
from pages.ui.kit import plot, shell
from pages.ui.lessons import library
from pages.ui.lessons.schema import Question, View
from pages.ui.site.states import trained
from pages.ui.site.write import charts, sheet

HERE = Path(__file__).parent
TEMPLATE, SCRIPT = HERE / "lesson.html", HERE / "lesson.js"
NOT_HERE = "This view needs the app: open {} there."


def lesson(path: Path, name: str) -> None:
    """Writes a lesson into one file.

    Args:
        path: The HTML file.
        name: Of the lesson.

    Raises:
        RequestError: There is no such lesson, it has mistakes, or the file cannot be written.
    """
    try:
        files.give(path, text(name).encode())
    except OSError as error:
        raise RequestError(
            f"--to: expected a file that can be written, got {path}: {error.strerror}"
        ) from None


def text(name: str) -> str:
    """A lesson as one page.

    Raises:
        RequestError: There is no such lesson, or it has mistakes.
    """
    held = library.find(name)
    if held.lesson is None:
        raise RequestError(f"lesson {name}: {held.mistakes[0]}")
    parts, data = [], []
    for number, view in enumerate(held.lesson.views, 1):
        state = _state(view)
        data.append(state)
        parts.append(_view(number, view, drawn=state is not None))
    known = json.dumps(data, cls=PlotlyJSONEncoder, ensure_ascii=False)
    return filled(
        TEMPLATE.read_text(encoding="utf-8"),
        {
            "TITLE": escape(held.lesson.title), "ABOUT": escape(held.lesson.text),
            "VIEWS": "".join(parts), "SHEET": sheet(),
            "PLOTLY": plot.LIBRARY.read_text(encoding="utf-8"), "CHARTS": charts(),
            "DATA": within_script(known), "SCRIPT": SCRIPT.read_text(encoding="utf-8"),
        },
    )  # fmt: skip


def _state(view: View) -> dict[str, Any] | None:
    """What a view of a paper's page draws; None for other pages and what is not trained."""
    if view.page not in shell.papers():
        return None
    try:
        state = trained(view.page, view.settings)
    except ExplorerError:  # settings that contradict each other: its page says so
        return None
    return None if state is None else state.json()


def _view(number: int, view: View, *, drawn: bool) -> str:
    """One view: what to look at, what is asked, and the places of its chart and its slider."""
    said = f"<p>{escape(view.text)}</p>{_asked(view.question) if view.question else ''}"
    if not drawn:
        return f"<section><h2>{number}</h2>{said}<p>{escape(NOT_HERE.format(view.address))}</p>" \
            "</section>"  # fmt: skip
    return (
        f'<section class="drawn"><h2>{number}</h2>{said}<p class="finding"></p>'
        '<div class="chart"></div>'
        f'<div class="slider"><label for="epsilon-{number}">Privacy budget ε <output></output>'
        f'</label><input type="range" id="epsilon-{number}" min="0" max="1" step="1"></div>'
        '<div class="meaning"></div></section>'
    )


def _asked(question: Question) -> str:
    """A question with its options; the answer is behind a fold, which a print leaves closed."""
    options = "".join(f"<li>{escape(one)}</li>" for one in question.options)
    right = f"Option {question.answer}. " if question.answer else ""
    return (
        f"<p><strong>{escape(question.text)}</strong></p><ol>{options}</ol>"
        f"<details><summary>Answer</summary><p>{right}{escape(question.reveal)}</p></details>"
    )
