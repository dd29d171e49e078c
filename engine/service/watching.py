"""Who looks at which run, and what each is for in the views that show it: what may be trained.

A session says now and then which runs its page shows, and what each is for in its view. A run that
was asked for in passing is trained while somebody looks at it; then it is kept as it is until
somebody looks again. Any other goes on in the background.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from sqlite3 import Row

from engine.core.errors import RequestError
from engine.service.process import Process
from engine.service.store import GONE as GONE
from engine.service.store import Store


class Stage(IntEnum):
    """What a run is for in the view that shows it; what comes first is trained first."""

    POINT = 0
    """The chosen method at the chosen budget."""
    CURVE = 1
    """A few budgets of the chosen method."""
    COARSE = 2
    """A few budgets of the other methods with a proof."""
    OTHER = 3
    """A few budgets of the methods that are left."""
    FULL = 4
    """All budgets and all repetitions."""
    BACKGROUND = 5
    """Nobody looks at it, and it was asked for on purpose."""
    AHEAD = 6
    """What the view does not show, and will after the next move: trained in idle time only."""


PAUSED = 9
"""The stage of what was asked for in passing while nobody looks at it."""
EVERY = frozenset(Stage)
SECOND = frozenset({Stage.COARSE, Stage.OTHER, Stage.FULL, Stage.AHEAD})
"""The stages at which the first process takes jobs, and those at which a second one does."""
LASTING = 110.0
"""Seconds more for which a view is trained ahead; nothing ticks on a page that is complete."""
LEVEL, TIMES = 0.1, 4.0
"""Seconds of work up to which a job is of the first level, and how much more the next may have."""


@dataclass(frozen=True)
class Wanted:
    """A job that waits or is open here.

    Attributes:
        run: Its id.
        stage: What it is for, to the one who needs it most.
        persons: Who looks at it at that stage.
        since: When the newest view of it began, on the store's clock; 0 if there is none.
        place: Its place in that view.
        worked: Seconds of work that earlier attempts have left.
        number: Its place in the queue by the time of its request.
        waits: Whether it is in the queue.
    """

    run: str
    stage: int
    persons: tuple[str, ...]
    since: float
    place: int
    worked: float
    number: int
    waits: bool = False


def level(seconds: float, first: float | None = None) -> int:
    """How long a job has had the processor, in steps that grow: a short one never waits long.

    >>> [level(seconds) for seconds in (0.0, 0.2, 1.0, 10.0)]
    [0, 1, 2, 4]

    Args:
        seconds: That it has had.
        first: Seconds up to which it is of the first level; None for LEVEL.
    """
    steps, bound = 0, first or LEVEL
    while seconds >= bound:
        steps, bound = steps + 1, bound * TIMES
    return steps


def wanted(store: Store, owner: Process) -> list[Wanted]:
    """The jobs that wait and may be trained, and all that a process has open.

    A view whose row is damaged is nobody's.

    Raises:
        StoreError: The store cannot be read.
    """
    rows = store.database.rows(
        "SELECT jobs.id, jobs.passing, jobs.state, jobs.worked, looking.stage, "
        "looking.person, looking.place, looking.since FROM jobs "
        "LEFT JOIN looking ON looking.run = jobs.id "
        "AND looking.seen > :since - (looking.stage = :ahead) * :lasting "
        "AND typeof(stage) || typeof(place) || typeof(since) = 'integerintegerreal' "
        "WHERE (jobs.state = 'queued' AND (NOT jobs.passing OR looking.run IS NOT NULL)) "
        "OR (jobs.state = 'running' AND jobs.pid = :pid AND jobs.born = :born) "
        "ORDER BY jobs.created, jobs.rowid, looking.stage, looking.since DESC",
        {"since": store.since(), **vars(owner), "ahead": Stage.AHEAD, "lasting": LASTING},
    )
    views: dict[str, list[Row]] = {}
    for row in rows:
        views.setdefault(row["id"], []).append(row)
    return [_wanted(number, some) for number, some in enumerate(views.values())]


def _wanted(number: int, rows: list[Row]) -> Wanted:
    """One job from a row for each view of it, of which the first needs it most."""
    first = rows[0]
    alone = PAUSED if first["passing"] else Stage.BACKGROUND
    stage = alone if first["stage"] is None else min(alone, first["stage"])
    looks = [row for row in rows if row["stage"] == stage]
    return Wanted(
        first["id"],
        stage,
        tuple(dict.fromkeys(row["person"] for row in looks)),
        looks[0]["since"] if looks else 0.0,
        looks[0]["place"] if looks else 0,
        first["worked"],
        number,
        first["state"] == "queued",
    )


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


def stay(store: Store, run: str) -> None:
    """Notes that a run which is there was asked for on purpose, so that it is not tidied away."""
    with store.database.writing() as connection:
        connection.execute(
            "UPDATE jobs SET passing = 0, viewed = 1 WHERE id = ? AND (passing OR NOT viewed)",
            (run,),
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
        who = "another person is looking" if count == 1 else f"{count} other people are looking"
        raise RequestError(
            f"{who} at this run: only the person who started it can stop it while others look"
        )
