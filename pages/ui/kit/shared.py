"""What follows from runs and settings alone, made once and shared by all sessions.

A class that looks at one run asks for the same figures, at the few budgets of one slider. Each is
kept under a signature of all that it depends on: states of runs, settings, a budget. Nothing that
belongs to a session may be kept here.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from cachetools import LRUCache, cached

from pages.ui.messages import language

MOST = 512
"""Things that are kept; the oldest go first."""

T = TypeVar("T")


class Shared:
    """A bounded store of things by signature; threads that ask for the same wait for one maker.

    Args:
        most: How many things are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._kept: LRUCache[Hashable, Any] = LRUCache(most)
        self._changing = threading.Condition()
        self._once = cached(
            self._kept, key=lambda signature, make: signature, condition=self._changing
        )(lambda signature, make: make())

    def once(self, signature: Hashable, make: Callable[[], T]) -> T:
        """What was made under a signature, made now if nobody has.

        Args:
            signature: All that it depends on.
            make: Makes it; an error is kept by nobody.
        """
        made: T = self._once(signature, make)
        return made

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forgets everything."""
        with self._changing:
            self._kept.clear()


SHARED = Shared()


def once(signature: Hashable, make: Callable[[], T]) -> T:
    """What was made under a signature in this process and language, made now if nobody has."""
    return SHARED.once((language(), signature), make)
