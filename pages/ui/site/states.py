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
from pages.ui.kit.chart import Picture, kept
from pages.ui.kit.knobs import label
from pages.ui.kit.offers import figure as said
from pages.ui.paper import foot, panels, ruler, stages
from pages.ui.paper.choice import PROOF_FIRST
from pages.ui.paper.defaults import addressed, layout
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
        rulers: Claimed, proved and attacked at each budget, as HTML.
        alts: The chart's message at each budget.
        cards: Every method's guarantee at each budget, in words.
        address: Of the view in the app.
    """

    budgets: list[str]
    first: int
    base: Figure
    frames: list[Figure]
    findings: list[str]
    rulers: list[str]
    alts: list[str]
    cards: list[list[dict[str, str]]]
    address: str

    def json(self) -> dict[str, Any]:
        """As the script reads it."""
        return vars(self)


@dataclass(frozen=True)
class Slider:
    """One of a page's main sliders.

    Attributes:
        field: Its name in the address, without the paper's.
        label: As the app names it.
        texts: Its stops.
        first: Position of the stop that the page opens with.
        states: The page at each stop; None at the one that it opens with.
    """

    field: str
    label: str
    texts: list[str]
    first: int
    states: list[State | None]

    def json(self) -> dict[str, Any]:
        """As the script reads it first, without its states."""
        return {key: value for key, value in vars(self).items() if key != "states"}


@dataclass(frozen=True)
class Taken:
    """A paper's page.

    Attributes:
        slug: Key of the paper.
        title: Its title.
        opening: As it opens.
        sliders: Its main sliders.
        tabs: Its other tabs, as the app names them.
        blocks: What these hold as they open.
        caption: How to read the curve, as HTML.
    """

    slug: str
    title: str
    opening: State
    sliders: list[Slider]
    tabs: tuple[str, ...]
    blocks: list[Block]
    caption: str

    def json(self) -> dict[str, Any]:
        """What the script reads first; every text that is not escaped there is HTML."""
        sliders = [one.json() for one in self.sliders]
        return {"slug": self.slug, "opening": self.opening.json(), "sliders": sliders}

    @property
    def drawn(self) -> list[Drawn]:
        """The charts of its other tabs."""
        return [one for block in self.blocks for one in block.drawn]

    def figures(self) -> Iterator[Figure]:
        """All figures, in their parts: what stays, and what each budget changes."""
        moved = [state for one in self.sliders for state in one.states if state is not None]
        parts: list[State | Drawn] = [self.opening, *moved, *self.drawn]
        for one in parts:
            yield from apart(one.base, one.frames)

    def others(self) -> dict[str, Any]:
        """What the script reads once the first chart is there: other stops and other charts."""
        return {
            "states": {
                one.field: [state and state.json() for state in one.states] for one in self.sliders
            },
            "sections": {name: one for block in self.blocks for name, one in block.json().items()},
            "told": {block.title: block.told for block in self.blocks},
        }  # fmt: skip


def apart(base: Figure, frames: Iterable[Figure]) -> Iterator[Figure]:
    """The parts of a chart as figures: what stays, and what each budget changes."""
    yield base
    for frame in filter(None, frames):
        layout = {key: value for key, value in frame.items() if key != "data"}
        yield {"data": frame["data"], "layout": layout}


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
    opening = _state(page, {}, find)
    if opening is None:
        return None
    views = collect.opened(page, collect.runs(page), page.chosen.method)
    return Taken(
        slug=slug,
        title=page.paper.title,
        opening=opening,
        sliders=list(_sliders(page, find)),
        tabs=tabs(page),
        blocks=list(blocks(page, views)),
        caption=collect.html(panels.reading(views[opening.first])),
    )


def _sliders(page: Page, find: Find) -> Iterator[Slider]:
    """The main sliders of which more than the opening's stop is there."""
    for field in (field for group in page.layout.stops for field in group):
        offer = page.offers.knobs[field]
        states: list[tuple[str, State | None]] = []
        for text in offer.texts:
            if text == offer.default:
                states.append((text, None))
                continue
            settings = {f"{page.prefix}.{field}": text}
            with suppress(ExplorerError):  # settings that contradict each other
                if (state := _state(addressed(page.prefix, settings), settings, find)) is not None:
                    states.append((text, state))
        if len(states) > 1:
            texts = [text for text, _ in states]
            knob = label(knobs(page.paper.spec)[field])
            yield Slider(field, knob, texts, texts.index(offer.default), [one for _, one in states])


def trained(slug: str, settings: Mapping[str, str], find: Find) -> State | None:
    """A paper's page at an address, from the runs that can be used; None without any.

    Raises:
        SpecError: Settings that contradict each other.
    """
    collect.quiet()
    return _state(addressed(slug, settings), settings, find)


def _state(page: Page, settings: Mapping[str, str], find: Find = ships) -> State | None:
    """The page at one stop; None where the method that it looks at is not there."""
    knob = page.offers.knobs[BUDGET]
    first, repeats = knob.value(knob.default), layout(page.prefix).sketch
    jobs = {
        name: next((one for one in (job, stages.quickest(job, first, repeats)) if find(one)), None)
        for name, job in page.jobs.items()
    }
    there = {name: job for name, job in jobs.items() if job is not None}
    watched = {name: Watched(page.labels[name], job, look(job)) for name, job in there.items()}
    method = page.chosen.method
    if method not in watched or BUDGET not in watched[method].job.axes:
        return None
    page = replace(page, jobs=page.jobs | there)
    budgets = [float(value) for value in watched[method].job.axes[BUDGET]]
    views = [page.view(watched, replace(page.chosen, budget=budget)) for budget in budgets]
    pictures = [_picture(page, view) for view in views]
    base, frames = split([json.loads(one.text) for one in pictures])
    query = "&".join(f"{name}={text}" for name, text in settings.items())
    return State(
        budgets=[said(budget) for budget in budgets],
        first=min(range(len(budgets)), key=lambda i: abs(budgets[i] - page.chosen.budget)),
        base=base,
        frames=frames,
        findings=[collect.html(panels.result(view)) for view in views],
        rulers=[_ruler(view) for view in views],
        alts=[one.alt for one in pictures],
        cards=[
            [collect.guarantee(watched[name].label, view.guarantee(name)) for name in watched]
            for view in views
        ],
        address=f"/{page.prefix}{f'?{query}' if query else ''}",
    )


def _picture(page: Page, view: View) -> Picture:
    """The cost curve as the app draws it."""
    seen: list[Picture] = []
    with kept(lambda key, picture: seen.append(picture)):
        panels.utility(page, view, view.by == PROOF_FIRST)
    (picture,) = seen
    return picture


def _ruler(view: View) -> str:
    """The ruler of the method that is looked at, its marks in words, and the odds, as HTML."""
    drawn, told, odds = foot.marks(view, view.guarantee())
    return f"{drawn.removeprefix(ruler.STYLE)}<p>{plain(told)}<br>{collect.html(odds)}</p>"
