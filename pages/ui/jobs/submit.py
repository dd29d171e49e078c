"""Asking for runs: each once, and none that nobody looks at any more."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress

import streamlit as st
from streamlit import runtime

from engine.core.errors import ExplorerError, RequestError
from engine.runs.job import Job
from engine.service import ahead, pricing, watching
from engine.service.client import Run
from engine.service.watching import Stage
from pages.ui import rights
from pages.ui.kit import visitors
from pages.ui.kit.access import board, client, sentence, troubles

BUDGET = "epsilon"
"""The field under the slider of every paper's page."""
SHOWN = "asking.shown"
AHEAD = "asking.ahead"
SAID = "asking.said"
AGAIN = 2.0
"""Seconds after which a session says again what it shows."""
FIRST = 3.0
"""Seconds for which the person who opens a page as the server starts has the machine alone."""
TOLD: set[str] = set()
"""The sessions of this process that have said what they show."""


def look(job: Job) -> Run | None:
    """Where a job stands; None if nobody has asked for it.

    Raises:
        StoreError: The store cannot be read.
    """
    return board().look([job.id]).get(job.id)


def start(jobs: Sequence[Job], focus: Mapping[str, float], *, again: bool) -> None:
    """Asks for the jobs that nobody has asked for yet, and for those whose process has ended.

    Stopped and failed ones stay as they are.

    Args:
        jobs: What is in view, in the order in which it is wanted.
        focus: Axis values under the sliders.
        again: Whether what was dropped out of view has come back into it.
    """
    runs = board().look(job.id for job in jobs)
    for job in jobs:
        run = runs.get(job.id)
        dropped = run is not None and run.state == "cancelled" and run.passing
        if run is None or run.goes_on or (again and dropped):
            board().expect(job)
            client().submit(job, focus, visitors.here(), passing=True)


def look_on(stages: Mapping[str, Stage]) -> bool:
    """Says which runs this session shows, so that they are trained first.

    What a session has turned away from is kept as it is, if it was asked for in passing and no
    other session shows it, and goes on once it comes back into view.

    Args:
        stages: What each run is for, in the order in which they are wanted.

    Returns:
        Whether something has come into view, or is needed for something else there.
    """
    st.session_state[SAID] = True
    stages = with_neighbours(stages)
    shown, now = tuple(stages.items()), time.monotonic()
    before, at = st.session_state.get(SHOWN, ((), 0.0))
    moved = not set(shown) <= set(before)
    if (shown == before and now - at < AGAIN) or not client().store.database.writable:
        return moved
    st.session_state[SHOWN] = shown, now
    visitor = visitors.here()
    watching.look_on(client().store, visitor, stages)
    TOLD.add(visitor.session)
    if gone := {session for session in tuple(TOLD) if not there(session)}:
        watching.gone(client().store, gone)
        TOLD.difference_update(gone)
    return moved


def there(session: str) -> bool:
    """Whether a page is still open; without a server the caller is there."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


@contextmanager
def page() -> Iterator[None]:
    """A whole page is drawn inside; one that shows no runs says so, and those before it rest."""
    st.session_state[SAID] = False
    yield
    if not st.session_state[SAID]:
        with troubles():
            look_on({})
    ready()


@asynccontextmanager
async def served(_app: object) -> AsyncIterator[None]:
    """While a server runs: its processes load what they need before the first page is opened."""

    async def begin() -> None:
        await asyncio.sleep(FIRST)
        await asyncio.to_thread(ready)

    begins = asyncio.create_task(begin())
    yield
    begins.cancel()
    with suppress(asyncio.CancelledError):
        await begins


def ready() -> None:
    """Starts the processes that train and price, so that the first move waits for neither."""
    with suppress(ExplorerError):  # the next request says why
        if runtime.exists() and ahead.allowed() and client().store.database.writable:
            client().ensure_worker()
            pricing.start(client().store)


def look_ahead(stages: Mapping[str, Stage], jobs: Sequence[Job]) -> None:
    """Asks for what a view will show after its next move, to be trained while nothing waits.

    Args:
        stages: What the view shows now.
        jobs: What it may show next.
    """
    with suppress(ExplorerError):  # nobody waits for it
        if not ahead.allowed() or not client().store.database.writable:
            return
        runs = board().look(job.id for job in jobs)
        left = [job for job in jobs if job.id not in stages]
        left = [job for job in left if job.id not in runs or runs[job.id].active]
        st.session_state[AHEAD] = tuple(stages), tuple(job.id for job in left)
        look_on(stages)
        for job in left:
            if job.id not in runs:
                board().expect(job)
                client().submit(job, {}, visitors.here(), ahead=True)


def with_neighbours(stages: Mapping[str, Stage]) -> Mapping[str, Stage]:
    """What a session shows, and what it has asked for ahead while it shows just this."""
    view, neighbours = st.session_state.get(AHEAD, ((), ()))
    return {**stages, **dict.fromkeys(neighbours if view == tuple(stages) else (), Stage.AHEAD)}


def restart(jobs: Iterable[Job], focus: Mapping[str, float]) -> None:
    """Asks for every job that has not come to its end."""
    with troubles():
        for job in jobs:
            run = look(job)
            if run is None or run.state != "completed":
                client().submit(job, focus, visitors.here())


def again(jobs: Iterable[Job], focus: Mapping[str, float]) -> None:
    """Removes what came of the jobs and asks for them again: all, or none without the right."""
    with troubles():
        every = list(jobs)
        rights.check("run it again", [job.id for job in every])
        for job in every:
            rights.do("run it again", job.id, job, focus)


def stop(jobs: Iterable[Job]) -> None:
    """Stops what is waiting or running, if it was asked for here."""
    refused = ""
    with troubles():
        for job in jobs:
            run = look(job)
            if run is not None and run.active:
                try:
                    rights.do("stop a run", run.id)
                except RequestError as error:
                    refused = sentence(str(error))
    if refused:
        st.toast(refused, icon=":material/group:")


def onlookers(run: str) -> int:
    """How many other people have a page open that shows a run."""
    return watching.others(client().store, run, visitors.here())


def who_looks(runs: Iterable[str]) -> str:
    """One line before runs are removed: that others look at them; empty if nobody does."""
    count = max((onlookers(run) for run in runs), default=0)
    who = "Another person is looking" if count == 1 else f"{count} other people are looking"
    return f":material/group: {who} at this run." if count else ""
