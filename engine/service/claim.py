"""The right to do a job, and what its holder writes into the store.

A claim is lost when its job is deleted, or when its process was taken for dead and the job
given to another; a lost claim writes nothing, so that a run never mixes two attempts.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from sqlite3 import Connection, Row

from engine.core.errors import ExplorerError, StoreError
from engine.core.stored import parsed, read
from engine.method import Arrays
from engine.runs import artifacts
from engine.runs.changes import sources
from engine.runs.events import Advanced, Event, Finished
from engine.runs.job import Job
from engine.service.process import Process
from engine.service.store import State, Store, add, close, held
from engine.service.watching import wanted

DAMAGED = "Its request is damaged: delete it, and ask for it again"


@dataclass(frozen=True)
class Claim:
    """A job in the hands of a process.

    Attributes:
        store: Where it was taken from.
        job: What to do.
        attempt: How often it has been begun.
        owner: The process that does it.
        focus: Axis values under the user's sliders.
    """

    store: Store
    job: Job
    attempt: int
    owner: Process
    focus: dict[str, float]

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What the job's row must say for the claim to hold."""
        return self.job.id, self.attempt, self.owner.pid, self.owner.born

    def append(self, events: Sequence[Event]) -> bool:
        """Adds events in order, all or none; of progress, only the latest is kept.

        Returns:
            Whether the claim holds; if not, nothing was added.
        """
        with self.store.database.writing() as connection:
            row = held(connection, self.key)
            if row is not None:
                _tell(connection, row, events)
            return row is not None

    def keep(self, name: str, arrays: Arrays) -> str:
        """Writes arrays as one file and returns its digest.

        Raises:
            StoreError: They cannot be written, or the claim is lost.
        """
        folder = self.store.artifacts
        # The file moves within the transaction: nobody who deletes the same arrays can
        # come between the file and its row.
        with (
            artifacts.written(folder, arrays) as (passing, digest),
            self.store.database.writing() as connection,
        ):
            if held(connection, self.key) is None:
                raise StoreError(f"run {self.job.id}: expected it to go on, it was taken away")
            os.replace(passing, artifacts.place(folder, digest))
            connection.execute(
                "INSERT OR REPLACE INTO artifacts VALUES (?, ?, ?)", (self.job.id, name, digest)
            )
        return digest

    def save(self, kept: Mapping[str, Arrays], events: Sequence[Event], *, going_on: bool) -> None:
        """Writes the state of a run that may be killed any time: all files and events, or none.

        Args:
            kept: Arrays by name; they replace what was kept under these names.
            events: What is not reported yet and belongs to this state.
            going_on: Whether later events do not belong to it: a run that goes on from here
                reports them again (`Store.renew`).

        Raises:
            StoreError: It cannot be written, or the claim is lost.
        """
        folder = self.store.artifacts
        with ExitStack() as files:
            written = {
                name: files.enter_context(artifacts.written(folder, arrays))
                for name, arrays in kept.items()
            }
            with self.store.changing() as connection:
                row = held(connection, self.key)
                if row is None:
                    raise StoreError(f"run {self.job.id}: expected it to go on, it was taken away")
                _tell(connection, row, events)
                self._forget_state(connection)
                for name, (passing, digest) in written.items():
                    os.replace(passing, artifacts.place(folder, digest))
                    connection.execute(
                        "INSERT INTO artifacts VALUES (?, ?, ?)", (self.job.id, name, digest)
                    )
                reported = "seq" if going_on else "NULL"
                connection.execute(
                    f"UPDATE jobs SET kept = {reported} WHERE id = ?", (self.job.id,)
                )

    def recall(self, name: str) -> Arrays | None:
        """The arrays that an earlier attempt kept under a name; None if there are none.

        Raises:
            StoreError: The file is missing or damaged.
        """
        row = self.store.database.row(
            "SELECT digest FROM artifacts WHERE run = ? AND name = ?", (self.job.id, name)
        )
        return None if row is None else artifacts.load(self.store.artifacts, row["digest"])

    def stopping(self) -> float | None:
        """When somebody asked to stop this job; None if nobody has.

        A claim that is lost was to stop from the beginning of time.
        """
        with self.store.database.reading() as connection:
            row = held(connection, self.key)
        return 0.0 if row is None else row["stop"]

    def beat(self) -> None:
        """Says that the process is alive."""
        with self.store.database.writing() as connection:
            now = self.store.now()
            connection.execute("UPDATE jobs SET beat = ? WHERE id = ?", (now, self.job.id))
            connection.execute(
                "UPDATE workers SET beat = ? WHERE pid = ? AND born = ?",
                (now, self.owner.pid, self.owner.born),
            )

    def finish(
        self,
        state: State,
        events: Sequence[Event],
        error: str = "",
        *,
        asked: bool = False,
        left: bool = False,
        worked: float = 0.0,
    ) -> bool:
        """Adds the last events and ends the job.

        Args:
            state: How it ended.
            events: What is not reported yet.
            error: One sentence, if it did not end well.
            asked: Whether it ended because somebody asked; if the same job has been asked
                for again since then, or nobody has asked to stop it for good, it goes back to
                the queue.
            left: Whether its process is to end; what was asked for in passing goes back.
            worked: Seconds that it took, without the turns of others; 0 if nobody knows.

        Returns:
            Whether the claim still held.
        """
        diverged = [event.diverged for event in events if isinstance(event, Finished)]
        with self.store.changing() as connection:
            row = held(connection, self.key)
            if row is None:
                return False
            connection.execute(
                "UPDATE jobs SET worked = worked + ? WHERE id = ?", (worked, self.job.id)
            )
            if row["stop"] is None and (asked or (left and row["passing"])):
                self.store.renew(connection, self.job.id, row["focus"])
            elif state == "failed" and not row["viewed"]:
                connection.execute("DELETE FROM jobs WHERE id = ?", (self.job.id,))
            else:
                _tell(connection, row, events)
                close(connection, self.job.id, state, error, diverged[-1] if diverged else ())
                if state == "completed":
                    self._forget_state(connection)
        return True

    def _forget_state(self, connection: Connection) -> None:
        """Removes what was kept for going on."""
        connection.execute(
            "DELETE FROM artifacts WHERE run = ? AND name LIKE ?",
            (self.job.id, f"{artifacts.STATE}%"),
        )


