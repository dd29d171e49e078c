"""Writes the static pages: HTML, data as scripts, one script of ours, and the app's own charts."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

from engine import catalog
from engine.core import disk, files
from engine.core.errors import FullError, RequestError
from engine.runs import reference
from engine.runs.exhibit import Exhibit, exhibits
from pages.ui import home
from pages.ui.charts import agreement
from pages.ui.charts.dots import dots
from pages.ui.charts.sketch import sketch
from pages.ui.exhibits import overview
from pages.ui.exhibits.table import figure
from pages.ui.kit import labels, plot, shell
from pages.ui.kit.markdown import html
from pages.ui.kit.source import MAIN
from pages.ui.lessons import contents, library
from pages.ui.messages import SOURCE, catalogue, figures, languages, separators, spoken, tr
from pages.ui.paper import sketches
from pages.ui.paper.view import COST
from pages.ui.site import compare, deck, learn, lesson, packed, start
from pages.ui.site.blocks import Block
from pages.ui.site.frame import (
    SHARED,
    asking,
    charts,
    choice,
    embed,
    ending,
    page,
    sheet,
    slider,
    table,
)
from pages.ui.site.states import Taken, take

HERE = Path(__file__).parent
OFFLINE = "offline.js"
NEEDED = 10_000_000
"""Bytes that all pages take."""
OPENS = (
    "Everything below uses the method, settings and budget chosen above. Other settings, "
    "attacks of your own and a table of your own need the app."
)
ALONE = "You can change one of these at a time: the others and the method return to their defaults."
HEADS = ("Method", "Status", "Claimed ε", "Proved ε", "Protects", "What it means")


def site(folder: Path) -> list[str]:
    """Writes all pages into a folder.

    Args:
        folder: A folder that is empty or not there, or one that this wrote before.

    Returns:
        One sentence for each paper that has nothing to show.

    Raises:
        RequestError: A folder with other files, or one that cannot be written.
        FullError: The disk has no room for them.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / SHARED / "plot.js").exists():
        raise RequestError(f"--to: expected a folder that is empty or not there, got {folder}")
    if disk.room(folder.parent) < NEEDED:  # before minutes of work
        raise FullError(disk.sentence(folder.parent, NEEDED, "the pages"))
    parts = {slug: take(slug) for slug in shell.papers()}
    known = {slug: one for slug, one in parts.items() if one is not None}
    with files.asked(folder, "folder"), files.replacing(folder) as new:
        written = dict(_pages(known))
        for name, text in {**written, OFFLINE: _offline(written)}.items():
            place = new / name
            place.parent.mkdir(parents=True, exist_ok=True)
            files.give(place, text.encode())
    left = [slug for slug, one in parts.items() if one is None]
    ways = {slug: "was trained here: open its page once" for slug in catalog.outside()}
    return [f"{slug}: nothing of it {ways.get(slug, 'ships')}" for slug in left]


def _pages(known: Mapping[str, Taken]) -> Iterator[tuple[str, str]]:
    """Every file: its name and its text."""
    names = {slug: one.title for slug, one in known.items()}
    yield f"{SHARED}/plotly.js", plot.LIBRARY.read_text(encoding="utf-8")
    yield f"{SHARED}/plot.js", charts()
    yield f"{SHARED}/site.css", sheet()
    yield f"{SHARED}/labels.js", _labels(known.values()) + _script("labels.js")
    yield f"{SHARED}/slide.js", packed.script(deck.parts(), "deck") + _script("slide.js")
    for name in ("head.js", "site.js", "home.js", "learn.js", "compare.js", "lesson.js"):
        yield f"{SHARED}/{name}", _script(name)
    for code in languages():
        with spoken(code):
            yield from _first(known, names)
            yield f"learn/data{ending('.js')}", packed.script(learn.data())
            yield f"learn/index{ending()}", page("Learn", learn.body(), names, script="learn.js")
    yield "compare/data.js", packed.script(compare.data())
    yield "compare/index.html", page("Compare", compare.body(), names, script="compare.js")
    yield from _lessons(names)
    yield "reproduce/index.html", page("Reproduce", _reproduce(), names)
    for slug, one in known.items():
        yield f"{slug}/data.js", packed.script(one.json())
        yield f"{slug}/others.js", packed.script(one.others(), "others")
        yield f"{slug}/index.html", page(one.title, _paper(one), names, script="site.js")


