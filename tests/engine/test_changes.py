"""Runs from before an update of the program are told from others."""

import os
import time

import pytest

from engine.catalog import catalog
from engine.runs import changes
from engine.runs.changes import changed
from engine.service.claim import take
from engine.service.job_runner import perform
from engine.service.process import here


@pytest.fixture(autouse=True)
def _forgetful():
    changed.cache_clear()
    yield
    changed.cache_clear()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """An engine of two papers, written long ago."""
    for name in ("driver.py", "noise.py", "training/ghost.py", "papers/one/method.py",
                 "papers/one/exhibits.py", "papers/two/method.py"):  # fmt: skip
        file = tmp_path / "engine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (1000.0, 1000.0))
    monkeypatch.setattr(changes, "ENGINE", tmp_path / "engine")
    monkeypatch.setattr(changes, "SHARED", ("driver.py", "noise.py", "training"))
    return tmp_path / "engine"


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("papers/one/method.py", True, False),
        ("papers/one/exhibits.py", False, False),
        ("papers/two/method.py", False, True),
        ("training/ghost.py", True, True),
        ("driver.py", True, True),
    ],
)
def test_a_change_counts_for_the_papers_that_it_can_reach(sources, name, one, two):
    os.utime(sources / name, (2000.0, 2000.0))
    assert (changed("one") > 1000.0, changed("two") > 1000.0) == (one, two)


def test_every_paper_has_sources():
    assert all(0 < changed(slug) <= time.time() for slug in catalog())
    assert changed("no such paper") == 0.0


def test_a_run_from_before_a_change_is_outdated_until_it_is_done_anew(
    toy, store, client, monkeypatch
):
    job = toy()
    client.submit(job)
    perform(take(store, here()))
    assert not client.run(job.id).outdated
    monkeypatch.setattr("engine.service.run.changed", lambda paper: time.time())
    assert client.run(job.id).outdated
    ticket = client.again(job)
    assert (ticket.run, ticket.cached) == (job.id, False)
    run = client.run(job.id)
    assert (run.state, run.outdated) == ("queued", False)
