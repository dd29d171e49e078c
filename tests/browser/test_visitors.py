"""Several sessions on one page, without a browser: moves are answered, and a run is followed."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.visitors import Visit, visit
from engine.runs.events import Advanced, Measured
from engine.runs.job import Job
from engine.service import presence
from engine.service.claim import Claim
from engine.service.store import Store
from pages.ui.paper import defaults
from tests.browser.app import serving
from tests.pages.played import begin, play

pytestmark = pytest.mark.browser


def visited(address: str, page: str, count: int, seconds: float) -> list[Visit]:
    """Some visitors at once; in a thread, since a browser's event loop may run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, visit(address, page, "", count, seconds)).result()


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
        visits = visited(address, "survival", 3, 6.0)
    assert [one.moves for one in visits] == [6, 6, 6]
    assert [len(one.answers) for one in visits] == [6, 6, 6]
    for one in visits:  # beside the answers, what is new of the run is drawn, and nobody asks
        assert one.ticks == 0
        assert one.redraws > 6 + 1


def test_a_page_whose_runs_are_over_does_not_tick(server: tuple[str, Path]):
    address, _ = server
    visits = visited(address, "survival", 2, 3.0)
    assert [(one.ticks, len(one.answers)) for one in visits] == [(0, 3), (0, 3)]
