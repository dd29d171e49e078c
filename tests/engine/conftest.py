"""A store of its own for every test, the toy among the papers, and no process left behind."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.catalog import catalog
from engine.runs.job import Job, request
from engine.service import job_runner, scheduler, shares
from engine.service.claim import Claim, take
from engine.service.client import Client, Run
from engine.service.process import here
from engine.service.store import Store
from tests.engine import toy as toys

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page and no browser draw what these tests look at: whole runs wait for neither."""
    monkeypatch.setattr("engine.service.scheduler.SETTLE", -1.0)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test's store."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def toy(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Job]:
    """Registers the toy; called, it makes a job of it."""
    monkeypatch.setitem(catalog(), "toy", toys.PAPER)

    def job(axes=None, seeds=(0,), dataset="flchain", **values) -> Job:
        return request("toy", "count", dataset, values, axes, seeds)

    return job


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    store = Store(home, patience=60.0)
    yield store
    store.database.close()


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    """A client that starts no worker."""
    client = Client(home, workers=False)
    yield client
    client.close()


def claimed(store: Store, job: Job) -> Claim:
    """The claim of this process on a job."""
    store.submit(job, {})
    claim = take(store, here(), job.id)
    assert claim is not None
    return claim


def ended(client: Client, run: str, seconds: float = 300.0) -> Run:
    """The run once it has ended."""
    return until(lambda: None if (actual := client.run(run)).active else actual, seconds)


def until(look, seconds: float = 300.0):
    """What `look` returns once it is something; a limit against hanging, not a measurement."""
    deadline = time.monotonic() + seconds
    while not (actual := look()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return actual


def running(client, run: str):
    """The run once it shows a measurement."""
    return until(lambda: len(client.events(run)) > 1 and client.run(run))


def once(look: Callable[[], object], act: Callable[[], object]) -> threading.Thread:
    """Acts, from a thread of its own, as soon as `look` returns something."""
    thread = threading.Thread(target=lambda: (until(look), act()))
    thread.start()
    return thread


LASTS = 600.0
"""Seconds that a look lasts where `looks_last`."""


@pytest.fixture
def looks_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has looked once looks on, however slow the machine is."""
    monkeypatch.setattr("engine.service.store.GONE", LASTS)


class Clock:
    """Time that passes only where the toy waits: shares of it are the same on any machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of the toy's steps, of turns and of shares."""
    one = Clock()
    for module in (toys, job_runner, scheduler, shares):
        monkeypatch.setattr(module, "time", one)
    return one


class Workers:
    """Starts workers that know the toy, and ends them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.started: list[subprocess.Popen] = []

    def __call__(self, **options) -> subprocess.Popen:
        environment = {
            **os.environ,
            "EXPLORER_HOME": str(self.home),
            "EXPLORER_IDLE_SECONDS": "60",
            "EXPLORER_THREADS": "1",
            **options.pop("environment", {}),
        }
        with (self.home.parent / "worker.txt").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.engine.toy_worker"],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                **options,
            )
        self.started.append(process)
        return process

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def worker(home: Path) -> Iterator[Workers]:
    home.mkdir(parents=True, exist_ok=True)
    workers = Workers(home)
    yield workers
    workers.end()
