"""Several jobs in one process, a turn at a time: what somebody looks at goes first.

Whose turn it is, is decided again every tenth of a second (`rank`): first by what the job is for in
the view that shows it, then by whose view it is, then by how long it has had the processor, then by
its place in the view. A step is never cut in two, so a job gives way as often as it steps. A job
that nobody looks at any more sleeps: it stays open, without turns, while there is room for it.
Whole runs of those who have their curves, and jobs that nobody looks at, have a share of their own,
so that none of them waits for ever. Where chunks run on a cluster, many jobs are open, looked
at or not: they only wait for it here.
"""

import gc
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from engine.core.errors import ExplorerError
from engine.runs import footprint, memory
from engine.runs.events import Finished
from engine.runs.executor.chosen import elsewhere
from engine.runs.job import Job
from engine.service import ahead
from engine.service.claim import Claim, asked, take
from engine.service.job_runner import FULL, JobRunner
from engine.service.process import here
from engine.service.recorder import Stuck
from engine.service.shares import FAVOUR, FAVOUR_OF_TWO, Shares
from engine.service.store import Store
from engine.service.watching import EVERY, PAUSED, SECOND, Stage, Wanted, level, wanted

OPEN, MOST, ELSEWHERE = 4, 24, 32
"""Jobs that take turns here as a rule; that are open at once, with those that had to begin before
others and those that sleep; and that are open where a cluster runs them."""
SLICE = 0.1
"""Seconds of a turn, if no step takes longer."""
SETTLE = 0.7
"""Seconds after a move for which its whole runs wait: the page and the browser draw meanwhile."""
COLLECT = 5.0
"""Seconds between two looks for memory that nothing refers to: each takes as long as a turn. After
as many without a turn all free memory is handed back."""
HELD = {Stage.COARSE: 2, Stage.OTHER: 2, Stage.FULL: 1}
"""Runs of one person and stage that one of two processes has open: what is open in one the other
cannot do, and whole runs are long enough for that other to be idle at their end."""
COMFORT = 1_000 * footprint.MEGABYTE
"""Bytes that a process holds from which on free memory is handed back as a job begins, and a paused
job where that is not enough."""
CROWDED = 1_250 * footprint.MEGABYTE
"""Bytes from which on several paused jobs make room for one that begins: it may be larger."""
PATIENCE = {PAUSED: 2.0, Stage.AHEAD: 0.3}
"""Seconds after which a step is broken into if somebody waits: of what nobody looks at."""


class Shared(JobRunner):
    """A job that shares its process.

    Attributes:
        wanted: What it is for, as was last read.
        turned: When its last turn ended.
    """

    wanted: Wanted
    turned = 0.0

    @property
    def asleep(self) -> bool:
        """Whether nobody looks at it, and it was asked for in passing."""
        return self.wanted.stage == PAUSED

    @property
    def worked(self) -> float:
        """Seconds that it has had."""
        return self.wanted.worked + self.spent


