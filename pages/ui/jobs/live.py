"""Runs as a page lives with them: asked for once, watched while they last, found again later.

A run is named by what it computes, so the same address shows the same runs: after a
reload, in a second tab, on another person's screen.
"""

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.errors import StoreError
from engine.core.gauges import Column
from engine.runs import shipped
from engine.runs.doubts import doubts
from engine.runs.events import Measured
from engine.runs.job import Job
from engine.runs.results import Results, beside
from engine.service.client import Run
from engine.service.watching import Stage
from pages.ui import words
from pages.ui.jobs import clock, record
from pages.ui.jobs import submit as asking
from pages.ui.jobs.moving import Moving
from pages.ui.jobs.sentences import OLD, endings, summary
from pages.ui.jobs.submit import BUDGET as BUDGET  # named here too: what is drawn follows it
from pages.ui.kit.access import afresh, board, troubles
from pages.ui.messages import tr

ASLEEP = ":material/hourglass_empty:"
HALTED = ("cancelled", "failed", "interrupted")


@dataclass(frozen=True)
class Watched:
    """One method's job and what the store knows of it.

    Attributes:
        label: Name of the method.
        job: What is asked for.
        run: Its state; None when it was never asked for.
        early: What is there before it, the most telling first: a coarse curve and a point of it,
            or itself with fewer repetitions.
    """

    label: str
    job: Job
    run: Run | None
    early: "tuple[Watched, ...]" = ()

    @property
    def every(self) -> "tuple[Watched, ...]":
        """The whole and what comes before it."""
        return self, *self.early

    @property
    def active(self) -> bool:
        """Whether more is to come."""
        return any(one.run is not None and one.run.active for one in self.every)

    @property
    def complete(self) -> bool:
        """Whether its run is over and has come to its end."""
        return self.run is not None and self.run.state == "completed"

    @property
    def settled(self) -> bool:
        """Whether its curve is there, be it a coarse one or what ships while it is run again."""
        there = any(one.complete for one in (self, *self.early[:1]))
        return there or (self.run is not None and shipped.find(self.job.id) is not None)

    @property
    def stands(self) -> Hashable:
        """All of the runs that lines and figures depend on."""
        return tuple(
            (one.job.id, run.created, run.state, run.seq, run.shipped is not None)
            for one in self.every
            if (run := one.run) is not None
        )

    @cached_property
    def results(self) -> Results | None:
        """The latest measurements; None before there can be any."""
        return board().results(self.run) if self.run is not None else None

    @cached_property
    def drawn(self) -> Results | None:
        """What its line is drawn from; None before there is anything.

        At each budget the replicas of the whole run that are over, or those of an earlier run
        while that has more: what still trains is no result.
        """
        parts = [one.over for one in self.every]
        known = [part for part in parts if part is not None and part.seeds.size]
        return functools.reduce(beside, known) if known else None

    @cached_property
    def budgets(self) -> tuple[float, ...]:
        """The budgets at which its line is drawn, rising."""
        swept = () if self.drawn is None else self.drawn.axes.get(BUDGET, ())
        return tuple(np.unique(swept).tolist())

    @property
    def over(self) -> Results | None:
        """The replicas whose training is over; None before there can be any."""
        if self.run is None or not (self.run.seq or shipped.find(self.job.id)):
            return None  # it waits in the queue, and nothing has to be read
        if self.results is None or self.complete:
            return self.results
        return self.results.only(~np.isnan(self.results.epsilon))

    @cached_property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that the run has left so far; empty before the first."""
        run = self.run
        if run is None or not (run.done or run.finished):
            return {}
        return record.arrays(run)

    def left(self, **at: float) -> "Watched":
        """The first of its runs that has left arrays at axis values; itself where none has."""
        return next((one for one in self.every if one._leaves(at)), self)

    def _leaves(self, at: Mapping[str, float]) -> bool:
        over = self.over
        if over is None or not self.arrays:
            return False
        known = {field: value for field, value in at.items() if field in over.axes}
        return bool(over.rows(**known).any())


@dataclass(frozen=True)
class Shown:
    """What a part of a page shows, and what it asks for by itself.

    Attributes:
        jobs: The whole runs, by name.
        labels: What each is called.
        early: What is there before the whole run of a name, the most telling first.
        asks: What is asked for without a button and what for, in the order in which it is wanted.
        beside: Jobs that are drawn and never asked for by themselves.
        focus: Axis values under the sliders.
        next: What is shown after one step of a control: trained while nothing else waits.
    """

    jobs: Mapping[str, Job]
    labels: Mapping[str, str]
    early: Mapping[str, tuple[Job, ...]] = field(default_factory=dict)
    asks: Sequence[tuple[Job, Stage]] = ()
    beside: Mapping[str, Job] = field(default_factory=dict)
    focus: Mapping[str, float] = field(default_factory=dict)
    next: Callable[[], Sequence[Job]] = tuple

    @property
    def stages(self) -> dict[str, Stage]:
        """What every job that is shown is for, by id: first what is asked for, then the others."""
        early = (job for jobs in self.early.values() for job in jobs)
        others = {job.id: Stage.OTHER for job in early} | {
            job.id: Stage.FULL for job in (*self.jobs.values(), *self.beside.values())
        }
        asked = {job.id: stage for job, stage in self.asks}
        return asked | {run: stage for run, stage in others.items() if run not in asked}


def watch(
    jobs: Mapping[str, Job],
    labels: Mapping[str, str],
    early: Mapping[str, tuple[Job, ...]] = MappingProxyType({}),
) -> dict[str, Watched]:
    """Where each job stands now; nowhere if the store cannot be read, which is said."""
    runs: dict[str, Run] = {}
    with troubles():
        runs = board().look(
            job.id for name, whole in jobs.items() for job in (whole, *early.get(name, ()))
        )
    return {
        name: Watched(
            labels[name], job, runs.get(job.id),
            tuple(Watched(labels[name], one, runs.get(one.id)) for one in early.get(name, ())),
        )
        for name, job in jobs.items()
    }  # fmt: skip


def restart(watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """Asks for every job that has not come to its end, coarse curves first."""
    asking.restart(_jobs(watched), focus)


def stop(watched: Mapping[str, Watched]) -> None:
    """Stops what is waiting or running."""
    asking.stop(_jobs(watched))


def _jobs(watched: Mapping[str, Watched]) -> list[Job]:
    """Every job, what comes early first; that of a whole curve that is there is left out."""
    early = [
        part.job for one in watched.values() if not one.complete for part in reversed(one.early)
    ]
    return [*early, *(one.job for one in watched.values())]


@dataclass(frozen=True)
class Part:
    """A part of a page that follows its runs.

    Attributes:
        shown: What it shows by what the widgets say now.
        draw: Draws it, from where its runs stand; what it returns follows a slider.
    """

    shown: Callable[[], Shown]
    draw: Callable[[dict[str, Watched]], Moving[Any] | None]


def follow(begin: Callable[[], Part], key: str) -> None:
    """Draws a part of a page by itself, and again when its runs have something new to show.

    Args:
        begin: The part, by what the widgets say when it is drawn.
        key: Names the part; unique on the page.
    """

    def body() -> None:
        afresh()
        clock.leave(key)
        with troubles():
            part = begin()
            now = part.shown()
            stages, before = now.stages, None
            with troubles():
                moved = asking.look_on(stages)
                jobs = [job for job, _ in now.asks]
                asking.start(jobs, now.focus, again=moved)
            with suppress(StoreError):  # `watch` says so
                before = board().look(stages)
            moving = part.draw(watch(now.jobs, now.labels, now.early))
            if moving is not None:
                moving.draw(partial(_again, key, stages, part.shown))
            clock.follow(key, stages, before)
            if before and all(run.state == "completed" for run in before.values()):
                asking.look_ahead(stages, now.next())

    st.fragment(body, key=key)()


def _again(key: str, stages: Mapping[str, Stage], shown: Callable[[], Shown]) -> None:
    """Draws a whole part again where a move of its slider asks for something else than before."""
    now = shown().stages
    if changed := tuple(now.items()) != tuple(stages.items()):
        clock.leave(key)
    asking.look_on(now)
    if changed:
        clock.redraw(key)


def panel(slug: str, watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """What has been trained, what stopped, and what waits to be asked for."""
    active = [one for one in watched.values() if one.active]
    halted = [one for one in watched.values() if one.run is not None and one.run.state in HALTED]
    unasked = {name: one for name, one in watched.items() if one.run is None and not one.settled}
    if halted:
        with st.container(border=True):
            for line in endings((one.label, one.run) for one in halted if one.run):
                st.markdown(line)
            if active and button(slug, "again", tr("Run again"), watched, focus):
                st.rerun()  # else the button stands beside the tabs
    if not (unasked or active or halted):
        _over(slug, watched, focus)
    elif not active or any(one.run is not None and one.run.outdated for one in watched.values()):
        _over(slug, watched, focus, alone=False)
    if len(watched) > len(unasked) > 0 and not active:
        _unasked(slug, unasked, watched, focus)


def trained(watched: Mapping[str, Watched]) -> str:
    """One line on what has been trained."""
    return summary(_runs(watched))


def _over(
    slug: str, watched: Mapping[str, Watched], focus: Mapping[str, float], *, alone: bool = True
) -> None:
    """What has been trained, and a way to run again what ships or is out of date.

    Args:
        slug: Of the paper.
        watched: All methods.
        focus: Axis values under the sliders.
        alone: Whether all methods are over; else the age and the doubts of those that are.
    """
    runs = {one.label: one.run for one in watched.values() if one.run is not None}
    old = [label for label, run in runs.items() if run.outdated]
    again = [
        one for one in watched.values()
        if one.run and (one.run.outdated or (alone and one.run.shipped))
    ]  # fmt: skip
    notes = _notes(watched)
    if not (alone or again or notes):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = bool(again) and st.button(
            tr("Run again"), icon=":material/restart_alt:", type="tertiary",
            key=f"{slug}.again" if alone else f"{slug}.renew",
            help=tr("Trains these methods on this computer; the new lines replace the old ones."),
            on_click=asking.again, args=([one.job for one in again], focus),
        )  # fmt: skip
        if len(notes) > 1:
            with st.popover(
                f"{len(notes)} notes on these numbers", icon=":material/warning:", type="tertiary"
            ):
                for note in notes:
                    st.caption(note)
        if alone:
            st.caption(trained(watched))
        if old:
            all_old = tr("Computed by an earlier version. Run again to update.")
            some_old = tr("Computed by an earlier version: {names}. Run again to update.")
            said = all_old if len(old) == len(runs) else some_old.format(names=words.named(old))
            st.caption(f"{OLD} {said}")
    if len(notes) == 1:
        st.caption(notes[0])
    if pressed:
        st.rerun()


def _notes(watched: Mapping[str, Watched]) -> list[str]:
    """What the numbers of each method that is over do not say by themselves."""
    return [
        f":material/warning: {text}"
        for one in watched.values()
        if one.complete
        for text in doubts(one.label, one.job, one.results, _said(one.run))
    ]


def _said(run: Run | None) -> Iterator[Measured]:
    """The measurements of a run, read when the first is asked for."""
    if run is not None:
        yield from record.measurements(run)


def _unasked(
    slug: str,
    unasked: Mapping[str, Watched],
    watched: Mapping[str, Watched],
    focus: Mapping[str, float],
) -> None:
    """What nobody has asked for yet, such as what takes long."""
    labels = [one.label for one in unasked.values()]
    names = ("; " if any("," in label for label in labels) else ", ").join(labels)
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        text = tr("{icon} Not trained yet: {names}. {summary}.")
        text = text.format(summary=trained(watched), icon=ASLEEP, names=names)
        pressed = button(slug, "train", tr("Train these too"), unasked, focus, quiet=True)
        st.caption(text)
    if pressed:
        st.rerun()


def button(
    slug: str,
    name: str,
    text: str,
    watched: Mapping[str, Watched],
    focus: Mapping[str, float],
    *,
    quiet: bool = False,
) -> bool:
    """The button that begins, or begins again; whether it was pressed."""
    return st.button(
        text, icon=":material/play_arrow:", key=f"{slug}.{name}",
        type="secondary" if quiet else "primary", on_click=restart, args=(watched, focus),
    )  # fmt: skip


def _runs(watched: Mapping[str, Watched]) -> list[Run]:
    """Of each method the run that its line is drawn from: the whole one, else a coarse one."""
    known = (next((part.run for part in one.every if part.run), None) for one in watched.values())
    return [run for run in known if run is not None]


def history(one: Watched, gauge: str) -> tuple[NDArray[np.int64], Column]:
    """How a gauge went, step by step: steps (T,) ascending and values (T, R), NaN where none."""
    if one.run is None:
        return np.zeros(0, np.int64), np.zeros((0, one.job.replicas()))
    events = record.measurements(one.run)
    steps = sorted({event.step for event in events})
    place = {step: i for i, step in enumerate(steps)}
    values = np.full((len(steps), one.job.replicas()), np.nan)
    for event in events:
        unknown = (None,) * len(event.replicas)  # a measure that is newer than the run
        column = np.array(event.values.get(gauge, unknown), dtype=np.float64)
        values[place[event.step], list(event.replicas)] = column
    return np.array(steps, np.int64), values
