"""How long a job takes, from runs of its kind that have come to their end."""

import math
import statistics
from contextlib import suppress

from datasets import catalog as data_catalog
from engine.core.errors import ExplorerError
from engine.runs import shipped
from engine.runs.job import Job
from engine.service.store import Store

LATEST, NEAREST = 50, 3
"""Runs of a kind that are looked at, and how many of them tell: those of about the same size."""


def seconds(store: Store, job: Job) -> float | None:
    """Seconds that a job will take; None where no run of its method and data set is known.

    The latest runs in the store tell, else what ships with the app: the median of those that are
    nearest in size, in proportion to their steps.

    Raises:
        StoreError: The store cannot be read.
    """
    with store.database.reading() as connection:
        rows = connection.execute(
            "SELECT id, text, worked FROM jobs WHERE paper = ? AND method = ? AND dataset = ? "
            "AND state = 'completed' AND worked > 0 ORDER BY finished DESC LIMIT ?",
            (*_kind(job), LATEST),
        ).fetchall()
    known: list[tuple[Job, float]] = []
    for row in rows:
        with suppress(ExplorerError, LookupError, TypeError, ValueError):  # an earlier version's
            known.append((Job.read(row["text"], row["id"]), row["worked"]))
    if not known:
        ships = shipped.index(shipped.FOLDER).values()
        known = [(one.job, one.origin.seconds) for one in ships if _kind(one.job) == _kind(job)]
    size = steps(job)
    sized = [(steps(other), took) for other, took in known]
    near = sorted(sized, key=lambda one: abs(math.log(one[0] / size)))[:NEAREST]
    return statistics.median(took * size / other for other, took in near) if near else None


def steps(job: Job) -> int:
    """Training steps of all chunks of a job; a chunk takes about as long if it is not full."""
    records, entry, spec = data_catalog.card(job.dataset).records, job.entry(), job.spec()
    chunks = -(-job.replicas() // max(1, entry.chunk(spec, records, "cpu")))
    return max(1, entry.steps(spec, records)) * chunks


def _kind(job: Job) -> tuple[str, str, str]:
    return job.paper, job.method, job.dataset
