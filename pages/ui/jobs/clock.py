"""When a page is drawn again: only when its runs have changed, and more slowly the more look on.

A tick reads one signature of the runs that a page follows, and nothing more while it is the same.
Ticks are a part of the page of their own, so that moving a slider waits for none that draws.
"""

import threading
import time
from collections.abc import Hashable, Mapping

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from engine.service.client import Run
from engine.service.watching import Stage
from pages.ui.jobs.submit import look_on
from pages.ui.kit.access import board, troubles

QUICK, FASTEST, SLOWEST = 0.25, 1.0, 5.0
"""Seconds between two ticks of a page: alone, until its first curves are there and then; and among
many."""
EACH = 0.1
"""Seconds that every session which looks on adds to the interval of all."""
GONE = 15.0
"""Seconds without a tick after which a session does not look on any more."""
ALONE = 2
"""Up to so many sessions, each reads the store at every question."""


class Onlookers:
    """The sessions of this process whose page follows a run that is under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}

    def note(self, session: str) -> int:
        """Notes that a session looks on, and returns how many do."""
        now = time.monotonic()
        with self._lock:
            self._seen[session] = now
            self._seen = {one: at for one, at in self._seen.items() if now - at < GONE}
            return len(self._seen)


ONLOOKERS = Onlookers()


def interval(sessions: int, *, quick: bool = False) -> float:
    """Seconds between two ticks of each page while so many sessions look on.

    Args:
        sessions: How many look on.
        quick: Whether the page still waits for its first curves.
    """
    return round(min(max(QUICK if quick else FASTEST, EACH * sessions), SLOWEST), 2)


def follow(part: str, runs: Mapping[str, Stage], drawn: dict[str, Run]) -> None:
    """Draws a part of the page again whenever one of its runs has something new to show.

    Call it at the end of that part. Nothing ticks without a run under way, unless runs went on
    while the part was drawn: then the page would stay at what was so before.

    Args:
        part: Key of the fragment to draw again.
        runs: The runs that it draws, by id, and what each is for.
        drawn: Where they stood before the part was drawn.

    Raises:
        StoreError: The store cannot be read.
    """
    now, shown, first = board().look(runs), signature(drawn, runs), [True]
    if signature(now, runs) == shown and not any(run.active for run in now.values()):
        return
    first_ones = any(run.active and runs[one] < Stage.FULL for one, run in now.items())
    every = pace(quick=first_ones)

    def tick() -> None:
        if first:
            first.clear()  # the part has just been drawn
            return
        pace(quick=first_ones)
        with troubles():
            look_on(runs)
            if signature(board().look(runs), runs) != shown:
                redraw(part)

    st.fragment(tick, run_every=every)()


def pace(*, quick: bool = False) -> float:
    """Seconds between two ticks now (see `interval`); also how old what sessions share may be."""
    context = get_script_run_ctx()
    sessions = ONLOOKERS.note(context.session_id) if context else 1
    every = interval(sessions, quick=quick)
    board().pace = every / 2 if sessions > ALONE else 0.0
    return every


def signature(runs: Mapping[str, Run], stages: Mapping[str, Stage]) -> Hashable:
    """Changes when a page that draws these runs has something new to show.

    Of a coarse curve only its end is drawn; a whole run shows how far its training is.
    """
    return tuple(
        (one, *_shown(run, stages.get(one, Stage.FULL) == Stage.FULL)) for one, run in runs.items()
    )


def _shown(run: Run, whole: bool) -> tuple[Hashable, ...]:
    progress = round((20 if whole else 5) * run.done / run.total) if run.total else 0
    return run.created, run.state, run.seq if whole else 0, progress, run.stopping


def redraw(part: str) -> None:
    """Asks for a fragment to be drawn once this run of the script is over.

    `st.rerun` takes a fragment's key in a callback only: elsewhere it would break off the run
    that calls it. Nothing is to be broken off here, so the request is left as a callback leaves it,
    and is one with a move of a slider that comes meanwhile.
    """
    context = get_script_run_ctx()
    if context is None or context.script_requests is None:
        return
    context.script_requests.request_rerun(
        RerunData(
            query_string=context.query_string,
            page_script_hash=context.page_script_hash,
            fragment_id_queue=context.fragment_storage.resolve_target(part),
            cached_message_hashes=context.cached_message_hashes,
            context_info=context.context_info,
        )
    )
