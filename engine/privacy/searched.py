"""Noise that was searched for once: kept among the answers, so that no search runs again."""

import functools
import hashlib
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from dp_accounting import DpEvent

from engine.privacy import gaussian
from engine.privacy.answers import answer

Search = Callable[..., float]
"""From an event's maker, a budget, delta and a relation to a noise multiplier."""


def searched(search: Search) -> Search:
    """Keeps what a search for a noise multiplier finds under a code of its own.

    A search asks the accountant about twenty times. Its code names the event at two multipliers,
    which tell one family of events from another. What a formula answers is not kept.
    """

    @functools.wraps(search)
    def found(
        make: Callable[[float], DpEvent], target: float, delta: float, relation: str, **ways: Any
    ) -> float:
        """The multiplier: known, or searched for now."""
        work = functools.partial(search, make, target, delta, relation, **ways)
        if delta == 0 or gaussian.precision(make(1.0)) is not None:
            return work()
        family, rest = (make(1.0), make(2.0)), sorted(ways.items())
        asked = (search.__name__, family, target, delta, relation, rest)
        text = f"{version('dp-accounting')}|{asked!r}"
        return answer(hashlib.sha256(text.encode()).hexdigest()[:16], work)

    return found
