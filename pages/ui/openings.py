"""Every run that is seen without a wait: of pages as they open, first moves and lessons."""

import functools
import itertools
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from datasets import catalog as data
from engine.core.errors import ExplorerError
from engine.runs.job import Job
from pages.ui.kit import shell
from pages.ui.learn.maths import clipping
from pages.ui.lessons import contents, library
from pages.ui.lessons.train import shown
from pages.ui.paper import choice, defaults, preview, stages
from pages.ui.paper.choice import Chosen
from pages.ui.paper.view import Page

LONGER = 2
"""So many times the training steps of the opening are shipped at most."""


def everything() -> dict[str, Job]:
    """The jobs of every page's first visit and of every lesson that comes with the app, by id."""
    wanted = [job for slug in shell.papers() for job in defaults.opening(slug).values()]
    wanted += [job for slug in shell.papers() for job in beside(slug).values()]
    if shell.there("learn"):
        wanted.append(clipping())
    if preview.SLUG in shell.papers():
        wanted += preview.page().jobs.values()
    wanted += [
        job for slug in shell.papers() for job, sketch in stops(slug) if job.id == sketch.id
    ]  # what is trained once has no coarse curve
    return {job.id: job for job in (*wanted, *lessons())}


def beside(slug: str) -> dict[str, Job]:
    """What the sections of a page draw besides the page's own jobs, as it opens."""
    return defaults.layout(slug).beside(defaults.opening(slug))


def moves() -> dict[str, Job]:
    """The coarse curves of a first move: of every control of a page, and to a large data set."""
    whole = everything()
    pairs = [
        pair for slug in shell.papers() for pair in (*stops(slug), *nearby(slug), *elsewhere(slug))
    ]
    return {
        sketch.id: sketch for job, sketch in pairs if job.id not in whole and sketch.id not in whole
    }


@functools.cache
def stops(slug: str) -> list[tuple[Job, Job]]:
    """At each stop of a paper's main sliders, the whole run of every method and its coarse curve.

    Methods that take minutes are left out: nobody trains them without pressing the button. So are
    stops that take much longer than what a page opens with.
    """
    page = defaults.addressed(slug, {})
    moves = [
        dict(zip(group, values, strict=True))
        for group in page.layout.stops
        for values in itertools.product(*(page.offers.knobs[field].values for field in group))
    ]
    return _curves(page, map(page.chosen.moved, moves))


@functools.cache
def nearby(slug: str) -> list[tuple[Job, Job]]:
    """The same after one step of any other control, to each side, and for more repetitions."""
    page = defaults.addressed(slug, {})
    chosen = page.chosen
    others = [field for field in chosen.values if field not in page.layout.main]
    often = [replace(chosen, repeats=int(count)) for count in page.offers.repeats.values]
    return _curves(page, [*choice.one_step(page.offers, chosen, others), *often])


def _curves(page: Page, views: Iterable[Chosen]) -> list[tuple[Job, Job]]:
    """The whole runs of a page's methods and their coarse curves, in each of some views."""
    layout, opening, pairs = page.layout, page.jobs, list[tuple[Job, Job]]()
    for view in views:
        with suppress(ExplorerError):  # settings that contradict each other
            pairs += [
                (job, stages.coarse(job, page.first, layout.sketch))
                for name, job in defaults.wanted(page.paper, layout, page.offers, view).items()
                if name not in layout.by_hand
                and _steps(job) <= LONGER * _steps(opening.get(name, opening[job.method]))
            ]
    return pairs


@functools.cache
def elsewhere(slug: str) -> list[tuple[Job, Job]]:
    """On each large data set that a paper's layout names, its opening's runs and coarse curves.

    Methods that take long are left out, as are those that nobody trains without a button. After
    one step of a main slider it is the chosen method alone.
    """
    layout, pairs = defaults.layout(slug), list[tuple[Job, Job]]()
    for name in layout.ships:
        page = defaults.addressed(slug, {f"{slug}.dataset": name})
        jobs = [
            job
            for method, job in page.jobs.items()
            if method not in (*layout.by_hand, *layout.last)
        ]
        for view in choice.one_step(page.offers, page.chosen, sorted(layout.main)):
            moved = defaults.wanted(page.paper, layout, page.offers, view)
            jobs.append(moved[page.chosen.method])
        pairs += [(job, stages.coarse(job, page.first, 1)) for job in jobs]
    return pairs


def _steps(job: Job) -> int:
    return job.entry().steps(job.spec(), data.card(job.dataset).records)


def lessons() -> list[Job]:
    """The jobs of the lessons that come with the app, without those that take minutes."""
    each = [contents.find(name).lesson for name in library.ORDER]
    views = [view for lesson in each if lesson is not None for view in lesson.views]
    return [job for view in views if view.page in shell.papers() for job in shown(view)]
