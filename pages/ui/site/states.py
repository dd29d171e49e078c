"""A paper's page at each shipped stop of its main sliders, as plain data: the app's own figures."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from engine import catalog
from engine.core.errors import ExplorerError
from engine.core.spec import knobs
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui.bundle import collect
from pages.ui.bundle.drawn import Drawn, Figure, split
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.jobs.submit import look
from pages.ui.kit.knobs import label
from pages.ui.kit.markdown import html
from pages.ui.kit.offers import figure as said
from pages.ui.paper import foot, panels, ruler, stages
from pages.ui.paper.defaults import addressed
from pages.ui.paper.published import METHOD
from pages.ui.paper.view import Page, View
from pages.ui.site.blocks import Block, blocks, plain, tabs


@dataclass(frozen=True)
class State:
    """A page at one stop, at every budget of its curves.

    Attributes:
        budgets: The budgets, as the slider shows them.
        first: Position where the slider starts.
        base: The figure without what moves.
        frames: What each budget changes.
        findings: The page's sentence at each budget, as HTML.
        rulers: What each budget means: claimed, proved and attacked, as HTML.
        alts: The chart's message at each budget.
        cards: Every method's guarantee at each budget, in words.
        caption: How to read the curve, as HTML.
    """

    budgets: list[str]
    first: int
    base: Figure
    frames: list[Figure]
    findings: list[str]
    rulers: list[str]
    alts: list[str]
    cards: list[list[dict[str, str]]]
    caption: str


@dataclass(frozen=True)
class Tab:
    """A tab that is not the first, at every budget of the page's curves.

    Attributes:
        budgets: The budgets, as the slider shows them.
        first: Position where the slider starts.
        rulers: What each budget means, as HTML.
        blocks: What the tab holds.
    """

    budgets: list[str]
    first: int
    rulers: list[str]
    blocks: list[Block]


@dataclass(frozen=True)
class Stop:
    """A page at one stop.

    Attributes:
        state: What its first tab shows.
        blocks: What the other tabs hold.
    """

    state: State
    blocks: list[Block]

    @property
    def drawn(self) -> list[Drawn]:
        """The charts of its other tabs."""
        return [one for block in self.blocks for one in block.drawn]

    def figures(self) -> Iterator[Figure]:
        """All figures, in their parts: what stays, and what each budget changes."""
        parts: list[State | Drawn] = [self.state, *(one for one in self.drawn if one.base)]
        for one in parts:
            yield from apart(one.base, one.frames)

    def tabs(self) -> dict[str, Any]:
        """What the other tabs hold, as the script reads it."""
        return {
            "sections": {one.name: one.json(plain) for one in self.drawn},
            "told": {block.title: block.told for block in self.blocks},
            "waits": [block.title for block in self.blocks if block.waits],
        }


@dataclass(frozen=True)
class Control:
    """One of a page's main sliders, or its list of methods.

    Attributes:
        field: Its name in the address, without the paper's.
        label: As the app names it.
        texts: Its stops.
        first: Position of the stop that the page opens with.
        stops: The page at each stop; None at the one that it opens with.
    """

    field: str
    label: str
    texts: list[str]
    first: int
    stops: list[Stop | None]

    @property
    def listed(self) -> bool:
        """Whether it is a list rather than a slider."""
        return self.field == METHOD


@dataclass(frozen=True)
class Taken:
    """A paper's page.

    Attributes:
        slug: Key of the paper.
        title: Its title.
        opening: As it opens.
        controls: Its main sliders, and its list of methods.
        tabs: Its other tabs, as the app names them.
    """

    slug: str
    title: str
    opening: Stop
    controls: list[Control]
    tabs: tuple[str, ...]

    def json(self) -> dict[str, Any]:
        """What the script reads first; every text that is not escaped there is HTML."""
        controls = [
            {key: value for key, value in vars(one).items() if key != "stops"}
            for one in self.controls
        ]
        return {"slug": self.slug, "opening": vars(self.opening.state), "controls": controls}

    def stops(self) -> Iterator[Stop]:
        """The page as it opens, and at every other stop."""
        yield self.opening
        for one in self.controls:
            yield from filter(None, one.stops)

    def others(self) -> dict[str, Any]:
        """What the script reads once the first chart is there: other stops and other charts."""
        stops = {
            one.field: [at and {"state": vars(at.state), "tabs": at.tabs()} for at in one.stops]
            for one in self.controls
        }
        return {"opening": self.opening.tabs(), "stops": stops}


def apart(base: Figure, frames: Iterable[Figure]) -> Iterator[Figure]:
    """The parts of a chart as figures: what stays, and what each budget changes."""
    yield base
    for frame in filter(None, frames):
        layout = {key: value for key, value in frame.items() if key != "data"}
        yield {"data": frame["data"], "layout": layout}


METHODS = "Method"
"""The list of methods, as the app names it."""
Find = Callable[[Job], bool]


def ships(job: Job) -> bool:
    """Whether a run comes with the app."""
    return shipped.find(job.id) is not None


def there(job: Job) -> bool:
    """Whether a run comes with the app or was trained here."""
    run = look(job)
    return run is not None and run.state == "completed"


def take(slug: str) -> Taken | None:
    """A paper's page with all of its shipped stops; None where none of its runs is there.

    Of a paper that an installed package adds nothing ships: its stops are those trained here.
    """
    collect.quiet()
    page, find = addressed(slug, {}), there if slug in catalog.outside() else ships
    opening = _stop(slug, {}, find)
    if opening is None:
        return None
    controls = list(_controls(page, find))
    return Taken(slug, page.paper.title, opening, controls, tabs(page))


def _controls(page: Page, find: Find) -> Iterator[Control]:
    """The main sliders and the methods of which more than the opening's stop is there."""
    known = knobs(page.paper.spec)
    fields = [field for group in page.layout.stops for field in group]
    offers = [(page.offers.knobs[field], label(known[field])) for field in fields]
    for offer, name in [*offers, (page.offers.method, METHODS)]:
        stops: list[tuple[str, Stop | None]] = []
        for text in offer.texts:
            settings = {f"{page.prefix}.{offer.field}": text}
            there = text != offer.default and _stop(page.prefix, settings, find)
            if there or text == offer.default:
                stops.append((text, there or None))
        if len(stops) > 1:
            texts = [text for text, _ in stops]
            first = texts.index(offer.default)
            yield Control(offer.field, name, texts, first, [one for _, one in stops])


