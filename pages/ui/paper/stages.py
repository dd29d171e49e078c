"""What a view asks for first: a point, a coarse curve, and then everything. No Streamlit.

Each stage is a job of its own, so that a whole curve is the same to the last digit, whatever was
looked at before it.
"""

from collections.abc import Sequence
from dataclasses import replace

from datasets import catalog as data_catalog
from engine.core.errors import SpecError
from engine.core.spec import Knob, Value, knobs
from engine.runs import shipped
from engine.runs.job import Job
from engine.service.watching import Stage
from pages.ui.jobs.live import BUDGET, Shown
from pages.ui.kit.access import board
from pages.ui.kit.shared import once
from pages.ui.paper import choice, overlay, total, view
from pages.ui.paper.cast import HELD
from pages.ui.paper.choice import Chosen
from pages.ui.paper.view import Page

COARSE = 5
"""Budgets of a coarse curve."""
PATIENT = 60.0
"""Seconds that a coarse curve may take to be trained without a button on a large data set."""
AT_ONCE = 15.0
"""Seconds from which a coarse curve is trained without a point before it on a large data set: what
takes so long is often worked out once for all budgets."""
NEIGHBOURS = 40
"""Curves that are asked for ahead at most."""


def shown(page: Page, chosen: Chosen) -> Shown:
    """What a page shows and asks for, by what its widgets say now."""
    own, layout = page.jobs[chosen.method], page.layout
    curve = sketch(page, own)
    known = [job.id for jobs in (page.jobs, *page.fewer) for job in jobs.values()]
    runs = board().look([curve.id, *known])
    over = {run for run, one in runs.items() if one.state == "completed"}
    left = {
        name: job
        for name, job in page.jobs.items()
        if job.id not in over and shipped.find(job.id) is None  # run again: the old one is drawn
    }
    there = curve.axes.get(BUDGET, ()) if curve.id in over else ()
    needed = BUDGET in own.axes and chosen.budget not in there
    point = at(own, (chosen.budget,), 1) if needed else None
    before = {
        name: (job,)
        for jobs in page.fewer
        for name, job in jobs.items()
        if name in left and (job.id in over or shipped.find(job.id) is not None)
    }
    early = {
        name: before.get(name) or _early(page, job, point if job is own else None)
        for name, job in left.items()
    }
    alone = layout.at_once(chosen.dataset)
    asked = [name for name in page.jobs if alone and name not in layout.by_hand]
    asks = [
        (job, Stage.POINT if stands else _stage(page, chosen, name))
        for name in asked
        for stands, job in enumerate(early.get(name, ()))
    ] + [(page.jobs[name], Stage.FULL) for name in asked]
    if layout.automatic and not alone:
        asks = _looked_at(early.get(chosen.method, ()))
    return Shown(
        page.jobs,
        page.labels,
        early,
        sorted(asks, key=lambda ask: (ask[1], *_turn(page, chosen, *ask))),
        page.beside,
        chosen.focus,
        next=lambda: _ahead(page, chosen) if alone else [],
    )


def _looked_at(early: Sequence[Job]) -> list[tuple[Job, Stage]]:
    """What trains without a button where runs take long: the chosen method's coarse curve.

    Nothing where that takes long itself, or nobody knows. The others wait, and so do the
    repetitions.
    """
    takes = total.seconds(early[0]) if early else None
    if takes is None or takes > PATIENT:
        return []
    both = list(zip(early, (Stage.CURVE, Stage.POINT), strict=False))
    return both if takes < AT_ONCE else both[:1]


def _ahead(page: Page, chosen: Chosen) -> list[Job]:
    """The neighbours of a view, worked out once: who moves the budget there and back asks again."""
    ids = tuple(job.id for job in page.jobs.values())
    signature = "ahead", chosen.method, chosen.budget, ids
    return once(signature, lambda: neighbours(page, chosen))


def neighbours(page: Page, chosen: Chosen) -> list[Job]:
    """The coarse curves after one step of a main slider, the chosen method's before the others."""
    known, offers = knobs(page.paper.spec), page.offers
    sliders = [name for name in page.layout.open(offers.knobs) if isinstance(known[name], Knob)]
    curves = [
        curve for there in choice.one_step(offers, chosen, sliders) for curve in _after(page, there)
    ]
    return [job for _, job in sorted(curves, key=lambda curve: curve[0])][:NEIGHBOURS]


