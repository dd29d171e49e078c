"""Runs as a page lives with them: asked for once, watched while they last, found again later.

A run is named by what it computes, so the same address shows the same runs: after a
reload, in a second tab, on another person's screen.
"""

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.errors import StoreError
from engine.core.gauges import Column
from engine.runs.doubts import doubts
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Run
from pages.ui import words
from pages.ui.jobs import clock, record
from pages.ui.jobs import submit as asking
from pages.ui.jobs.sentences import OLD, OUTDATED, endings, progress, share, summary
from pages.ui.jobs.submit import BUDGET as BUDGET  # named here too: what is drawn follows it
from pages.ui.kit.access import afresh, board, troubles

ASLEEP = ":material/hourglass_empty:"
HALTED = ("cancelled", "failed", "interrupted")


@dataclass(frozen=True)
class Watched:
    """One method's job and what the store knows of it.

    Attributes:
        label: Name of the method.
        job: What is asked for.
        run: Its state; None when it was never asked for.
    """

    label: str
    job: Job
    run: Run | None

    @property
    def active(self) -> bool:
        """Whether more is to come."""
        return self.run is not None and self.run.active

    @property
    def stands(self) -> Hashable:
        """All of the run that lines and figures depend on."""
        run = self.run
        return run and (run.created, run.state, run.seq, run.shipped is not None)

    @cached_property
    def results(self) -> Results | None:
        """The latest measurements; None before there can be any."""
        return board().results(self.run) if self.run is not None else None

    @cached_property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that the run has left so far; empty before the first."""
        run = self.run
        if run is None or not (run.done or run.finished):
            return {}
        return record.arrays(run)


def watch(jobs: Mapping[str, Job], labels: Mapping[str, str]) -> dict[str, Watched]:
    """Where each job stands now; nowhere if the store cannot be read, which is said."""
    with troubles():
        runs = board().look(job.id for job in jobs.values())
        return {name: Watched(labels[name], job, runs.get(job.id)) for name, job in jobs.items()}
    return {name: Watched(labels[name], job, None) for name, job in jobs.items()}


def restart(watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """Asks for every job that has not come to its end."""
    asking.restart([one.job for one in watched.values()], focus)


def stop(watched: Mapping[str, Watched]) -> None:
    """Stops what is waiting or running."""
    asking.stop([one.job for one in watched.values()])


def follow(draw: Callable[[Any, dict[str, Watched]], None], page: Any) -> None:
    """Draws a part of a page by itself, and again when its runs have something new to show.

    Args:
        draw: Draws it, from the page and where its runs stand.
        page: Handed on to `draw`; its `jobs` are followed under its `labels`, and what it has
            `beside` them.
    """
    key = f"{page.prefix}.live"

    def body() -> None:
        afresh()
        with troubles():
            every = [job.id for job in (*page.jobs.values(), *page.beside.values())]
            before: dict[str, Run] = {}
            with suppress(StoreError):  # `watch` says so
                before = board().look(every)
            draw(page, watch(page.jobs, page.labels))
            clock.follow(key, every, before)

    st.fragment(body, key=key)()


def panel(slug: str, watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """What is under way, with the time left; what stopped, and what waits to be asked for."""
    active = [one for one in watched.values() if one.active]
    halted = [one for one in watched.values() if one.run is not None and one.run.state in HALTED]
    unasked = {name: one for name, one in watched.items() if one.run is None}
    if active or halted:
        with st.container(border=True):
            for line in endings((one.label, one.run) for one in halted if one.run):
                st.markdown(line)
            with st.container(horizontal=True, vertical_alignment="center"):
                if active:
                    _under_way_line(slug, active, watched)
                if halted and _button(slug, "again", "Run again", watched, focus):
                    st.rerun()
    if not (unasked or active or halted):
        _over(slug, watched, focus)
    if unasked and not active:
        _unasked(slug, unasked, watched, focus)


def _over(slug: str, watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """What has been trained, and a way to run again what ships or is out of date."""
    st.caption(summary(_runs(watched)))
    _notes(watched)
    runs = {one.label: one.run for one in watched.values() if one.run is not None}
    old = [label for label, run in runs.items() if run.outdated]
    again = [one for one in watched.values() if one.run and (one.run.shipped or one.run.outdated)]
    if not again:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Run again", icon=":material/restart_alt:", key=f"{slug}.again",
            help="Trains these methods on this computer; the new lines replace the old ones.",
            on_click=asking.again, args=([one.job for one in again], focus),
        )  # fmt: skip
        if old:
            names = "" if len(old) == len(runs) else f": {words.listed(old)}"
            st.caption(f"{OLD} {OUTDATED}{names}. Run again to update.")
    if pressed:
        st.rerun()


def _notes(watched: Mapping[str, Watched]) -> None:
    """What the numbers of each method do not say by themselves; folded where there is much."""
    notes = [
        f":material/warning: {text}"
        for one in watched.values()
        for text in doubts(
            one.label, one.job, one.results,
            record.measurements(one.run) if one.run is not None else (),
        )
    ]  # fmt: skip
    if len(notes) > 1:
        with st.expander(f"{len(notes)} notes on these numbers", icon=":material/warning:"):
            for note in notes:
                st.caption(note)
    elif notes:
        st.caption(notes[0])


def _unasked(
    slug: str,
    unasked: Mapping[str, Watched],
    watched: Mapping[str, Watched],
    focus: Mapping[str, float],
) -> None:
    """What nobody has asked for yet: everything, or the methods that take long."""
    names = ", ".join(one.label for one in unasked.values())
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(unasked) == len(watched):
            text = f"{ASLEEP} Nothing has been trained with these settings yet."
            pressed = _button(slug, "train", "Train", unasked, focus)
        else:
            text = f"{summary(_runs(watched))}. {ASLEEP} Not yet, because it takes long: {names}."
            pressed = _button(slug, "train", "Train these too", unasked, focus, quiet=True)
        st.caption(text)
    if pressed:
        st.rerun()


def _under_way_line(slug: str, active: list[Watched], watched: Mapping[str, Watched]) -> None:
    """One bar for what is under way, and the button that stops it."""
    first = min(active, key=lambda one: one.run is None or one.run.state == "queued")
    assert first.run is not None
    waiting = len(active) - 1
    more = f" · {waiting} more to come" if waiting else ""
    st.progress(share(first.run), text=f"{progress(first.label, first.run)}{more}")
    st.button(
        "Stop", icon=":material/stop_circle:", key=f"{slug}.stop", on_click=stop,
        args=(watched,), disabled=all(_stopping(one) for one in active),
    )  # fmt: skip


def _button(
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
    return [one.run for one in watched.values() if one.run is not None]


def _stopping(one: Watched) -> bool:
    return one.run is not None and one.run.stopping


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
