"""A chunk as a task on another machine: what runs there, and how it tells what it measures.

Events leave as they are measured, by a queue that the owner of the run reads. States of methods
that can go on leave too, so that a chunk whose machine dies begins at the last one. What is still
to say at the end is the task's result.
"""

import os
import threading
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import RequestError
from engine.method import Arrays
from engine.runs import artifacts
from engine.runs.checkpoint import Checkpoints
from engine.runs.events import Event, Produced, Spent, encode
from engine.runs.executor import parcel
from engine.runs.executor.parcel import Order, identity
from engine.runs.job import Job

# Before the first product, as in the worker of one machine: sums are added up in the same order.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

FIRST_STATE, LAST_STATE = 2.0, 30.0
"""Seconds to the first state that a task sends, which double up to the second number."""
DATA_WAIT = 300
"""Seconds to wait for a table that this machine does not have."""
AGAIN = 1.0
"""Seconds after which a value is asked for again: a run that was stopped has taken its values
away, and a task that waited for them to the end would keep its worker from others."""


def run_chunk(order: Order) -> dict[str, Any] | None:
    """Runs a chunk; the result is what it says at its end, None where it was stopped.

    Raises:
        RequestError: This machine has other code than the owner's, or no such table.
    """
    from distributed import get_worker

    from engine.runs import cards, driver, memory

    memory.keep()
    cards.prepare(order.device)
    job = Job.read(order.job, order.stored)
    worker = get_worker()
    _check(order, identity(job), worker.address)
    reporter = Reporter(order, worker, worker.get_current_task())
    with closing(reporter):
        data = reporter.table(job.dataset)
        entry, batch = job.entry(), job.batch()
        states = States(reporter, order)
        produced: dict[str, bytes] = {}

        def keep(name: str, arrays: Arrays) -> str:
            produced[name] = artifacts.packed(arrays)
            return ""

        run = driver.chunk(
            job, entry, batch, order.rows, data, keep, order.number, order.device, states.past,
            lambda: reporter.stopped or states.due,
        )  # fmt: skip
        return _follow(run, reporter, states, produced)


def _follow(
    run: Generator[Event, None, None],
    reporter: "Reporter",
    states: "States",
    produced: dict[str, bytes],
) -> dict[str, Any] | None:
    """Tells events until the end, which is returned; a state is sent whenever one is due."""
    last: list[dict[str, Any]] = []
    for event in run:
        if last or isinstance(event, Spent | Produced):
            last.append(encode(event))
            continue
        reporter.tell(event)
        if reporter.stopped:
            run.close()
            return None
        if states.due:
            states.send()
    return {"events": last, "arrays": produced}


def _check(order: Order, here: dict[str, str], address: str) -> None:
    """Raises `RequestError` where this machine would compute something else."""
    for name, wanted in order.needs.items():
        if here[name] != wanted:
            raise RequestError(
                f"worker {address}: expected {name} {wanted}, got {here[name]}: install there what "
                "is installed here"
            )


class Reporter:
    """The way back to the owner of the run.

    A thread sends what has been told once in a tick and hears whether the task was cancelled:
    the scheduler tells the worker, which says so of the task.
    """

    def __init__(self, order: Order, worker: Any, key: str) -> None:
        from distributed import Queue, get_client

        self.stopped = False
        self._client = get_client()
        self._order, self._worker, self._key = order, worker, key
        self._queue = Queue(f"{order.token}-events", client=self._client)
        self._pending: list[dict[str, Any]] = []
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)
        self._thread.start()

    def tell(self, event: Event) -> None:
        """Takes an event, to be sent soon."""
        with self._lock:
            self._pending.append(encode(event))

    def flush(self, state: bytes = b"", **more: Any) -> None:
        """Sends what is pending, in order, and with it a state."""
        with self._sending:
            with self._lock:
                events, self._pending = self._pending, []
            if events or state or more:
                body = {"chunk": self._order.number, "events": events, "state": state, **more}
                self._queue.put(body)

    def variable(self, what: str) -> Any:
        """A value that the owner and all tasks see."""
        from distributed import Variable

        return Variable(f"{self._order.token}-{what}", client=self._client)

    def value(self, what: str) -> Any:
        """What the owner or a task has set, once it is there.

        Raises:
            TimeoutError: It is not there after DATA_WAIT seconds, or the task was stopped.
        """
        variable, end = self.variable(what), time.monotonic() + DATA_WAIT
        while True:
            try:
                return variable.get(timeout=AGAIN)
            except TimeoutError:
                if self.stopped or time.monotonic() > end:
                    raise

    def table(self, name: str) -> Any:
        """The records: this machine's own, else the owner's, which come once.

        Raises:
            RequestError: Neither.
        """
        if (here := parcel.table_here(name, self._order.table)) is not None:
            return here
        self.flush(need=True)
        answer = self.value("data")
        if isinstance(answer, str):
            raise RequestError(f"worker {self._worker.address}: {answer}")
        content: bytes = answer.result()
        return parcel.unpacked_table(content)

    def close(self) -> None:
        """Ends the thread and sends the rest."""
        self._over.set()
        self._thread.join()
        if not self.stopped:
            self.flush()

    def _run(self) -> None:
        while not self._over.wait(self._order.tick):
            task = self._worker.state.tasks.get(self._key)
            self.stopped = self.stopped or task is None or task.state == "cancelled"
            try:
                self.flush()
            except Exception:  # the scheduler is gone, and with it everybody who would listen
                self.stopped = True
                return


@dataclass
class States:
    """The states that a chunk sends on its way.

    Attributes:
        reporter: The way to the owner.
        order: What is run.
        past: What the chunk's run reads a state from, and where it says how far it has come.
    """

    reporter: Reporter
    order: Order
    past: Checkpoints = field(init=False)
    _every: float = FIRST_STATE
    _sent: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.past = Checkpoints(self.recall)

    @property
    def due(self) -> bool:
        """Whether it is time for another."""
        return self.order.resumes and time.monotonic() - self._sent > self._every

    def recall(self, name: str) -> Arrays | None:
        """What was left of the chunk before this task; None where nothing was."""
        left: bytes = self.reporter.value(f"state-{self.order.number}")
        return artifacts.unpacked(left) if left else None

    def send(self) -> None:
        """Sends the state to the owner, then to the process that does this chunk next."""
        place = self.past.places.get(self.order.number)
        if place is not None:
            state = artifacts.packed(place.packed())
            self.reporter.flush(state)
            self.reporter.variable(f"state-{self.order.number}").set(state)
        self._sent, self._every = time.monotonic(), min(2 * self._every, LAST_STATE)
