"""Runs as a page lives with them: asked for once, watched while they last, found again later.

A run is named by what it computes, so the same address shows the same runs: after a
reload, in a second tab, on another person's screen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.client import Client, Run
from engine.errors import RequestError
from engine.events import Measured, Started
from engine.gauges import Column
from engine.job import Job
from engine.results import Results
from pages.ui import words
from pages.ui.access import client

BUDGET = "epsilon"
"""The field under the slider at the top of every paper's page."""
TICK = 0.5
"""Seconds between two looks at runs that are under way."""


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
    def results(self) -> Results | None:
        """The latest measurements; None before there can be any."""
        return client().table(self.job.id) if self.run is not None else None

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that the run has left so far; empty before the first."""
        run = self.run
        if run is None or not (run.done or run.finished):
            return {}
        return _arrays(run.id, run.created, run.done, run.finished, client())


@st.cache_resource(max_entries=32, show_spinner=False)
def _arrays(
    run: str, created: float, done: int, finished: float | None, _client: Client
) -> Mapping[str, NDArray[Any]]:
    """Keyed by the run and its progress alone; never by the arrays."""
    return _client.arrays(run)


def watch(jobs: Mapping[str, Job], labels: Mapping[str, str]) -> dict[str, Watched]:
    """Where each job stands now."""
    return {name: Watched(labels[name], job, _look(job)) for name, job in jobs.items()}


def _look(job: Job) -> Run | None:
    try:
        return client().run(job.id)
    except RequestError:
        return None


def start(jobs: Mapping[str, Job], focus: Mapping[str, float]) -> None:
    """Asks for the jobs that nobody has asked for yet; stopped and failed ones stay as they are."""
    for job in sorted(jobs.values(), key=lambda job: BUDGET in job.axes):
        if _look(job) is None:
            client().submit(job, focus)  # yardsticks first: they are one setting each


def restart(watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """Asks for every job that has not come to its end."""
    for one in watched.values():
        if one.run is None or one.run.state != "completed":
            client().submit(one.job, focus)


def stop(watched: Mapping[str, Watched]) -> None:
    """Stops what is waiting or running."""
    for one in watched.values():
        if one.active:
            client().cancel(one.job.id)


def panel(slug: str, watched: Mapping[str, Watched], focus: Mapping[str, float]) -> None:
    """What is under way, with the time left; what stopped, with a way to go on."""
    active = [one for one in watched.values() if one.active]
    halted = [
        one
        for one in watched.values()
        if one.run is None or one.run.state in ("cancelled", "failed", "interrupted")
    ]
    if not active and not halted:
        st.caption(_summary(watched))
        return
    with st.container(border=True, key=f"{slug}.panel"):
        for one in active:
            assert one.run is not None
            st.progress(share(one.run), text=progress(one.label, one.run))
        for one in halted:
            st.markdown(_ending(one))
        with st.container(horizontal=True):
            if active:
                st.button(
                    "Stop", icon=":material/stop_circle:", key=f"{slug}.stop",
                    on_click=stop, args=(watched,), disabled=all(_stopping(a) for a in active),
                )  # fmt: skip
            if halted:
                first = all(one.run is None for one in halted)
                if st.button(
                    "Train" if first else "Run again", icon=":material/play_arrow:",
                    key=f"{slug}.again", on_click=restart, args=(watched, focus), type="primary",
                ):  # fmt: skip
                    st.rerun()


def _stopping(one: Watched) -> bool:
    return one.run is not None and one.run.stopping


def share(run: Run) -> float:
    """The part of a run's work that is done, between 0 and 1."""
    return min(1.0, run.done / run.total) if run.total else 0.0


def progress(label: str, run: Run) -> str:
    """One line on a run that waits or runs."""
    if run.stopping:
        return f"{label} · stopping"
    if run.state == "queued":
        ahead = f" behind {words.plural(run.ahead, 'run')}" if run.ahead else ""
        return f"{label} · waiting{ahead}"
    left = f" · about {words.duration(run.seconds_left)} left" if run.seconds_left else ""
    return f"{label} · training, {100 * share(run):.0f} %{left}"


def _ending(one: Watched) -> str:
    """One line on a run that did not come to its end."""
    if one.run is None:
        return (
            f":material/hourglass_empty: **{one.label}** has not been trained with these settings."
        )
    match one.run.state:
        case "cancelled":
            return f":material/stop_circle: **{one.label}** was stopped; what it measured is shown."
        case "interrupted":
            return f":material/power_off: **{one.label}** was interrupted. {one.run.error}."
        case _:
            return f":material/error: **{one.label}** failed. {one.run.error.rstrip('.')}."


def _summary(watched: Mapping[str, Watched]) -> str:
    """One line on what has been trained."""
    runs = [one.run for one in watched.values() if one.run is not None]
    settings = sum(run.job.replicas() for run in runs)
    seconds = sum(run.seconds or 0.0 for run in runs)
    lost = sum(len(run.diverged) for run in runs)
    text = (
        f":material/check_circle: {words.plural(len(runs), 'method')}, "
        f"{words.plural(settings, 'setting')} trained in {words.duration(seconds)} of work"
    )
    return text + (f"; {words.plural(lost, 'setting')} diverged and are left out" if lost else "")


@dataclass
class History:
    """The measurements of one attempt of a run, read as they come.

    Attributes:
        seen: Number of the last event that was read.
        events: Its measurements so far.
        lock: Held while events are read: sessions share one history.
    """

    seen: int
    events: list[Measured]
    lock: Lock


@st.cache_resource(max_entries=64, show_spinner=False)
def _history(run: str, created: float) -> History:
    return History(0, [], Lock())


def history(one: Watched, gauge: str) -> tuple[NDArray[np.int64], Column]:
    """How a gauge went, step by step: steps (T,) ascending and values (T, R), NaN where none."""
    if one.run is None:
        return np.zeros(0, np.int64), np.zeros((0, one.job.replicas()))
    events = _read(one.run)
    steps = sorted({event.step for event in events})
    place = {step: i for i, step in enumerate(steps)}
    values = np.full((len(steps), one.job.replicas()), np.nan)
    for event in events:
        column = np.array(event.values[gauge], dtype=np.float64)
        values[place[event.step], list(event.replicas)] = column
    return np.array(steps, np.int64), values


def _read(run: Run) -> list[Measured]:
    """The run's measurements so far; only what is new is read from the store."""
    kept = _history(run.id, run.created)
    with kept.lock:
        for seen, event in client().events(run.id, kept.seen):
            kept.seen = seen
            if isinstance(event, Started):
                kept.events.clear()
            elif isinstance(event, Measured):
                kept.events.append(event)
        return list(kept.events)
