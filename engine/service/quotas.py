"""How much of a shared machine runs may take: each limit is a setting, and one sentence."""

from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from datasets import catalog as data_catalog
from engine.core import settings
from engine.core.errors import RequestError
from engine.runs import artifacts, footprint
from engine.runs.job import Job
from engine.service.store import Store

RUNS, WAITING, MINE, WORK, PASSING, DISK = (
    *("EXPLORER_MOST_RUNS", "EXPLORER_MOST_WAITING", "EXPLORER_MOST_WAITING_EACH"),
    *("EXPLORER_MOST_WORK", "EXPLORER_MOST_PASSING", "EXPLORER_PASSING_DISK"),
)
USUAL = {
    RUNS: 20_000, WAITING: 1_000, MINE: 120, WORK: 10_000_000_000, PASSING: 5_000, DISK: 1_000,
}  # fmt: skip
"""Runs that are kept; that wait; that wait for one person; replicas times steps of one run; runs
that were asked for in passing and are kept though nobody looks at them; megabytes of these on the
disk."""
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
        RequestError: A setting is no positive whole number.
    """
    most, size = (settings.whole(name, USUAL[name]) for name in (PASSING, DISK))
    unseen = "NOT EXISTS (SELECT 1 FROM looking WHERE run = jobs.id AND seen > ?)"
    over = beyond(store, f"jobs.passing AND {unseen}", (store.since(),), most, size)
    for run in over[:AT_ONCE]:
        store.delete(run)


def beyond(
    store: Store, which: str, values: tuple[object, ...], runs: int, megabytes: int
) -> list[str]:
    """The runs beyond what may be kept of a kind: the oldest of all, the newer of these first.

    Args:
        store: Where they are; one that trains does not count.
        which: A condition in SQL on `jobs`.
        values: What stands for its question marks.
        runs: How many may be kept.
        megabytes: How much their arrays may take on the disk.

    Raises:
        StoreError: The store cannot be read.
    """
    rows = store.database.rows(
        "SELECT jobs.id, artifacts.digest FROM jobs LEFT JOIN artifacts ON run = jobs.id "
        f"WHERE {which} AND jobs.state != 'running' ORDER BY jobs.created DESC, jobs.rowid DESC",
        values,
    )
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row["id"]] = sizes.get(row["id"], 0) + _size(store, row["digest"])
    total = accumulate(sizes.values())
    return [
        run
        for number, (run, size) in enumerate(zip(sizes, total, strict=True))
        if number >= runs or size > footprint.MEGABYTE * megabytes
    ]


def _size(store: Store, digest: str | None) -> int:
    """Bytes of an array on the disk; none once it is gone."""
    try:
        return _written(str(artifacts.place(store.artifacts, digest))) if digest else 0
    except OSError:
        return 0


@lru_cache(maxsize=2**15)
def _written(path: str) -> int:
    """Bytes of a file that is named by what it holds, so that it never changes."""
    return Path(path).stat().st_size