def _after(page: Page, chosen: Chosen) -> list[tuple[Stage, Job]]:
    """The coarse curves of a view: the chosen method's and those with a proof."""
    offer, layout = page.offers.knobs[BUDGET], page.layout
    try:
        wanted = choice.jobs(page.paper, chosen, offer.values, layout.by_hand)
    except SpecError:
        return []
    return [
        (stage, sketch(page, job))
        for name, job in wanted.items()
        if name not in layout.by_hand
        and (stage := Stage.POINT if name == chosen.method else _stage(page, chosen, name))
        < Stage.OTHER
    ]


def _turn(page: Page, chosen: Chosen, job: Job, stage: Stage) -> tuple[bool, bool, bool, float]:
    """Whose turn comes first within a stage: the chosen method's, then those of one setting.

    Of whole runs those that take less time go first, as far as what ships tells.
    """
    own = job.method == page.jobs[chosen.method].method
    takes = total.seconds(job) or 0.0 if stage == Stage.FULL else 0.0
    return not own, job.method in page.layout.last, BUDGET in job.axes, takes


def _stage(page: Page, chosen: Chosen, name: str) -> Stage:
    """What a coarse curve is for: the chosen method's and those with a proof come first."""
    job = page.jobs[name]
    if name == chosen.method:
        return Stage.CURVE
    if overlay.entry(page.paper, name).role == "reference":
        return Stage.OTHER
    card = view.known(job, chosen.budget, data_catalog.card(chosen.dataset))
    return Stage.COARSE if card is None or card.status in HELD else Stage.OTHER


def _early(page: Page, job: Job, point: Job | None) -> tuple[Job, ...]:
    """What is trained before a whole job: its coarse curve, and of the chosen method a point."""
    curve = sketch(page, job)
    if curve.id == job.id:
        return ()
    return (curve,) if point is None or point.id == curve.id else (curve, point)


def sketch(page: Page, job: Job) -> Job:
    """The coarse curve of one of a page's jobs that is there first."""
    return quickest(job, page.first, page.layout.sketch)


def quickest(job: Job, first: Value, repeats: int) -> Job:
    """The coarse curve that is there first: the one that ships, else one of a single repetition.

    Args:
        job: The whole of it.
        first: The budget that pages open with.
        repeats: Repetitions of a coarse curve that ships.
    """
    ships = coarse(job, first, repeats)
    return ships if shipped.find(ships.id) else coarse(job, first, 1)


def coarse(job: Job, first: Value, repeats: int) -> Job:
    """The coarse curve of a job: about five of its budgets, a few repetitions.

    Args:
        job: The whole of it; its level where it spends no budget.
        first: The budget that pages open with, which is always among them.
        repeats: Repetitions at most.
    """
    budgets = job.axes.get(BUDGET, ())
    return at(job, spread(budgets, first), repeats)


def at(job: Job, budgets: tuple[Value, ...], repeats: int) -> Job:
    """A job at some of its budgets, so many times at most; all others are as they were."""
    there = {**job.values, BUDGET: budgets[0]} if budgets else job.values
    axes = {**job.axes, BUDGET: budgets} if budgets else job.axes
    return replace(job, values=there, axes=axes, seeds=job.seeds[:repeats], stored="")


def spread(budgets: Sequence[Value], first: Value) -> tuple[Value, ...]:
    """About COARSE budgets over a whole grid, both ends and `first` among them.

    >>> spread((0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0, 8.0), 1.0)
    (0.1, 0.5, 1.0, 2.5, 8.0)
    >>> spread((0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0), 2.0)
    (0.1, 0.5, 1.0, 2.0, 8.0)
    """
    last = len(budgets) - 1
    if last < COARSE:
        return tuple(budgets)
    places = [round(i * last / (COARSE - 1)) for i in range(COARSE)]
    if first in budgets:
        own = list(budgets).index(first)
        inner = min(places[1:-1], key=lambda place: abs(place - own))
        places[places.index(inner)] = own
    return tuple(budgets[place] for place in sorted(set(places)))
