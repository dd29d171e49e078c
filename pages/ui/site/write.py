"""Writes the static pages: HTML, data as scripts, one script of ours, and the app's own charts."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from babel.dates import format_date
from plotly.utils import PlotlyJSONEncoder

from engine import __version__, catalog
from engine.core import files
from engine.core.errors import RequestError
from engine.runs import reference
from engine.runs.exhibit import Exhibit, exhibits
from pages.ui import home
from pages.ui.bundle.collect import html
from pages.ui.bundle.colours import theme
from pages.ui.bundle.filled import filled, within_script
from pages.ui.charts.dots import dots
from pages.ui.charts.sketch import sketch
from pages.ui.kit import labels, plot, shell
from pages.ui.kit.address import LANG
from pages.ui.messages import SOURCE, catalogue, figures, language, languages, spoken, tr
from pages.ui.paper import ruler, sketches
from pages.ui.site import learn
from pages.ui.site.states import Taken, take

HERE = Path(__file__).parent
TEMPLATE, SCRIPT, SHEET = HERE / "page.html", HERE / "site.js", HERE / "site.css"
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
HEADS = ("Method", "Status", "Claimed ε", "Proved ε", "Protects", "What it means")


def site(folder: Path) -> list[str]:
    """Writes all pages into a folder.

    Args:
        folder: A folder that is empty or not there, or one that this wrote before.

    Returns:
        One sentence for each paper that has nothing to show.

    Raises:
        RequestError: A folder with other files, or one that cannot be written.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / SHARED / "site.js").exists():
        raise RequestError(f"--to: expected a folder that is empty or not there, got {folder}")
    parts = {slug: take(slug) for slug in shell.papers()}
    known = {slug: one for slug, one in parts.items() if one is not None}
    try:
        with files.replacing(folder) as new:
            for name, text in _pages(known):
                place = new / name
                place.parent.mkdir(parents=True, exist_ok=True)
                files.give(place, text.encode())
    except OSError as error:
        raise RequestError(
            f"--to: expected a folder that can be written, got {folder}: {error.strerror}"
        ) from None
    left = [slug for slug, one in parts.items() if one is None]
    ways = {slug: "was trained here: open its page once" for slug in catalog.outside()}
    return [f"{slug}: nothing of it {ways.get(slug, 'ships')}" for slug in left]


def _pages(known: Mapping[str, Taken]) -> Iterator[tuple[str, str]]:
    """Every file: its name and its text."""
    yield f"{SHARED}/plotly.js", plot.LIBRARY.read_text(encoding="utf-8")
    yield f"{SHARED}/plot.js", charts()
    yield f"{SHARED}/site.js", SCRIPT.read_text(encoding="utf-8")
    yield f"{SHARED}/site.css", sheet()
    yield f"{SHARED}/learn.js", SCRIPT.with_name("learn.js").read_text(encoding="utf-8")
    yield f"{SHARED}/lang.js", _labels() + SCRIPT.with_name("lang.js").read_text(encoding="utf-8")
    for code in languages():
        with spoken(code):
            yield f"index{ending()}", page("Home", _home(known), known, root="")
            yield f"learn/data{ending('.js')}", _data(learn.data())
            yield f"learn/index{ending()}", page("Learn", learn.body(), known, script="learn.js")
    yield "reproduce/index.html", page("Reproduce", _reproduce(), known)
    for slug, one in known.items():
        yield f"{slug}/data.js", _data(one.json())
        yield f"{slug}/index.html", page(one.title, _paper(one), known, script="site.js")


def ending(kind: str = ".html") -> str:
    """How the name of a file in this language ends."""
    return kind if language() == SOURCE else f".{language()}{kind}"


def asking() -> str:
    """What an address says to keep this language; nothing in English."""
    return "" if language() == SOURCE else f"?{LANG}={language()}"


def _labels() -> str:
    """The labels of charts in every other language, and how a label is taken apart."""
    known = {
        "parts": labels.PARTS.pattern, "figures": labels.FIGURES.pattern,
        "languages": {code: {**catalogue(code)} for code in languages() if code != SOURCE},
    }  # fmt: skip
    return f"window.labels = {within_script(json.dumps(known, ensure_ascii=False))}\n"


def _data(known: Mapping[str, Any]) -> str:
    """What a page's script reads, as a script: pages of a folder may read nothing else."""
    text = json.dumps(known, cls=PlotlyJSONEncoder, ensure_ascii=False)
    return f"window.explorer = {within_script(text)}\n"


