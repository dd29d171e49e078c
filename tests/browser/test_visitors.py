"""Several sessions on one page, without a browser: moves are answered, and a run is followed."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from benchmarks import visitors
from benchmarks.visitors import Visit, Visitor, visit
from engine.runs.events import Advanced, Measured
from engine.runs.job import Job
from engine.service import presence
from engine.service.claim import Claim
from engine.service.store import Store
from pages.ui.paper import defaults
from tests.browser.app import serving
from tests.pages.played import begin, play

pytestmark = pytest.mark.browser


class Patient(Visitor):
    """A visitor who stays until every move is answered, and until more charts have come.

    Attributes:
        more: How many are waited for.
        later: How many came after the last answer, for each visitor.
    """

    more = 0
    later: ClassVar[list[int]] = []

    async def _play(self, seconds: float, every: float) -> None:
        await super()._play(seconds, every)
        await self._until(lambda: not self._waiting)
        before = self.visit.redraws
        await self._until(lambda: self.visit.redraws >= before + self.more)
        self.later.append(self.visit.redraws - before)

    async def _until(self, over: Callable[[], bool]) -> None:
        """Waits until something holds, a minute at most."""
        end = time.monotonic() + 60
        while not over() and time.monotonic() < end:
            await asyncio.sleep(0.05)


def visited(
    address: str, page: str, count: int, seconds: float, more: int = 0
) -> tuple[list[Visit], list[int]]:
    """Some visitors at once, and how many charts came after the last answer of each.

    In a thread, since a browser's event loop may run in this one.
    """
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(Patient, "more", more)
        patch.setattr(Patient, "later", [])
        patch.setattr(visitors, "Visitor", Patient)
        visits = pool.submit(asyncio.run, visit(address, page, "", count, seconds)).result()
        return visits, Patient.later


@contextmanager
def trained(claim: Claim) -> Iterator[None]:
    """A run that measures something new four times a second."""
    over = threading.Event()

    def train() -> None:
        step = 1
        while not over.wait(0.25):
            step += 1
            some = Measured(step, (0,), {"concordance": (0.5 + step / 1000,)})
            claim.append([Advanced(step, step, 1000), some])
            claim.beat()

    thread = threading.Thread(target=train)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def finished(home: Path, but: str) -> dict[str, Job]:
    """The page's first jobs, all over but one."""
    jobs = defaults.opening("survival")
    for name, job in jobs.items():
        if name != but:
            play(home, job)
    return jobs


@pytest.mark.thorough
def test_every_move_is_answered_while_a_run_trains_on_the_page(tmp_path: Path):
    claim = begin(tmp_path, finished(tmp_path, but="out_pert")["out_pert"])
    assert presence.work_on(Store(tmp_path), presence.device())  # so that no other worker starts
    with serving(tmp_path) as address, trained(claim):
        visits, later = visited(address, "survival", 3, 6.0, more=1)
    assert [one.moves for one in visits] == [6, 6, 6]
    assert [len(one.answers) for one in visits] == [6, 6, 6]
    assert [one.ticks for one in visits] == [0, 0, 0]
    assert all(later)  # what is new of the run is drawn, and nobody asks
    assert len(later) == 3


def test_a_page_whose_runs_are_over_does_not_tick(server: tuple[str, Path]):
    address, _ = server
    visits, _ = visited(address, "survival", 2, 3.0)
    assert [(one.ticks, len(one.answers)) for one in visits] == [(0, 3), (0, 3)]
