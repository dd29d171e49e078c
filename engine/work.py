"""What a process does with a claimed job: load, drive, write down, and end well or say why not.

Events are written by a second thread, ten times a second at most and all of them: the method
never waits for the disk. The same thread beats the heart and watches for a stop.
"""

import _thread
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Self

from datasets import catalog as data_catalog
from engine import __version__
from engine.claim import Claim
from engine.errors import ExplorerError, RequestError, StoreError
from engine.events import Event, Failed, Finished
from engine.job import Job
from engine.presence import setting
from engine.store import LOG, State

TICK = 0.1
"""Seconds between two writes."""
BEAT = 1.0
"""Seconds between two heartbeats."""
NUDGE = 1.0
"""Seconds after a stop from which a step is broken into, between two of its operations."""
GRACE = 10.0
"""Seconds after a stop from which a step that goes on hangs inside one operation."""


TRIES = 5
"""Times that the end of a job is written before it is given up."""
EXHAUSTED = ("out of memory", "allocate memory", "not enough memory", "STATUS_ALLOC_FAILED")
"""What torch's allocators and CUDA's libraries say when a device is full."""
TOLD = "The process that ran it was told to end; run it again"


Watch = Callable[[Event], None]
"""Told of every event."""


@dataclass(frozen=True)
class Stuck:
    """What to do with a step that ignores a stop.

    Attributes:
        after: Seconds after the stop.
        give_up: Called then.
    """

    after: float
    give_up: Callable[[], None]


class Recorder:
    """Writes a job's events, beats its heart and hears of its stop, in a thread of its own.

    Args:
        claim: The job.
        stuck: What to do with a step that ignores a stop, if anything.
        watch: Called with every event, in the thread that emits it.
    """

    def __init__(self, claim: Claim, stuck: Stuck | None, watch: Watch) -> None:
        self.claim = claim
        self.watch = watch
        self.stopping = False
        self._stuck = stuck
        self._since = math.inf
        self._breakable = threading.current_thread() is threading.main_thread()
        self._pending: list[Event] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def emit(self, event: Event) -> None:
        """Takes an event, to be written soon."""
        with self._lock:
            self._pending.append(event)
        self.watch(event)

    def rest(self) -> list[Event]:
        """What has not been written yet; the thread must be over."""
        rest, self._pending = self._pending, []
        return rest

    def _run(self) -> None:
        beaten = time.monotonic()
        while not self._over.wait(TICK):
            try:
                self._write()
                self._listen()
                if time.monotonic() - beaten >= BEAT:
                    beaten = time.monotonic()
                    self.claim.beat()
            except StoreError as error:  # locked or full: what is pending is kept for the next time
                print(error, file=sys.stderr, flush=True)

    def _write(self) -> None:
        with self._lock:
            some = tuple(self._pending)
        if some:
            self.claim.append(some)
            with self._lock:
                del self._pending[: len(some)]

    def _listen(self) -> None:
        """Notes a stop; a step that goes on is broken into, and at last given up."""
        asked = self.claim.stopping()
        self.stopping = asked is not None
        if asked is None:
            self._since = math.inf
            return
        self._since = min(self._since, time.monotonic())
        waited = time.monotonic() - self._since
        if self._stuck is not None and waited > self._stuck.after:
            self._stuck.give_up()
        elif waited > NUDGE and self._breakable and not importing():
            self._breakable = False  # once: a second one could break into the cleaning up
            _interrupt()


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
    ending: SystemExit | None = None
    last: Event | None
    with Recorder(claim, stuck, watch) as recorder:
        try:
            with _breakable():
                state, last, error = _drive(claim, recorder, device)
        except KeyboardInterrupt:
            state, last, error = "cancelled", Finished(0, "cancelled"), ""
        except SystemExit as told:
            state, last, error, ending = "interrupted", None, TOLD, told
        except Exception as problem:
            _log(claim)
            state, error = "failed", sentence(problem)
            last = Failed(0, error)
    asked = state == "cancelled" and recorder.stopping
    _finish(claim, state, [*recorder.rest(), *([last] if last else [])], error, asked)
    if ending is not None:
        raise ending
    return state


def _log(claim: Claim) -> None:
    """Writes down where the error came from, for whoever mends the method."""
    with suppress(OSError), (claim.store.folder / LOG).open("a", encoding="utf-8") as file:
        print(f"run {claim.job.id}: {claim.job.text()}", file=file)
        traceback.print_exc(file=file)


def _finish(claim: Claim, state: State, events: list[Event], error: str, asked: bool) -> None:
    """Ends a job; what was computed is worth some waiting for a locked or full store."""
    for _ in range(TRIES):
        try:
            claim.finish(state, events, error, asked=asked)
            return
        except StoreError as problem:
            print(problem, file=sys.stderr, flush=True)
            time.sleep(BEAT)
    claim.finish(state, events, error, asked=asked)


def set_threads() -> None:
    """Prepares torch's threads; call it before torch is loaded.

    Threads that wait for each other sleep instead of spinning: on two cores shared with a
    browser and a page, spinning made the same step ten times slower. EXPLORER_THREADS sets
    how many there are.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if "EXPLORER_THREADS" in os.environ:
        threads = max(1, round(setting("EXPLORER_THREADS", 1)))
        import torch

        torch.set_num_threads(threads)


def _interrupt() -> None:
    """Raises KeyboardInterrupt in the main thread, also where it sleeps."""
    ident = threading.main_thread().ident
    if sys.platform == "win32" or ident is None:
        _thread.interrupt_main()
    else:
        signal.pthread_kill(ident, signal.SIGINT)


@contextmanager
def _breakable() -> Iterator[None]:
    """Lets signals break into the work, and only there: what is written after it stays whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = [
        (signal.SIGTERM, signal.signal(signal.SIGTERM, leave)),
        (signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler)),
    ]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _drive(claim: Claim, recorder: Recorder, device: str) -> tuple[State, Event, str]:
    """Runs the job; the last event is returned, not emitted, to be written with the state."""
    from engine.driver import drive  # loads torch
    from engine.resume import Past

    job, step = claim.job, 0
    _check(job)
    data = data_catalog.load(job.dataset)
    past = Past(claim.recall, claim.keep)
    run = drive(job, data, claim.keep, device=device, focus=claim.focus, past=past)
    with closing(run) as events:
        for event in events:
            step = event.step
            if isinstance(event, Finished):
                return "completed", event, ""
            recorder.emit(event)
            if recorder.stopping:
                break
    return "cancelled", Finished(step, "cancelled"), ""


def _check(job: Job) -> None:
    """Raises `RequestError` if this process would compute something else than was asked for."""
    if job.version != __version__:
        raise RequestError(
            f"version: expected a job of this engine, {__version__}, got one of {job.version}: "
            "ask for it again"
        )
    if data_catalog.card(job.dataset).simulated != job.simulated:
        raise RequestError(
            f"dataset: the file behind {job.dataset} came or went since this was asked for: "
            "ask for it again"
        )


def sentence(problem: BaseException) -> str:
    """An error as one sentence for the user."""
    text = " ".join(str(problem).split())
    if isinstance(problem, ExplorerError):
        return text
    if isinstance(problem, MemoryError) or any(words in text for words in EXHAUSTED):
        return "Memory ran out: run fewer replicas at once or a smaller model"
    name = type(problem).__name__
    return f"{name}: {text[:300]}" if text else name


def importing() -> bool:
    """Whether a module is being loaded: broken into, it would stay behind half made."""
    modules = list(sys.modules.values())
    specs = [getattr(module, "__spec__", None) for module in modules]
    return any(getattr(spec, "_initializing", False) for spec in specs)
