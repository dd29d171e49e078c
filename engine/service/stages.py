"""What each job is for in the views that show it now, and so which may be trained.

A view says of every run what it is for (`engine.service.watching`). A job that was asked for in
passing is trained only while somebody looks at it; any other goes on in the background.
"""

from dataclasses import dataclass
from enum import IntEnum
from sqlite3 import Row

from engine.service.process import Process
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
        stage: What it is for, to whoever needs it most.
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
