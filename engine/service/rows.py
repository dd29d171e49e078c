"""Rows of the store as values, and the few statements that more than one side needs."""

import json
import time
import zlib
from collections.abc import Iterable, Sequence
from sqlite3 import Connection, Row
from typing import Literal

from engine.core.errors import RequestError, StoreError
from engine.runs.events import Event, decode, encode

State = Literal["queued", "running", "completed", "cancelled", "failed", "interrupted"]

ROWS = (
    "SELECT *, (SELECT count(*) FROM jobs AS other WHERE other.state = 'queued' "
    "AND jobs.state = 'queued' AND (other.focus = '{}', other.created) < "
    "(jobs.focus = '{}', jobs.created)) AS ahead, "
    "(SELECT count(*) FROM jobs AS other WHERE other.state = 'running' AND (jobs.state = 'queued' "
    "OR jobs.state = 'running' AND other.pid = jobs.pid AND other.born = jobs.born "
    "AND other.id != jobs.id)) AS beside, "
    "CASE WHEN jobs.state = 'queued' THEN (SELECT avg(worked) FROM (SELECT worked FROM jobs past "
    "WHERE past.state = 'completed' AND past.worked > 0 ORDER BY past.finished DESC LIMIT 20)) END "
    "AS usual FROM jobs"
)


def find(connection: Connection, run: str) -> Row:
    """A job's row.

    Raises:
        RequestError: There is none.
    """
    row: Row | None = connection.execute(f"{ROWS} WHERE id = ?", (run,)).fetchone()
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
    now, first = time.time(), row["seq"] + 1
    connection.executemany(
        "INSERT INTO events (run, seq, at, body, crc) VALUES (?, ?, ?, ?, ?)",
        [
            (row["id"], seq, now, body, checksum(body))
            for seq, body in enumerate(map(_body, events), first)
        ],
    )
    connection.execute(
        "UPDATE jobs SET seq = ? WHERE id = ?", (row["seq"] + len(events), row["id"])
    )


def _body(event: Event) -> str:
    return json.dumps(encode(event), separators=(",", ":"))


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
        return decode(json.loads(row["body"]))
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