def _stop(slug: str, settings: Mapping[str, str], find: Find) -> Stop | None:
    """A paper's page at an address with all of its tabs; None where its method is not there."""
    with suppress(ExplorerError):  # settings that contradict each other
        asked = addressed(slug, settings)
        page, views = _views(asked, find)
        if views:
            return Stop(_state(page, views), list(blocks(asked, _beside(asked, views))))
    return None


def _beside(page: Page, views: list[View]) -> list[View]:
    """The same views with each coarse curve beside the whole run that is not there, as in the app.

    What a training left on its way is that of a whole run alone.
    """
    known = views[0].watched
    watched = {
        name: known[name]
        if known[name].job.id == job.id
        else Watched(page.labels[name], job, None, (known[name],))
        for name, job in page.jobs.items()
    }
    return [page.view(watched, replace(page.chosen, budget=view.budget)) for view in views]


def state(page: Page, find: Find, meant: Callable[[View], str] | None = None) -> State | None:
    """The first tab of a page, from the runs that can be used.

    Args:
        page: The page.
        find: Whether a run can be used.
        meant: What a budget means, as HTML; the ruler where nothing is given.

    Returns:
        None where the method that it looks at has no run.
    """
    collect.quiet()
    page, views = _views(page, find)
    return _state(page, views, meant or _ruler) if views else None


def tab(page: Page, find: Find, name: str) -> Tab | None:
    """What a tab of a page holds that is not the first; None where nothing of it is there."""
    collect.quiet()
    page, views = _views(page, find)
    held = blocks(page, _beside(page, views), name) if views else ()
    found = [one for one in held if one.drawn or one.told]
    return (
        Tab(_texts(views), _first(page, views), list(map(_ruler, views)), found) if found else None
    )


def _texts(views: list[View]) -> list[str]:
    """The budgets of views, as the slider shows them."""
    return [said(view.budget) for view in views]


def _first(page: Page, views: list[View]) -> int:
    """The position of the view whose budget is nearest to that of the page."""
    far = [abs(view.budget - page.chosen.budget) for view in views]
    return far.index(min(far))


def _views(page: Page, find: Find) -> tuple[Page, list[View]]:
    """A page with the runs that can be used, at each budget of its curves.

    There are no views where the method that it looks at has no curve.
    """
    knob = page.offers.knobs[BUDGET]
    first, repeats = knob.value(knob.default), page.layout.sketch
    jobs = {
        name: next((one for one in (job, stages.quickest(job, first, repeats)) if find(one)), None)
        for name, job in page.jobs.items()
    }
    there = {name: job for name, job in jobs.items() if job is not None}
    own = there.get(page.chosen.method)
    page = replace(page, jobs=page.jobs | there)
    watched = {
        name: Watched(page.labels[name], job, look(job) if name in there else None)
        for name, job in page.jobs.items()
    }
    budgets = map(float, own.axes.get(BUDGET, ()) if own else ())
    return page, [page.view(watched, replace(page.chosen, budget=one)) for one in budgets]


def _ruler(view: View) -> str:
    """The ruler of the method that is looked at, its marks in words, and the odds, as HTML."""
    drawn, told, odds = foot.marks(view, view.guarantee())
    return f"{drawn.removeprefix(ruler.STYLE)}<p>{plain(told)}<br>{html(odds)}</p>"


def _state(page: Page, views: list[View], meant: Callable[[View], str] = _ruler) -> State:
    """The first tab of a page at one stop."""
    pictures = [panels.curve(page, view, fit=False) for view in views]
    base, frames = split([json.loads(one.text) for one in pictures])
    first = _first(page, views)
    return State(
        budgets=_texts(views),
        first=first,
        base=base,
        frames=frames,
        findings=[html(panels.marked(view)) for view in views],
        rulers=list(map(meant, views)),
        alts=[one.alt for one in pictures],
        cards=[
            [
                collect.line(view, name)
                for name, one in view.watched.items() if one.run is not None
            ] for view in views
        ],
        caption=html(panels.reading(views[first])),
    )  # fmt: skip
