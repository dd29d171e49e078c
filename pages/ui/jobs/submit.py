"""Asking for runs: each once, and none that nobody looks at any more."""

from collections.abc import Iterable, Mapping

import streamlit as st

from engine.catalog import paper
from engine.core.errors import RequestError
from engine.runs.job import Job
from engine.service.client import Run
from pages.ui.kit.access import board, client, troubles

BUDGET = "epsilon"
"""The field under the slider of every paper's page."""
CALIBRATION = "calibration"
"""The choice between the noise that a paper prints and the noise that can be proved."""
ASKED, DROPPED = "asking.asked", "asking.dropped"


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
            _drop(jobs.values())
        board().look(job.id for job in jobs.values())  # all at once
        for job in sorted(jobs.values(), key=lambda job: (job.method in last, BUDGET in job.axes)):
            run = look(job)
            if run is None or (run.state == "cancelled" and run.id in _kept(DROPPED, job.paper)):
                _ask(job, focus, passing)


def _ask(job: Job, focus: Mapping[str, float], passing: bool) -> None:
    """Submits a job and remembers it, if it is this session's own passing wish."""
    ticket = client().submit(job, focus)
    _kept(DROPPED, job.paper).discard(job.id)
    if passing and not (ticket.joined or ticket.cached or _common(job)):
        _kept(ASKED, job.paper).add(job.id)


def _drop(wanted: Iterable[Job]) -> None:
    """Stops what this session asked for and has turned away from: knobs are moved in passing.

    What comes back into view is asked for again. Runs of the default settings are never
    dropped, because everybody who opens the page waits for them.
    """
    jobs = list(wanted)
    for slug in {job.paper for job in jobs}:
        asked = _kept(ASKED, slug)
        for run in asked - {job.id for job in jobs}:
            asked.discard(run)
            if _active(run):
                client().cancel(run)
                _kept(DROPPED, slug).add(run)


def _active(run: str) -> bool:
    """Whether a run waits or goes on; a deleted one does not."""
    try:
        return client().run(run).active
    except RequestError:
        return False


def _common(job: Job) -> bool:
    """Whether a job is what the page of its paper opens with."""
    publication = paper(job.paper)
    default, free = publication.opens(), (CALIBRATION, *job.axes)  # both calibrations are drawn
    same = all(job.values[name] == default[name] for name in job.entry().uses if name not in free)
    return same and job.dataset == publication.datasets[0]


def _kept(name: str, slug: str) -> set[str]:
    """A set of run ids that this session remembers for one paper."""
    runs: set[str] = st.session_state.setdefault(f"{name}.{slug}", set())
    return runs


def restart(jobs: Iterable[Job], focus: Mapping[str, float]) -> None:
    """Asks for every job that has not come to its end."""
    with troubles():
        for job in jobs:
            run = look(job)
            if run is None or run.state != "completed":
                client().submit(job, focus)


def again(jobs: Iterable[Job], focus: Mapping[str, float]) -> None:
    """Removes what came of the jobs and asks for them again."""
    with troubles():
        for job in jobs:
            client().again(job, focus)


def stop(jobs: Iterable[Job]) -> None:
    """Stops what is waiting or running."""
    with troubles():
        for job in jobs:
            run = look(job)
            if run is not None and run.active:
                client().cancel(run.id)
