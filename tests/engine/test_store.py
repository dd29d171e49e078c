"""The store: one file that survives many writers, bad files and full disks."""

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.core import disk, files
from engine.core.errors import RequestError, StoreError
from engine.runs import artifacts
from engine.runs.events import Advanced, Failed, Finished, Measured, Produced, Spent, Started
from engine.runs.job import Job
from engine.service import presence
from engine.service import store as store_module
from engine.service.claim import take
from engine.service.client import Client
from engine.service.database import SCHEMA
from engine.service.process import Process, here
from engine.service.store import Store
from engine.yours import registry_list
from tests.engine.conftest import ROOT, claimed

GONE = Process(2**22 + 1, here().born.rpartition("/")[0] + "/1")
"""A process of this machine that is not there: its number is beyond the largest."""


def job(number: int = 0) -> Job:
    return Job(paper="p", method="m", dataset="d", values={}, axes={}, seeds=(number,))


def file(store: Store) -> Path:
    return store.database.path


# Where it is


def test_the_folder_is_named_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "a"))
    assert Store().folder == tmp_path / "a"
    monkeypatch.delenv("EXPLORER_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "b"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert Store().folder == tmp_path / "b" / "epsilon-explorer"


def test_a_tilde_in_the_environment_is_the_users_own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    monkeypatch.setenv("EXPLORER_HOME", "~/runs")
    Store().submit(job(), {})
    assert (tmp_path / "user" / "runs").is_dir()
    assert not (tmp_path / "~").exists()
    monkeypatch.setenv("EXPLORER_HOME", "~nobody-here/runs")
    assert store_module.home() == Path("~nobody-here/runs")


@pytest.mark.parametrize(
    ("platform", "part"),
    [("linux", ".local/share"), ("darwin", "Library/Application Support"), ("win32", "AppData")],
)
def test_each_system_has_its_own_place(monkeypatch, platform, part):
    for name in ("EXPLORER_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert part in str(store_module.home())


# The life of a job


def test_a_job_is_submitted_once(store):
    assert store.submit(job(), {"epsilon": 1.0}) == "new"
    assert store.submit(job(), {}) == "joined"
    claim = take(store, here())
    assert claim.job == job()
    assert claim.focus == {"epsilon": 1.0}
    assert store.submit(job(), {}) == "joined"
    claim.finish("completed", [Finished(1, "completed", (2,))])
    assert store.submit(job(), {}) == "cached"
    assert json.loads(store.row(job().id)["diverged"]) == [2]


def test_the_oldest_job_is_taken_first(store):
    for number in range(3):
        store.submit(job(number), {})
    assert [store.row(job(number).id)["ahead"] for number in range(3)] == [0, 1, 2]
    assert [take(store, here()).job.seeds for _ in range(3)] == [(0,), (1,), (2,)]
    assert take(store, here()) is None


def test_a_named_job_is_taken_only_while_it_waits(store):
    store.submit(job(0), {})
    store.submit(job(1), {})
    assert take(store, here(), job(1).id).job == job(1)
    assert take(store, here(), job(1).id) is None


def test_an_unknown_run_is_a_wrong_request(store):
    for look in (store.row, store.cancel, store.delete):
        with pytest.raises(RequestError, match="run: expected the id of a run in this store"):
            look("nobody")


@pytest.mark.parametrize("state", ["cancelled", "failed", "interrupted"])
def test_a_job_that_ended_badly_begins_again(store, state):
    claim = claimed(store, job())
    claim.append([Started(0, 1, 1), Advanced(1, 1, 4)])
    claim.keep("final", {"x": np.zeros(1)})
    claim.finish(state, [Failed(1, "no")], "no")
    assert store.submit(job(), {}) == "new"
    row = store.row(job().id)
    assert (row["state"], row["error"], row["done"], row["finished"]) == ("queued", "", 0, None)
    assert store.events(job().id) == []
    assert list(store.artifacts.iterdir()) == []
    again = take(store, here())
    again.append([Started(0, 1, 1)])
    assert store.events(job().id, after=2) == [(3, Started(0, 1, 1))]  # numbers go on
    assert not claim.append([Failed(1, "of the first attempt")])


def test_a_waiting_job_is_cancelled_at_once(store):
    store.submit(job(), {})
    store.cancel(job().id)
    assert take(store, here()) is None
    assert store.row(job().id)["state"] == "cancelled"
    assert store.events(job().id) == [(1, Finished(0, "cancelled"))]
    store.cancel(job().id)  # what has ended stays as it is
    assert store.row(job().id)["state"] == "cancelled"


def test_a_running_job_hears_of_its_stop(store):
    claim = claimed(store, job())
    assert claim.stopping() is None
    store.cancel(job().id)
    first = claim.stopping()
    assert first == pytest.approx(time.time(), abs=60)
    store.cancel(job().id)
    assert claim.stopping() == first
    claim.finish("cancelled", [], asked=True)
    assert store.row(job().id)["state"] == "cancelled"


def test_a_job_asked_for_again_while_it_stops_is_done_again(store):
    claim = claimed(store, job())
    store.cancel(job().id)
    assert claim.stopping()
    store.submit(job(), {})
    claim.finish("cancelled", [Finished(1, "cancelled")], asked=True)
    assert store.row(job().id)["state"] == "queued"
    assert store.events(job().id) == []


def test_a_lost_claim_writes_nothing(store):
    claim = claimed(store, job())
    store.delete(job().id)
    assert not claim.append([Started(0, 1, 1)])
    assert not claim.finish("completed", [])
    assert claim.stopping() == 0.0
    with pytest.raises(StoreError, match="taken away"):
        claim.keep("final", {"x": np.zeros(1)})
    assert list(store.artifacts.iterdir()) == []
    assert store.rows(10, None) == []


def test_rows_come_newest_first_and_by_paper(store):
    for number in range(3):
        store.submit(job(number), {})
    newest = [json.loads(row["text"])["seeds"][0] for row in store.rows(2, None)]
    assert newest == [2, 1]
    assert store.rows(10, "another") == []


# Processes that die


def swept(store: Store, owner: Process, beat: float | None = None) -> str:
    store.submit(job(), {})
    take(store, owner)
    if beat is not None:
        with store.database.writing() as connection:
            connection.execute("UPDATE jobs SET beat = ?", (beat,))
    store.sweep()
    return store.row(job().id)["state"]


def test_a_dead_process_leaves_its_job_interrupted(store):
    assert swept(store, GONE) == "interrupted"
    assert "run it again" in store.row(job().id)["error"]
    assert store.submit(job(), {}) == "new"


def test_a_living_process_keeps_its_job_even_without_a_heartbeat(store):
    assert swept(store, here(), beat=0.0) == "running"


def test_a_number_that_was_given_to_another_process_is_not_the_same_process(store):
    place = here().born.rpartition("/")[0]
    assert swept(store, Process(os.getpid(), f"{place}/1")) == "interrupted"


def test_a_process_elsewhere_is_judged_by_its_heartbeat(store):
    elsewhere = Process(1, "another machine/1")
    assert swept(store, elsewhere) == "running"
    assert swept(store, elsewhere, beat=time.time() - 6.0) == "interrupted"


def test_a_heartbeat_far_in_the_future_is_damage_and_no_sign_of_life(store):
    elsewhere = Process(1, "another machine/1")
    with store.database.writing() as connection:
        row = ("cpu", elsewhere.pid, elsewhere.born, time.time() + 3600.0)
        connection.execute("INSERT INTO workers VALUES (?, ?, ?, ?)", row)
    assert not presence.working(store, "cpu")
    assert presence.work_on(store, "cpu")
    assert swept(store, elsewhere, beat=time.time() + 3600.0) == "interrupted"


def test_a_process_that_died_while_stopping_has_stopped(store):
    store.submit(job(), {})
    take(store, GONE)
    with store.database.writing() as connection:
        connection.execute("UPDATE jobs SET stop = 1.0")
    store.sweep()
    row = store.row(job().id)
    assert (row["state"], row["error"]) == ("cancelled", "")


def test_a_process_that_waits_for_its_parent_is_dead():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    born = Process(child.pid, f"{here().born.rpartition('/')[0]}/{_start(child.pid)}")
    assert born.alive(0.0, time.time)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, but not yet waited for
    assert not born.alive(0.0, time.time)
    child.stdin.close()
    child.wait()


def _start(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_one_worker_for_each_device(store):
    assert presence.work_on(store, "cpu")
    assert presence.work_on(store, "cpu")  # its own heartbeat
    assert presence.working(store, "cpu")
    assert not presence.working(store, "cuda")
    presence.leave(store)
    assert not presence.working(store, "cpu")
    with store.database.writing() as connection:
        elsewhere = ("cpu", 1, "another machine/1", time.time())
        connection.execute("INSERT INTO workers VALUES (?, ?, ?, ?)", elsewhere)
    assert not presence.work_on(store, "cpu")


def test_apps_that_are_gone_are_struck_off(store):
    assert not presence.apps(store)
    presence.open_app(store)
    presence.open_app(store)
    assert presence.apps(store)
    with store.database.writing() as connection:
        connection.execute("UPDATE apps SET pid = ?, born = ?", (GONE.pid, GONE.born))
    assert not presence.apps(store)
    with store.database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM apps").fetchone()[0] == 0


# Arrays


def test_arrays_are_named_by_their_content(store):
    claim = claimed(store, job())
    arrays = {"curve": np.linspace(0, 1, 5), "label": np.array(["a", "b"])}
    digest = claim.keep("final", arrays)
    path = store.artifacts / f"{digest}.npz"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert claim.keep("again", arrays) == digest
    loaded = artifacts.load(store.artifacts, digest)
    np.testing.assert_array_equal(loaded["curve"], arrays["curve"])
    assert [path.name for path in store.artifacts.iterdir()] == [f"{digest}.npz"]


def test_arrays_stay_while_another_run_has_the_same(store):
    first, second = claimed(store, job(0)), claimed(store, job(1))
    digest = first.keep("final", {"x": np.ones(3)})
    assert second.keep("final", {"x": np.ones(3)}) == digest
    store.delete(job(0).id)
    assert artifacts.place(store.artifacts, digest).exists()
    store.delete(job(1).id)
    assert not artifacts.place(store.artifacts, digest).exists()


def test_a_full_disk_leaves_no_part_of_a_file(store, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    claim = claimed(store, job())
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        patch.setattr("engine.core.disk.room", lambda folder: 2_000_000)
        with pytest.raises(
            StoreError, match=r"expected 8.0 MB of free space on the disk for arrays, it is full"
        ):
            claim.keep("final", {"x": np.zeros(1_000_000)})
    assert list(store.artifacts.iterdir()) == []
    claim.keep("final", {"x": np.zeros(1)})


def test_only_old_parts_of_files_are_removed(store):
    store.artifacts.mkdir(parents=True)
    old, new = store.artifacts / "old.part", store.artifacts / "new.part"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    artifacts.tidy(store.artifacts)
    assert list(store.artifacts.iterdir()) == [new]


def test_features_that_a_killed_process_had_begun_to_keep_are_tidied_away(store):
    folder = store.folder / "features"
    folder.mkdir(parents=True)
    whole, part = folder / "_transform-0.npy", folder / "_transform-0.1.part"
    for path in (whole, part):
        path.touch()
        os.utime(path, (0, 0))
    assert store.tidy() == [part]
    assert list(folder.iterdir()) == [whole]


def test_what_a_killed_run_had_begun_to_write_is_gone_once_its_death_is_noticed(store):
    if not (child := os.fork()):
        try:
            claimed(store, job()).keep("state", {"x": np.zeros(10)})
            (store.artifacts / f"{files.writer(os.getpid())}x{files.PART}").touch()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    mine = store.artifacts / f"{files.writer(os.getpid())}x{files.PART}"
    mine.touch()  # of a process that lives
    assert len(list(store.artifacts.glob(f"*{files.PART}"))) == 2
    store.sweep()
    assert list(store.artifacts.glob(f"*{files.PART}")) == [mine]


def test_objects_are_neither_written_nor_read(store):
    claim = claimed(store, job())
    with pytest.raises(ValueError, match="pickle"):
        claim.keep("final", {"x": np.array([{}], dtype=object)})
    with artifacts.place(store.artifacts, "evil").open("wb") as evil:
        np.savez(evil, x=np.array([{}], dtype=object))
    with pytest.raises(StoreError, match="damaged"):
        artifacts.load(store.artifacts, "evil")


def test_missing_and_damaged_arrays_are_a_sentence_each(store):
    digest = claimed(store, job()).keep("final", {"x": np.zeros(100)})
    path = artifacts.place(store.artifacts, digest)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(StoreError, match=r"damaged .*: delete the run and repeat it"):
        artifacts.load(store.artifacts, digest)
    path.unlink()
    with pytest.raises(StoreError, match="missing"):
        artifacts.load(store.artifacts, digest)


# Bad files


def filled(store: Store) -> bytes:
    """Gives the store enough runs to fill some pages, closes it, and returns its file."""
    for number in range(50):
        store.submit(job(number), {})
    store.database.close()
    return file(store).read_bytes()


def test_a_truncated_file_is_kept_and_a_new_store_begins(store):
    whole = filled(store)
    file(store).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=r"store.sqlite is damaged: it was kept as .*damaged-"):
        store.rows(10, None)
    (kept,) = store.folder.glob("store.sqlite.damaged-*")
    assert kept.read_bytes() == whole[: len(whole) // 2]
    assert store.rows(10, None) == []
    assert store.submit(job(), {}) == "new"
    assert kept.name in store.notice()
    assert kept.name in Store(store.folder).notice()


@pytest.mark.parametrize("content", [b"junk" * 1000, b"\0" * 5000], ids=["junk", "zeros"])
def test_a_file_that_is_no_store_is_kept_too(store, content):
    store.folder.mkdir()
    file(store).write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"):
        store.submit(job(), {})
    (kept,) = store.folder.glob("store.sqlite.damaged-*")
    assert kept.read_bytes() == content
    assert store.submit(job(), {}) == "new"


def test_damage_in_the_middle_is_noticed_when_it_is_read(store):
    whole = bytearray(filled(store))
    page = 4096
    for start in range(page, len(whole), page):  # all but the header and the layout
        whole[start : start + page] = b"\xff" * page
    file(store).write_bytes(whole)
    with pytest.raises(StoreError, match="is damaged"):
        store.rows(10, None)
    assert store.rows(10, None) == []


def test_a_damaged_layout_is_noticed_though_python_cannot_read_the_message(store):
    """SQLite quotes a damaged name in it."""
    whole = filled(store)
    for text in (b"tablejobs", b"CREATE TABLE jobs"):
        assert whole.count(text) == 1
        whole = whole.replace(text, text[:5] + b"\xa6" * len(text[5:]))
    file(store).write_bytes(whole)
    with pytest.raises(StoreError, match="is damaged"):
        store.rows(10, None)
    assert store.submit(job(), {}) == "new"


def test_a_run_is_deleted_whose_file_cannot_be_removed(store):
    digest = claimed(store, job()).keep("final", {"x": np.zeros(10)})
    place = artifacts.place(store.artifacts, digest)
    place.unlink()
    place.mkdir()
    store.delete(job().id)
    assert store.rows(10, None) == []


def test_damage_that_somebody_else_has_mended_is_not_mended_twice(store):
    filled(store)
    error = store.database._sentence(_error(sqlite3.SQLITE_CORRUPT))
    assert "expected a store that can be used" in str(error)
    assert not list(store.folder.glob("*damaged*"))
    assert len(store.rows(100, None)) == 50


def _error(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("reported")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    "statement",
    ["UPDATE meta SET value = '0' WHERE key = 'schema'", "DROP TABLE meta"],
    ids=["numbered", "without a number"],
)
def test_an_older_version_is_kept_and_a_new_store_begins(store, statement):
    filled(store)
    with sqlite3.connect(file(store)) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(StoreError, match=r"is of the older version 0: it was kept as .*version-0-"):
        store.submit(job(), {})
    (kept,) = store.folder.glob("store.sqlite.version-0-??????*[0-9]")
    with sqlite3.connect(kept) as connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (50,)
    connection.close()
    assert store.rows(100, None) == []


def test_a_newer_version_is_left_alone(store):
    whole = filled(store)
    with sqlite3.connect(file(store)) as connection:
        connection.execute(f"UPDATE meta SET value = '{SCHEMA + 1}' WHERE key = 'schema'")
    connection.close()
    for _ in range(2):
        with pytest.raises(StoreError, match="a newer Epsilon Explorer has written"):
            store.rows(10, None)
    assert len(list(store.folder.glob("store.sqlite*"))) == 1
    assert len(file(store).read_bytes()) == len(whole)


def test_an_empty_file_is_a_new_store(store):
    store.folder.mkdir()
    file(store).touch()
    assert store.submit(job(), {}) == "new"


def test_a_locked_file_is_waited_for(store):
    filled(store)
    other = sqlite3.connect(file(store), isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
    assert store.submit(job(99), {}) == "new"
    other.close()


def test_a_file_that_stays_locked_is_a_sentence_and_can_be_read(home):
    store = Store(home, patience=0.2)
    filled(store)
    other = sqlite3.connect(file(store), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match=r"let in within 0.2 seconds, but another process keeps"):
        store.submit(job(99), {})
    assert len(store.rows(100, None)) == 50
    other.execute("ROLLBACK")
    store.database.close()
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process keeps it locked"):
        store.rows(100, None)
    other.close()
    assert store.submit(job(99), {}) == "new"
    store.database.close()


@pytest.fixture
def open_folder():
    """A folder that every user may enter; pytest's own are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_nobody(action) -> str:
    """What `action` returns in a process whose user may write nothing here: root may everything."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, action().encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as answer:
        return answer.read()


@pytest.mark.skipif(sys.platform == "win32", reason="needs users and rights as on Unix")
@pytest.mark.parametrize("log", [False, True], ids=["closed", "with a log"])
def test_what_is_read_only_can_be_read(open_folder, log):
    store = Store(open_folder / "home")
    for number in range(50):
        store.submit(job(number), {})
    if not log:
        store.database.close()  # the last connection takes the log's files with it
    assert (store.folder / "store.sqlite-wal").exists() == log
    for path in store.folder.iterdir():
        path.chmod(0o444)
    store.folder.chmod(0o555)

    def look() -> str:
        other = Store(store.folder)
        other.sweep()
        try:
            other.submit(job(99), {})
        except StoreError as error:
            return f"{len(other.rows(100, None))} {error}"
        return "it was written"

    reported = as_nobody(look)
    store.database.close()
    store.folder.chmod(0o755)
    assert reported.startswith("50 ")
    assert reported.endswith("expected a file that can be written, it is read-only")


@pytest.mark.skipif(sys.platform == "win32", reason="needs users and rights as on Unix")
@pytest.mark.parametrize("name", ["home", "a" * 300], ids=["closed", "too long"])
def test_a_home_that_nobody_may_enter_is_one_sentence(open_folder, name, monkeypatch):
    closed = open_folder / "closed"
    closed.mkdir()
    place = closed / name
    closed.chmod(0)
    monkeypatch.setenv("EXPLORER_HOME", str(place))
    asked = {
        "rows": lambda: Store(place).rows(1, None),
        "tidy": lambda: Store(place).tidy(),
        "room": lambda: disk.room(place),
        "forget": registry_list.forget,
        "found": lambda: disk.found(place, "*.toml"),
    }

    def look() -> str:
        said = []
        for what, function in asked.items():
            try:
                said.append(f"{what} {function()}")
            except StoreError as error:
                said.append(f"{what}: {error}")
            except OSError as error:
                said.append(f"{what} raised {error}")
        return "\n".join(said)

    rows, tidied, room, forgotten, found = as_nobody(look).splitlines()
    closed.chmod(0o755)
    assert rows.startswith("rows: ")
    assert rows.endswith(": expected a folder that can be written")
    assert "expected a folder that can be read, got: " in tidied
    assert "raised" not in room
    assert "expected a file that can be deleted, got: " in forgotten
    assert found == "found []"


@pytest.mark.skipif(sys.platform == "win32", reason="needs users and rights as on Unix")
def test_root_makes_nothing_in_another_user_s_store(open_folder, monkeypatch):
    store = Store(open_folder / "home")
    store.submit(job(), {})
    store.database.close()
    if os.geteuid() == 0:
        for path in (store.folder, *store.folder.iterdir()):
            os.chown(path, 65534, 65534)
    owner = store.database.path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    before = sorted(store.folder.iterdir())
    says = f"EXPLORER_HOME: expected user {owner}, who owns .*, got root: run this as that user"
    with pytest.raises(StoreError, match=says):
        Store(store.folder).submit(job(1), {})
    with (
        pytest.raises(StoreError, match=says),
        artifacts.written(store.artifacts, {"x": np.zeros(1)}),
    ):
        pass
    assert sorted(store.folder.iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs users and rights as on Unix")
def test_a_folder_of_arrays_that_is_another_user_s_is_a_sentence(open_folder):
    """As root has left one that made it there."""
    folder = open_folder / "artifacts"
    folder.mkdir(mode=0o000)

    def write() -> str:
        try:
            with artifacts.written(folder, {"x": np.zeros(1)}):
                return "it was written"
        except StoreError as error:
            return str(error)

    assert as_nobody(write).endswith("of arrays, got: Permission denied")
    folder.chmod(0o700)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="expected a folder for the store"):
        Store(tmp_path / "file" / "home").submit(job(), {})


def test_a_disk_without_room_is_a_sentence(store, monkeypatch):
    monkeypatch.setattr("engine.core.disk.room", lambda folder: 40_000)
    said = str(store.database._sentence(_error(sqlite3.SQLITE_FULL)))
    assert (
        "8.0 MB of free space on the disk for the store, it is full (40 kB free): make space"
        in said
    )
    monkeypatch.setattr("engine.core.disk.room", lambda folder: 78_512_100_000)
    said = str(store.database._sentence(_error(sqlite3.SQLITE_FULL)))
    assert "it is full" not in said
    assert "(78,512.1 MB free): check whether a quota is used up" in said


def test_a_file_that_is_replaced_is_opened_again(store):
    filled(store)
    assert len(store.rows(100, None)) == 50
    file(store).rename(file(store).with_name("elsewhere"))
    for suffix in ("-wal", "-shm"):
        file(store).with_name(f"store.sqlite{suffix}").unlink(missing_ok=True)
    assert store.rows(100, None) == []
    assert store.submit(job(), {}) == "new"


# Many at once


def test_threads_share_a_store(store):
    def ask(number: int) -> str:
        answer = store.submit(job(number % 10), {})
        store.rows(10, None)
        return answer

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(80)))
    assert answers.count("new") == 10
    assert answers.count("joined") == 70


def test_a_job_is_taken_by_one_of_many(store):
    for number in range(20):
        store.submit(job(number), {})

    def grab(_: int) -> list:
        return [claim.job.seeds for claim in iter(lambda: take(store, here()), None)]

    with ThreadPoolExecutor(4) as pool:
        taken = [seeds for part in pool.map(grab, range(4)) for seeds in part]
    assert sorted(taken) == [(number,) for number in range(20)]


SUBMIT = """
import sys
from pathlib import Path
from engine.runs.job import Job
from engine.service.store import Store
jobs = [Job(paper="p", method="m", dataset="d", values={}, axes={}, seeds=(n,)) for n in range(20)]
store = Store(Path(sys.argv[1]))
sys.stdin.readline()
print(*[store.submit(job, {}) for job in jobs])
"""


def test_two_processes_that_ask_at_once_get_one_run_each(home):
    """The file does not exist yet: they also race to make it."""
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", SUBMIT, str(home)],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for process in asking:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate()[0].split() for process in asking]
    for first, second in zip(*answers, strict=True):
        assert {first, second} == {"new", "joined"}


# Whatever comes

numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(st.integers(0, 10**6), max_size=4).map(tuple)
steps = st.integers(0, 10**9)
words = st.text(max_size=40)
events = st.one_of(
    st.builds(Started, steps, steps, steps),
    st.builds(
        Measured, steps, rows, st.dictionaries(words, st.lists(numbers, max_size=4).map(tuple))
    ),
    st.builds(Spent, steps, rows, st.lists(numbers).map(tuple), st.just((0.0, 1e-5))),
    st.builds(Produced, steps, words, words, rows),
    st.builds(Finished, steps, st.sampled_from(["completed", "cancelled"]), rows),
    st.builds(Failed, steps, words),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reported=st.lists(st.lists(events, max_size=5), max_size=4))
@pytest.mark.thorough
def test_events_are_read_as_they_were_written(store, reported):
    claim = claimed(store, job())
    for some in reported:
        assert claim.append(some)
    flat = [event for some in reported for event in some]
    assert store.events(job().id) == list(enumerate(flat, 1))
    for after in range(len(flat) + 1):
        assert [event for _, event in store.events(job().id, after)] == flat[after:]
    store.delete(job().id)
    assert store.events(job().id) == []


class Interleaved(RuleBasedStateMachine):
    """Clients and workers in any order, against a model of four jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.stores = [Store(Path(self.folder.name)) for _ in range(2)]
        self.queue: list[int] = []
        self.running: dict[int, tuple] = {}
        self.stopping: set[int] = set()
        self.states: dict[int, str] = {}
        self.reported: dict[int, list] = {}

    def teardown(self) -> None:
        for store in self.stores:
            store.database.close()
        self.folder.cleanup()

    @rule(number=st.integers(0, 3), who=st.integers(0, 1))
    def submit(self, number, who):
        state = self.states.get(number)
        expected = {"completed": "cached", "queued": "joined", "running": "joined"}
        assert self.stores[who].submit(job(number), {}) == expected.get(state, "new")
        self.stopping.discard(number)
        if state not in expected:
            self.queue.append(number)
            self.states[number], self.reported[number] = "queued", []

    @rule(who=st.integers(0, 1))
    def take(self, who):
        claim = take(self.stores[who], here())
        assert (claim is None) == (not self.queue)
        if claim is not None:
            number = self.queue.pop(0)
            assert claim.job == job(number)
            self.running[number], self.states[number] = claim, "running"

    @rule(number=st.integers(0, 3), reported=st.lists(events, max_size=3))
    def append(self, number, reported):
        if number in self.running:
            assert self.running[number].append(reported)
            self.reported[number] += reported

    @rule(number=st.integers(0, 3), state=st.sampled_from(["completed", "failed", "cancelled"]))
    def finish(self, number, state):
        if number in self.running:
            assert self.running.pop(number).finish(state, [])
            self.states[number] = state
            self.stopping.discard(number)

    @rule(number=st.integers(0, 3), who=st.integers(0, 1))
    def cancel(self, number, who):
        if number in self.states:
            self.stores[who].cancel(job(number).id)
            if number in self.queue:
                self.queue.remove(number)
                self.states[number] = "cancelled"
                self.reported[number].append(Finished(0, "cancelled"))
            elif number in self.running:
                self.stopping.add(number)

    @rule(number=st.integers(0, 3), who=st.integers(0, 1))
    def delete(self, number, who):
        if number in self.states:
            self.stores[who].delete(job(number).id)
            del self.states[number], self.reported[number]
            self.stopping.discard(number)
            if number in self.queue:
                self.queue.remove(number)
            if claim := self.running.pop(number, None):
                assert not claim.append([Started(0, 1, 1)])

    @invariant()
    def both_stores_agree_with_the_model(self):
        for store in self.stores:
            actual = {json.loads(row["text"])["seeds"][0]: row for row in store.rows(10, None)}
            assert {number: row["state"] for number, row in actual.items()} == self.states
            assert {n for n, row in actual.items() if row["stop"] is not None} == self.stopping
            for number, reported in self.reported.items():
                assert [event for _, event in store.events(job(number).id)] == reported


TestInterleaved = Interleaved.TestCase
TestInterleaved.settings = settings(max_examples=25, stateful_step_count=25)


def test_a_store_from_before_a_column_gets_it_and_reads_without(home, toy, store, client):
    job = toy()
    claimed(store, job).finish("completed", [Finished(3, "completed")], worked=0.5)
    with store.database.writing() as connection:
        connection.execute("ALTER TABLE jobs DROP COLUMN worked")
    assert client.run(job.id).seconds >= 0.0
    later = Client(home, workers=False)
    assert later.run(job.id).worked == 0.0
    with later.store.database.reading() as connection:
        assert "worked" in {row["name"] for row in connection.execute("PRAGMA table_info(jobs)")}
    later.close()


def test_a_store_that_was_removed_is_made_again_only_where_it_may_be(tmp_path: Path):
    for again in (True, False):
        own = Store(tmp_path / f"{again}")
        own.notice()
        with own.database.reading():
            assert own.database.path.exists()
        own.database.close()
        own.database.again = again
        shutil.rmtree(own.folder)
        refused = nullcontext() if again else pytest.raises(StoreError, match="it was removed")
        with refused, own.database.writing():
            pass
        assert own.database.path.exists() == again
