"""`python -m engine.service.worker`: a warm process that does the jobs of the queue.

It starts by loading what the methods need, piece by piece, looking at the queue in between.
It stops by itself when no app has been alive for a while and the queue is empty. SIGTERM
leaves the running jobs as interrupted; a stop that a step ignores ends the process, and the
next look of any client starts another.

Where the processor trains and has a second core, the worker starts another process beside it, once
it has nothing to do but what takes long, or nothing at all. That one gives way to the app and the
first worker, and leaves the chosen method's point and curve to that one: what it begins takes
longer than it would there while the machine is busy. What is trained ahead is its task, so that
the first is free when somebody moves a control.
"""

import argparse
import gc
import importlib
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType

from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.core import room, settings
from engine.core.errors import RequestError, StoreError
from engine.runs import footprint
from engine.runs.changes import added, sources, written
from engine.runs.executor.chosen import elsewhere
from engine.runs.job import request
from engine.service import presence, quotas
from engine.service.job_runner import set_threads
from engine.service.process import here, stand_back
from engine.service.recorder import BEAT, GRACE
from engine.service.scheduler import Scheduler
from engine.service.starting import Starter
from engine.service.store import Store, warn
from engine.service.watching import EVERY, SECOND

TIDY = 30.0
"""Seconds between two times that old runs are removed."""
POLL = 0.05
"""Seconds between two looks at the queue."""
IDLE = 60.0
"""Seconds without an app after which the worker leaves; EXPLORER_IDLE_SECONDS overrides it."""

MODULE = "engine.service.worker"
WORKERS = "EXPLORER_WORKERS"
MOST = 2
"""The setting of how many processes train, and the most that do."""
NICE = 10
"""How far the second process stands back for whatever else the machine does."""
ROOMY = 4_000 * footprint.MEGABYTE
"""Bytes of memory that a machine with a second process has at least."""

MEASURES = ("lifelines", "sksurv.metrics")
"""What gauges are computed with; methods import it when they first measure."""


class Worker:
    """The loop of one process.

    Args:
        store: Where the queue is.
        device: Torch device to train on.
        idle: Seconds without an app after which to leave.
        grace: Seconds that a step may ignore a stop.
        second: Whether another process is the first.
    """

    def __init__(
        self, store: Store, device: str, idle: float, grace: float = GRACE, *, second: bool = False
    ) -> None:
        self.store = store
        self.device = device
        self.idle = idle
        self.turns = Scheduler(store, device, grace, self._fresh, SECOND if second else EVERY)
        self._name = presence.second(device) if second else device
        self._other = None if second else Starter(store, MODULE, "--second")
        self._warm = False
        self.turns.shared = second
        self._leaving = False
        self._stale = False
        self._told = 1
        self._looked = self._tidied = -math.inf
        self._code = code()

    def run(self) -> None:
        """Works until there is nobody to work for, or a signal says to end.

        Raises:
            SystemExit: A signal said so while there were jobs, which are left as interrupted.
        """
        signal.signal(signal.SIGTERM, self._leave)
        signal.signal(signal.SIGINT, self._leave)
        try:
            self._work()
            if self.turns.awake:
                raise SystemExit(self._told)
        finally:
            self.turns.leave()
        with suppress(StoreError):
            presence.leave(self.store)

    def _work(self) -> None:
        pieces, wanted = warm(), time.monotonic()
        while self._staying() and time.monotonic() - wanted < self.idle:
            try:
                if self._look() or self.turns.go():
                    wanted = time.monotonic()
                else:
                    wanted += self._load(pieces)
            except StoreError as error:
                warn(error)
                time.sleep(BEAT)

    def _load(self, pieces: Iterator[str]) -> float:
        """Loads the next piece, or waits where all are there; seconds in which it was not idle."""
        begun = time.monotonic()
        if next(pieces, None) is not None:
            return time.monotonic() - begun
        self._warm = True
        time.sleep(POLL)
        return 0.0

    def _staying(self) -> bool:
        """Whether nothing says to leave; a store that was removed is not made again."""
        done = self._leaving or (self._stale and not self.turns.awake)
        return not done and self.store.database.path.exists()

    def _look(self) -> bool:
        """Looks around once in a while, and returns whether there is somebody to stay for."""
        if time.monotonic() - self._looked < BEAT:
            return False
        self._looked = time.monotonic()
        self._leaving |= not presence.work_on(self.store, self._name)
        self.store.sweep(idle=None if self.turns.open else here())
        if self._looked - self._tidied >= TIDY:
            self._tidied = self._looked
            with suppress(RequestError):  # the next request says why
                quotas.tidy(self.store)
        present = presence.apps(self.store)
        if present and (self._warm or self.turns.patient):
            self._begin_other()
        return present

    def _begin_other(self) -> None:
        """Sees to it that the second process is there, where two are to train."""
        if self._other is None:
            return
        alone = not plural(self.device) or self._other.start(presence.second(self.device))
        if alone:
            self._other = None  # there is to be none, or it cannot begin and is done without
        self.turns.shared = not alone

    def _fresh(self) -> bool:
        """Whether this is today's code; if not, jobs are left to another worker."""
        self._stale |= code() != self._code
        return not self._stale

    def _leave(self, number: int, frame: FrameType | None) -> None:
        self._leaving, self._told = True, 128 + number


