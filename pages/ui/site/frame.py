"""The frame of every static page: menu, language, style, scripts, and a way to embed a chart."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from babel.dates import format_date

from engine import __version__
from pages.ui.bundle.colours import theme
from pages.ui.bundle.filled import filled
from pages.ui.kit import plot
from pages.ui.kit.address import LANG
from pages.ui.messages import SOURCE, language, languages, tr
from pages.ui.paper import ruler

HERE = Path(__file__).parent
TEMPLATE, SHEET = HERE / "page.html", HERE / "site.css"
SHARED = "assets"
EXPORTED = "export default function ({ data, parentElement })"
"""How the app's chart is handed to Streamlit."""
NAMES = {
    "text-color": "textColor", "background-color": "backgroundColor",
    "border-color": "borderColor", "link-color": "linkColor", "primary-color": "primaryColor",
    "chart-categorical-colors": "chartCategoricalColors",
    "chart-sequential-colors": "chartSequentialColors",
    "chart-diverging-colors": "chartDivergingColors",
}  # fmt: skip
"""The variables from which the app's charts read the theme."""
TRANSLATED = ("Home", "Learn")
"""The pages that there are in every language."""


def ending(kind: str = ".html") -> str:
    """How the name of a file in this language ends."""
    return kind if language() == SOURCE else f".{language()}{kind}"


def asking() -> str:
    """What an address says to keep this language; nothing in English."""
    return "" if language() == SOURCE else f"?{LANG}={language()}"


def charts() -> str:
    """The app's drawing of charts, as a script that needs no modules: a folder has none."""
    text = plot.SOURCE.read_text(encoding="utf-8")
    assert EXPORTED in text  # else the app's chart is handed over in another way
    named = text.replace(EXPORTED, EXPORTED.replace("export default", "window.drawn ="))
    return f"(() => {{\n{named}\n}})()\n{(HERE / 'common.js').read_text(encoding='utf-8')}"


def sheet() -> str:
    """The style sheet with the theme's colours, light and dark."""

    def variables(kind: str) -> str:
        own = theme(kind)
        return "; ".join(
            f"--st-{name}: {','.join(own[key]) if isinstance(own[key], list) else own[key]}"
            for name, key in NAMES.items()
        )

    style = re.sub(r"</?style>", "", ruler.STYLE)
    return filled(
        SHEET.read_text(encoding="utf-8"),
        {"LIGHT": variables("light"), "DARK": variables("dark"), "RULER": style},
    )


def page(
    title: str, body: str, papers: Mapping[str, str], *, root: str = "../", script: str = ""
) -> str:
    """A page with its menu.

    Args:
        title: Its title.
        body: What it holds, as HTML.
        papers: The titles of the papers in the menu.
        root: The way to the site's first page.
        script: What moves its charts; empty for a page without any.
    """
    whole = title in TRANSLATED
    codes = [code for code in languages() if whole and len(languages()) > 1]
    others = {c: "index.html" if c == SOURCE else f"index.{c}.html" for c in codes}
    alternate = "".join(
        f'<link rel="alternate" hreflang="{code}" href="{to}">' for code, to in others.items()
    )
    chosen = " · ".join(
        f'<a href="{to}?{LANG}={code}" hreflang="{code}" lang="{code}">{languages()[code]}</a>'
        for code, to in others.items() if code != language()
    )  # fmt: skip
    made = tr("Made on {date} by Epsilon Explorer {version}.").format(
        date=format_date(datetime.now(UTC).date(), locale=language()), version=__version__
    )
    return filled(
        TEMPLATE.read_text(encoding="utf-8"),
        {"TITLE": escape(tr(title)), "ROOT": root, "MENU": _menu(title, papers, root),
         "BODY": body, "ALTERNATE": alternate, "SCRIPTS": _scripts(root, script),
         "MADE": f"{made} {chosen}", "SPOKEN": language()},
    )  # fmt: skip


def _menu(title: str, papers: Mapping[str, str], root: str) -> str:
    """The links to all pages; the current one is marked."""
    plain = f"index.html{asking()}"
    menu = [("Home", f"index{ending()}"), ("Learn", f"learn/index{ending()}")]
    menu += [("Lessons", f"lessons/{plain}")]
    menu += [(name, f"{slug}/{plain}") for slug, name in papers.items()]
    menu += [("Compare", f"compare/{plain}"), ("Reproduce", f"reproduce/{plain}")]
    return "".join(
        f'<a href="{root}{escape(to)}"{" aria-current=page" * (name == title)}>{escape(tr(name))}'
        "</a>" for name, to in menu
    )  # fmt: skip


def _scripts(root: str, script: str) -> str:
    """What a page with charts loads, in order: its data lie beside it."""
    if not script:
        return ""
    shared = [f"{root}{SHARED}/{name}.js" for name in ("labels", "plotly", "plot")]
    names = [*shared, f"data{ending('.js')}", f"{root}{SHARED}/{script}"]
    return "".join(f'<script src="{name}" defer></script>' for name in names)


def slider(place: str, label: str, count: int = 2, first: int = 0, *, waits: bool = False) -> str:
    """A slider with its label; one that waits is enabled by the page's script."""
    return (
        f'<div class="slider"><label for="{escape(place)}">{escape(label)} <output></output>'
        f'</label><input type="range" id="{escape(place)}" min="0" max="{count - 1}" step="1" '
        f'value="{first}"{" disabled" * waits}></div>'
    )


def choice(place: str, label: str, texts: Iterable[str], *, waits: bool = False) -> str:
    """A list to choose from, with its label; one that waits is enabled by the page's script."""
    listed = "".join(f"<option>{escape(one)}</option>" for one in texts)
    return (
        f'<div class="slider"><label for="{place}">{escape(label)}</label> '
        f'<select id="{place}"{" disabled" * waits}>{listed}</select></div>'
    )


def table(name: str, heads: Iterable[str], rows: Iterable[Iterable[str]] = ()) -> str:
    """A table that a phone moves sideways; cells are HTML."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(name)}"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def embed(name: str) -> str:
    """How a chart is taken elsewhere: a line for another page, two kinds of pictures, a slide.

    Args:
        name: Of the chart among those of its page.
    """
    buttons = "".join(
        f'<button type="button" data-take="{key}">{escape(text)}</button> '
        for key, text in (
            ("copy", tr("Copy")),
            ("svg", "SVG"),
            ("png", "PNG (300 dpi)"),
            ("pptx", "PPTX"),
        )
    )
    return (
        f'<details class="embed-this" data-name="{escape(name)}"><summary>{escape(tr("Embed"))}'
        f"</summary><p><label>{escape(tr('A line for your page, with these settings'))} "
        f"<input readonly></label> {buttons}</p></details>"
    )
