"""Who has had how much of the processor, and so whose turn it is.

Within a stage, the person who has had the least goes first; what was had fades, so that nobody pays
for long. Within a person's jobs, those that have had the least go first, by steps that grow, so
that a job of milliseconds never waits for one of minutes; then the newest view, and the place in
it. What comes after other stages still has a share, so that nothing waits for ever.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from engine.service.stages import Stage, Wanted, level

SHARE = 0.1
"""Part of the time that whole runs have while others wait for their curves, and the background."""
CREDIT = 0.1
"""Seconds of a share from which a turn is taken; ten times as much at most is saved up."""
FADES = 30.0
"""Seconds after which what a person has had counts for half."""

Worked = Callable[[Wanted], float]
"""Seconds that a job has had."""


class Shares:
    """What each person has had at each stage, and what is owed to those who come last."""

    def __init__(self) -> None:
        self._had: dict[tuple[str, int], tuple[float, float]] = {}
        self._owed = {Stage.FULL: 0.0, Stage.BACKGROUND: 0.0}

    def charge(self, one: Wanted, seconds: float, others: Sequence[Wanted]) -> None:
        """Notes a turn, and what it owes to those that it went before."""
        for person in one.persons:
            had = self._faded(person, one.stage) + seconds / len(one.persons)
            self._had[person, one.stage] = had, time.monotonic()
        for stage in self._owed:
            before = any(other.stage < one.stage for other in others)
            if one.stage == stage and before:
                self._owed[stage] -= seconds
            elif one.stage < stage and any(other.stage == stage for other in others):
                self._owed[stage] = min(self._owed[stage] + SHARE * seconds, 10 * CREDIT)

    def ranked(self, some: Sequence[Wanted], worked: Worked) -> list[Wanted]:
        """The jobs in the order in which they should have the next turn.

        Args:
            some: Those that may have one.
            worked: Seconds that each has had.
        """
        turns: dict[tuple[str, int], tuple[float, float]] = {}
        for one in some:
            for key in ((person, one.stage) for person in one.persons):
                had, since = turns.get(key, (self._faded(*key), one.since))
                turns[key] = had, min(since, one.since)
        order = sorted(some, key=lambda one: _key(one, level(worked(one)), turns))
        waiting = {person for one in some if one.stage < Stage.FULL for person in one.persons}
        due = [
            one
            for one in order
            if self._owed.get(Stage(one.stage), 0.0) >= CREDIT and waiting.isdisjoint(one.persons)
        ]
        return [*due[:1], *order]

    def _faded(self, person: str, stage: int) -> float:
        """Seconds that a person has had at a stage, those of long ago for less."""
        had, then = self._had.get((person, stage), (0.0, 0.0))
        return float(had * 0.5 ** ((time.monotonic() - then) / FADES))


def _key(
    one: Wanted, level: int, turns: Mapping[tuple[str, int], tuple[float, float]]
) -> tuple[float, ...]:
    """What jobs are sorted by.

    Args:
        one: The job.
        level: How much it has had.
        turns: What each person has had at each stage, and since when they wait.
    """
    view = -one.since, one.place, one.number
    if one.stage > Stage.FULL:
        return one.stage, 0.0, 0.0, 0, *view
    had, since = min(turns[person, one.stage] for person in one.persons)
    return one.stage, had, since, level, *view
