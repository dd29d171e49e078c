"""Chunks as tasks on a Dask cluster that is there already.

The owner hands out one task for each chunk, reads what the tasks tell, and alone writes the store.
It takes every event of a chunk once, by its kind and step: a chunk whose machine died tells some of
them again, with the same numbers.
"""

import functools
import os
import pickle
import pkgutil
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datasets.base import PanelTable
from engine.core.errors import InterruptedRunError, RequestError
from engine.method import Arrays
from engine.runs import artifacts
from engine.runs.artifacts import STATE
from engine.runs.checkpoint import HEARD
from engine.runs.events import Advanced, Event, Produced, decode, fitting
from engine.runs.executor import parcel
from engine.runs.executor.parcel import Order, identity
from engine.runs.executor.work import Numbered, Work

CONNECT = 10
"""Seconds to wait for a scheduler."""
LOST = (OSError, TimeoutError)
"""What a connection raises that breaks; Dask's own errors are among them."""
POLL = 0.05
"""Seconds between two looks at the queue."""
BREATH = 0.25
"""Seconds after which the owner says that it is alive, so that a stop is heard."""
TICK, SHARED, SLOWEST = 0.1, 0.005, 1.0
"""Seconds between two messages of a task: at least, for each worker, and at most.

Two hundred messages a second are what a scheduler takes without delay.
"""
LONELY = 900.0
"""Seconds to wait for a first worker: a queue of batch jobs takes its time."""
ATTEMPTS = 3
"""Times in a row that a chunk may end its workers without a word before it is given up.

Each time Dask has tried four workers, unless its `allowed-failures` says otherwise.
"""
TASK = "engine.runs.task:run_chunk"
"""What runs on the other machine. It stands above this folder, and is found by name there."""
OLDER = "Can't get attribute"
"""What pickle says where a program does not have what it is sent."""
GONE = "The cluster went away: ask for the run again when it is back"
CARD = "GPU"
"""The resource of a worker that stands for one graphics card."""


class Cluster:
    """Runs chunks on a Dask cluster.

    Args:
        address: Of its scheduler, as "host:port".
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def device(self, device: str) -> str:
        """As `Executor.device`: the cards of the workers count, not this machine's."""
        if device != "auto":
            return device
        client = connected(self.address)
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        return "cuda" if any(worker["resources"].get(CARD) for worker in workers) else "cpu"

    def events(self, work: Work) -> Numbered:
        """As `Executor.events`."""
        run = Run(connected(self.address), work)
        try:
            yield from run.events()
        except LOST as error:
            raise InterruptedRunError(GONE) from error
        finally:
            run.leave()


def tick(workers: int) -> float:
    """Seconds between two messages of a task where there are so many workers."""
    return min(max(TICK, SHARED * workers), SLOWEST)


@functools.lru_cache(maxsize=4)
def _client(address: str, process: int) -> Any:
    import dask
    from distributed import Client

    dask.config.set({"distributed.comm.timeouts.connect": CONNECT})
    return Client(f"tcp://{address}", timeout=CONNECT, set_as_default=False)


def connected(address: str) -> Any:
    """The client of a cluster that is there already, connected.

    Raises:
        InterruptedRunError: Nobody answers there.
    """
    try:
        client = _client(address, os.getpid())
        if client.status != "running":
            _client.cache_clear()
            client = _client(address, os.getpid())
    except (*LOST, ValueError) as error:
        raise InterruptedRunError(
            f"EXPLORER_EXECUTOR: expected a Dask scheduler at {address}, got no answer within "
            f"{CONNECT} s"
        ) from error
    return client


def _known(client: Any) -> None:
    """Has the scheduler import this program.

    Raises:
        InterruptedRunError: It cannot.
    """
    try:
        client.run_on_scheduler(pkgutil.resolve_name, f"{TASK}.__name__")
    except (ImportError, AttributeError) as error:
        place = client.scheduler.address.removeprefix("tcp://")
        raise InterruptedRunError(
            f"The scheduler at {place} cannot import this program ({error}): start it with "
            "PYTHONPATH=/path/to/the/project, and ask for the run again"
        ) from error


