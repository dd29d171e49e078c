"""Training a lesson before a class sees it: what its views ask for, and a button for all of it."""

from contextlib import suppress

import streamlit as st

from engine.core.errors import ExplorerError
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui import words
from pages.ui.jobs import clock, submit
from pages.ui.kit import shell
from pages.ui.kit.access import board, troubles
from pages.ui.lessons.schema import Lesson, View
from pages.ui.paper import defaults


def offer(lesson: Lesson) -> None:
    """Says which runs of a lesson are not there yet, and offers to train them now.

    While some of them wait or train, that is said again and again, and then no more.
    """
    if left := missing(lesson):
        waits = bool(_waiting(left))
        st.fragment(_body, run_every=clock.pace() if waits else None)(left, waits)


def _body(jobs: list[Job], ticking: bool) -> None:
    """What is left of some jobs; drawn again alone while one of them is under way."""
    with troubles():
        left = _left(jobs)
        waiting = _waiting(left)
        if not left or ticking != bool(waiting):
            st.rerun()  # nothing is left to say, or to wait for
        if waiting == len(left):
            st.info(f"{_said(left)} still to be trained: see *Runs*.",
                    icon=":material/hourglass:")  # fmt: skip
            return
        st.warning(
            f"{_said(left)} not trained yet. A view without its runs begins to train in front of "
            "the class.", icon=":material/hourglass:",
        )  # fmt: skip
        if st.button("Train this lesson now", icon=":material/model_training:",
                     key="lessons.train"):  # fmt: skip
            submit.restart(left, {})
            st.rerun()


def _waiting(jobs: list[Job]) -> int:
    """How many of some jobs wait or train."""
    return sum(run is not None and run.active for run in map(submit.look, jobs))


def missing(lesson: Lesson) -> list[Job]:
    """What the views of a lesson ask for by themselves and is neither trained nor shipped."""
    jobs = dict[str, Job]()
    for view in lesson.views:
        if view.page in shell.papers():
            with suppress(ExplorerError):  # settings that contradict each other: its page says so
                jobs |= {job.id: job for job in shown(view)}
    return _left(list(jobs.values()))


def _left(jobs: list[Job]) -> list[Job]:
    """Those of some jobs that are neither trained nor shipped."""
    runs = board().look(job.id for job in jobs)
    over = {run for run, one in runs.items() if one.state == "completed"}
    return [job for job in jobs if job.id not in over and shipped.find(job.id) is None]


def _said(left: list[Job]) -> str:
    """So many runs, with the verb that goes with them."""
    return f"{words.plural(len(left), 'run')} of this lesson {'is' if len(left) == 1 else 'are'}"


def shown(view: View) -> list[Job]:
    """The jobs that a view of a paper's page asks for by itself."""
    page = defaults.addressed(view.page, view.settings)
    return [job for name, job in page.jobs.items() if name not in page.layout.by_hand]
