"""Several jobs in one process, a turn at a time, so that none waits for another's end.

A job that somebody looks at goes first for its first seconds: most are over by then, and the
others have shown their first points. From then on all take turns of a tenth of a second, the one
that has had the least goes next. Jobs that nobody looks at wait for each other, as nobody would
see them side by side. A step is never cut in two, so a job gives way as often as it steps. Where
chunks run on a cluster, many jobs are open, whoever looks: they only wait for it here.
"""

import gc
import os
import time
from collections.abc import Callable

from engine.core.errors import ExplorerError
from engine.runs import footprint, memory
from engine.runs.events import Finished
from engine.runs.executor.chosen import elsewhere
from engine.service.claim import Claim, following, take, waiting
from engine.service.job_runner import FULL, JobRunner
from engine.service.process import here
from engine.service.recorder import Stuck
from engine.service.store import Store

OPEN, ELSEWHERE = 4, 32
"""Jobs in memory at once: where chunks run here, and where a cluster runs them."""
LEAD = 2.0
"""Seconds for which a new job that somebody looks at goes before the others."""
SLICE = 0.1
"""Seconds of a turn, if others wait for theirs and if no step takes longer."""


class Shared(JobRunner):
    """A job that shares its process.

    Attributes:
        watched: Whether somebody looks at it: it was asked for with values under a slider.
        share: Seconds of turns since it began to share, on a clock that all who share have.
    """

    watched = True
    share = 0.0

    @property
    def young(self) -> bool:
        """Whether it is still in its lead."""
        return self.watched and self.spent < LEAD


class Scheduler:
    """The jobs that a process has open, and whose turn it is.

    Args:
        store: Where the queue is.
        device: Torch device to train on.
        grace: Seconds that a step may ignore a stop.
        fresh: Whether another job may be opened now.
    """

    def __init__(
        self, store: Store, device: str, grace: float, fresh: Callable[[], bool] = lambda: True
    ) -> None:
        self.store = store
        self.device = device
        self.open: list[Shared] = []
        self._grace = grace
        self._fresh = fresh
        self._alone = False
        self._most = ELSEWHERE if elsewhere() else OPEN
        self._until = 0.0

    def go(self) -> bool:
        """Opens a job if one waits and may, and gives one of the open ones its turn.

        Returns:
            Whether there was anything to do.

        Raises:
            SystemExit: The process is to end; all jobs are left as interrupted.
        """
        if self._room() and not any(work.young for work in self.open):
            self._admit()
        if not self.open:
            return False
        work = self._next()
        self._until = time.monotonic() + SLICE
        spent, young, state = work.spent, work.young, None
        try:
            state = work.turn(self._enough)
        except BaseException:
            self.open.remove(work)  # it has been ended, or cannot be
            raise
        if state is not None:
            self._over(work)
        elif not work.young:
            work.share = self._begin(work) if young else work.share + work.spent - spent
        return True

    def leave(self) -> None:
        """Leaves all open jobs as interrupted, since the process is to end."""
        while self.open:
            self.open.pop().leave()

    def _room(self) -> bool:
        return len(self.open) < (1 if self._alone else self._most)

    def _background(self) -> bool:
        """Whether a job that nobody looks at may be opened."""
        return self._most == ELSEWHERE or all(work.watched for work in self.open)

    def _fits(self) -> bool:
        """Whether the next job has room in memory beside those that are open."""
        if not self.open or self._most == ELSEWHERE:
            return True
        job = following(self.store, background=self._background())
        try:
            return job is None or footprint.fit([*(work.claim.job for work in self.open), job])
        except ExplorerError:
            return True  # it fails by itself, with its own sentence

    def _admit(self) -> None:
        """Opens the next job of the queue, if there is one that may be opened."""
        if not waiting(self.store, background=self._background()) or not self._fresh():
            return
        if not self._fits():
            return
        claim = take(self.store, here(), background=self._background())
        if claim is None:
            return
        stuck = Stuck(self._grace, lambda: self._give_up(claim))
        work = Shared(claim, self.device, stuck=stuck)
        work.watched = bool(claim.focus)
        work.share = self._begin(work)
        self.open.append(work)

    def _begin(self, work: Shared) -> float:
        """Where a job's clock begins: with the one that has had the least."""
        others = [one.share for one in self.open if one is not work and not one.young]
        return min(others, default=0.0)

    def _next(self) -> Shared:
        """Whose turn it is: one that only has to stop, a young one, or who has had the least."""
        return min(self.open, key=lambda work: (not work.stopping, not work.young, work.share))

    def _enough(self) -> bool:
        """Whether a turn has lasted long enough: it is over when others want theirs."""
        now = time.monotonic()
        if now < self._until:
            return False
        if len(self.open) > 1 or (
            self._room() and waiting(self.store, background=self._background())
        ):
            return True
        self._until = now + SLICE
        return False

    def _over(self, work: Shared) -> None:
        """Forgets a job that has ended; one that found no room beside others tries again alone."""
        self.open.remove(work)
        self._alone &= bool(self.open)
        if work.error == FULL and self.open:
            self._alone = True
            self.store.submit(work.claim.job, work.claim.focus)
        gc.collect()
        memory.release()

    def _give_up(self, claim: Claim) -> None:
        """Ends the process in the middle of a step that will not stop; its job is cancelled.

        The other jobs go back to the queue, for the next process.
        """
        claim.finish("cancelled", [Finished(0, "cancelled")], asked=True)
        for work in self.open:
            if work.claim is not claim:
                work.claim.finish("cancelled", [Finished(0, "cancelled")], asked=True)
        os._exit(1)
