"""Rows of the store as values, and the few statements that more than one side needs."""

import json
import time
import zlib
from collections.abc import Iterable, Sequence
from sqlite3 import Connection, Row
from typing import Literal

from engine.core import stored
from engine.core.errors import RequestError, StoreError
from engine.runs.events import Event, decode, encode

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
