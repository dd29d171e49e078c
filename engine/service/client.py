"""What pages and the command line ask of the engine: submit, look, stop. No torch here.

A client is cheap, may be shared by threads, and starts a worker when a job waits and none is
alive. Every look first closes the jobs whose process has died.
"""

import math
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from sqlite3 import Row

import numpy as np
from cachetools import FIFOCache
from numpy.typing import NDArray

from engine.core.errors import RequestError, StoreError
from engine.runs import artifacts, shipped
from engine.runs.events import Event, Produced
from engine.runs.job import Job
from engine.runs.results import Results, collect, merge
from engine.service import presence, quotas, watching
from engine.service.run import Run as Run
from engine.service.run import Unreadable as Unreadable
from engine.service.run import as_run, as_shipped
from engine.service.starting import Starter
from engine.service.store import LOG, Answer, Store
from engine.service.watching import NOBODY, Visitor

KEPT = 64
"""Tables that a client keeps at hand."""


class Client:
    """The engine, seen from outside.

    Args:
        home: Folder of the store; None for EXPLORER_HOME or the user's data folder.
        workers: Whether to start a worker when none is alive.

    Attributes:
        changes: How often this client has changed something in the store.
    """

    def __init__(self, home: Path | None = None, *, workers: bool = True) -> None:
        self.store = Store(home)
        self._workers = workers
        self._starter = Starter(self.store, "engine.service.worker")
        self.changes = 0
        self._results: MutableMapping[tuple[str, float], tuple[int, Results]] = FIFOCache(KEPT)

    def submit(
        self,
        job: Job,
        focus: Mapping[str, float] | None = None,
        by: Visitor = NOBODY,
        *,
        passing: bool = False,
        ahead: bool = False,
    ) -> Answer:
        """Asks for a job, and sees to it that somebody will do it.

        Args:
            job: What to run; a completed one is not repeated.
            focus: Axis values under the user's sliders: their replicas go first.
            by: Who asks.
            passing: Whether it is trained only while somebody looks at it.
            ahead: Whether nobody looks at it yet: it counts for no limit but its own.

        Returns:
            "new"; "joined" where it waits or runs already, "cached" where it was completed before.

        Raises:
            RequestError: A limit of this machine is reached.
            StoreError: The store cannot be written, or no worker can be started.
        """
        quotas.check(self.store, job, by.person, ahead=ahead)
        answer = self.store.submit(job, focus or {})
        if answer == "new":
            watching.claim(self.store, job.id, by, passing=passing or ahead, viewed=not ahead)
        elif not (passing or ahead):
            watching.stay(self.store, job.id)
        self.changes += 1
        if answer != "cached":
            self.ensure_worker()
        return answer

    def run(self, run_id: str) -> Run:
        """The state of a run: the store's, else that of a run that ships with the app.

        Raises:
            RequestError: There is no such run.
        """
        self.store.sweep()
        row = self._row(run_id)
        if isinstance(row, shipped.Shipped):
            return as_shipped(row)
        run = as_run(row)
        if run.state == "queued":
            self.ensure_worker()  # the worker may have died with another job
        return run

    def runs(self, limit: int = 100, paper: str | None = None) -> list[Run]:
        """The latest runs, newest first; rows that cannot be read are left out (`listed`)."""
        return self.listed(limit, paper)[0]

    def listed(
        self, limit: int = 100, paper: str | None = None
    ) -> tuple[list[Run], list[Unreadable]]:
        """The latest runs, newest first, and apart from them the rows that cannot be read.

        `delete` removes such a row.
        """
        self.store.sweep()
        runs: list[Run] = []
        lost: list[Unreadable] = []
        for row in self.store.rows(limit, paper):
            try:
                runs.append(as_run(row))
            except StoreError as error:
                lost.append(Unreadable(row["id"], str(error)))
        if any(run.state == "queued" for run in runs):
            self.ensure_worker()  # the worker that they waited for may have died
        return runs, lost

    def at_hand(self, limit: int = 100) -> list[Run]:
        """The latest runs, newest first, then whole runs that ship and are not among them."""
        here = self.runs(limit)
        known = {run.job.renamed().id for run in here}
        ships = shipped.index(shipped.FOLDER).items()
        return here + [
            as_shipped(ship) for run, ship in ships if run not in known and ship.held is None
        ]

    def events(self, run_id: str, after: int = 0) -> list[tuple[int, Event]]:
        """The events after a number, with theirs; a repeated run goes on counting at `Started`."""
        if events := self.store.events(run_id, after):
            return events
        with suppress(RequestError):
            row = self._row(run_id)
            if isinstance(row, shipped.Shipped):
                return list(enumerate(row.events(), 1))[after:]
        return []

    def cancel(self, run_id: str) -> None:
        """Stops a run: at once while it waits, between two steps or operations while it runs."""
        self.store.cancel(run_id)
        self.changes += 1

    def delete(self, run_id: str) -> None:
        """Removes a run with all that came of it, stopping it first if it runs."""
        self.store.delete(run_id)
        self.changes += 1

    def table(self, run_id: str) -> Results:
        """The latest measurement of every replica; the same object once the run has ended.

        Only events that have come since the last call are read.
        """
        row = self._row(run_id)
        if isinstance(row, shipped.Shipped):
            return self._shipped(row)
        key = (run_id, row["created"])  # a repeated run is another
        seen, results = self._results.get(key, (0, None))
        if results is None or row["seq"] > seen:
            events = self.store.events(run_id, after=seen)
            new = collect(as_run(row).job, [event for _, event in events])
            results = self._reading(run_id, new) if results is None else merge(results, new)
            self._results[key] = events[-1][0] if events else row["seq"], results
        if row["state"] != "completed" and (before := shipped.find(run_id)):
            over = np.where(np.isnan(results.epsilon), 0, results.step)  # what trains is no result
            return merge(self._shipped(before), replace(results, step=over))
        return results

    def _row(self, run_id: str) -> Row | shipped.Shipped:
        """What the store holds of a run, else what ships of it.

        Raises:
            RequestError: Neither.
        """
        try:
            return self.store.row(run_id)
        except RequestError:
            if ships := shipped.find(run_id):
                return ships
            raise

    def _shipped(self, origin: shipped.Shipped) -> Results:
        """The measurements of a run that ships; read once."""
        key = (origin.job.id, 0.0)
        if key not in self._results:
            results = self._reading(origin.job.id, collect(origin.job, origin.events()))
            self._results[key] = 0, results
        return self._results[key][1]

    def _reading(self, run_id: str, results: Results) -> Results:
        """The same results, which read arrays and seconds when they are asked to."""
        return replace(
            results,
            arrays=partial(self.arrays, run_id),
            seconds=partial(self._seconds, run_id),
        )

    def arrays(self, run_id: str) -> dict[str, NDArray[np.generic]]:
        """The run's arrays, each with a row per replica; rows that are not there are NaN."""
        row = self._row(run_id)
        parts: dict[str, list[tuple[list[int], NDArray[np.generic]]]] = {}
        if isinstance(row, shipped.Shipped):
            rows, kept = row.arrays()
            count = row.job.replicas()
            return {name: artifacts.together(count, [(rows, part)]) for name, part in kept.items()}
        count = as_run(row).job.replicas()
        for _, event in self.store.events(run_id):
            if isinstance(event, Produced):
                for name, part in artifacts.load(self.store.artifacts, event.digest).items():
                    parts.setdefault(name, []).append((list(event.replicas), part))
        return {name: artifacts.together(count, some) for name, some in parts.items()}

    def _seconds(self, run_id: str) -> float:
        """How long a completed run took; NaN for any other."""
        run = self.run(run_id)
        return run.seconds or math.nan if run.state == "completed" else math.nan

    def register_app(self) -> None:
        """Says that this process is an app: a worker stays warm while it lives."""
        presence.open_app(self.store)

    def ensure_worker(self) -> None:
        """Starts a worker if none is alive, and does not wait for it.

        Raises:
            StoreError: The last one ended at once, or none can be started.
            MemoryLimitError: This process may not take what training needs, nor what it starts.
        """
        if self._workers and (code := self._starter.start(presence.device())):
            raise StoreError(
                f"worker: expected a process that stays, it ended at once with code {code}; "
                f"{self.store.folder / LOG} says why"
            )

    def again(
        self, job: Job, focus: Mapping[str, float] | None = None, by: Visitor = NOBODY
    ) -> Answer:
        """Asks for a job again: what was computed here is removed, under whatever id.

        Raises:
            RequestError: A limit of this machine is reached; nothing is removed then.
        """
        quotas.check(self.store, job, by.person, again=True)
        with suppress(RequestError):  # what ships is not in the store
            self.delete(job.id)
        return self.submit(job.renamed(), focus, by)

    def close(self) -> None:
        """Closes the store's connections; the worker goes on."""
        self.store.database.close()
