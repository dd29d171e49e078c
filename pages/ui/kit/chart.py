"""A chart as a page shows it: with words for those who cannot see it, and its numbers below."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui.charts.figure import Figure
from pages.ui.kit import source
from pages.ui.kit.labels import spoken
from pages.ui.kit.markdown import plain
from pages.ui.kit.plot import plot
from pages.ui.messages import tr

COPY = (
    "The buttons over the chart copy it or save it as SVG or PNG (300 dpi): large type, "
    "transparent background, its caption and this source."
)


@dataclass(frozen=True)
class Picture:
    """A figure as the browser gets it.

    Attributes:
        text: The figure as JSON.
        alt: Its message in one sentence, for screen readers.
        rows: Its numbers.
    """

    text: str
    alt: str
    rows: tuple[dict[str, Any], ...]


def picture(
    figure: Figure, alt: str, rows: Sequence[dict[str, Any]], budget: float, *,
    fit: bool = False, move: str = "",
) -> Picture:  # fmt: skip
    """A figure, ready to be sent; arguments as those of `chart`."""
    drawn = spoken(figure)
    drawn.note(budget=budget, fit=fit, move=move)
    return Picture(drawn.to_json(), plain(alt), tuple(rows))


def named(key: str) -> str:
    """What the static pages call a chart of a page, whose first chart has a name of its own.

    >>> named("survival.utility"), named("survival.people.chart"), named("learn.count.chart")
    ('1', 'chart-people', 'count')
    """
    page, _, rest = key.partition(".")
    name = re.sub(r"\W+", "-", rest.removesuffix(".chart"))
    if rest in ("utility", "chart"):
        return source.MAIN
    return name if page == "learn" else f"chart-{name}"


def chart(
    key: str,
    figure: Figure,
    alt: str,
    rows: Sequence[dict[str, Any]] | None,
    budget: float,
    *,
    fit: bool = False,
    move: str = "",
) -> None:
    """Draws a figure and, once asked for, the table of what it shows.

    Args:
        key: Unique on the page; keeps the zoom while the figure changes.
        figure: What to draw.
        alt: Its message in one sentence, for screen readers; may have marks of Markdown.
        rows: Its numbers; None where another chart of the page has them.
        budget: The budget that it is drawn for; the browser can tell by it which move of the
            slider a picture belongs to.
        fit: Whether its height follows what the window has left above its foot.
        move: Where its points stand; when that changes, they are seen to move.
    """
    drawn = picture(figure, alt, rows or (), budget, fit=fit, move=move)
    show(key, drawn, numbers=rows is not None)


def show(
    key: str, picture: Picture, below: Callable[[], None] | None = None, numbers: bool = True
) -> None:
    """Draws a picture and, once asked for, the table of what it shows."""
    draw(key, picture)
    if below is not None:
        below()
    if numbers:
        tell(opener(key), key, picture)


def draw(key: str, picture: Picture) -> None:
    """Draws a picture alone."""
    plot(picture.text, key, picture.alt, source.line())


def opener(key: str) -> Any:
    """The button below a picture, and the place that it opens."""
    return st.popover(
        tr("Numbers, embed"), key=f"{key}.table", on_change="rerun", icon=":material/table_rows:",
        type="tertiary", help=tr("The numbers behind this chart, and how to embed it"),
    )  # fmt: skip


def tell(table: Any, key: str, picture: Picture) -> None:
    """What a picture shows, in the place of its opener once that is open."""
    if not table.open:
        return
    table.dataframe(list(picture.rows), hide_index=True, alt=picture.alt)
    table.caption(f":material/tag: {source.line()}, address `{source.address()}`. {COPY}")
    line = source.embed(named(key))
    if line.startswith("<"):
        table.caption(tr("A line for your page, with these settings"))
        table.code(line, language="html", wrap_lines=True)
    else:
        table.caption(line)
