"""Every run that somebody sees without a wait: what pages open with, and what lessons show."""

import functools
import itertools
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from datasets import catalog as data
from engine.core.errors import ExplorerError
from engine.core.spec import Value
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.learn.maths import clipping
from pages.ui.lessons import library
from pages.ui.lessons.train import shown
from pages.ui.paper import defaults, preview, stages
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
    layout, page = defaults.layout(slug), defaults.addressed(slug, {})
    return _moved(
        page,
        [
            dict(zip(group, values, strict=True))
            for group in layout.stops
            for values in itertools.product(*(page.offers.knobs[field].values for field in group))
        ],
    )


@functools.cache
def nearby(slug: str) -> list[tuple[Job, Job]]:
    """After one step of any other control of a page, to each side: what `stops` has."""
    page = defaults.addressed(slug, {})
    moves = [
        {field: value}
        for field, now in page.chosen.values.items()
        if field not in (BUDGET, *page.layout.main)
        for value in page.offers.knobs[field].beside(now)
    ]
    pairs = _moved(page, moves)
    for count in page.offers.repeats.values:
        pairs += _moved(replace(page, chosen=replace(page.chosen, repeats=int(count))), [{}])
    return pairs


def _moved(page: Page, moves: Iterable[Mapping[str, Value]]) -> list[tuple[Job, Job]]:
    """After each of some moves of a page's controls, its methods' whole runs and coarse curves."""
    layout, jobs, pairs = page.layout, page.jobs, list[tuple[Job, Job]]()
    for values in moves:
        with suppress(ExplorerError):  # settings that contradict each other
            there = replace(page.chosen, values={**page.chosen.values, **values})
            pairs += [
                (job, stages.coarse(job, page.first, layout.sketch))
                for name, job in defaults.wanted(page.paper, layout, page.offers, there).items()
                if name not in layout.by_hand
                and _steps(job) <= LONGER * _steps(jobs.get(name, jobs[job.method]))
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
        for field in sorted(layout.main):
            for value in page.offers.knobs[field].beside(page.chosen.values[field]):
                there = replace(page.chosen, values={**page.chosen.values, field: value})
                moved = defaults.wanted(page.paper, layout, page.offers, there)
                jobs.append(moved[page.chosen.method])
        pairs += [(job, stages.coarse(job, page.first, 1)) for job in jobs]
    return pairs


def _steps(job: Job) -> int:
    return job.entry().steps(job.spec(), data.card(job.dataset).records)


def lessons() -> list[Job]:
    """The jobs of the lessons that come with the app, without those that take minutes."""
    each = [library.find(name).lesson for name in library.ORDER]
    views = [view for lesson in each if lesson is not None for view in lesson.views]
    return [job for view in views if view.page in shell.papers() for job in shown(view)]
