"""Requests, runs under way and their results, for many processes at once.

The store is one SQLite file and a folder of arrays beside it. A job is one row, found by
its id; it goes from queued to running, and from there to completed, cancelled, failed or
interrupted. This is the side of those who ask and read; `engine.service.claim` is the side of the
process that does a job.
"""

import json
import os
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection, Row
from typing import Literal, TextIO

from datasets import own
from engine.core import disk, stored
from engine.core.errors import FullError, RequestError, StoreError
from engine.core.home import STORE, home, private_opener
from engine.runs import artifacts
from engine.runs.events import Event, Finished, decode, encode
from engine.runs.job import Job
from engine.service import spare
from engine.service.database import Database
from engine.service.process import Process

Answer = Literal["new", "joined", "cached"]
CLOCK = ".clock"
"""File in the store's folder whose time is the store's."""
LOG = "worker.log"
"""File in the store's folder that says at length what went wrong."""
LONG = 1_000_000
"""Bytes from which it begins again."""
LOST = 2
"""Processes that a job may lose before it waits for somebody to ask for it again."""
INTERRUPTED = "The process that ran it ended in the middle of it; run it again"
ENDED = "The process that ran it was stopped. Run it again"
State = Literal["queued", "running", "completed", "cancelled", "failed", "interrupted"]

GONE = 10.0
"""Seconds after which a session that has said nothing does not look on any more."""
ROWS = (
    "WITH views AS MATERIALIZED (SELECT jobs.id AS run, jobs.state AS state, jobs.pid AS pid, "
    "jobs.born AS born, jobs.created AS created, min(coalesce(min(looking.stage), 9), "
    "CASE WHEN jobs.passing THEN 9 ELSE 5 END) AS stage "
    "FROM jobs LEFT JOIN looking ON looking.run = jobs.id AND looking.seen > :since "
    "WHERE jobs.state IN ('queued', 'running') GROUP BY jobs.id), "
    "queue AS MATERIALIZED (SELECT run, row_number() OVER (ORDER BY stage, created) - 1 AS ahead "
    "FROM views WHERE state = 'queued' AND stage < 9) "
    "SELECT *, coalesce((SELECT ahead FROM queue WHERE run = jobs.id), 0) AS ahead, "
    "(SELECT count(*) FROM views AS other WHERE other.state = 'running' AND other.stage < 9 "
    "AND (jobs.state = 'queued' OR jobs.state = 'running' AND other.pid = jobs.pid "
    "AND other.born = jobs.born AND other.run != jobs.id)) AS beside, "
    "coalesce((SELECT stage FROM views WHERE run = jobs.id) = 9, 0) AS paused, "
    "CASE WHEN jobs.state = 'queued' THEN (SELECT avg(worked) FROM (SELECT worked FROM jobs past "
    "WHERE past.state = 'completed' AND past.worked > 0 ORDER BY past.finished DESC LIMIT 20)) END "
    "AS usual FROM jobs"
)
"""Jobs with what others mean for them: 5 and 9 are `Stage.BACKGROUND` and `PAUSED`.

It takes :since, the time from which on a session that has said something still looks.
"""


def find(connection: Connection, run: str) -> Row:
    """A job's row.

    Raises:
        RequestError: There is none.
    """
    row: Row | None = connection.execute("SELECT * FROM jobs WHERE id = ?", (run,)).fetchone()
    if row is None:
        raise RequestError(f"run: expected the id of a run in this store, got {run!r}")
    return row


def held(connection: Connection, key: tuple[str, int, int, str]) -> Row | None:
    """The row of a running job if it is still this attempt of this process."""
    row: Row | None = connection.execute(
        "SELECT * FROM jobs WHERE id = ? AND attempt = ? AND pid = ? AND born = ? "
        "AND state = 'running'",
        key,
    ).fetchone()
    return row


def add(connection: Connection, row: Row, events: Sequence[Event]) -> None:
    """Appends events to a job, numbered on from its last."""
    now, bodies = time.time(), [json.dumps(encode(one), separators=(",", ":")) for one in events]
    connection.executemany(
        "INSERT INTO events (run, seq, at, body, crc) VALUES (?, ?, ?, ?, ?)",
        [
            (row["id"], seq, now, body, checksum(body))
            for seq, body in enumerate(bodies, row["seq"] + 1)
        ],
    )
    connection.execute(
        "UPDATE jobs SET seq = ? WHERE id = ?", (row["seq"] + len(events), row["id"])
    )


