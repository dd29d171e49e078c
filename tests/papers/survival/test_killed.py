"""A run whose process is killed goes on where it last kept its state, number for number."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import StoreError
from engine.runs.artifacts import DONE
from engine.runs.events import Measured
from engine.service.claim import Claim, take
from engine.service.client import Client
from engine.service.job_runner import KEEP, perform
from engine.service.process import here
from tests.papers.survival.test_resume import DATA, METHODS, job

ROOT = Path(__file__).parents[3]
KILLED = """
import os, signal, sys
from pathlib import Path
from engine.runs.events import Measured
from engine.service import job_runner
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from tests.papers.survival.test_resume import DATA

job_runner.data_catalog.load = lambda name: DATA
seen = []

def watch(event):
    seen.append(event)
    if len(seen) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

claim = take(Client(Path(sys.argv[1]), workers=False).store, here())
job_runner.perform(claim, watch=watch)
"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy's records, and a state that is kept at every hundredth of the run."""
    monkeypatch.setattr("engine.service.job_runner.data_catalog.load", lambda name: DATA)
    monkeypatch.setenv(KEEP, "0.000001")


def killed(folder: Path, events: int) -> int:
    """Does the waiting job in another process, which is killed after so many events."""
    command = [sys.executable, "-c", KILLED, str(folder), str(events)]
    return subprocess.run(command, cwd=ROOT, env=os.environ, check=False).returncode


def end(client: Client) -> str:
    """Does the waiting job to its end."""
    claim = take(client.store, here())
    assert claim is not None
    return perform(claim)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_killed_twice_is_the_run_that_was_not(method: str, tmp_path: Path):
    asked = job(method)
    whole, broken = Client(tmp_path / "one", workers=False), Client(tmp_path / "two", workers=False)
    whole.submit(asked)
    assert end(whole) == "completed"
    broken.submit(asked)
    for events in (12, 4):
        assert killed(tmp_path / "two", events) == -signal.SIGKILL
        assert broken.run(asked.id).state == "interrupted"
        assert broken.submit(asked) != "cached"
    left = broken.events(asked.id)
    assert any(isinstance(event, Measured) for _, event in left)  # it does not begin again
    assert end(broken) == "completed"
    one, two = ([event for _, event in client.events(asked.id)] for client in (whole, broken))
    assert list(map(repr, two)) == list(map(repr, one))
    arrays, again = whole.arrays(asked.id), broken.arrays(asked.id)
    assert arrays.keys() == again.keys()
    for name, values in arrays.items():
        np.testing.assert_array_equal(again[name], values)
    assert not [name for name in names(broken, asked.id) if name.startswith("state")]
    assert not broken.store.tidy()


@pytest.mark.parametrize("older", ["another", ""])
@pytest.mark.thorough
def test_a_state_that_other_sources_have_left_is_not_taken_up(older: str, tmp_path: Path):
    """The run begins again, and no number of the earlier version stays."""
    asked = job("exact")
    whole, broken = Client(tmp_path / "one", workers=False), Client(tmp_path / "two", workers=False)
    whole.submit(asked)
    assert end(whole) == "completed"
    broken.submit(asked)
    claim = take(broken.store, here())
    assert claim is not None
    wrong = Measured(3, (0, 1), {"acceptance": (9.0, 9.0)})
    claim.save({"state-0000": {"_step": np.ones(())}, DONE: {"chunks": np.ones(0)}}, [wrong],
               going_on=True)  # fmt: skip
    claim.finish("interrupted", [])
    with broken.store.database.writing() as connection:
        connection.execute("UPDATE jobs SET sources = ?", (older,))
    broken.submit(asked)
    assert names(broken, asked.id)
    assert end(broken) == "completed"  # what is left of the state lacks arrays
    one, two = ([event for _, event in client.events(asked.id)] for client in (whole, broken))
    assert list(map(repr, two)) == list(map(repr, one))
    assert not broken.store.tidy()


def test_a_state_is_kept_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The files of a state that could not be written down are removed; the last one stays."""
    client = Client(tmp_path, workers=False)
    client.submit(job("psgld"))
    claim = take(client.store, here())
    assert claim is not None
    claim.save({"state-0000": {"a": np.ones(2)}, DONE: {"chunks": np.ones(0)}}, (), going_on=True)
    before = sorted(path.name for path in client.store.artifacts.iterdir())
    with monkeypatch.context() as broken:
        broken.setattr("engine.service.claim.os.replace", full)
        said = (
            r"expected 1 kB of free space on the disk for arrays, got: No space left on device \("
        )
        with pytest.raises(StoreError, match=said):
            claim.save({"state-0000": {"a": np.zeros(2)}}, (), going_on=True)
    assert sorted(path.name for path in client.store.artifacts.iterdir()) == before
    kept = claim.recall("state-0000")
    assert kept is not None
    assert kept["a"].tolist() == [1.0, 1.0]


def test_a_full_disk_stops_no_run_that_keeps_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    client, asked = Client(tmp_path, workers=False), job("psgld")
    client.submit(asked)
    tries = []

    def fails(self: Claim, kept: object, events: object, *, going_on: bool) -> None:
        tries.append(going_on)
        raise StoreError("full")

    monkeypatch.setattr(Claim, "save", fails)
    assert end(client) == "completed"
    assert len(tries) > 1


@pytest.mark.thorough
def test_the_state_is_kept_rarely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Not before half a minute, whatever the number of steps; not before 1 % of the run."""
    asked, saved = job("psgld"), list[int]()
    real = Claim.save

    def note(self: Claim, *arguments: object, **how: object) -> None:
        saved.append(1)
        real(self, *arguments, **how)

    monkeypatch.setattr(Claim, "save", note)
    monkeypatch.delenv(KEEP)
    client = Client(tmp_path / "slow", workers=False)
    client.submit(asked)
    assert end(client) == "completed"
    assert saved == []
    monkeypatch.setenv(KEEP, "0.000001")
    client = Client(tmp_path / "quick", workers=False)
    client.submit(asked)
    assert end(client) == "completed"
    assert 1 <= len(saved) <= 100


def full(*places: object) -> None:
    raise OSError(28, "No space left on device")


def names(client: Client, run: str) -> list[str]:
    """What the run has kept."""
    with client.store.database.reading() as connection:
        rows = connection.execute("SELECT name FROM artifacts WHERE run = ?", (run,))
        return [row["name"] for row in rows.fetchall()]
