"""The measure of each group of records, worked out from what a run keeps: who pays for privacy.

It is computed from the raw records, so it is exact and not private. It is worked out on public
data alone: on a table of one's own it would be a further release.
"""

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from datasets import own
from datasets.base import Table
from engine.catalog import paper
from engine.method import Arrays
from engine.runs import artifacts
from engine.runs.job import Job

if TYPE_CHECKING:
    from engine.runs.executor.work import Keep  # loads torch

NAME = "by_group"
"""The array (R, g, 2): the measure of each group, and how many records it is of."""
FINAL = "final-"
"""What the names of the arrays begin with that a run leaves at its end."""


def grouped(job: Job, data: Table, arrays: Arrays, rows: Sequence[int]) -> Arrays:
    """The arrays of some replicas, and beside them the measure of each group where there are any.

    Args:
        job: The run.
        data: The records.
        arrays: What it keeps of these replicas.
        rows: Which they are.
    """
    groups = paper(job.paper).groups
    if groups is None or own.mine(job.dataset) or job.audit or not arrays:
        return arrays
    batch = job.batch()
    seeds = [batch.seeds[row] for row in rows]
    # as they ship, so that what ships can be told from what is kept, and the other way
    single = artifacts.single(arrays)
    found = resolve_name(groups.made)(batch.spec, data, single, seeds)
    return arrays if found is None else {**arrays, NAME: np.asarray(found, np.float64)}


def beside(job: Job, data: Table, keep: "Keep", device: str) -> "Keep":
    """Keeps what a run leaves at its end with the measure of each group beside it.

    What is kept has a row for every replica (`artifacts.fitting`).
    """
    size = max(1, job.entry().chunk(job.batch().spec, len(data), device))
    total = job.replicas()

    def kept(name: str, arrays: Arrays) -> str:
        if name.startswith(FINAL):
            first = size * int(name.removeprefix(FINAL))
            rows = range(first, min(first + size, total))
            arrays = grouped(job, data, artifacts.fitting(arrays, len(rows)), rows)
        return keep(name, arrays)

    return kept