@dataclass(frozen=True)
class _Call:
    """An order that runs its chunk where it is unpickled.

    Dask ends a worker that cannot read a task, and says nothing. So a task is bytes, which every
    worker reads. One without this program, or with an older one, fails within the task, and that
    error comes back.
    """

    order: Order

    def __reduce__(self) -> tuple[Any, tuple[Order]]:
        return pkgutil.resolve_name(TASK), (self.order,)


@dataclass
class Chunk:
    """How far the owner has heard a chunk.

    Attributes:
        number: Of the chunk.
        future: Its task.
        steps: The last step that was taken of each kind of event.
        state: The last state that came, as bytes; empty before there is one.
        lost: How often in a row its workers died without a word.
    """

    number: int
    future: Any = None
    steps: dict[str, int] = field(default_factory=dict)
    state: bytes = b""
    lost: int = 0

    def new(self, event: Event) -> Event | None:
        """An event as it counts, None for one that was taken before."""
        kind, last = type(event).__name__, self.steps.get(type(event).__name__, 0)
        if event.step <= last:
            return None
        self.steps[kind] = event.step
        if isinstance(event, Advanced):
            return Advanced(event.step, event.step - last, event.total)
        return event

    def packed(self) -> Arrays:
        """What the chunk leaves behind: its state, and what has been told since."""
        state = artifacts.unpacked(self.state) if self.state else {}
        heard = max(self.steps.get("Measured", 0), int(state.get(HEARD, 0)))
        return {**state, HEARD: np.array(heard)}


