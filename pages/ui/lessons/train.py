"""Training a lesson before a class sees it: what its views ask for, and a button for all of it."""

from contextlib import suppress

import streamlit as st

from engine.core.errors import ExplorerError
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui import words
from pages.ui.jobs import submit
from pages.ui.kit import shell
from pages.ui.kit.access import board
from pages.ui.lessons.schema import Lesson, View
from pages.ui.paper import defaults


def offer(lesson: Lesson) -> None:
    """Says which runs of a lesson are not there yet, and offers to train them now."""
    left = missing(lesson)
    if not left:
        return
    runs = map(submit.look, left)
    waiting = sum(run is not None and run.active for run in runs)
    if waiting == len(left):
        st.info(f"{_said(left)} still to be trained: see *Runs*.",
                icon=":material/hourglass:")  # fmt: skip
        return
    st.warning(
        f"{_said(left)} not trained yet. A view without its runs begins to train in front of the "
        "class.", icon=":material/hourglass:",
    )  # fmt: skip
    if st.button("Train this lesson now", icon=":material/model_training:", key="lessons.train"):
        submit.restart(left, {})
        st.rerun()


def missing(lesson: Lesson) -> list[Job]:
    """What the views of a lesson ask for by themselves and is neither trained nor shipped."""
    jobs = dict[str, Job]()
    for view in lesson.views:
        if view.page in shell.papers():
            with suppress(ExplorerError):  # settings that contradict each other: its page says so
                jobs |= {job.id: job for job in shown(view)}
    runs = board().look(jobs)
    over = {run for run, one in runs.items() if one.state == "completed"}
    return [job for run, job in jobs.items() if run not in over and shipped.find(run) is None]


def _said(left: list[Job]) -> str:
    """So many runs, with the verb that goes with them."""
    return f"{words.plural(len(left), 'run')} of this lesson {'is' if len(left) == 1 else 'are'}"


def shown(view: View) -> list[Job]:
    """The jobs that a view of a paper's page asks for by itself."""
    page = defaults.addressed(view.page, view.settings)
    return [job for name, job in page.jobs.items() if name not in page.layout.by_hand]
