"""How much memory a run takes: estimated before it waits, measured as its chunks begin. No torch.

All chunks of a run take turns in one process, so the states of all its settings lie in memory at
once, and beside them what one chunk needs while it steps.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from datasets import catalog as data_catalog
from datasets.base import Card
from engine.core import settings
from engine.core.errors import RequestError
from engine.runs.job import Job

SETTING = "EXPLORER_MOST_MEMORY"
SHARE = 0.8
"""Part of the machine's memory that runs may take, side by side, where nothing is set."""
MEGABYTE = 1_000_000
PROCESS = 450 * MEGABYTE
"""The process that trains, with its libraries: measured with 10,000 records."""
COPIES = 3
"""Times that a table is held: as it was read, as it is scaled, as tensors."""
RECORD = 1_000
"""Bytes beside its values that a record takes: 810 measured, from 10,000 to 200,000 records."""
NUMBER = 8
SIGNIFICANT = 1 / 8
"""Part of the limit by which memory must have grown before it is extrapolated."""
GROUPS = "/sys/fs/cgroup"
GROUP = "/proc/self/cgroup"
"""Where the limits of containers and services stand, and which of them is this process's."""


def most() -> int:
    """Bytes that runs may take, side by side: the setting, in megabytes, or most of the machine.

    Raises:
        RequestError: The setting is no positive whole number.
    """
    return MEGABYTE * settings.whole(SETTING, max(1, round(SHARE * machine() / MEGABYTE)))


def machine() -> int:
    """Bytes of memory that this machine, this container or this service has."""
    posix = "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ())
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if posix else [2**63]
    places = [Path(GROUPS, "memory.max"), Path(GROUPS, "memory/memory.limit_in_bytes")]
    with suppress(OSError):
        own = Path(GROUP).read_text(encoding="utf-8").partition("0::")[2].split("\n")[0]
        places.append(Path(GROUPS, own.strip("/"), "memory.max"))
    for place in places:
        with suppress(OSError, ValueError):  # nothing of the kind, or one without a limit: "max"
            known.append(int(place.read_text(encoding="ascii")))
    return min(known)


def estimate(job: Job, card: Card) -> int:
    """Bytes that a run takes at least, from its table and from how many settings step together."""
    together = min(job.replicas(), job.entry().chunk(job.spec(), card.records, "cpu"))
    width = card.image[0] * card.image[1] if card.image else len(card.features)
    table = COPIES * NUMBER * width
    return PROCESS + card.records * (table + RECORD + NUMBER * together)


def fit(jobs: Sequence[Job]) -> bool:
    """Whether some jobs fit side by side in one process; one alone always may try.

    Raises:
        RequestError: One of their data sets is gone.
    """
    sizes = [estimate(job, data_catalog.card(job.dataset)) - PROCESS for job in jobs]
    return len(jobs) < 2 or PROCESS + sum(sizes) <= most()


def check(job: Job, card: Card) -> None:
    """Refuses a run that would not fit.

    Raises:
        RequestError: The estimate is above the limit.
    """
    if (size := estimate(job, card)) > (limit := most()):
        raise RequestError(_sentence(size, limit, job, card.records))


def resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


class Growth:
    """Watches memory grow as chunks of settings begin, and tells where it leads.

    The first chunk brings what all share, so that what each further setting takes is measured from
    the second on.

    Args:
        job: The run.
        records: Number of records.
    """

    def __init__(self, job: Job, records: int) -> None:
        self._job, self._records, self._limit = job, records, most()
        self._first, self._begun, self._later = 0, 0, 0

    def begun(self, replicas: int) -> None:
        """Notes that a chunk of so many settings has taken its first turn.

        Raises:
            RequestError: The run would not fit: what the others would take is extrapolated.
        """
        now = resident()
        self._begun += replicas
        if not self._first:
            self._first = now
            return
        self._later += replicas
        grown = now - self._first
        if grown < SIGNIFICANT * self._limit:
            return
        size = now + grown / self._later * (self._job.replicas() - self._begun)
        if size > self._limit:
            raise RequestError(_sentence(size, self._limit, self._job, self._records))


def _sentence(size: float, limit: int, job: Job, records: int) -> str:
    return (
        f"memory: expected at most {limit / MEGABYTE:,.0f} MB ({SETTING}), got about "
        f"{size / MEGABYTE:,.0f} MB for {job.replicas():,} settings on {records:,} records: choose "
        "fewer budgets or repetitions, or fewer records"
    )
