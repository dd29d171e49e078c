"""How much memory a run takes, before it is asked for and while its chunks begin."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from datasets import catalog as data_catalog
from engine.core.errors import RequestError
from engine.runs import footprint
from engine.runs.driver import drive
from engine.runs.events import Finished
from engine.runs.job import request
from engine.service.claim import take
from engine.service.job_runner import perform
from engine.service.process import here
from engine.service.scheduler import Scheduler

ROOT = Path(__file__).parents[2]
MB = footprint.MEGABYTE


def test_the_limit_is_a_setting_or_most_of_the_machine(monkeypatch):
    monkeypatch.delenv(footprint.SETTING, raising=False)
    assert 0.7 * footprint.machine() < footprint.most() <= 0.81 * footprint.machine()
    monkeypatch.setenv(footprint.SETTING, "2000")
    assert footprint.most() == 2_000 * MB
    monkeypatch.setenv(footprint.SETTING, "lots")
    with pytest.raises(RequestError, match="EXPLORER_MOST_MEMORY: expected a positive whole"):
        footprint.most()


@pytest.mark.parametrize("group", ["", "system.slice/epsilon-explorer.service"])
def test_the_limit_of_a_container_and_of_a_service_counts(group, monkeypatch, tmp_path):
    limit, own = tmp_path / group / "memory.max", tmp_path / "own"
    limit.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f"0::/{group}\n")
    monkeypatch.setattr(footprint, "GROUPS", str(tmp_path))
    monkeypatch.setattr(footprint, "GROUP", str(own))
    limit.write_text("max\n")
    whole = footprint.machine()
    limit.write_text(f"{whole // 2}\n")
    assert footprint.machine() == whole // 2


def test_an_estimate_grows_with_records_and_settings_together():
    card = data_catalog.card("flchain")
    few, many = (
        request("survival", "out_pert", "flchain", {}, {"epsilon": (0.5, 1.0)}, range(seeds))
        for seeds in (1, 20)
    )
    large = replace(card, records=1_000_000)
    assert footprint.estimate(few, card) < footprint.estimate(many, card)
    assert footprint.estimate(many, card) < 600 * MB
    assert 1_000 * MB < footprint.estimate(many, large) < 3_000 * MB


def test_a_run_that_would_not_fit_is_refused_before_it_waits(toy, client, monkeypatch):
    client.submit(toy())
    monkeypatch.setenv(footprint.SETTING, "100")
    with pytest.raises(RequestError) as caught:
        client.submit(toy(steps=7))
    assert str(caught.value).startswith(
        "memory: expected at most 100 MB (EXPLORER_MOST_MEMORY), got about "
    )
    assert "\n" not in str(caught.value)
    assert len(client.runs()) == 1


def test_runs_share_the_limit(toy, client, monkeypatch):
    """One that has no room beside those that are open waits for their end, and fails not."""
    first, second = toy(steps=50), toy(steps=60)
    card = data_catalog.card(first.dataset)
    size = footprint.estimate(first, card)
    for job in (first, second):
        client.submit(job, {"epsilon": 1.0})
    monkeypatch.setattr("engine.service.scheduler.SLICE", 0.0)
    monkeypatch.setenv(footprint.SETTING, str(size // MB + 1))
    monkeypatch.setattr(footprint, "PROCESS", 0)
    monkeypatch.setattr(footprint, "estimate", lambda job, card: size)
    monkeypatch.setattr(footprint, "resident", lambda: 0)
    assert not footprint.fit([first, second])
    assert footprint.fit([first])
    most, scheduler = 0, Scheduler(client.store, "cpu", 60.0)
    while scheduler.go():
        most = max(most, len(scheduler.open))
    assert most == 1
    assert {run.state for run in client.runs()} == {"completed"}
    monkeypatch.setenv(footprint.SETTING, str(3 * size // MB))
    assert footprint.fit([first, second])


def grown(monkeypatch, *megabytes: int) -> None:
    """Lets the process hold so much, one amount for each time that it is asked."""
    held = iter(megabytes)
    monkeypatch.setattr(footprint, "resident", lambda: next(held) * MB)


def many() -> object:
    """Ten chunks of one setting."""
    return request("lvq", "glvq_bfgs", "digits", {}, {}, range(10))


def test_growth_is_extrapolated_from_the_second_chunk_on(monkeypatch):
    monkeypatch.setenv(footprint.SETTING, "1000")
    growth = footprint.Growth(many(), 1797)
    grown(monkeypatch, 300, 350, 500)
    growth.begun(1)  # what all share
    growth.begun(1)  # 50 MB more is too little to say anything
    with pytest.raises(RequestError, match="got about 1,200 MB for 10 settings"):
        growth.begun(1)


def test_growth_that_ends_below_the_limit_is_let_through(monkeypatch):
    monkeypatch.setenv(footprint.SETTING, "1000")
    growth = footprint.Growth(many(), 1797)
    grown(monkeypatch, *range(300, 500, 20))
    for _ in range(10):
        growth.begun(1)


def test_a_run_that_grows_too_large_ends_with_the_sentence(client, monkeypatch):
    """The process says that each further chunk takes a gigabyte."""
    job = many()
    client.submit(job)
    monkeypatch.setenv(footprint.SETTING, "4000")
    grown(monkeypatch, *range(1000, 20_000, 1000))
    assert perform(take(client.store, here(), job.id)) == "failed"
    error = client.run(job.id).error
    assert error.startswith("memory: expected at most 4,000 MB")
    assert "for 10 settings on 1,797 records" in error


def test_memory_that_is_really_taken_is_seen():
    """In a process of its own: here, other tests' memory may be freed in between."""
    program = (
        "from engine.runs import footprint\n"
        "before = footprint.resident()\n"
        f"held = bytearray({200 * MB})\n"
        "print(footprint.resident() - before)"
    )
    grown = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert 150 * MB < int(grown.stdout) < 300 * MB


@pytest.mark.thorough
def test_a_usual_run_is_let_through():
    job = request("survival", "out_pert", "flchain", {}, {"epsilon": (0.5, 1.0)}, range(60))
    events = list(drive(job, data_catalog.load("flchain"), lambda name, arrays: name))
    assert isinstance(events[-1], Finished)
