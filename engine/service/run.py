"""A job as the store knows it: where it is on its way, and how long that took."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Row
from typing import Any, get_args

from engine.core import stored
from engine.core.errors import ExplorerError, StoreError
from engine.runs.changes import sources
from engine.runs.job import Job
from engine.runs.shipped import Shipped
from engine.service.store import ENDED, INTERRUPTED, LOST, State, sound

OUTDATED = "computed by an earlier version"
"""What is said of a run that is."""
LATEST = 3e10
"""A time beyond the year 2900 is damage."""


@dataclass(frozen=True)
class Run:
    """A job as the store knows it.

    Attributes:
        id: Its id.
        job: The request.
        state: Where it is on its way.
        done: Work done.
        total: Work to do; 0 before it begins.
        created: Unix time of the request.
        started: Unix time at which a process took it.
        finished: Unix time of its end.
        error: One sentence, when it failed or was interrupted.
        diverged: Replicas with a measurement that is not finite.
        ahead: Jobs before it in the queue.
        stopping: Whether it has been asked to stop and still runs.
        beside: Jobs with which it takes turns; while it waits, jobs that run.
        worked: Seconds of work, without the turns of others; 0 until it ends.
        sources: Digest of the sources that computed it; empty until it begins, and where an
            earlier version did not keep it.
        seq: Number of its last event.
        owner: Who asked for it first; empty for the command line.
        passing: Whether it was asked for in passing, and is asked for again when in view.
        paused: Whether it has not come to its end and waits until somebody looks at it.
        lost: How many processes it has lost.
        usual: Seconds that the latest runs took on average, while it waits; None if none is known.
        shipped: Where its numbers come from if they ship with the app; None if computed here.
    """

    id: str
    job: Job
    state: State
    done: int
    total: int
    created: float
    started: float | None
    finished: float | None
    error: str = ""
    diverged: tuple[int, ...] = ()
    ahead: int = 0
    stopping: bool = False
    beside: int = 0
    worked: float = 0.0
    sources: str = ""
    seq: int = 0
    owner: str = ""
    passing: bool = False
    lost: int = 0
    paused: bool = False
    usual: float | None = None
    shipped: Shipped | None = None

    @property
    def active(self) -> bool:
        """Whether more is to come."""
        return self.state in ("queued", "running")

    @property
    def outdated(self) -> bool:
        """Whether it is over and other sources than today's have computed it."""
        return self.state == "completed" and self.sources != sources(self.job)

    def aged(self, again: str) -> list[str]:
        """The sentence on numbers that today's sources have not computed; none elsewhere.

        Args:
            again: What trains the run again.
        """
        if not self.outdated:
            return []
        return [
            f"Run {self.id} was {OUTDATED}, and its guarantees are priced by this one: use {again} "
            "to train it again."
        ]

    @property
    def goes_on(self) -> bool:
        """Whether its process has ended and it goes on by itself once somebody looks at it.

        Not so if it may be what ended its processes, or if the reason is another.
        """
        ended = self.state == "interrupted" and self.error in (INTERRUPTED, ENDED)
        return ended and self.lost < LOST

    @property
    def seconds(self) -> float | None:
        """How long it has run, once it has ended without the turns of others; None before."""
        if self.started is None:
            return None
        if self.finished and self.worked:
            return self.worked
        return (self.finished or time.time()) - self.started

    @property
    def seconds_waiting(self) -> float | None:
        """How long it will wait if runs take as long as usual; None when that cannot be said.

        Those ahead of it are still to be done; those that run are half done on average.
        """
        if self.state != "queued" or self.usual is None:
            return None
        return self.usual * (self.ahead + self.beside / 2)

    @property
    def seconds_left(self) -> float | None:
        """How long it will still run at this pace; None when that cannot be said."""
        if self.state != "running" or not self.done or self.seconds is None:
            return None
        return self.seconds * (self.total - self.done) / self.done


@dataclass(frozen=True)
class Unreadable:
    """A row of the store that is damaged, or that another version has written.

    Attributes:
        id: What the row says its id is.
        reason: What is wrong with it, in one sentence.
    """

    id: str
    reason: str


def _time(value: object) -> float:
    """A Unix time of this millennium."""
    if not isinstance(value, int | float) or not 0 <= value < LATEST:
        raise ValueError(f"the time {value!r}")
    return float(value)


READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("id", "state", "ahead", "beside", "usual"), lambda value: value),
    **dict.fromkeys(("done", "total", "seq", "lost"), int),
    **dict.fromkeys(("error", "sources", "owner"), str),
    **dict.fromkeys(("passing", "paused"), bool),
    **dict.fromkeys(("started", "finished"), lambda at: None if at is None else _time(at)),
    "created": _time,
    "worked": float,
    "diverged": lambda text: stored.read(tuple[int, ...], stored.parsed(text)),
}
"""How each column becomes the field of its name."""


def as_run(row: Row, known: Job | None = None) -> Run:
    """A row of the store as a value.

    Args:
        row: The row.
        known: What the row asks for, where it has been read before.

    Raises:
        StoreError: The row is damaged, or another version has written it.
    """
    try:
        if not sound(row, row["text"]):
            raise ValueError("a damaged request")
        if row["state"] not in get_args(State):
            raise ValueError(f"the state {row['state']!r}")
        return Run(
            job=known or Job.read(row["text"], row["id"]),
            stopping=row["state"] == "running" and row["stop"] is not None,
            **{name: read(row[name]) for name, read in READ.items()},
        )
    except (ExplorerError, LookupError, TypeError, ValueError, OverflowError) as error:
        what = f"one with no {error}" if isinstance(error, LookupError) else error
        raise StoreError(
            f"run {row['id']}: expected a run that this version can read, got {what}: delete it, "
            "or use the version that made it"
        ) from error


def as_shipped(ships: Shipped) -> Run:
    """A run that ships with the app, as if it had been done here."""
    origin = ships.origin
    return Run(
        id=ships.job.id,
        job=ships.job,
        state="completed",
        done=origin.total,
        total=origin.total,
        created=origin.finished,
        started=origin.finished - origin.seconds,
        finished=origin.finished,
        diverged=origin.diverged,
        worked=origin.seconds,
        sources=origin.sources,
        shipped=ships,
    )