def close(
    connection: Connection, run: str, state: State, error: str, diverged: Iterable[int] = ()
) -> None:
    """Ends a job in the given state."""
    connection.execute(
        "UPDATE jobs SET state = ?, finished = ?, error = ?, diverged = ?, stop = NULL "
        "WHERE id = ?",
        (state, time.time(), error, json.dumps(list(diverged)), run),
    )


def event(run: str, row: Row) -> Event:
    """The event of a row.

    Raises:
        StoreError: It is damaged, or another version has written it.
    """
    try:
        if not sound(row, row["body"]):
            raise ValueError("its checksum is another")
        return decode(stored.parsed(row["body"]))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"run {run}: expected event {row['seq']} as it was written, got a damaged one ({error})"
            ": delete the run and repeat it"
        ) from error


def sound(row: Row, text: str) -> bool:
    """Whether a text is the one that was written; rows from before checksums are taken as sound."""
    written = row["crc"] if "crc" in row.keys() else None  # noqa: SIM118  # a row is no dict
    return isinstance(text, str) and written in (None, checksum(text))


def checksum(text: str) -> int:
    """A number that changes with nearly every change of a text: its CRC-32."""
    return zlib.crc32(text.encode())


def opened_log(folder: Path) -> TextIO:
    """The log of a store, to be written on at its end; a long one begins again.

    Raises:
        OSError: It cannot be written.
    """
    log = folder / LOG
    if log.exists() and log.stat().st_size > LONG:
        log.write_bytes(b"")
    return open(log, "a", encoding="utf-8", opener=private_opener)


def warn(problem: object) -> None:
    """Prints what went wrong, which a process of the store does into its log.

    The log lies on the store's disk: where that is full, the process goes on without it.
    """
    with suppress(OSError):
        print(problem, file=sys.stderr, flush=True)


