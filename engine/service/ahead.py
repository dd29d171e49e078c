"""What may be trained before anybody asks for it: the neighbours of a view, while nothing waits.

Such a run is never an error on anybody's page: one that fails, takes too long or finds no room is
dropped, and is asked for in earnest when somebody gets there. EXPLORER_AHEAD turns it off.
"""

import time

from datasets import catalog as data_catalog
from engine.core import disk, settings
from engine.core.errors import ExplorerError
from engine.runs import footprint
from engine.service import quotas
from engine.service.claim import asked
from engine.service.process import here
from engine.service.store import Store

SWITCH, SECONDS, MEMORY, DISK = (
    *("EXPLORER_AHEAD", "EXPLORER_AHEAD_SECONDS", "EXPLORER_AHEAD_MEMORY"),
    "EXPLORER_AHEAD_DISK",
)
USUAL = {SECONDS: 30, MEMORY: 1_000, DISK: 200}
"""Seconds of one run; megabytes that it takes; megabytes of all of them on the disk, on which as
many must stay free."""
AFTER = 60.0
"""Seconds without training ahead after a run that has failed."""
RUNS = 500
"""Runs that are kept though nobody has looked at them yet."""


def allowed() -> bool:
    """Whether anything may be trained ahead.

    Raises:
        RequestError: The setting is neither on nor off.
    """
    return settings.switch(SWITCH, True)


class Limits:
    """How much one process trains ahead.

    Args:
        store: Where the queue is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._from = 0.0
        self._dropped: set[str] = set()
        self._seconds = USUAL[SECONDS]

    def allow(self, run: str) -> bool:
        """Whether a job of the queue may begin."""
        if run in self._dropped or time.monotonic() < self._from:
            return False
        try:
            self._seconds = settings.whole(SECONDS, USUAL[SECONDS])
            return allowed() and not busy(self._store) and self._roomy(run)
        except ExplorerError:
            return False

    def long(self, seconds: float) -> bool:
        """Whether a job has taken so many seconds that it is to be dropped."""
        return seconds > self._seconds

    def drop(self, run: str) -> None:
        """Notes that a job is not to begin again."""
        self._dropped.add(run)

    def over(self, run: str, error: str) -> None:
        """Notes how a job has ended, and makes room for the next."""
        if error:
            self.drop(run)
            self._from = time.monotonic() + AFTER
        trim(self._store)

    def _roomy(self, run: str) -> bool:
        """Whether there is memory for a job, and room on the disk."""
        job = asked(self._store, run)
        if job is None:
            return False
        most = min(_bytes(MEMORY), footprint.most())
        size = footprint.estimate(job, data_catalog.card(job.dataset))
        return size <= most and disk.room(self._store.folder) >= _bytes(DISK)


def busy(store: Store) -> bool:
    """Whether another process trains.

    Raises:
        StoreError: The store cannot be read.
    """
    own = here()
    others = "SELECT 1 FROM jobs WHERE state = 'running' AND NOT (pid = ? AND born = ?) LIMIT 1"
    return store.database.row(others, (own.pid, own.born)) is not None


def trim(store: Store) -> None:
    """Removes the oldest runs at which nobody has looked yet, beyond what may be kept of them."""
    size = settings.whole(DISK, USUAL[DISK])
    for run in quotas.beyond(store, "NOT jobs.viewed", (), RUNS, size):
        store.delete(run)


def _bytes(name: str) -> int:
    return footprint.MEGABYTE * settings.whole(name, USUAL[name])
