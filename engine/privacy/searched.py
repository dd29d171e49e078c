"""Noise that was searched for once: kept among the answers, so that no search runs again."""

import functools
import hashlib
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from dp_accounting import DpEvent

from engine.privacy import gaussian
from engine.privacy.answers import answer

Make = Callable[[float], DpEvent]
"""From a noise multiplier to the event that it causes."""
Search = Callable[..., float]
"""From an event's maker, a budget, delta and a relation to a noise multiplier."""
DOUBLINGS = 64
"""How far beyond 1 a family may begin to be private: no search looks so far."""


def searched(search: Search) -> Search:
    """Keeps what a search for a noise multiplier finds under a code of its own.

    A search asks the accountant about twenty times. Its code names the events at a few multipliers,
    which tell one family of events from another. What a formula answers is not kept, nor what is
    searched for in a family without a private event.
    """

    @functools.wraps(search)
    def found(make: Make, target: float, delta: float, relation: str, **ways: Any) -> float:
        """The multiplier: known, or searched for now."""
        work = functools.partial(search, make, target, delta, relation, **ways)
        family, rest = _family(make), sorted(ways.items())
        if delta == 0 or not family or gaussian.precision(family[-1]) is not None:
            return work()
        asked = (search.__name__, family, target, delta, relation, rest)
        text = f"{version('dp-accounting')}|{asked!r}"
        return answer(hashlib.sha256(text.encode()).hexdigest()[:16], work)

    return found


def _family(make: Make) -> tuple[DpEvent, ...]:
    """A family's events at the powers of two from 1 on, up to the first two with privacy.

    Events without privacy say nothing of the family: whatever has next to no noise is the same
    event (`engine.privacy.releases.cost`). How many there are tells a family from one that has its
    noise at another multiplier. Empty where no power is private.
    """
    events = [make(1.0)]
    for power in range(1, DOUBLINGS):
        events.append(make(2.0**power))
        if not any("NonPrivateDpEvent" in repr(event) for event in events[-2:]):
            return tuple(events)
    return ()
