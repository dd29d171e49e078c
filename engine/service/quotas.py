"""How much of a shared machine runs may take: each limit is a setting, and one sentence."""

from datasets import catalog as data_catalog
from engine.core import settings
from engine.core.errors import RequestError
from engine.runs import footprint
from engine.runs.job import Job
from engine.service.store import Store

RUNS, WAITING, MINE, WORK = (
    *("EXPLORER_MOST_RUNS", "EXPLORER_MOST_WAITING", "EXPLORER_MOST_WAITING_EACH"),
    "EXPLORER_MOST_WORK",
)
USUAL = {RUNS: 20_000, WAITING: 1_000, MINE: 60, WORK: 10_000_000_000}
"""Runs that are kept; that wait; that wait for one person; replicas times steps of one run."""


def check(store: Store, job: Job, person: str) -> None:
    """Refuses a job that takes more than there is for it.

    Args:
        store: Where it is to wait.
        job: What is asked for.
        person: Who asks; empty for the command line.

    Raises:
        RequestError: A limit is reached; one sentence names it, and what to do.
    """
    card = data_catalog.card(job.dataset)
    work = job.replicas() * job.entry().steps(job.spec(), card.records)
    if work > (most := settings.whole(WORK, USUAL[WORK])):
        raise RequestError(
            f"replicas times steps: expected at most {most:,} ({WORK}), got {work:,}: choose fewer "
            "budgets, repetitions or training steps"
        )
    footprint.check(job, card)
    with store.database.reading() as connection:
        if connection.execute("SELECT 1 FROM jobs WHERE id = ?", (job.id,)).fetchone():
            return  # it takes no more room than it has
        runs, waiting, mine = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE state = 'queued'), "
            "count(*) FILTER (WHERE state = 'queued' AND owner = ? AND owner != '') FROM jobs",
            (person,),
        ).fetchone()
    if runs >= (most := settings.whole(RUNS, USUAL[RUNS])):
        raise RequestError(
            f"runs: expected at most {most:,} in this store ({RUNS}), got one more: delete some"
        )
    if waiting >= (most := settings.whole(WAITING, USUAL[WAITING])):
        raise RequestError(
            f"queue: expected at most {most:,} waiting runs ({WAITING}), got one more: wait until "
            "some have ended"
        )
    if mine >= (most := settings.whole(MINE, USUAL[MINE])):
        raise RequestError(
            f"queue: expected at most {most:,} waiting runs of yours ({MINE}), got one more: stop "
            "some of them, or wait until they have ended"
        )
