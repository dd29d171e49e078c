"""Who looks at which run, and who asked for it, so that nobody's run ends because another moved on.

A session says now and then which runs its page shows. A run that a session asked for in passing is
stopped when the last session that shows it turns to something else; any other goes on.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.errors import RequestError
from engine.service.rows import find
from engine.service.store import Store

GONE = 60.0
"""Seconds after which a session that has said nothing does not look on any more."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who looks at runs.

    Attributes:
        session: One open page.
        person: Whose it is: the same for all pages of a browser.
    """

    session: str
    person: str


NOBODY = Visitor("", "")
"""The command line: it looks at nothing for long, and may stop everything."""


def look_on(store: Store, visitor: Visitor, runs: Iterable[str]) -> list[str]:
    """Notes which runs a session shows from now on.

    Returns:
        The runs that it showed and that nobody shows any more, if they were asked for in passing
        and still wait or run: they are to be stopped.
    """
    shown = tuple(dict.fromkeys(runs))
    now = store.now()
    marks = ", ".join("?" * len(shown))
    with store.database.writing() as connection:
        connection.execute("DELETE FROM watching WHERE seen < ?", (now - 10 * GONE,))
        left = connection.execute(
            f"DELETE FROM watching WHERE session = ? AND run NOT IN ({marks}) RETURNING run",
            (visitor.session, *shown),
        ).fetchall()
        connection.executemany(
            "INSERT OR REPLACE INTO watching VALUES (?, ?, ?, ?)",
            [(run, visitor.session, visitor.person, now) for run in shown],
        )
        return [
            row["run"]
            for row in left
            if connection.execute(
                "SELECT 1 FROM jobs WHERE id = :run AND passing AND state IN ('queued', 'running') "
                "AND NOT EXISTS (SELECT 1 FROM watching WHERE run = :run AND seen > :since)",
                {"run": row["run"], "since": now - GONE},
            ).fetchone()
        ]


def others(store: Store, run: str, visitor: Visitor) -> int:
    """How many other people show a run now."""
    since = store.now() - GONE
    with store.database.reading() as connection:
        row = connection.execute(
            "SELECT count(DISTINCT person) FROM watching WHERE run = ? AND person != ? "
            "AND seen > ?",
            (run, visitor.person, since),
        ).fetchone()
    return int(row[0])


def claim(store: Store, run: str, visitor: Visitor, *, passing: bool) -> None:
    """Notes who has asked for a run, and whether in passing."""
    with store.database.writing() as connection:
        connection.execute(
            "UPDATE jobs SET owner = ?, passing = ? WHERE id = ?", (visitor.person, passing, run)
        )


def may_stop(store: Store, run: str, visitor: Visitor) -> None:
    """Checks that a person may stop a run: their own, or one that nobody else looks at.

    Raises:
        RequestError: Others look at it, and somebody else has asked for it; or it is not there.
    """
    with store.database.reading() as connection:
        owner = find(connection, run)["owner"]
    if visitor == NOBODY or owner == visitor.person:
        return
    if count := others(store, run, visitor):
        who = "another person looks" if count == 1 else f"{count} other people look"
        raise RequestError(
            f"{who} at this run: only the person who started it can stop it while others look"
        )
