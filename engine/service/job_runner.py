"""What a process does with a claimed job: load, drive, write down, and end well or say why not.

The work is taken up and laid down again, a turn at a time, so that several jobs may share one
process (`engine.service.scheduler`). Nothing of a turn changes a number.
"""

import functools
import math
import os
import signal
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING

from datasets import catalog as data_catalog
from datasets import own
from datasets.base import Table
from engine import __version__
from engine.catalog import paper
from engine.core.errors import ExplorerError, InterruptedRunError, RequestError, StoreError
from engine.runs.events import Event, Failed, Finished, Measured, Spent
from engine.runs.executor.chosen import elsewhere
from engine.runs.job import Job
from engine.service.claim import Claim
from engine.service.presence import setting
from engine.service.process import handling
from engine.service.recorder import BEAT, Late, Recorder, Stuck, Watch
from engine.service.store import ENDED, State, opened_log, warn

if TYPE_CHECKING:
    from engine.runs.checkpoint import Save

KEEP = "EXPLORER_KEEP_SECONDS"
"""The setting of the seconds after which a run that goes on keeps its state again."""
TRIES = 5
"""Times that the end of a job is written before it is given up."""
EXHAUSTED = ("out of memory", "allocate memory", "not enough memory", "STATUS_ALLOC_FAILED")
"""What torch's allocators and CUDA's libraries say when a device is full."""
LARGE = 1_000_000
"""Numbers in a table from which torch takes all of its threads. On smaller ones they mostly wait
for each other: the five budgets of EnADPP's curve on digits took 1.2 s on two threads, .6 on one.
"""
FULL = "Memory ran out: run fewer replicas at once or a smaller model"

Enough = Callable[[], bool]
"""Whether a turn has lasted long enough."""


@dataclass(frozen=True)
class End:
    """How a job ended.

    Attributes:
        state: In a word.
        last: The last event, to be written with the state; None where nothing is left to say.
        error: One sentence, if it did not end well.
        back: Whether nobody asked for this end: the job goes back to the queue where it may.
    """

    state: State
    last: Event | None
    error: str = ""
    back: bool = False


