"""Prices that come late: another process works them out, and no session waits for another's.

An accountant may take seconds for a budget that nobody has asked about. A page asks for all that it
lacks and draws what is known; what has been answered stays in the store, for every page.
"""

import threading
import time
from collections.abc import Callable, Iterable

from datasets.base import Card
from engine.core.errors import StoreError
from engine.core.spec import Spec
from engine.method import Entry
from engine.service import pricing
from pages.ui.kit.access import client

Asked = tuple[Entry[Spec], Spec, Card]
PATIENCE, POLL = 20.0, 0.1
"""Seconds that one card is waited for, and between two looks."""


class Desk:
    """What this process has asked, and how far it has read the answers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, int] = {}
        self._open: set[str] = set()
        self._given_up: set[str] = set()

    def ask(self, some: Iterable[Asked], *, urgent: bool = False) -> set[str]:
        """Asks what has not been asked yet; returns the questions without an answer.

        Nothing is returned where no process can be started or nothing can be written.

        Args:
            some: Methods with settings and data sets.
            urgent: Whether somebody waits for the answer.
        """
        store = client().store
        texts = [pricing.question(*one) for one in some]
        with self._lock:
            wanted = [text for text in texts if text not in self._given_up]
        try:
            if not wanted or not store.database.writable or not pricing.start(store):
                return set()
            if new := [text for text in wanted if urgent or text not in self._open]:
                pricing.ask(store, new, urgent=urgent)
        except StoreError:
            return set()
        with self._lock:
            self._open.update(wanted)
        return set(wanted)

    def look(self) -> set[str]:
        """Reads the answers that have come; returns the questions that still have none."""
        store = client().store
        with self._lock:
            asked = set(self._open)  # what is asked from here on is not answered by `waiting`
        waiting = set(pricing.waiting(store))
        folder = str(store.folder)
        read = pricing.read(store, self._read.get(folder, 0))
        with self._lock:
            self._read[folder] = read
            over = asked - waiting  # answered, or refused: nobody asks twice
            self._given_up |= over
            self._open -= over
        return waiting

    def wait(self, one: Asked, known: Callable[[], bool]) -> None:
        """Waits for one answer, for a while; nothing happens where it cannot be asked for."""
        if not (asked := self.ask([one], urgent=True)):
            return
        end = time.monotonic() + PATIENCE
        while asked & self.look() and not known() and time.monotonic() < end:
            time.sleep(POLL)


DESK = Desk()
