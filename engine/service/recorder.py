"""Writes down what a job says, in a thread of its own.

Events are written ten times a second at most and all of them: the method never waits for the
disk. The same thread beats the heart and watches for a stop.
"""

import _thread
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from engine.core.errors import StoreError
from engine.method import Arrays
from engine.runs.events import Event
from engine.service.claim import Claim
from engine.service.store import warn

TICK = 0.1
"""Seconds between two writes."""
BEAT = 1.0
"""Seconds between two heartbeats."""
NUDGE = 0.4
"""Seconds after a stop from which a step is broken into, between two of its operations."""
GRACE = 10.0
"""Seconds after a stop from which a step that goes on hangs inside one operation."""

Watch = Callable[[Event], None]
"""Told of every event."""
Late = Callable[[float], bool]
"""Asked whether a turn of so many seconds is to be broken off for the sake of others."""


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
        late: Asked while a turn lasts whether others need it to end.

    Attributes:
        asleep: Whether the job waits for somebody to look at it; it then listens less often.
        broken: Whether a turn was broken off for the sake of others.
        stopping: Whether somebody asked to stop the job.
    """

    def __init__(
        self,
        claim: Claim,
        stuck: Stuck | None,
        watch: Watch,
        late: Late = lambda seconds: False,
    ) -> None:
        self.claim = claim
        self.watch = watch
        self.stopping = False
        self.asleep = self.broken = False
        self._late = late
        self._began = math.inf
        self._stuck = stuck
        self._since = math.inf
        self._breakable = threading.current_thread() is threading.main_thread()
        self._pending: list[Event] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._turning = False
        self._turn = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def end(self) -> list[Event]:
        """Ends the thread and returns what has not been written yet."""
        self._over.set()
        self._thread.join()
        rest, self._pending = self._pending, []
        return rest

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The time in which the job's own steps are taken: only there a stop breaks into them."""
        self._began, self._turning = time.monotonic(), True
        try:
            yield
        finally:
            with self._turn:
                self._turning = False

    def save(self, kept: Mapping[str, Arrays], *, going_on: bool) -> None:
        """Writes the state of the run together with the events that it has told so far.

        Raises:
            StoreError: It cannot be written, or the claim is lost.
        """
        with self._telling() as some:
            self.claim.save(kept, some, going_on=going_on)

    def emit(self, event: Event) -> None:
        """Takes an event, to be written soon."""
        with self._lock:
            self._pending.append(event)
        self.watch(event)

    def _run(self) -> None:
        beaten = time.monotonic()
        while not self._over.wait(BEAT if self.asleep else TICK):
            try:
                with self._telling() as some:
                    if some:
                        self.claim.append(some)
                self._listen()
                if time.monotonic() - beaten >= BEAT:
                    beaten = time.monotonic()
                    self.claim.beat()
            except StoreError as error:  # locked or full: what is pending is kept for the next time
                warn(error)

    @contextmanager
    def _telling(self) -> Iterator[tuple[Event, ...]]:
        """The events that are not written yet; they stay so where an error comes of writing."""
        with self._writing:
            with self._lock:
                some = tuple(self._pending)
            yield some
            with self._lock:
                del self._pending[: len(some)]

    def _listen(self) -> None:
        """Notes a stop; a step that goes on is broken into, and at last given up."""
        asked = self.claim.stopping()
        self.stopping = asked is not None
        if asked is None or not self._turning:
            self._since = math.inf
            if self._turning and self._late(time.monotonic() - self._began):
                self._nudge()
            return
        self._since = min(self._since, time.monotonic())
        waited = time.monotonic() - self._since
        if self._stuck is not None and waited > self._stuck.after:
            self._stuck.give_up()
        elif waited > NUDGE:
            self._nudge()

    def _nudge(self) -> None:
        """Raises KeyboardInterrupt in the main thread, also where it sleeps, if it is our turn."""
        if not self._breakable or importing():
            return
        with self._turn:
            if not self._turning:
                return
            self.broken = True
            self._breakable = False  # once: a second one could break into the cleaning up
            ident = threading.main_thread().ident
            if sys.platform == "win32" or ident is None:
                _thread.interrupt_main()
            else:
                signal.pthread_kill(ident, signal.SIGINT)


def importing() -> bool:
    """Whether a module is being loaded: broken into, it would stay behind half made."""
    modules = list(sys.modules.values())
    specs = [getattr(module, "__spec__", None) for module in modules]
    return any(getattr(spec, "_initializing", False) for spec in specs)
