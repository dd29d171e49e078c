"""What many readers of one process see of the store: read once for all, at most so often.

Every session of an app asks where the same runs stand. A board answers from what it has read a
moment ago, so that all sessions draw from the same objects and a figure is made once for all of
them. How long a moment is, `pace` says; with few sessions it is nothing at all.
"""

import math
import threading
import time
from collections.abc import Hashable, Iterable, MutableMapping
from dataclasses import dataclass

from cachetools import FIFOCache

from engine.runs import shipped
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Client
from engine.service.run import Run, as_run, as_shipped

KEPT = 512
"""Runs that a board remembers."""
SWEEP = 1.0
"""Seconds between two looks for runs whose process is dead."""


@dataclass(frozen=True)
class Look:
    """What one look at a run has shown.

    Attributes:
        at: When, on this process's own clock.
        text: What the row asked for, as it stands there; empty for a run that ships.
        run: Where it stood; None if there was none.
    """

    at: float
    text: str
    run: Run | None


NEVER = Look(-math.inf, "", None)


class Board:
    """Runs and their results as they were a moment ago; threads may share it.

    Args:
        client: Where they are read.

    Attributes:
        pace: Seconds for which what was read is good; 0 to read at every question.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.pace = 0.0
        self._lock = threading.Lock()
        self._runs: MutableMapping[str, Look] = FIFOCache(KEPT)
        self._results: MutableMapping[str, tuple[Hashable, Results]] = FIFOCache(KEPT)
        self._asked: MutableMapping[str, Job] = FIFOCache(KEPT)
        self._changes = 0
        self._swept = -math.inf

    def look(self, ids: Iterable[str]) -> dict[str, Run]:
        """Where some runs stand: the store's, else those that ship; absent if nobody asked yet.

        Raises:
            StoreError: The store, or one of these rows, cannot be read.
        """
        wanted, now = tuple(dict.fromkeys(ids)), time.monotonic()
        with self._lock:
            if self._changes != self.client.changes:
                self._changes = self.client.changes
                self._runs.clear()  # what this process has changed is seen at once
            old = [one for one in wanted if now - self._runs.get(one, NEVER).at >= self.pace]
            if old:
                self._read(old, now)
            known = {one: self._runs[one].run for one in wanted}
        if any(run is not None and run.state == "queued" for run in known.values()):
            self.client.ensure_worker()  # the worker may have died with another job
        return {one: run for one, run in known.items() if run is not None}

    def expect(self, job: Job) -> None:
        """Keeps a job that has just been asked for: its row need not be read as text."""
        with self._lock:
            self._asked[job.text()] = job

    def results(self, run: Run) -> Results:
        """The measurements of a run as it was looked at; the same object while nothing is new."""
        mark = (run.created, run.seq, run.state, run.shipped is not None)
        with self._lock:
            kept = self._results.get(run.id)
            if kept is None or kept[0] != mark:
                kept = self._results[run.id] = mark, self.client.table(run.id)
        return kept[1]

    def _read(self, runs: list[str], now: float) -> None:
        """Reads some rows at once."""
        if now - self._swept >= SWEEP:
            self._swept = now
            self.client.store.sweep()
        rows = {row["id"]: row for row in self.client.store.these(runs)}
        for one in runs:
            before, row = self._runs.pop(one, NEVER), rows.get(one)
            if row is not None:
                same = before.run if before.text == row["text"] else None
                run = as_run(row, same.job if same else self._asked.get(row["text"]))
                self._runs[one] = Look(now, row["text"], run)
            else:
                ships = shipped.find(one)
                self._runs[one] = Look(now, "", None if ships is None else as_shipped(ships))
