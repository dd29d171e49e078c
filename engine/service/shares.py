"""Who has had how much of the processor, and so whose turn it is.

Within a stage, the person who has had the least goes first; what was had fades, so that nobody
pays for long. Before whole runs it is compared by steps that grow, and within a step who asked
first goes first: many who wait for little are served one after the other, not all of them late.
Within a person's jobs, those that have had the least go first, by steps that grow too, so that a
job of milliseconds never waits for one of minutes; then the newest view, and the place in it. The
chosen method's curve is among those with a proof and counts for less, so that it comes first unless
it takes long. What comes after other stages still has a share, so that nothing waits for ever.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from engine.service.watching import Stage, Wanted, level

SHARE = 0.1
"""Part of the time that whole runs have while others wait for their curves, and the background."""
CREDIT = 0.1
"""Seconds of a share from which a turn is taken; ten times as much at most is saved up."""
FIRST = 0.4
"""Seconds of a stage that everybody has before anybody has more; then steps grow, as `LEVEL`."""
FAVOUR = 16.0
"""How much longer the chosen method's curve may take than another's before that one goes first."""
FAVOUR_OF_TWO = 40.0
"""The same where a second process takes the others meanwhile."""
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
        own = _together(one)
        for person in one.persons:
            had = self._faded(person, own) + seconds / len(one.persons)
            self._had[person, own] = had, time.monotonic()
        for stage in self._owed:
            before = any(other.stage < one.stage for other in others)
            if one.stage == stage and before:
                self._owed[stage] -= seconds
            elif one.stage < stage and any(other.stage == stage for other in others):
                self._owed[stage] = min(self._owed[stage] + SHARE * seconds, 10 * CREDIT)

    def ranked(self, some: Sequence[Wanted], worked: Worked, favour: float) -> Iterator[Wanted]:
        """The jobs in the order in which they should have the next turn.

        Args:
            some: Those that may have one.
            worked: Seconds that each has had.
            favour: What the time of a chosen curve is divided by.
        """

        def counted(one: Wanted) -> float:
            return worked(one) / (favour if one.stage == Stage.CURVE else 1.0)

        stages: dict[int, list[Wanted]] = {}
        for one in some:
            stages.setdefault(_together(one), []).append(one)
        waiting = {person for one in some if one.stage < Stage.FULL for person in one.persons}
        owed = (stages.get(stage, []) for stage in self._owed if self._owed[stage] >= CREDIT)
        due = (one for jobs in owed for one in self._sorted(jobs, counted))
        yield from islice((one for one in due if waiting.isdisjoint(one.persons)), 1)
        for stage in sorted(stages):  # most often the first of the first: the rest is not sorted
            yield from self._sorted(stages[stage], counted)

    def _sorted(self, some: Sequence[Wanted], counted: Worked) -> list[Wanted]:
        """The jobs of one stage in their order."""
        turns: dict[str, tuple[float, float]] = {}
        for one in some:
            for person in one.persons:
                had, since = turns.get(person, (self._faded(person, _together(one)), one.since))
                turns[person] = had, min(since, one.since)
        return sorted(some, key=lambda one: _key(one, counted(one), turns))

    def _faded(self, person: str, stage: int) -> float:
        """Seconds that a person has had at a stage, those of long ago for less."""
        had, then = self._had.get((person, stage), (0.0, 0.0))
        return float(had * 0.5 ** ((time.monotonic() - then) / FADES))


def _together(one: Wanted) -> int:
    """The stage among whose jobs one has its turn."""
    return Stage.COARSE if one.stage == Stage.CURVE else one.stage


def _key(
    one: Wanted, counted: float, turns: Mapping[str, tuple[float, float]]
) -> tuple[float, ...]:
    """What jobs are sorted by.

    Args:
        one: The job.
        counted: Seconds that it has had, fewer for a chosen curve.
        turns: What each person has had at its stage, and since when they wait.
    """
    view = -one.since, one.place, one.number
    if one.stage > Stage.FULL:
        return one.stage, 0.0, 0.0, 0, one.stage, *view
    some = (turns[person] for person in one.persons)
    had, since = min((h if one.stage == Stage.FULL else level(h, FIRST), at) for h, at in some)
    return _together(one), had, since, level(counted), one.stage, *view