def charts() -> str:
    """The app's drawing of charts, as a script that needs no modules: a folder has none."""
    text = plot.SOURCE.read_text(encoding="utf-8")
    assert EXPORTED in text  # else the app's chart is handed over in another way
    named = text.replace(EXPORTED, EXPORTED.replace("export default", "window.drawn ="))
    return f"(() => {{\n{named}\n}})()\n"


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
    title: str, body: str, known: Mapping[str, Taken], *, root: str = "../", script: str = ""
) -> str:
    """A page with its menu.

    Args:
        title: Its title.
        body: What it holds, as HTML.
        known: The papers of the menu.
        root: The way to the site's first page.
        script: What moves its charts; empty for a page without any.
    """
    menu = [("Home", f"index{ending()}"), ("Learn", f"learn/index{ending()}")]
    menu += [(one.title, f"{slug}/index.html{asking()}") for slug, one in known.items()]
    menu += [("Reproduce", f"reproduce/index.html{asking()}")]
    links = "".join(
        f'<a href="{root}{escape(to)}"{" aria-current=page" * (name == title)}>{escape(tr(name))}'
        "</a>" for name, to in menu
    )  # fmt: skip
    whole = title in TRANSLATED
    others = {code: f"index.{code}.html" for code in languages() if whole and code != SOURCE}
    others |= {SOURCE: "index.html"} if others else {}
    alternate = "".join(
        f'<link rel="alternate" hreflang="{code}" href="{to}">' for code, to in others.items()
    )
    chosen = " · ".join(
        f'<a href="{to}?{LANG}={code}" hreflang="{code}" lang="{code}">{languages()[code]}</a>'
        for code, to in others.items()
    )
    names = (f"{SHARED}/plotly.js", f"{SHARED}/plot.js", "", f"{SHARED}/{script}") if script else ()
    sources = [f"{root}{one}" if one else f"data{ending('.js')}" for one in names]
    scripts = "".join(
        f'<script src="{name}" defer></script>' for name in (f"{root}{SHARED}/lang.js", *sources)
    )
    made = tr("Made on {date} by Epsilon Explorer {version}.").format(
        date=format_date(datetime.now(UTC).date(), locale=language()), version=__version__
    )
    return filled(
        TEMPLATE.read_text(encoding="utf-8"),
        {"TITLE": escape(tr(title)), "ROOT": root, "MENU": links, "BODY": body,
         "SCRIPTS": alternate + scripts, "MADE": f"{made} {chosen}", "SPOKEN": language()},
    )  # fmt: skip


def _paper(one: Taken) -> str:
    """A paper's page before its script has run: the places of what moves."""
    sliders = "".join(
        f'<div class="slider"><label for="{escape(s.field)}">{escape(s.label)} '
        f"<output></output></label>"
        f'<input type="range" id="{escape(s.field)}" min="0" max="{len(s.texts) - 1}" step="1" '
        f'value="{s.first}"></div>'
        for s in one.sliders
    )
    aside = "Each of these moves alone: the others go back to where the page opens."
    note = f'<p class="small">{aside}</p>' if len(one.sliders) > 1 else ""
    sections = "".join(
        f"<figure><h3>{escape(d.title)}</h3><p class=said></p><div class=chart></div>"
        f"<figcaption class=small>{html(d.caption)} As the page opens.</figcaption></figure>"
        for d in one.sections
    )
    return (
        f'<h1>{escape(one.title)}</h1><p class="finding" aria-live="polite"></p>'
        f'<div class="chart main"></div>'
        '<div class="slider"><label for="epsilon">Privacy budget ε <output></output></label>'
        '<input type="range" id="epsilon" min="0" max="1" step="1"></div>'
        f'<div class="meaning"></div>{sliders}{note}<p class="small">{one.caption}</p>'
        f'<h2>What is guaranteed</h2><div class="wide" tabindex="0" role="region" '
        'aria-label="Guarantees"><table id="cards"><thead><tr>'
        f"{''.join(f'<th>{head}</th>' for head in HEADS)}</tr></thead><tbody></tbody></table></div>"
        f"<h2>Why</h2>{sections}"
    )


def _home(known: Mapping[str, Taken]) -> str:
    """The first page: what this is, and what was found in each paper."""
    kept = sketches.read()
    cards = ""
    for slug, one in known.items():
        drawn = kept.get(slug)
        picture = sketch(drawn.lines, drawn.none) if drawn else ""
        cards += (
            f'<a class="card" href="{slug}/index.html{asking()}"><h2>{escape(tr(one.title))}</h2>'
            f"{picture}<p>{html(home.about(slug))}</p>"
            f"<p>{html(home.found(drawn)) if drawn else ''}</p></a>"
        )
    examples = "".join(
        f'<div class="card"><h3>ε = {figures(f"{epsilon:g}")}</h3>{dots(count)}<p>{html(right)}</p>'
        f"<p>{html(meaning)}</p></div>"
        for epsilon, count, right, meaning in home.examples()
    )
    small = f"{html(home.text('pictures'))} {html(home.text('ships'))}"
    return (
        f"<h1>{html(home.text('title'))}</h1><p>{html(home.text('about'))}</p>"
        f'<div class="cards">{cards}</div><p class="small">{small}</p>'
        f"<h2>{html(home.text('read'))}</h2><p>{html(home.text('reading'))}</p>"
        f'<div class="cards">{examples}</div><p class="small">{html(home.text("source"))}</p>'
    )


def _reproduce() -> str:
    """The papers' tables and figures: the printed numbers beside ours."""
    parts = ["<h1>Reproduce</h1><p>Numbers that the papers print, and ours beside them.</p>"]
    for slug, one in shell.papers().items():
        known = exhibits(slug)
        parts += [f"<h2>{escape(one.title)}</h2>"] if known else []
        for name, exhibit in known.items():
            if (kept := reference.load(slug, name)) is not None:
                parts.append(_exhibit(exhibit, kept.cells))
    return "".join(parts)


def _exhibit(exhibit: Exhibit, cells: Any) -> str:
    """One table or figure."""

    def text(value: float | None) -> str:
        return "–" if value is None else f"{value:.{exhibit.digits}f}"

    rows = "".join(
        f"<tr><td>{escape(cell.row)}</td><td>{escape(cell.column)}</td>"
        f"<td>{escape(cell.variant)}</td><td>{text(cell.published)}</td><td>{text(cell.ours)}</td>"
        "</tr>"
        for cell in cells
    )
    paper, ours = exhibit.heads
    return (
        f"<details><summary>{escape(exhibit.title)}</summary><p>{html(exhibit.caption)}</p>"
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(exhibit.title)}">'
        f"<table><thead><tr><th>Row</th><th>Column</th><th>Version</th>"
        f"<th>{escape(paper)}</th><th>{escape(ours)}</th></tr></thead><tbody>{rows}</tbody></table>"
        f'</div><p class="small">{escape(exhibit.quantity)}</p></details>'
    )
