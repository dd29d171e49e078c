"""What a paper's tabs after the first hold, at every budget: charts, sentences and tables."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from engine.runs import met as meetings
from pages.ui.bundle import sections
from pages.ui.bundle.drawn import Drawn
from pages.ui.kit import card
from pages.ui.kit.chart import Picture
from pages.ui.kit.markdown import html, paragraphs
from pages.ui.paper import attack, ceiling, met, panels, parts, whole
from pages.ui.paper.parts import Cells, Table
from pages.ui.paper.view import COST, PROOF, WHY, Page, View
from pages.ui.site.frame import table

CARD = "Guarantee"
"""Heads the card of the method that is looked at."""
PIECE = re.compile(r"(?=<p>|<details>)|(?<=</td>)")
"""Where HTML is cut, so that what comes in several places is written once."""
NO_ATTACK = "No attack on this method ships for these settings. The app runs one on request."
"""What stands where no attack does."""


@dataclass(frozen=True)
class Block:
    """A part of a tab.

    Attributes:
        title: Its heading.
        tab: The tab, as the app names it.
        drawn: Its charts.
        told: Its sentences and tables besides those of charts at each budget, as pieces of HTML.
        waits: Whether something of it has to be trained.
    """

    title: str
    tab: str
    drawn: list[Drawn] = field(default_factory=list)
    told: list[list[str]] = field(default_factory=list)
    waits: bool = False


def tabs(page: Page) -> tuple[str, ...]:
    """The tabs that static pages show below the curve."""
    return page.layout.shows, WHY, PROOF


def blocks(page: Page, views: Sequence[View], tab: str = "") -> Iterator[Block]:
    """What the tabs hold as the page opens.

    Args:
        page: The page.
        views: It at each budget.
        tab: The only one that is asked for; empty for all.
    """
    budgets = [view.budget for view in views]
    if tab in ("", COST):
        yield Block(panels.READINGS, COST, told=list(map(_readings, views)))
    if tab in ("", PROOF):
        yield from _proof(page, views, budgets)
    for section in page.layout.sections:
        if section.tab in tabs(page) and tab in ("", section.tab):
            held = [parts.bare(section, view) for view in views]
            drawn = list(sections.charts(section.title, held, budgets))
            told = [_written(section.title, one.told) for one in held]
            waits = any(one.waits for one in held)
            if drawn or any(told) or waits:
                yield Block(section.title, section.tab, drawn, told if any(told) else [], waits)


def _proof(page: Page, views: Sequence[View], budgets: Sequence[float]) -> Iterator[Block]:
    """What every page holds in that tab: card, attack, and the curves behind the card."""
    yield Block(CARD, PROOF, told=list(map(_card, views)))
    pictures, said = zip(*map(_attack, views), strict=True)
    key = f"{page.prefix}.{attack.RULER}"
    ruler = sections.joined(key, attack.TITLE, [attack.SEES], pictures, list(said), budgets)
    yield Block(attack.TITLE, PROOF, [ruler])
    if curves := list(_whole(page, views)):
        yield Block(whole.TITLE, PROOF, curves)


def plain(text: str) -> str:
    """Sentences of the app as HTML that fits into a cell."""
    return html(text).replace("\n\n", "<br><br>")


def pieces(text: str) -> list[str]:
    """HTML in pieces.

    >>> pieces("<table><td>a</td><td>b</td></table><p>c</p>")
    ['<table><td>a</td>', '<td>b</td>', '</table>', '<p>c</p>']
    """
    return [piece for piece in PIECE.split(text) if piece]


def _attack(view: View) -> tuple[Picture | None, str]:
    """The ruler of an attack that is there, and what the app says of it."""
    mark, wanted = attack.attacked(view), attack.job(view)
    if wanted is None:
        return None, attack.nothing(view, view.guarantee())
    if mark is None:
        return None, NO_ATTACK
    said = [attack.told(view.guarantee(), mark)]
    if mark.shipped:
        said[0] += f" {attack.origin(wanted)}"
    if (row := meetings.fitting(wanted)) is not None:
        said += met.told(row, mark.bound)
    return attack.ruler(view.guarantee(), mark.bound, view.budget), "\n\n".join(said)


def _whole(page: Page, views: Sequence[View]) -> Iterator[Drawn]:
    """The curves behind the card, where they are there at every budget."""
    known = [whole.of(view) for view in views]
    there = [one for one in known if one is not None]
    if len(there) < len(views):
        return
    seen = [whole.pictures(view, one) for view, one in zip(views, there, strict=True)]
    budgets = [view.budget for view in views]
    for name in seen[0]:
        said, caption = [one[name].alt for one in seen], ""
        if name == whole.TEST:
            said = [f"{text} {whole.reading(of)}" for text, of in zip(said, there, strict=True)]
            caption = whole.READING
        key, pictures = f"{whole.prefix(page)}.{name}", [one[name] for one in seen]
        yield sections.joined(key, whole.TITLE, [caption], pictures, said, budgets)


def _card(view: View) -> list[str]:
    """The card of the method that is looked at."""
    known = view.guarantee()
    said = "\n\n".join(card.told(known, ceiling.share(view)))
    facts = _table(CARD, Table(dict(card.facts(known))))
    why = f"<details><summary>{card.REASONS}</summary>{paragraphs(card.reasons(known))}</details>"
    label = f"<p><strong>{escape(view.watched[view.method].label)}</strong></p>"
    return pieces(f"{label}{paragraphs(said)}{facts}{why if known.reasons else ''}")


def _readings(view: View) -> list[str]:
    """Every measure of the method that is looked at."""
    table = _table(panels.READINGS, Table(panels.every(view)))
    return pieces(f"{table}{paragraphs(panels.RAW)}{paragraphs(panels.meanings(view))}")


def _written(title: str, found: Iterable[str | Table]) -> list[str]:
    """Sentences and tables, without sentences that speak of what static pages do not hold."""
    made = "".join(
        _table(title, one) if isinstance(one, Table) else paragraphs(sections.here(one))
        for one in found
    )
    return pieces(made)


def _table(title: str, one: Table) -> str:
    """A table of the app."""
    heads, rows = _cells(one.cells)
    return table(title, heads, [[plain(str(cell)) for cell in row] for row in rows])


def _cells(cells: Cells) -> tuple[list[str], list[Sequence[object]]]:
    """The heads and the rows of a table; no heads where it has one cell by name."""
    if not isinstance(cells, Mapping):
        return list(cells[0]), [list(row.values()) for row in cells]
    if all(isinstance(value, str) for value in cells.values()):
        return [], list(cells.items())
    return list(cells), list(zip(*cells.values(), strict=True))
