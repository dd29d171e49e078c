"""What follows from runs and settings alone, made once and shared by all sessions.

A class that looks at one run asks for the same figures, at the few budgets of one slider. Each is
kept under a signature of all that it depends on: states of runs, settings, a budget. Nothing that
belongs to a session may be kept here.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MOST = 512
"""Things that are kept; the oldest go first."""

T = TypeVar("T")


class Shared:
    """A bounded store of things by signature; threads that ask for the same wait for one maker.

    Args:
        most: How many things are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def once(self, signature: Hashable, make: Callable[[], T]) -> T:
        """What was made under a signature, made now if nobody has.

        Args:
            signature: All that it depends on.
            make: Makes it; an error is kept by nobody.
        """
        with self._lock:
            if signature in self._kept:
                self._kept.move_to_end(signature)
                kept: T = self._kept[signature]
                return kept
            making = self._making.setdefault(signature, threading.Lock())
        try:
            with making:
                if signature not in self._kept:
                    made = make()
                    with self._lock:
                        self._kept[signature] = made
                        while len(self._kept) > self._most:
                            self._kept.popitem(last=False)
                    return made
        finally:
            with self._lock:
                self._making.pop(signature, None)
        return self.once(signature, make)

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._kept.clear()


SHARED = Shared()


def once(signature: Hashable, make: Callable[[], T]) -> T:
    """What was made under a signature in this process, made now if nobody has."""
    return SHARED.once(signature, make)