class JobRunner:
    """A claimed job under way. It is given back when it ends, whatever that end is.

    Args:
        claim: The job.
        device: Torch device to train on.
        stuck: What to do, from another thread, with a step that ignores a stop.
        watch: Called with every event.
        late: Asked, from another thread, whether a step of so many seconds is to be broken into for
            the sake of others; the job then goes back to the queue.

    Attributes:
        recorder: Writes down what it says, and hears of a stop.
        spent: Seconds that its turns have taken.
        error: One sentence, once it has not ended well.
    """

    def __init__(
        self,
        claim: Claim,
        device: str = "cpu",
        *,
        stuck: Stuck | None = None,
        watch: Watch = lambda event: None,
        late: Late = lambda seconds: False,
    ) -> None:
        self.claim = claim
        self.spent = 0.0
        self.error = ""
        self._step = 0
        self._enough: Enough = lambda: False
        self.recorder = Recorder(claim, stuck, watch, late)
        self._events = _drive(claim, device, lambda: self._enough(), self.recorder.save)

    def turn(self, enough: Enough) -> State | None:
        """Goes on until it is over or has had enough.

        Args:
            enough: Asked after every step and every event.

        Returns:
            How it ended; None while there is more to do.

        Raises:
            SystemExit: The process is to end; the job is left as interrupted.
            StoreError: The end could not be written, though it was tried for a while.
        """
        self._enough = enough
        begun, leave = time.monotonic(), None
        end: End | None
        try:
            with handling(BREAKS), self.recorder.turn():
                end = self._go()
        except KeyboardInterrupt:
            end = End("cancelled", Finished(0, "cancelled"))
        except SystemExit as leaving:
            end, leave = End("interrupted", None, ENDED, back=True), leaving
        except InterruptedRunError as problem:
            end = End("interrupted", None, sentence(problem))
        except Exception as problem:
            end = self._failed(problem)
        self.spent += time.monotonic() - begun
        if end is not None:
            self._end(end)
        if leave is not None:
            raise leave
        return end.state if end else None

    def leave(self) -> None:
        """Leaves the job as interrupted, between two turns, since the process is to end."""
        self._end(End("interrupted", None, ENDED, back=True))

    def rest(self) -> None:
        """Gives the job back to the queue, between two turns; what it can keep is kept."""
        self._end(End("cancelled", Finished(self._step, "cancelled"), back=True))

    def _go(self) -> End | None:
        """Steps until the end, a stop, or enough; the last event is not emitted."""
        while not self.recorder.stopping:
            event, enter = next(self._events)
            self._step = event.step
            if isinstance(event, Finished):
                return End("completed", event)
            self._tell(event, enter)
            if event.step == 0 and not elsewhere():
                continue  # loading is no part of a turn: at least a step follows it
            if not self.recorder.stopping and self._enough():
                return None
        self._events.close()
        return End("cancelled", Finished(self._step, "cancelled"))

    def _tell(self, event: Event, enter: Callable[[], None]) -> None:
        """Enters an event among the looks, if it is one, and tells it.

        Pricing may take seconds. A stop waits for it: the state that is kept then is the one after
        this event, so a run that goes on would never tell it.
        """
        try:
            enter()
        except (KeyboardInterrupt, SystemExit):
            enter()
            self.recorder.emit(event)
            raise
        self.recorder.emit(event)

    def _failed(self, problem: Exception) -> End:
        if not isinstance(problem, RequestError):  # a wrong request is told, and nothing is broken
            _log(self.claim)
        error = sentence(problem)
        return End("failed", Failed(0, error), error)

    def _end(self, end: End) -> None:
        """Writes the end; what was computed is worth some waiting for a locked or full store."""
        try:
            self._events.close()  # a signal may have come between two steps
        except Exception:
            _log(self.claim)
        self.error = end.error
        asked = end.state == "cancelled" and (
            end.back or self.recorder.stopping or self.recorder.broken
        )
        events = [*self.recorder.end(), *([end.last] if end.last else [])]
        for tried in range(TRIES + 1):
            try:
                self.claim.finish(
                    end.state, events, end.error, asked=asked, left=end.back, worked=self.spent
                )
                return
            except StoreError as problem:
                if tried == TRIES:
                    raise
                warn(problem)
                time.sleep(BEAT)


def perform(
    claim: Claim,
    device: str = "cpu",
    *,
    stuck: Stuck | None = None,
    watch: Watch = lambda event: None,
) -> State:
    """Does a job to its end, whatever that is, and returns how it ended.

    Args:
        claim: The job; it is given back when this returns or raises.
        device: Torch device to train on.
        stuck: What to do, from another thread, with a step that ignores a stop.
        watch: Called with every event.

    Raises:
        SystemExit: The process is to end; the job is left as interrupted.
        StoreError: The end could not be written, though it was tried for a while.
    """
    work = JobRunner(claim, device, stuck=stuck, watch=watch)
    while (state := work.turn(lambda: False)) is None:
        pass
    return state


def _log(claim: Claim) -> None:
    """Writes down where the error came from, for debugging."""
    with suppress(OSError), opened_log(claim.store.folder) as file:
        print(f"run {claim.job.id}: {claim.job.text()}", file=file)
        traceback.print_exc(file=file)