class Run:
    """A run on a cluster.

    Args:
        client: Of the cluster.
        work: What to do.
    """

    def __init__(self, client: Any, work: Work) -> None:
        from distributed import Queue

        _known(client)
        self.client, self.work = client, work
        self.token = f"explorer-{work.job.id}-{secrets.token_hex(4)}"
        self.chunks = {number: Chunk(number) for number in work.rows}
        self.open = dict(self.chunks)
        self._queue = Queue(f"{self.token}-events", client=client)
        self._variables: list[Any] = []
        self._data: Any = None
        self._resumes = work.job.entry().resumes
        self._needs = identity(work.job)
        self._tick = tick(len(client.scheduler_info(n_workers=-1)["workers"]))
        self._alone = time.monotonic()

    def events(self) -> Numbered:
        """Hands out all chunks and tells what they tell."""
        for place, number in enumerate(self.work.rows):
            if self._resumes:
                left = self.work.past.recall(f"{STATE}{number:04d}")
                state = artifacts.packed(left) if left else b""
                self.chunks[number].state = state
                self.work.past.places[number] = self.chunks[number]
                self._variable(f"state-{number}").set(state)
            self._submit(self.chunks[number], place)
        breathed = time.monotonic()
        while self.open:
            over = [chunk for chunk in self.open.values() if chunk.future.done()]
            heard = False
            for number, event in self._heard():
                heard = True
                yield number, event
            if heard and self._resumes:
                self.work.past.advanced(self.work.total)
            for chunk in over:
                yield from self._ended(chunk)
            if self.work.pause() or time.monotonic() - breathed > BREATH:
                breathed = time.monotonic()
                yield next(iter(self.chunks)), Advanced(0, 0, self.work.total)
            if not (heard or over):
                self._alive()
                time.sleep(POLL)

    def leave(self) -> None:
        """Stops what still runs.

        What tasks tell from now on is not taken: a run goes on from the last states whose events
        have all been told.
        """
        with suppress(Exception):  # the cluster may be gone
            if self.client.status == "running":
                tasks = [chunk.future for chunk in self.open.values() if chunk.future is not None]
                self.client.cancel(tasks, force=True)
                self._queue.close()
                for variable in self._variables:
                    variable.delete()

    def _submit(self, chunk: Chunk, place: int) -> None:
        job = self.work.job
        order = Order(
            job.text(), job.stored, chunk.number, tuple(self.work.rows[chunk.number]),
            self.work.device, self.token, parcel.digest(self.work.data), self._needs,
            self._resumes, self._tick,
        )  # fmt: skip
        cards = {CARD: 1} if self.work.device.startswith("cuda") else {}
        key = f"{self.token}-{chunk.number}-{secrets.token_hex(2)}"
        chunk.future = self.client.submit(
            pickle.loads, pickle.dumps(_Call(order)), key=key, pure=False, priority=-place,
            resources=cards, retries=0,
        )  # fmt: skip

    def _heard(self) -> Iterable[tuple[int, Event]]:
        """What tasks have told since the last look."""
        for body in self._queue.get(batch=True, timeout=CONNECT):
            chunk = self.chunks[body["chunk"]]
            chunk.lost = 0
            if body.get("need"):
                self._share()
            for one in body["events"]:
                event = chunk.new(fitting(decode(one)))
                if event is not None:
                    yield chunk.number, event
            chunk.state = body["state"] or chunk.state  # once all that led to it has been told

    def _ended(self, chunk: Chunk) -> Iterable[tuple[int, Event]]:
        """The last events of a chunk, or another try where its worker died."""
        status = chunk.future.status
        if status == "finished":
            yield from self._finished(chunk)
        elif status == "error":
            self._failed(chunk, chunk.future.exception())
        else:  # cancelled or lost, and not by us: the scheduler has forgotten it
            raise InterruptedRunError(GONE)

    def _finished(self, chunk: Chunk) -> Iterable[tuple[int, Event]]:
        result = chunk.future.result(timeout=CONNECT)
        if result is None:  # the task took itself for stopped: it had lost its way to us
            raise InterruptedRunError(GONE)
        for one in result["events"]:
            event = decode(one)
            if isinstance(event, Produced):
                arrays = artifacts.unpacked(result["arrays"][event.name])
                digest = self.work.keep(event.name, arrays)
                event = Produced(event.step, event.name, digest, event.replicas)
            if isinstance(event, Advanced):  # the last: with it the chunk counts as over
                self.work.past.places.pop(chunk.number, None)
            if (new := chunk.new(event)) is not None:
                yield chunk.number, new
        chunk.future = None
        del self.open[chunk.number]

    def _failed(self, chunk: Chunk, problem: BaseException) -> None:
        from distributed import KilledWorker

        if isinstance(problem, KilledWorker):
            chunk.lost += 1
            if chunk.lost < ATTEMPTS:
                self._submit(chunk, 0)
                return
            raise RequestError(
                f"chunk {chunk.number}: expected a worker that stays, several ended in a row: "
                "give them more memory, or run fewer replicas at once"
            ) from problem
        if isinstance(problem, ImportError) or OLDER in str(problem):
            raise RequestError(
                f"worker: expected this program, in this version, on its PYTHONPATH, got: {problem}"
            ) from problem
        raise problem

    def _share(self) -> None:
        """Puts the table where every task finds it, once."""
        if self._data is not None:
            return
        variable = self._variable("data")
        if isinstance(self.work.data, PanelTable):
            self._data = "expected the file of the data set there, got none"
            variable.set(self._data)
            return
        content = parcel.packed_table(self.work.data)
        self._data = self.client.scatter(content, hash=False, direct=False)
        variable.set(self._data)

    def _variable(self, what: str) -> Any:
        from distributed import Variable

        self._variables.append(Variable(f"{self.token}-{what}", client=self.client))
        return self._variables[-1]

    def _alive(self) -> None:
        """Notices a cluster that is gone, or that has no workers for long."""
        if self.client.status != "running":
            raise InterruptedRunError(GONE)
        if self.client.scheduler_info(n_workers=1)["workers"]:
            self._alone = time.monotonic()
        elif time.monotonic() - self._alone > LONELY:
            raise InterruptedRunError(
                f"The cluster had no worker for {LONELY / 60:.0f} minutes: ask for the run again "
                "when it has some"
            )