class Scheduler:
    """The jobs that a process has open, and whose turn it is.

    Args:
        store: Where the queue is.
        device: Torch device to train on.
        grace: Seconds that a step may ignore a stop.
        fresh: Whether another job may be opened now.
        stages: At which jobs are taken from the queue; what is open goes on at any stage.

    Attributes:
        open: The jobs that take turns here.
        shared: Whether another process works on the same queue.
    """

    def __init__(
        self,
        store: Store,
        device: str,
        grace: float,
        fresh: Callable[[], bool] = lambda: True,
        stages: Collection[int] = EVERY,
    ) -> None:
        self.store = store
        self.device = device
        self.open: list[Shared] = []
        self._grace = grace
        self._fresh = fresh
        self.shared = False
        self._stages = stages
        self._alone = False
        self._cluster = elsewhere()
        self._shares = Shares()
        self._ahead = ahead.Limits(store)
        self._until = 0.0
        self._collected = -math.inf
        self._turned = math.inf

    @property
    def awake(self) -> list[Shared]:
        """The open jobs that have turns."""
        return [work for work in self.open if not work.asleep or work.recorder.stopping]

    @property
    def patient(self) -> bool:
        """Whether a job has turns here that takes long, or that nobody waits for."""
        return any(work.wanted.stage >= Stage.FULL for work in self.awake)

    def go(self) -> bool:
        """Gives the job that comes first its turn; opens it if it waits in the queue.

        Returns:
            Whether there was anything to do.

        Raises:
            SystemExit: The process is to end; all jobs are left as interrupted.
        """
        waiting = self._look()
        work = self._first(waiting)
        if work is None:
            self._idle()
            return False
        begun = time.monotonic()
        self._until, state = begun + SLICE, None
        try:
            state = work.turn(self._enough)
        except BaseException:
            self.open.remove(work)  # it has been ended, or cannot be
            raise
        work.turned = self._turned = time.monotonic()
        others = [*waiting, *(one.wanted for one in self.awake)]
        self._shares.charge(work.wanted, work.turned - begun, others)
        if state is not None:
            self._over(work)
        elif work.wanted.stage == Stage.AHEAD and self._ahead.long(work.worked):
            self._ahead.drop(work.claim.job.id)
            self._put_back(work)
        return True

    def leave(self) -> None:
        """Leaves all open jobs as interrupted, since the process is to end."""
        while self.open:
            self.open.pop().leave()

    def rest(self) -> None:
        """Gives the jobs that sleep back to the queue."""
        for work in [work for work in self.open if work.asleep]:
            self._put_back(work)

    def _look(self) -> list[Wanted]:
        """Reads what each job is for now, and returns those that wait."""
        now = {one.run: one for one in wanted(self.store, here())}
        for work in self.open:
            run = work.claim.job.id
            gone = Wanted(run, Stage.POINT, ("",), 0.0, 0, 0.0, 0)  # it only has to stop
            work.wanted = now.pop(run, gone)
            work.recorder.asleep = work.asleep
        return [one for one in now.values() if one.stage in self._stages]

    def _first(self, waiting: list[Wanted]) -> Shared | None:
        """The job whose turn it is, opened if it waited; None if there is none."""
        for work in self.open:
            if work.recorder.stopping:
                return work
        if self._cluster:
            return self._round(waiting)
        there = {work.claim.job.id: work for work in self.open}
        tries = 2  # one out of turn, for its share, and the first
        for one in self._ranked(waiting):
            if one.run in there:
                return there[one.run]
            if tries and self._may_begin(one):
                tries -= 1
                begun = self._begin(one)
                if begun is not None:
                    return begun
        return None

    def _ranked(self, waiting: Sequence[Wanted]) -> Iterator[Wanted]:
        """All jobs that may have a turn, the one that comes first before the others."""
        spent = {work.claim.job.id: work.worked for work in self.open}
        every, moved = (*waiting, *(work.wanted for work in self.open)), self.store.now() - SETTLE
        there = [one for one in every if one.stage < Stage.FULL or one.since <= moved]
        there = [one for one in there if one.stage < PAUSED]
        favour = FAVOUR_OF_TWO if self.shared else FAVOUR
        return self._shares.ranked(there, lambda one: spent.get(one.run, one.worked), favour)

    def _round(self, waiting: Sequence[Wanted]) -> Shared | None:
        """Where a cluster works: opens what may be, and hears of each in its turn."""
        ranked = [one for one in self._ranked(waiting) if one in waiting]
        if ranked and len(self.open) < ELSEWHERE:
            self._begin(ranked[0])
        return min(self.awake, key=lambda work: work.turned, default=None)

    def _may_begin(self, one: Wanted) -> bool:
        """Whether a job may be opened beside those that are.

        A few take turns. One more begins if it has had less than all of them or is needed before
        them; of those that nobody looks at, one is open at a time.
        """
        awake = [(work.wanted.stage, level(work.worked)) for work in self.awake]
        if one.stage == Stage.AHEAD:
            first = self.shared and self._stages == EVERY  # the second leaves it free for a move
            return not awake and not first and self._ahead.allow(one.run)
        if one.stage == Stage.BACKGROUND:
            return all(stage != Stage.BACKGROUND for stage, _ in awake)
        if self.shared and one.stage in SECOND and self._held(one) >= HELD[Stage(one.stage)]:
            return False
        return len(awake) < OPEN or (one.stage, level(one.worked)) < min(awake)

    def _begin(self, one: Wanted) -> Shared | None:
        """Opens a job of the queue; None where it does not fit, or somebody was quicker."""
        if not self._fresh() or not self._make_room(one):
            return None
        claim = take(self.store, here(), one.run)
        if claim is None:
            return None
        stuck = Stuck(self._grace, lambda: self._give_up(claim))
        work = Shared(claim, self.device, stuck=stuck, late=lambda s: self._late(claim, s))
        work.wanted = one
        self.open.append(work)
        return work

    def _make_room(self, one: Wanted) -> bool:
        """Gives jobs back to the queue until one more fits; whether it does."""
        if self._cluster:
            return True
        job = asked(self.store, one.run)
        while self.open and job is not None and not self._fits([job]):
            less = [work for work in self.open if work.wanted.stage > one.stage]
            if not less:
                return False
            self._put_back(max(less, key=lambda work: (work.wanted.stage, -work.turned)))
        if footprint.resident() > COMFORT:
            memory.trim()
        asleep = [work for work in self.open if work.asleep]
        for place, work in enumerate(sorted(asleep, key=lambda work: work.turned)):
            if footprint.resident() <= (CROWDED if place else COMFORT):
                break
            self._put_back(work)
            memory.trim()
        return True

    def _fits(self, more: Sequence[Job]) -> bool:
        """Whether more jobs have room beside those that are open."""
        if self._alone or len(self.open) + len(more) > MOST:
            return False
        try:
            return footprint.fit([*(work.claim.job for work in self.open), *more])
        except ExplorerError:
            return True  # it fails by itself, with its own sentence

    def _held(self, one: Wanted) -> int:
        """How many jobs of a stage and of the same persons are open and have turns."""
        alike = (work.wanted for work in self.awake if work.wanted.stage == one.stage)
        return sum(not set(one.persons).isdisjoint(other.persons) for other in alike)

    def _put_back(self, work: Shared) -> None:
        """Gives an open job back to the queue; what it can keep is kept."""
        self.open.remove(work)
        work.rest()

    def _enough(self) -> bool:
        """Whether a turn has lasted long enough."""
        return time.monotonic() >= self._until

    def _late(self, claim: Claim, seconds: float) -> bool:
        """Whether a step is to be broken into: nobody looks at its job, and somebody waits."""
        if seconds < min(PATIENCE.values()) or self._cluster:
            return False
        now = {one.run: one for one in wanted(self.store, here())}
        own = now.pop(claim.job.id, None)
        if own is None or seconds < PATIENCE.get(own.stage, seconds + 1.0):
            return False
        return any(one.stage < Stage.BACKGROUND for one in now.values())

    def _over(self, work: Shared) -> None:
        """Forgets a job that has ended; one that found no room beside others tries again alone."""
        self.open.remove(work)
        self._alone &= bool(self.open)
        if work.wanted.stage == Stage.AHEAD:
            self._ahead.over(work.claim.job.id, work.error)
        elif work.error == FULL and self.open:
            self._alone = True
            self.store.submit(work.claim.job, work.claim.focus)
        memory.release()
        if time.monotonic() - self._collected >= COLLECT:
            gc.collect()
            self._collected = time.monotonic()

    def _idle(self) -> None:
        """Hands free memory back, once, when no job has had a turn for a while."""
        if time.monotonic() - self._turned >= COLLECT:
            self._turned = math.inf
            gc.collect()
            memory.trim()

    def _give_up(self, claim: Claim) -> None:
        """Ends the process in the middle of a step that will not stop; its job is cancelled.

        The other jobs go back to the queue, for the next process.
        """
        claim.finish("cancelled", [Finished(0, "cancelled")], asked=True)
        for work in self.open:
            if work.claim is not claim:
                work.claim.finish("cancelled", [Finished(0, "cancelled")], asked=True)
        os._exit(1)