def set_threads() -> None:
    """Prepares torch's threads; call it before torch is loaded.

    Threads that wait for each other sleep instead of spinning: on two cores shared with a
    browser and a page, spinning made the same step ten times slower. EXPLORER_THREADS sets
    how many there are. Where torch multiplies matrices by MKL, sums are added up in the same
    order on any number of threads, which costs no time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    if "EXPLORER_THREADS" in os.environ:
        threads = max(1, round(setting("EXPLORER_THREADS", 1)))
        import torch

        torch.set_num_threads(threads)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


BREAKS = {signal.SIGTERM: _leave, signal.SIGINT: signal.default_int_handler}
"""Signals break into the work, and only there: what is written after it stays whole."""


def _drive(
    claim: Claim, device: str, pause: Enough, save: "Save"
) -> Generator[tuple[Event, Callable[[], None]], None, None]:
    """Loads what the job needs and runs it; beside each event, what enters it among the looks."""
    from engine.runs import cards, groups
    from engine.runs.checkpoint import EVERY, Checkpoints
    from engine.runs.driver import drive  # loads torch
    from engine.runs.executor.chosen import chosen
    from engine.runs.executor.local import Local

    job, executor = claim.job, chosen(claim.job.dataset)
    _check(job)
    data = data_catalog.load(job.dataset)
    _attackable(job, data)
    if job.audit:
        device = "cpu"  # the scores of an attack are summed there
    past = Checkpoints(claim.recall, save, setting(KEEP, EVERY))
    if isinstance(executor, Local):
        device = executor.device(device)
        cards.prepare(device)
        data = cards.pinned(data, device)
        job = cards.fitted(job, data, device)
    known = job.spec().values()  # a setting that a damaged row names leads nowhere
    focus = {name: value for name, value in claim.focus.items() if name in known}
    keep = groups.beside(job, data, claim.keep, executor.device(device))
    events = drive(
        job, data, keep, device=device, focus=focus, past=past, pause=pause,
        executor=executor,
    )  # fmt: skip
    looked: set[int] = set()
    with closing(events):
        for event in threaded(events, math.prod(data.x.shape)):
            yield event, functools.partial(_enter, job, data, event, looked)


def _enter(job: Job, data: Table, event: Event, looked: set[int]) -> None:
    """Enters what an event shows of replicas that are not `looked` at yet, and notes them."""
    from engine.runs import ledger

    if isinstance(event, Spent | Measured) and not looked.issuperset(event.replicas):
        ledger.look(job, event if isinstance(event, Spent) else _whole(job, data, event))
        looked.update(event.replicas)


def _whole(job: Job, data: Table, shown: Measured) -> Spent:
    """What the whole run of some replicas costs, as soon as they show a first measure.

    A run that is stopped has shown what it measured, and costs no more than this.
    """
    if not own.mine(job.dataset) or job.audit:
        return Spent(shown.step, shown.replicas, (), ())
    entry, card, specs = job.entry(), replace(data.card, records=len(data)), job.batch().specs
    cards = [entry.promise(specs[row], card) for row in shown.replicas]
    prices = tuple(one.epsilon_proved for one in cards)
    return Spent(shown.step, shown.replicas, prices, tuple(one.delta for one in cards))


def threaded(events: Iterator[Event], numbers: int) -> Iterator[Event]:
    """The same events, each of them worked out on as many threads as a table is worth.

    Jobs that take turns differ in that, so the number is set at each turn. No number that they
    compute depends on it (`engine.training.steady`).
    """
    import torch

    most, asked = _threads(), "EXPLORER_THREADS" in os.environ
    few = most if asked or numbers >= LARGE else 1
    while True:
        torch.set_num_threads(few)
        try:
            event = next(events)
        except StopIteration:
            return
        finally:
            torch.set_num_threads(most)
        yield event


@functools.cache
def _threads() -> int:
    """How many threads torch has, as it or the operator wants it."""
    import torch

    return torch.get_num_threads()


def _check(job: Job) -> None:
    """Raises `RequestError` if this process would compute something else than was requested."""
    if job.version != __version__:
        raise RequestError(
            f"version: expected a job of this engine, {__version__}, got one of {job.version}: "
            "ask for it again"
        )
    if data_catalog.card(job.dataset).simulated != job.simulated:
        raise RequestError(
            f"dataset: the file behind {job.dataset} came or went since this was requested: "
            "ask for it again"
        )


def _attackable(job: Job, data: Table) -> None:
    """Raises an error if an attack is asked for and would see no release."""
    if not job.audit:
        return
    from engine.audit.outside import drawn  # loads torch
    from engine.audit.training import Setting

    drawn(Setting.of(paper(job.paper).entry(job.method), job.spec(), data))


def sentence(problem: BaseException) -> str:
    """An error as one sentence for the user."""
    text = " ".join(str(problem).split())
    if isinstance(problem, ExplorerError):
        return text
    if isinstance(problem, MemoryError) or any(words in text for words in EXHAUSTED):
        return FULL
    name = type(problem).__name__
    return f"{name}: {text[:300]}" if text else name
