"""How much of a shared machine runs may take: each limit is a setting, and one sentence."""

from datasets import catalog as data_catalog
from engine.core import settings
from engine.core.errors import RequestError
from engine.runs import footprint
from engine.runs.job import Job
from engine.service.store import Store

RUNS, WAITING, MINE, WORK, PASSING = (
    *("EXPLORER_MOST_RUNS", "EXPLORER_MOST_WAITING", "EXPLORER_MOST_WAITING_EACH"),
    *("EXPLORER_MOST_WORK", "EXPLORER_MOST_PASSING"),
)
USUAL = {RUNS: 20_000, WAITING: 1_000, MINE: 120, WORK: 10_000_000_000, PASSING: 5_000}
"""Runs that are kept; that wait; that wait for one person; replicas times steps of one run; runs
that were asked for in passing and are kept though nobody looks at them."""
FEWER = {
    WORK: "replicas times steps: expected at most {most} ({name}), got {got}: choose fewer "
    "budgets, repetitions or training steps",
    RUNS: "runs: expected at most {most} in this store ({name}), got one more: delete some",
    WAITING: "queue: expected at most {most} waiting runs ({name}), got one more: wait until some "
    "have ended",
    MINE: "queue: expected at most {most} waiting runs of yours ({name}), got one more: stop some "
    "of them, or wait until they have ended",
}
"""What a person is told whose run would be one too many."""
AT_ONCE = 50
"""Runs that are removed at once, so that nobody waits for it."""


def check(store: Store, job: Job, person: str, *, ahead: bool = False, again: bool = False) -> None:
    """Refuses a job that takes more than there is for it.

    Args:
        store: Where it is to wait.
        job: What is asked for.
        person: Who asks; empty for the command line.
        ahead: Whether nobody looks at it yet, so that it waits for idle time only.
        again: Whether it is to begin again, though it may have come to its end.

    Raises:
        RequestError: A limit is reached; one sentence names it, and what to do.
    """
    card = data_catalog.card(job.dataset)
    _within(WORK, job.replicas() * job.entry().steps(job.spec(), card.records))
    footprint.check(job, card)
    row = store.database.row("SELECT state FROM jobs WHERE id = ?", (job.id,))
    there = ("queued", "running") if again else ("queued", "running", "completed")
    if row and row["state"] in there:
        return  # it takes no more room than it has
    ((runs, waiting, mine),) = store.database.rows(
        "SELECT (SELECT count(*) FROM jobs), count(*), "
        "count(*) FILTER (WHERE owner = :person AND owner != '') FROM jobs "
        "WHERE state = 'queued' AND viewed AND (NOT passing OR EXISTS "
        "(SELECT 1 FROM looking WHERE run = jobs.id AND seen > :since))",
        {"person": person, "since": store.since()},
    )
    _within(RUNS, runs + 1 if row is None else 0)
    _within(WAITING, 0 if ahead else waiting + 1)
    _within(MINE, 0 if ahead else mine + 1)


def _within(name: str, got: int) -> None:
    """Refuses what is above a limit."""
    most = settings.whole(name, USUAL[name])
    if got > most:
        raise RequestError(FEWER[name].format(most=f"{most:,}", name=name, got=f"{got:,}"))


def tidy(store: Store) -> None:
    """Removes the oldest runs that were asked for in passing and that nobody looks at.

    Every move of a control asks for some; so many are kept that a class finds what it has seen.
    What was asked for on purpose is never removed.

    Raises:
        StoreError: The store cannot be read or written.
        RequestError: The setting is no positive whole number.
    """
    most = settings.whole(PASSING, USUAL[PASSING])
    rows = store.database.rows(
        "SELECT id FROM jobs WHERE passing AND state != 'running' AND NOT EXISTS "
        "(SELECT 1 FROM looking WHERE run = jobs.id AND seen > ?) "
        "ORDER BY created DESC, rowid DESC LIMIT ? OFFSET ?",
        (store.since(), AT_ONCE, most),
    )
    for row in rows:
        store.delete(row["id"])