class Store:
    """The file and the folder; cheap to make, opened at the first use, free to share by threads.

    Args:
        folder: Where they lie; None for `home()`.
        patience: Seconds to wait for another process's lock.
    """

    def __init__(self, folder: Path | None = None, patience: float = 5.0) -> None:
        self.folder = folder or home()
        self.artifacts = self.folder / "artifacts"
        self.database = Database(self.folder / STORE, patience)

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        """A connection inside a transaction, after which files that no row names any more go.

        They go after the commit, so that a process that dies in between leaves a file too many,
        never a row without its file. A file that cannot be removed stays, too: `tidy` says why.

        Raises:
            StoreError: The store cannot be opened or written.
        """
        with self.database.writing() as connection:
            yield connection
            loose = connection.execute("DELETE FROM loose RETURNING digest").fetchall()
        with suppress(OSError):
            self.collect(row["digest"] for row in loose)

    def submit(self, job: Job, focus: Mapping[str, float]) -> Answer:
        """Puts a job in the queue, once however many ask; a completed one is not repeated."""
        self.sweep()
        now, text = time.time(), json.dumps(dict(focus))
        with self.changing() as connection:
            row = connection.execute("SELECT * FROM jobs WHERE id = ?", (job.id,)).fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO jobs (id, paper, method, dataset, text, crc, focus, state, "
                    "created) VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?)",
                    (job.id, job.paper, job.method, job.dataset, *_signed(job), text, now),
                )
                return "new"
            if row["state"] == "completed":
                return "cached"
            if row["state"] in ("queued", "running"):
                connection.execute("UPDATE jobs SET stop = NULL WHERE id = ?", (job.id,))
                return "joined"
            self.renew(connection, job.id, text)
            connection.execute(
                "UPDATE jobs SET text = ?, crc = ? WHERE id = ?", (*_signed(job), job.id)
            )
            return "new"

    def renew(self, connection: Connection, run: str, focus: str) -> None:
        """Puts a job back in the queue; numbers go on.

        One that was stopped or killed goes on where it was if it left its state
        (`engine.runs.checkpoint`); of any other, what its last attempt left is removed.
        """
        left = connection.execute(
            "SELECT 1 FROM artifacts, jobs WHERE run = :run AND name = :name AND id = :run "
            "AND state != 'failed'",
            {"run": run, "name": artifacts.DONE},
        ).fetchone()
        if left is None:
            self.restart(connection, run)
        else:
            connection.execute(f"DELETE FROM events WHERE run = ? AND {_ENDS}", (run,))
            connection.execute(  # what a killed process has told since it last kept its state
                "DELETE FROM events WHERE run = :run AND seq > "
                "(SELECT kept FROM jobs WHERE id = :run)",
                {"run": run},
            )
        connection.execute(
            "UPDATE jobs SET state = 'queued', focus = ?, created = ?, attempt = attempt + 1, "
            "started = NULL, finished = NULL, pid = NULL, born = NULL, beat = NULL, stop = NULL, "
            "kept = seq, done = 0, total = 0, error = '', diverged = '[]' WHERE id = ?",
            (focus, time.time(), run),
        )

    def restart(self, connection: Connection, run: str) -> None:
        """Removes what earlier attempts at a job left."""
        connection.execute("UPDATE jobs SET worked = 0 WHERE id = ?", (run,))
        connection.execute("DELETE FROM events WHERE run = ?", (run,))
        connection.execute("DELETE FROM artifacts WHERE run = ?", (run,))

    def cancel(self, run: str) -> None:
        """Stops a job: at once while it waits, else as soon as its process sees the mark."""
        self.sweep()
        now = time.time()
        with self.database.writing() as connection:
            row = find(connection, run)
            if row["state"] == "queued":
                add(connection, row, [Finished(0, "cancelled")])
                close(connection, run, "cancelled", "")
            elif row["state"] == "running":
                connection.execute(
                    "UPDATE jobs SET stop = coalesce(stop, ?) WHERE id = ?", (now, run)
                )

    def delete(self, run: str) -> None:
        """Removes a job and what came of it, on a full disk too.

        A process that does it stops when it notices. The room that this takes on a full disk is
        kept again at once, so that the next run can be deleted too.

        Raises:
            FullError: There is no room for it, nor was any kept.
            StoreError: The store cannot be opened or written.
            RequestError: There is no such run.
        """
        needed = spare.SIZE + spare.SLACK
        try:
            self._remove(run)
        except FullError:
            spare.give(self.folder)
            needed = spare.SIZE  # the disk was full before, and a small run frees little more
            try:
                self._remove(run)
            except FullError as error:
                said = disk.sentence(self.folder, spare.SIZE, "deleting a run", runs=False)
                raise FullError(said) from error
            self._shorten()
        spare.keep(self.folder, needed)

    def _shorten(self) -> None:
        """Plays SQLite's log into the file and empties it: on a full disk its room is needed."""
        with suppress(StoreError), self.database.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _remove(self, run: str) -> None:
        """Removes a job's row, its events and its arrays, and who looks at it."""
        with self.changing() as connection:
            find(connection, run)
            connection.execute("DELETE FROM jobs WHERE id = ?", (run,))
            connection.execute("DELETE FROM looking WHERE run = ?", (run,))

    def collect(self, digests: Iterable[str]) -> list[Path]:
        """Removes the files of these digests that no row names, and returns them.

        Nobody can begin to use one of them meanwhile: a claim puts a file in its place within a
        transaction, as this one asks for rows.
        """
        chosen = list(digests)
        removed: list[Path] = []
        if not chosen:
            return removed
        with self.database.writing() as connection:
            for digest in chosen:
                path = artifacts.place(self.artifacts, digest)
                used = connection.execute("SELECT 1 FROM artifacts WHERE digest = ?", (digest,))
                if used.fetchone() is None:
                    with suppress(FileNotFoundError):
                        path.unlink()
                        removed.append(path)
        return removed

    def tidy(self) -> list[Path]:
        """Removes what no run needs: arrays without a row, and files that were never finished.

        That is what killed processes leave, and the arrays of stores that were set aside.

        Raises:
            StoreError: The folder cannot be read.
        """
        try:
            there = [path.stem for path in sorted(self.artifacts.glob("*.npz"))]
            return [
                *self.collect(there),
                *artifacts.tidy(self.artifacts),
                *artifacts.tidy(self.folder / own.FEATURES),
            ]
        except OSError as error:
            raise StoreError(
                f"{self.folder}: expected a folder that can be read, got: {error.strerror}"
            ) from None

    def sweep(self, idle: Process | None = None) -> None:
        """Closes the running jobs whose process is dead; where nothing can be written, nothing.

        What they had begun to write is removed.

        Args:
            idle: A living process that knows of itself that it does no job.
        """
        dead = [
            row
            for row in self.database.rows("SELECT * FROM jobs WHERE state = 'running'")
            if (one := Process(row["pid"], row["born"])) == idle
            or not one.alive(row["beat"], self.now)
        ]
        if not dead or not self.database.writable:
            return
        with self.changing() as connection:
            for row in dead:
                if held(connection, (row["id"], row["attempt"], row["pid"], row["born"])):
                    self._lost(connection, row)
        artifacts.tidy(self.artifacts)

    def _lost(self, connection: Connection, row: Row) -> None:
        """Ends a job whose process is dead, or puts it back into the queue.

        Back goes what was asked for in passing and what somebody looks at, unless it has lost so
        many processes that it may be what ends them.
        """
        run: str = row["id"]
        looked = connection.execute(
            "SELECT 1 FROM looking WHERE run = ? AND seen > ?", (run, self.since())
        ).fetchone()
        if row["stop"] is not None:
            close(connection, run, "cancelled", "")
        elif row["lost"] < LOST and (row["passing"] or looked):
            connection.execute("UPDATE jobs SET lost = lost + 1 WHERE id = ?", (run,))
            self.renew(connection, run, row["focus"])
        else:
            close(connection, run, "interrupted", INTERRUPTED)

    def now(self) -> float:
        """The store's own time, in seconds: that of the disk on which it lies.

        Machines that share a store may have clocks that disagree, and every heartbeat is
        compared with others: all take the time that the disk gives to a file that is touched.
        """
        clock = self.folder / CLOCK
        try:
            if not clock.exists():
                os.close(private_opener(str(clock), os.O_WRONLY | os.O_CREAT))
            os.utime(clock)
            return clock.stat().st_mtime
        except OSError:  # nothing can be written: nobody beats here either
            return time.time()

    def since(self) -> float:
        """The time from which on a session that has said something still looks."""
        return self.now() - GONE

    def row(self, run: str) -> Row:
        """A job's row, with the number of jobs `ahead` of it in the queue and `beside` it.

        Raises:
            RequestError: There is none.
        """
        rows = self.these([run])
        if not rows:
            raise RequestError(f"run: expected the id of a run in this store, got {run!r}")
        return rows[0]

    def these(self, runs: Sequence[str]) -> list[Row]:
        """The rows of some jobs, as `row` gives them; none for those that are not there."""
        return self.database.rows(
            f"{ROWS} WHERE id IN (SELECT value FROM json_each(:runs))",
            {"runs": json.dumps(list(runs)), "since": self.since()},
        )

    def rows(self, limit: int, paper: str | None) -> list[Row]:
        """The latest jobs, of all papers or of one, newest first."""
        return self.database.rows(
            f"{ROWS} WHERE :paper IS NULL OR paper = :paper "
            "ORDER BY created DESC, rowid DESC LIMIT :limit",
            {"paper": paper, "limit": limit, "since": self.since()},
        )

    def events(self, run: str, after: int = 0) -> list[tuple[int, Event]]:
        """The events of a job with their numbers, from the one after `after`."""
        rows = self.database.rows(
            "SELECT seq, body, crc FROM events WHERE run = ? AND seq > ? ORDER BY seq", (run, after)
        )
        return [(row["seq"], event(run, row)) for row in rows]

    def device(self, run: str) -> str:
        """The kind of device that a job was last begun on; empty before it begins."""
        row = self.database.row(
            f"SELECT json_extract({_BODY}, '$.device') AS device FROM events WHERE run = ? "
            f"AND json_extract({_BODY}, '$.kind') = 'Started' ORDER BY seq DESC LIMIT 1",
            (run,),
        )
        return "" if row is None else str(row["device"] or "cpu")  # older events name none

    def notice(self) -> str:
        """What a user must know of this store: that an older file was set aside; or nothing."""
        row = self.database.row("SELECT value FROM meta WHERE key = 'notice'")
        return str(row["value"]) if row else ""


_BODY = "iif(json_valid(body), body, '{}')"
"""What an event says; of a damaged one nothing, since one is no reason to show no run at all."""
_ENDS = f"json_extract({_BODY}, '$.kind') IN ('Finished', 'Failed')"


def _signed(job: Job) -> tuple[str, int]:
    """A job's text, and its checksum."""
    text = job.text()
    return text, checksum(text)
