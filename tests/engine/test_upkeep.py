"""What a store survives: damage, processes that die half-way, rows of other versions."""

import os
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.cli.main import main
from engine.core.errors import StoreError
from engine.runs import artifacts
from engine.runs.events import Finished, Measured, Produced, Started
from engine.service.client import Client
from engine.service.store import Store
from tests.engine.conftest import claimed

ARRAYS = {"weights": np.arange(6.0).reshape(2, 3)}


def trained(store: Store, job: Any) -> str:
    """A completed run with one file of arrays; its digest."""
    claim = claimed(store, job)
    digest = claim.keep("final-0000", ARRAYS)
    rows = tuple(range(job.replicas()))
    claim.append([Started(0, 1, job.replicas()), Produced(1, "final-0000", digest, rows)])
    claim.finish("completed", [Finished(1, "completed")])
    return digest


def modes(folder: Path) -> dict[str, int]:
    """Permissions of all that lies in a folder, and its own."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in (folder, *folder.rglob("*"))
    }


def test_what_is_kept_is_the_users_alone(home, toy, store):
    before = os.umask(0o000)  # the most open that a user may have set
    try:
        trained(store, toy())
    finally:
        os.umask(before)
    actual = modes(home)
    assert {name for name in actual if name.endswith(".npz")}
    assert "store.sqlite-wal" in actual
    for name, mode in actual.items():
        assert mode == (0o700 if (home / name).is_dir() else 0o600), name


@pytest.mark.parametrize("verb", ["delete", "again", "end"])
def test_a_crash_before_files_are_removed_leaves_a_file_too_many(
    verb, home, toy, store, monkeypatch
):
    job = toy()
    if verb == "delete":
        digest = trained(store, job)
        act = lambda: store.delete(job.id)  # noqa: E731  # three acts of one shape
    else:
        claim = claimed(store, job)
        digest = claim.keep("state-0000" if verb == "end" else "final-0000", ARRAYS)
        if verb == "again":
            claim.finish("failed", [], "made up")
        act = {
            "again": lambda: store.submit(job, {}),
            "end": lambda: claim.finish("completed", [Finished(1, "completed")]),
        }[verb]

    def dies(digests: Any) -> list[Path]:
        raise SystemExit("killed")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "collect", lambda self, digests: dies(digests))
        with pytest.raises(SystemExit):
            act()
    file = artifacts.place(store.artifacts, digest)
    assert file.exists()
    again = Store(home)
    assert again.tidy() == [file]
    assert not file.exists()
    assert again.tidy() == []
    again.database.close()


def test_tidying_keeps_what_a_run_needs(toy, store):
    digest = trained(store, toy())
    stray = artifacts.place(store.artifacts, "0" * 64)
    stray.write_bytes(b"of a store that was set aside")
    old, young = (store.artifacts / f"{name}.part" for name in ("old", "young"))
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    assert store.tidy() == [stray, old]
    assert artifacts.load(store.artifacts, digest)
    assert young.exists()


def test_tidying_is_a_command(home, toy, store, capsys):
    trained(store, toy())
    (store.artifacts / f"{'1' * 64}.npz").touch()
    assert main(["tidy", "--json"]) == 0
    assert f'"artifacts/{"1" * 64}.npz"' in capsys.readouterr().out


def test_every_damaged_byte_of_arrays_is_found(toy, store):
    digest = trained(store, toy())
    path = artifacts.place(store.artifacts, digest)
    whole = path.read_bytes()
    for at in random.Random(0).sample(range(len(whole)), 60):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(StoreError, match="is damaged"):
            artifacts.load(store.artifacts, digest)


def test_a_damaged_measurement_is_found(toy, store, client):
    job = toy()
    claim = claimed(store, job)
    claim.append([Started(0, 1, 1), Measured(1, (0,), {"value": (0.125,)})])
    with store.database.writing() as connection:
        changed = connection.execute(
            "UPDATE events SET body = replace(body, '0.125', '0.625') WHERE body LIKE '%0.125%'"
        )
        assert changed.rowcount == 1
    with pytest.raises(StoreError, match=f"run {job.id}: expected event 2 as it was written"):
        client.table(job.id)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("state = 'dancing'", "the state 'dancing'"),
        ("text = replace(text, '0', '1')", "a damaged request"),
        ("text = '{}', crc = NULL", "axes: expected a list, got None"),
        ("text = 'no JSON', crc = NULL", "Expecting value"),
        ("diverged = '5'", "expected a list, got 5"),
    ],
)
def test_one_bad_row_hides_no_other(change, reason, toy, store, client, capsys):
    good, bad = toy(), toy(seeds=(1,))
    trained(store, good)
    trained(store, bad)
    with store.database.writing() as connection:
        connection.execute(f"UPDATE jobs SET {change} WHERE id = ?", (bad.id,))
    (run,), (lost,) = client.listed()
    assert run.id == good.id
    assert lost.id == bad.id
    assert reason in lost.reason
    with pytest.raises(StoreError, match="expected a run that this version can read"):
        client.run(bad.id)
    assert main(["runs"]) == 0
    assert "expected a run that this version can read" in capsys.readouterr().out
    client.delete(bad.id)
    assert client.listed()[1] == []


def test_whoever_lists_runs_wakes_a_worker_for_those_that_wait(home, toy, store, monkeypatch):
    job = toy()
    store.submit(job, {})
    woken = []
    client = Client(home)
    monkeypatch.setattr(client, "ensure_worker", lambda: woken.append(True))
    assert [run.state for run in client.runs()] == ["queued"]
    assert woken
    client.close()


def test_what_a_killed_process_was_writing_is_removed_at_the_next_start(tmp_path):
    arrays = {"x": np.zeros(1_000)}
    child = os.fork()
    if child == 0:  # dies in the middle of a write, as after a kill
        with artifacts.written(tmp_path, arrays):
            os._exit(9)
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob("*.part"))) == 1
    with artifacts.written(tmp_path, arrays) as (mine, _):  # what is being written now stays
        removed = artifacts.tidy(tmp_path)
        assert list(tmp_path.iterdir()) == [mine]
    assert len(removed) == 1