def _first(known: Mapping[str, Taken], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The first page in one language, and what its curve is drawn from."""
    state, curve = start.taken() or (None, "")
    script = "home.js" if state else ""
    yield f"index{ending()}", page("Home", _home(known, curve), names, root="", script=script)
    if state:
        yield f"data{ending('.js')}", packed.script(state)


def _lessons(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The lessons that come with the app: their list, and a page for each."""
    yield "lessons/index.html", page("Lessons", lesson.listed(), names)
    for name in library.ORDER:
        states, body = lesson.taken(name)
        title = contents.find(name).title
        yield f"lessons/{name}/data.js", packed.script(states)
        yield (
            f"lessons/{name}/index.html",
            page(title, body, names, root="../../", script="lesson.js"),
        )


def _script(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _offline(written: Mapping[str, str]) -> str:
    """The script that keeps all pages, which changes with any of them."""
    digest = hashlib.sha256("".join(written.values()).encode()).hexdigest()[:16]
    kept = {"FILES": sorted(written), "DIGEST": digest}
    names = "".join(f"const {key} = {json.dumps(value)}\n" for key, value in kept.items())
    return names + _script(OFFLINE)


def _labels(known: Iterable[Taken]) -> str:
    """The labels of the charts in every other language, and how a label is taken apart."""
    stops = (stop for one in known for stop in one.stops())
    drawn = chain(compare.figures(), *(stop.figures() for stop in stops))
    texts = {text for one in drawn for text in labels.drawn(one)}
    said = texts | {*plot.BUTTONS} | {part for text in texts for part in labels.parts(text)}
    told = {
        code: {text: other for text, other in catalogue(code).items() if text in said}
        for code in languages() if code != SOURCE
    }  # fmt: skip
    marks = dict[str, str]()
    for code in told:
        with spoken(code):
            marks[code] = separators()
    how = {"parts": labels.PARTS.pattern, "figures": labels.FIGURES.pattern}
    return packed.script({**how, "languages": told, "marks": marks}, "labels")


def _paper(one: Taken) -> str:
    """A paper's page before its script has run: the places of what moves."""
    sliders = [one for one in one.controls if not one.listed]
    drawn = "".join(slider(s.field, s.label, len(s.texts), s.first, waits=True) for s in sliders)
    lists = "".join(choice(s.field, s.label, s.texts, waits=True) for s in one.controls if s.listed)
    note = f'<p class="small">{ALONE}</p>' if len(one.controls) > 1 else ""
    tabs = "".join(
        f'<h2 id="{escape(name)}">{escape(name)}</h2>{held}'
        for name in one.tabs if (held := _blocks(one, name))
    )  # fmt: skip
    cards = table("Guarantees", HEADS).replace("<table>", '<table id="cards">')
    return (
        f'<h1>{escape(one.title)}</h1><p class="finding" aria-live="polite"></p>'
        '<div class="chart main"></div>'
        f'<div class="held">{slider("epsilon", "Privacy budget ε")}{lists}</div>'
        f'<div class="meaning"></div>{drawn}{note}<p class="small caption"></p>'
        f"{embed(MAIN)}{_blocks(one, COST)}<h2>What is guaranteed</h2>{cards}"
        f'<p class="small">{OPENS}</p>{tabs}'
    )


def _blocks(one: Taken, tab: str) -> str:
    """What a tab holds besides the curve."""
    return "".join(_block(block) for block in one.opening.blocks if block.tab == tab)


def _block(block: Block) -> str:
    """The places of charts with their sentences, and of sentences and tables besides."""
    title = escape(block.title)
    drawn = "".join(
        f'<figure data-chart="{escape(d.name)}" data-block="{title}"><h3>{title}</h3>'
        "<p class=said></p><div class=chart></div><figcaption class=small></figcaption>"
        f"{embed(d.name)}</figure>"
        for d in block.drawn
    )
    return f'{drawn}<div data-told="{title}"></div>'


def _home(known: Mapping[str, Taken], curve: str) -> str:
    """The first page: what this is, a curve, and what was found in each paper."""
    kept = sketches.read()
    cards = ""
    for slug, one in known.items():
        drawn = kept.get(slug)
        picture = sketch(drawn.lines, drawn.none) if drawn else ""
        cards += (
            f'<a class="card" href="{slug}/index.html{asking()}"><h3>{escape(tr(one.title))}</h3>'
            f"{picture}<p>{html(home.about(slug))}</p>"
            f"<p>{html(home.found(slug, drawn)) if drawn else ''}</p></a>"
        )
    examples = "".join(
        f'<div class="card"><h3>ε = {figures(f"{epsilon:g}")}</h3>{dots(count)}<p>{html(right)}</p>'
        f"<p>{html(meaning)}</p></div>"
        for epsilon, count, right, meaning in home.examples()
    )
    small = f"{html(home.text('pictures'))} {html(home.text('ships'))}"
    return (
        f"<h1>{html(home.text('title'))}</h1><p>{html(home.text('about'))}</p>{curve}"
        f'<h2>{html(home.text("papers"))}</h2><div class="cards">{cards}</div>'
        f'<p class="small">{small}</p>'
        f"<h2>{html(home.text('read'))}</h2><p>{html(home.text('reading'))}</p>"
        f'<div class="cards">{examples}</div><p class="small">{html(home.text("source"))}</p>'
    )


def _reproduce() -> str:
    """The papers' tables and figures: the printed numbers beside ours."""
    parts = ["<h1>Reproduce</h1><p>Numbers that the papers print, and ours beside them.</p>"]
    for slug, one in shell.papers().items():
        try:
            known = exhibits(slug)
        except RequestError as error:
            parts.append(f"<h2>{escape(one.title)}</h2><p>{escape(str(error))}</p>")
            continue
        parts += [f"<h2>{escape(one.title)}</h2>"] if known else []
        for name, exhibit in known.items():
            if (kept := reference.load(slug, name)) is not None:
                parts.append(table_of(exhibit, kept.cells))
    return "".join(parts)


def _caveat(exhibit: Exhibit) -> str:
    """That its data are simulated, as a sentence with a space before it; empty where none are."""
    return overview.simulation(exhibit) if overview.simulated(exhibit) else ""


def table_of(exhibit: Exhibit, cells: Any) -> str:
    """One table or figure."""
    paper, ours = exhibit.heads
    rows = [
        (escape(cell.row), escape(cell.column), escape(agreement.spoken(cell.variant)),
         figure(exhibit, cell.published), figure(exhibit, cell.ours)) for cell in cells
    ]  # fmt: skip
    made = table(exhibit.title, ("Row", "Column", "Version", paper, ours), rows)
    return (
        f"<details><summary>{escape(exhibit.title)}</summary>"
        f"<p>{html(f'{exhibit.caption}{_caveat(exhibit)}')}</p>"
        f'{made}<p class="small">{escape(exhibit.quantity)}</p></details>'
    )
