"""A disk that is full: listing, opening and deleting work, and the sentence says how much it takes.

The disk is a real one of a few megabytes, in memory; without the right to mount one, these tests
are left out.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from datasets import own
from engine.cli.main import main
from engine.core import disk
from engine.core.errors import FullError, StoreError
from engine.runs import ledger
from engine.runs.events import Finished, Measured, Produced, Started
from engine.runs.job import Job, request
from engine.service import spare
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from engine.service.recorder import BEAT
from tests.engine.conftest import ended, running, until
from tests.engine.test_ledger import SETTINGS, TABLE

SIZE = 20
"""Megabytes of the disk."""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(tmp_path)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a disk in memory")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def job(count: int) -> Job:
    return request("mean", "laplace", "flchain", {"records": count}, {"epsilon": (0.5, 1.0)}, (0,))


def done(client: Client, one: Job) -> None:
    """A run with two hundred measurements and some arrays."""
    client.submit(one)
    claim = take(client.store, here(), one.id)
    assert claim is not None
    measured = [Measured(step, (0, 1), {"error": (0.5, None)}) for step in range(1, 200)]
    claim.append([Started(0, 200, 2), *measured])
    digest = claim.keep("final-0000", {"answer": np.full((2, 20_000), 0.5)})
    claim.finish(
        "completed", [Produced(200, "final-0000", digest, (0, 1)), Finished(200, "completed")]
    )


def fill(folder: Path, name: str) -> None:
    """Writes until nothing more fits."""
    with suppress(OSError), (folder / name).open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    assert disk.room(folder) == 0


def full(action) -> str:
    with pytest.raises(FullError) as caught:
        action()
    return str(caught.value)


def test_runs_are_listed_opened_and_deleted_and_the_rest_is_one_sentence(small: Path):
    client = Client(small / "home", workers=False)
    for count in (100, 200):
        done(client, job(count))
    fill(small, "ballast")
    assert len(client.runs()) == 2
    assert client.table(job(100).id).gauges
    assert client.arrays(job(100).id)["answer"].shape == (2, 20_000)
    said = full(lambda: [client.submit(job(count)) for count in range(300, 500)])
    assert (
        "expected 8.0 MB of free space on the disk for the store, it is full (0.0 MB free)" in said
    )
    client.delete(job(100).id)
    assert job(100).id not in {run.id for run in client.runs()}
    assert disk.room(small) > 0


def test_runs_can_be_deleted_each_time_the_disk_is_full_again(small: Path):
    client = Client(small / "home", workers=False)
    for count in (100, 200, 300, 400):
        done(client, job(count))
    for count in (100, 200, 300):
        fill(small, f"ballast {count}")
        full(lambda: [enlarge(client, 1000 * count + number) for number in range(200)])  # noqa: B023
        client.delete(job(count).id)
    assert [run.id for run in client.runs()] == [job(400).id]


def test_a_run_that_cannot_be_deleted_is_one_sentence_that_does_not_say_to_delete(small: Path):
    client = Client(small / "home", workers=False)
    done(client, job(100))
    fill(small, "ballast")
    assert spare.give(small / "home")
    fill(small, "more")
    full(lambda: [enlarge(client, number) for number in range(200)])
    said = full(lambda: client.delete(job(100).id))
    assert "expected 4.0 MB of free space on the disk for deleting a run, it is full" in said
    assert said.endswith("(0.0 MB free): make space")


def test_arrays_that_do_not_fit_are_one_sentence_and_leave_nothing(small: Path):
    client = Client(small / "home", workers=False)
    client.submit(job(100))
    claim = take(client.store, here(), job(100).id)
    assert claim is not None
    said = full(lambda: claim.keep("final", {"answer": np.zeros(4_000_000)}))
    assert "expected 32.0 MB of free space on the disk for arrays, it is full" in said
    assert list(client.store.artifacts.iterdir()) == []


def test_a_store_that_nobody_has_open_is_read_on_a_full_disk(small: Path):
    client = Client(small / "home", workers=False)
    done(client, job(100))
    client.close()  # the last one takes the log's files along
    fill(small, "ballast")
    other = Client(small / "home", workers=False)
    assert [run.state for run in other.runs()] == ["completed"]
    assert other.table(job(100).id).gauges
    other.delete(job(100).id)
    assert Client(small / "home", workers=False).runs() == []


def test_room_is_kept_only_where_there_is_some(small: Path):
    (small / "home").mkdir()
    fill(small, "ballast")
    spare.keep(small / "home")
    assert not spare.give(small / "home")
    with pytest.raises(StoreError, match="it is full"):
        Client(small / "home", workers=False).submit(job(100))
    (small / "ballast").unlink()
    client = Client(small / "home", workers=False)
    client.submit(job(100))
    assert (small / "home" / spare.NAME).stat().st_size == spare.SIZE


@pytest.fixture
def room(
    small: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], str]:
    """Leaves so many kilobytes on the disk; returns a new own table, which lies on another disk."""

    def leave(kilobytes: int) -> str:
        monkeypatch.setenv("EXPLORER_HOME", str(tmp_path_factory.mktemp("home")))
        (small / "ballast").unlink(missing_ok=True)
        fill(small, "ballast")
        with (small / "ballast").open("r+b") as file:
            file.truncate((small / "ballast").stat().st_size - 1024 * kilobytes)
        return own.keep("study.csv", TABLE.encode(), SETTINGS)

    return leave


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"ballast"}


def test_a_synthetic_table_without_room_costs_nothing(small: Path, room, capsys):
    made = {"s.csv", "s.toml", "s.card.json"}
    for kilobytes in (0, 4, 12, 20, 36, 400):
        asked = ["synthetic", room(kilobytes), "--epsilon", "0.9", "--to", str(small / "s.csv")]
        code = main(asked)
        said = capsys.readouterr().err
        assert code == (0 if kilobytes == 400 else 1)
        assert names(small) == (set() if code else made)
        assert len(ledger.read(asked[1]).releases) == (0 if code else 1)
        if code:
            assert said.startswith(f"{small / 's.csv'}: expected ")
            assert said.endswith("; nothing was drawn\n")


def test_a_synthetic_table_that_is_lost_leaves_no_files(small: Path, room, capsys, monkeypatch):
    """Something else takes the room between the look at it and the last file."""
    asked = ["synthetic", room(400), "--epsilon", "0.9", "--to", str(small / "s.csv")]
    monkeypatch.setattr("engine.cli.synthetic._settings", lambda *_: "#" * 1_000_000)
    assert main(asked) == 1
    said = capsys.readouterr().err
    assert "the synthetic table is lost and its price stays in the ledger" in said
    assert names(small) == set()
    assert len(ledger.read(asked[1]).releases) == 1


@pytest.mark.thorough
def test_a_release_without_room_says_what_became_of_its_noise(small: Path, room, capsys):
    seen = set()
    for kilobytes in (0, 4, 8, 12, 16, 20, 24, 28, 32, 400):
        asked = ["run", "survival", "km_dp", "--dataset", room(kilobytes), "--release"]
        folder = small / f"rel{kilobytes}"
        code = main([*asked, "--to", str(folder)])
        said = capsys.readouterr().err
        priced, kept = ledger.read(asked[4]).releases, (small / f".{folder.name}.release").exists()
        assert said.count("\n") == code
        assert code == 0 or ("its price is in the ledger" in said) == kept
        assert code == 0 or ("its price stays in the ledger" in said) == (len(priced) > kept)
        seen.add((code, len(priced), kept))
        if kept:
            (small / "ballast").unlink()
            assert "give the same command again" in said
            assert main([*asked, "--to", str(folder)]) == 0
            assert "no noise was drawn again" in capsys.readouterr().err
            assert ledger.read(asked[4]).releases == priced
        for path in small.glob("rel*"):
            shutil.rmtree(path)
    assert {(1, 0, False), (1, 1, True), (0, 1, False)} <= seen


def test_a_release_of_public_data_without_room_names_no_ledger(small: Path, room, capsys):
    told = []
    for kilobytes in (4, 12, 16, 20, 24):
        room(kilobytes)
        asked = ["run", "survival", "km_dp", "--dataset", "flchain", "--release"]
        if main([*asked, "--to", str(small / f"rel{kilobytes}")]):
            told.append(capsys.readouterr().err)
    assert any("the noise is drawn: make space and give the same" in one for one in told)
    assert any(one.endswith("; the noise that was drawn is lost\n") for one in told)
    assert all("No space left on device" in one and "ledger" not in one for one in told)


def test_a_full_folder_for_trials_costs_nothing_and_says_so(small: Path, room, capsys, monkeypatch):
    """What a release would write is tried there before anything is drawn."""
    name = room(0)
    monkeypatch.setattr("tempfile.tempdir", str(small))
    asked = ["run", "survival", "km_dp", "--dataset", name, "--release"]
    assert main([*asked, "--to", str(small.parent / "rel")]) == 1
    said = capsys.readouterr().err
    assert "expected room to try the files of a release in, got: No space left on device" in said
    assert "ledger" not in said
    assert ledger.read(name).releases == ()


def test_room_for_a_synthetic_table_of_images_is_that_of_all_pixels(tmp_path, monkeypatch):
    from engine.cli.synthetic import _largest
    from engine.synthetic.price import plan

    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    names = [f"p{at}" for at in range(36)]
    rows = [",".join([*(str((i + at) % 17) for at in range(36)), "ab"[i % 2]]) for i in range(300)]
    text = "\n".join([",".join([*names, "y"]), *rows])
    said = 'image = [6, 6]\nevery = {low = 0, high = 16}\nclasses = ["a", "b"]\n'
    name = own.keep("a.csv", text.encode(), said, "y")
    held = _largest(plan(own.card(name), 1.0, 1e-5), own.words(name).classes)
    assert main(["synthetic", name, "--epsilon", "1", "--to", str(tmp_path / "s.csv")]) == 0
    assert held >= sum(path.stat().st_size for path in tmp_path.glob("s.*"))


@pytest.mark.thorough
def test_a_worker_whose_log_is_on_the_full_disk_waits_for_room(small: Path, toy, client, worker):
    """Neither its loop nor the thread that writes a job's events ends by what it cannot say."""
    process, long = worker(), toy(steps=5_000, pause=0.01)
    client.submit(long)
    running(client, long.id)
    fill(small, "ballast")
    full(lambda: [enlarge(client, number) for number in range(200)])
    time.sleep(4.0 * BEAT)
    assert process.poll() is None
    (small / "ballast").unlink()
    step = client.run(long.id).done
    until(lambda: client.run(long.id).done > step)
    client.cancel(long.id)
    client.submit(toy())
    assert ended(client, toy().id).state == "completed"


def enlarge(client: Client, number: int) -> None:
    """Writes a large row into the store."""
    with client.store.database.writing() as connection:
        connection.execute("INSERT INTO meta VALUES (?, ?)", (f"large {number}", "x" * 100_000))