def _tell(connection: Connection, row: Row, events: Sequence[Event]) -> None:
    """Writes events down; of progress only the latest counts."""
    progress = [event for event in events if isinstance(event, Advanced)]
    add(connection, row, [event for event in events if not isinstance(event, Advanced)])
    if progress:
        connection.execute(
            "UPDATE jobs SET done = ?, total = ? WHERE id = ?",
            (progress[-1].done, progress[-1].total, row["id"]),
        )


def asked(store: Store, run: str) -> Job | None:
    """What a job in the queue asks for; None where it is not there or cannot be read."""
    row = store.database.row("SELECT * FROM jobs WHERE id = ? AND state = 'queued'", (run,))
    with suppress(ExplorerError, LookupError, TypeError, ValueError):
        return None if row is None else Job.read(row["text"], row["id"])
    return None


def take(store: Store, owner: Process, run: str | None = None) -> Claim | None:
    """Takes the next job of the queue, or the one named, if it waits there.

    Next is what somebody looks at, by its stage, and then the oldest (`engine.service.watching`).
    What an earlier attempt has left of it is taken up only if the same sources computed that, since
    a run never mixes two versions of the code; otherwise it begins again.

    Args:
        store: Where the queue is.
        owner: The process that will do it.
        run: The job; None for the next.
    """
    if run is not None:
        return _take(store, owner, run)
    waiting = [one for one in wanted(store, owner) if one.waits]
    for one in sorted(waiting, key=lambda one: (one.stage, one.number)):
        if claim := _take(store, owner, one.run):
            return claim
    return None


def _take(store: Store, owner: Process, run: str) -> Claim | None:
    """Takes a job if it waits in the queue and can be read."""
    now, beat = time.time(), store.now()
    with store.changing() as connection:
        row = connection.execute(
            "SELECT * FROM jobs WHERE id = ? AND state = 'queued'", (run,)
        ).fetchone()
        if row is None:  # somebody was quicker
            return None
        try:
            job = Job.read(row["text"], row["id"])
            focus = read(dict[str, float], parsed(row["focus"]))
        except (ExplorerError, LookupError, TypeError, ValueError):
            close(connection, row["id"], "failed", DAMAGED)  # the next one's turn
            return None
        today = sources(job)
        if row["sources"] != today:
            store.restart(connection, job.id)
        connection.execute(
            "UPDATE jobs SET state = 'running', started = ?, pid = ?, born = ?, beat = ?, "
            "sources = ? WHERE id = ?",
            (now, owner.pid, owner.born, beat, today, row["id"]),
        )
    return Claim(store, job, row["attempt"], owner, focus)
