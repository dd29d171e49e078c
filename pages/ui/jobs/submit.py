"""Asking for runs: each once, and none that nobody looks at any more."""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

import streamlit as st

from engine.catalog import paper
from engine.core.errors import RequestError
from engine.runs.job import Job
from engine.service import watching
from engine.service.client import Run
from pages.ui.kit import visitors
from pages.ui.kit.access import board, client, sentence, troubles

BUDGET = "epsilon"
"""The field under the slider of every paper's page."""
CALIBRATION = "calibration"
"""The choice between the noise that a paper prints and the noise that can be proved."""
SHOWN = "asking.shown"
AGAIN = 20.0
"""Seconds after which a session says again what it shows."""


def look(job: Job) -> Run | None:
    """Where a job stands; None if nobody has asked for it.

    Raises:
        StoreError: The store cannot be read.
    """
    return board().look([job.id]).get(job.id)


def start(
    jobs: Mapping[str, Job],
    focus: Mapping[str, float],
    last: tuple[str, ...] = (),
    *,
    passing: bool = True,
) -> None:
    """Asks for the jobs that nobody has asked for yet; stopped and failed ones stay as they are.

    Yardsticks go first, since they are one setting each.

    Args:
        jobs: What is in view.
        focus: Axis values under the sliders.
        last: Methods that wait for all others.
        passing: Whether the jobs may be dropped once they are out of view.
    """
    with troubles():
        if passing:
            look_on(job.id for job in jobs.values())
        board().look(job.id for job in jobs.values())  # all at once
        for job in sorted(jobs.values(), key=lambda job: (job.method in last, BUDGET in job.axes)):
            run = look(job)
            if run is None or (run.state == "cancelled" and run.passing):
                in_passing = passing and not _common(job)
                client().submit(job, focus, visitors.here(), passing=in_passing)


def look_on(runs: Iterable[str]) -> None:
    """Says which runs this session shows, and stops those that nobody shows any more.

    Knobs are moved in passing. What a session has turned away from is stopped if it was asked for
    in passing and no other session shows it; what comes back into view is asked for again. Runs of
    the default settings are never dropped, because everybody who opens the page waits for them.
    """
    shown, now = tuple(runs), time.monotonic()
    before, at = st.session_state.get(SHOWN, ((), 0.0))
    if (shown == before and now - at < AGAIN) or not client().store.database.writable:
        return
    st.session_state[SHOWN] = shown, now
    for run in watching.look_on(client().store, visitors.here(), shown):
        with suppress(RequestError):  # deleted meanwhile
            client().cancel(run)


def _common(job: Job) -> bool:
    """Whether a job is what the page of its paper opens with."""
    publication = paper(job.paper)
    default, free = publication.opens(), (CALIBRATION, *job.axes)  # both calibrations are drawn
    same = all(job.values[name] == default[name] for name in job.entry().uses if name not in free)
    return same and job.dataset == publication.datasets[0]


def restart(jobs: Iterable[Job], focus: Mapping[str, float]) -> None:
    """Asks for every job that has not come to its end."""
    with troubles():
        for job in jobs:
            run = look(job)
            if run is None or run.state != "completed":
                client().submit(job, focus, visitors.here())


def again(jobs: Iterable[Job], focus: Mapping[str, float]) -> None:
    """Removes what came of the jobs and asks for them again."""
    with troubles():
        for job in jobs:
            client().again(job, focus)


def stop(jobs: Iterable[Job]) -> None:
    """Stops what is waiting or running; what others look at, only if it was asked for here."""
    refused = ""
    with troubles():
        for job in jobs:
            run = look(job)
            if run is not None and run.active:
                try:
                    end(run.id)
                except RequestError as error:
                    refused = sentence(str(error))
    if refused:
        st.toast(refused, icon=":material/group:")


def end(run: str) -> None:
    """Stops one run.

    Raises:
        RequestError: Others look at it, and somebody else has asked for it.
    """
    watching.may_stop(client().store, run, visitors.here())
    client().cancel(run)
    watching.claim(client().store, run, visitors.here(), passing=False)  # it is not asked for again


def onlookers(run: str) -> int:
    """How many other people have a page open that shows a run."""
    return watching.others(client().store, run, visitors.here())


def who_looks(runs: Iterable[str]) -> str:
    """One line for whoever is about to remove runs: that others look at them; empty if nobody."""
    count = max((onlookers(run) for run in runs), default=0)
    who = "Another person looks" if count == 1 else f"{count} other people look"
    return f":material/group: {who} at this run." if count else ""