def code() -> float:
    """When the sources were last written, those of papers that are installed beside it too."""
    return written(Path(__file__).parents[1], Path(data_catalog.__file__).parent, *added())


def warm() -> Iterator[str]:
    """Loads what methods need, a piece at each turn; a piece that fails is left to its job.

    That is their modules, the digests of their sources, and what is computed once for each of the
    tables that pages open with.
    """
    entries = [entry for paper in catalog().values() for entry in paper.methods]
    modules = dict.fromkeys(entry.module.partition(":")[0] for entry in entries)
    names = ("torch", "engine.runs.driver", *modules, *MEASURES)
    pieces: dict[str, Callable[[], object]] = {
        name: partial(importlib.import_module, name) for name in names
    }
    for paper in catalog().values():
        first = paper.datasets[0]
        for entry in paper.methods:
            pieces[f"{paper.slug}.{entry.name}"] = partial(_sources, paper.slug, entry.name, first)
        private = next(entry.name for entry in paper.methods if entry.role != "reference")
        pieces[f"{paper.slug} on {first}"] = partial(_tried, paper.slug, private, first)
    for name, load in pieces.items():
        try:
            load()
        except Exception as error:
            warn(f"{name}: {error}")
        yield name
    gc.collect()
    gc.freeze()  # what is loaded now stays: a look for memory to free passes it over


def _sources(paper: str, method: str, dataset: str) -> str:
    """The digest of a method's sources; each file is read once in a process."""
    return sources(request(paper, method, dataset))


def _tried(paper: str, method: str, dataset: str) -> None:
    """One step of a method and the arrays after it, whose numbers nobody reads."""
    import torch

    job, data = request(paper, method, dataset), data_catalog.load(dataset)
    loaded, batch = job.entry().load(), job.batch()
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        state = loaded.init(batch, data, rng)
        state, _ = loaded.step(batch, data, state, rng)
        loaded.products(batch, data, state)


def plural(device: str) -> bool:
    """Whether two processes are to train: as the operator says, else where there is room.

    Raises:
        RequestError: The setting is no positive whole number, or a larger one.
    """
    from engine.runs.executor.local import resolve_device  # loads torch

    roomy = (os.cpu_count() or 1) > 1 and footprint.machine() >= ROOMY
    asked = settings.whole(WORKERS, 2 if roomy else 1, MOST)
    return asked > 1 and not elsewhere() and resolve_device(device) == "cpu"


def main() -> None:
    """The command line of the worker."""
    parser = argparse.ArgumentParser(prog="python -m engine.service.worker", description=__doc__)
    parser.add_argument(
        "--second", action="store_true", help="the process beside the first, which gives way to it"
    )
    parser.add_argument(
        "--device", default=presence.device(), help="torch device; EXPLORER_DEVICE, or auto"
    )
    said = parser.parse_args()
    chosen, second = str(said.device), bool(said.second)
    room.demand()
    store = Store()
    if not presence.work_on(store, presence.second(chosen) if second else chosen):
        return
    settings.whole(WORKERS, 1, MOST)  # what is wrong with it is said at once, as of the others
    if second:
        os.environ["EXPLORER_THREADS"] = "1"
        stand_back(NICE)
    store.tidy()
    set_threads()
    idle = presence.setting("EXPLORER_IDLE_SECONDS", IDLE)
    grace = presence.setting("EXPLORER_GRACE_SECONDS", GRACE)
    Worker(store, chosen, idle, grace, second=second).run()


if __name__ == "__main__":
    main()
