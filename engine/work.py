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
from types import FrameType, TracebackType
from typing import Self

from datasets import catalog as data_catalog
from engine import __version__
from engine.claim import Claim
from engine.errors import ExplorerError, RequestError, StoreError
from engine.events import Event, Failed, Finished
from engine.job import Job
from engine.store import LOG, State

TICK = 0.1
"""Seconds between two writes."""
BEAT = 1.0
"""Seconds between two heartbeats."""
NUDGE = 1.0
"""Seconds after a stop from which a step is broken into, between two of its operations."""
GRACE = float(os.environ.get("EXPLORER_GRACE_SECONDS") or 10.0)
"""Seconds after a stop from which `stuck` is called: the step hangs inside one operation."""


TRIES = 5
"""Times that the end of a job is written before it is given up."""
TOLD = "The process that ran it was told to end; run it again"


class Recorder:
    """Writes a job's events, beats its heart and hears of its stop, in a thread of its own.

    Args:
        claim: The job.
        stuck: Called when a stop has been ignored for `GRACE` seconds.
        watch: Called with every event, in the thread that emits it.
    """

    def __init__(
        self, claim: Claim, stuck: Callable[[], None], watch: Callable[[Event], None]
    ) -> None:
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
        if waited > GRACE:
            self._stuck()
        elif waited > NUDGE and self._breakable:
            self._breakable = False  # once: a second one could break into the cleaning up
            _interrupt()


def perform(
    claim: Claim,
    device: str = "cpu",
    *,
    stuck: Callable[[], None] = lambda: None,
    watch: Callable[[Event], None] = lambda event: None,
) -> State:
    """Does a job to its end, whatever that is, and returns how it ended.

    Args:
        claim: The job; it is given back when this returns or raises.
        device: Torch device to train on.
        stuck: Called from another thread when a stop is ignored for `GRACE` seconds.
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
    """Gives torch the number of threads that EXPLORER_THREADS asks for."""
    if threads := os.environ.get("EXPLORER_THREADS"):
        import torch

        torch.set_num_threads(int(threads))


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

    job, step = claim.job, 0
    _check(job)
    data = data_catalog.load(job.dataset)
    with closing(drive(job, data, claim.keep, device=device, focus=claim.focus)) as events:
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
    if isinstance(problem, MemoryError) or "out of memory" in text or "allocate memory" in text:
        return "Memory ran out: run fewer replicas at once or a smaller model"
    name = type(problem).__name__
    return f"{name}: {text[:300]}" if text else name
