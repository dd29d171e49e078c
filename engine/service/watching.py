"""Who looks at which run, and who asked for it, so that what somebody looks at goes first.

A session says now and then which runs its page shows, and what each is for in its view. A run that
was asked for in passing is trained while somebody looks at it; then it is kept as it is until
somebody looks again. Any other goes on in the background.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.core.errors import RequestError
from engine.service.rows import GONE as GONE
from engine.service.stages import Stage as Stage
from engine.service.store import Store


@dataclass(frozen=True)
class Visitor:
    """Somebody who looks at runs.

    Attributes:
        session: One open page.
        person: Whose it is: the same for all pages of a browser.
    """

    session: str
    person: str


KEPT = 600.0
"""Seconds after which it is forgotten what a session that has said nothing has shown."""
NOBODY = Visitor("", "")
"""The command line: it looks at nothing for long, and may stop everything."""


def look_on(store: Store, visitor: Visitor, runs: Mapping[str, Stage] | Iterable[str]) -> None:
    """Notes which runs a session shows from now on; those that it showed before it does no more.

    Args:
        store: Where they are.
        visitor: The session.
        runs: What each run is for, in the order in which the view wants them; without that, all
            are whole runs.

    Raises:
        StoreError: The store cannot be written.
    """
    shown = dict(runs) if isinstance(runs, Mapping) else dict.fromkeys(runs, Stage.FULL)
    now = store.now()
    rows = [
        (run, visitor.session, visitor.person, now, stage, place, now)
        for place, (run, stage) in enumerate(shown.items())
    ]
    with store.database.writing() as connection:
        connection.execute("DELETE FROM looking WHERE seen < ?", (now - KEPT,))
        connection.execute(
            "DELETE FROM looking WHERE session = ? AND run NOT IN (SELECT value FROM json_each(?))",
            (visitor.session, json.dumps(list(shown))),
        )
        connection.executemany(
            "INSERT INTO looking (run, session, person, seen, stage, place, since) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, session) DO UPDATE SET "
            "seen = excluded.seen, stage = excluded.stage, place = excluded.place, "
            "since = CASE WHEN stage = excluded.stage THEN since ELSE excluded.since END",
            rows,
        )
        connection.execute(
            "UPDATE jobs SET viewed = 1 WHERE NOT viewed AND id IN "
            "(SELECT run FROM looking WHERE session = ? AND stage != ?)",
            (visitor.session, Stage.AHEAD),
        )


def gone(store: Store, sessions: Iterable[str]) -> None:
    """Notes that some sessions are over: they look at nothing any more."""
    with store.database.writing() as connection:
        connection.executemany(
            "DELETE FROM looking WHERE session = ?", [(session,) for session in sessions]
        )


def others(store: Store, run: str, visitor: Visitor) -> int:
    """How many other people show a run now."""
    ((count,),) = store.database.rows(
        "SELECT count(DISTINCT person) FROM looking WHERE run = ? AND person != ? AND seen > ?",
        (run, visitor.person, store.since()),
    )
    return int(count)


def owner(store: Store, run: str) -> str | None:
    """Who has asked for a run: a person, nobody in particular (""), or None if it is not there."""
    row = store.database.row("SELECT owner FROM jobs WHERE id = ?", (run,))
    return None if row is None else str(row["owner"])


def claim(store: Store, run: str, visitor: Visitor, *, passing: bool, viewed: bool = True) -> None:
    """Notes who has asked for a run, whether in passing, and whether to look at it."""
    with store.database.writing() as connection:
        connection.execute(
            "UPDATE jobs SET owner = ?, passing = ?, viewed = ? WHERE id = ?",
            (visitor.person, passing, viewed, run),
        )


def may_stop(store: Store, run: str, visitor: Visitor) -> None:
    """Checks that a person may stop a run: their own, or one that nobody else looks at.

    Raises:
        RequestError: Others look at it, and somebody else has asked for it; or it is not there.
    """
    owner = store.row(run)["owner"]
    if visitor == NOBODY or owner == visitor.person:
        return
    if count := others(store, run, visitor):
        who = "another person looks" if count == 1 else f"{count} other people look"
        raise RequestError(
            f"{who} at this run: only the person who started it can stop it while others look"
        )
