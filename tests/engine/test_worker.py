"""The worker: it outlives bad methods, full disks and stops, and leaves no job behind."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.core import settings
from engine.core.errors import DatasetError, RequestError, StoreError
from engine.runs import changes
from engine.runs.events import Failed, Finished, Measured, Started
from engine.service import job_runner as work
from engine.service import presence, quotas, recorder
from engine.service import worker as service
from engine.service.claim import take
from engine.service.job_runner import perform, sentence
from engine.service.process import here
from engine.service.recorder import Stuck
from engine.service.starting import Starter
from engine.service.store import Store
from engine.service.watching import Stage, Visitor, look_on
from engine.service.worker import NICE, Worker, code, plural, warm
from tests.engine.conftest import ROOT, claimed, ended, once, running, until
from tests.engine.toy import Counted, Toy

LONG = {"steps": 50_000, "pause": 0.01}
"""A run of minutes in short steps."""
SHARE = 1_200.0
"""Seconds for what a process loads that stands back: it gets little of a machine that is busy."""


# In this process


def test_a_job_is_done_and_told_in_order(toy, store, client):
    job = toy({"scale": (1, 2)}, seeds=(0, 1))
    seen = []
    assert perform(claimed(store, job), watch=seen.append) == "completed"
    run = client.run(job.id)
    assert (run.state, run.done, run.total, run.error) == ("completed", 3, 3, "")
    events = [event for _, event in client.events(job.id)]
    assert events[0] == Started(0, 3, 4)
    assert events[-1] == Finished(3, "completed")
    assert [event for event in seen if event in events] == events[:-1]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda n: np.ones((0, 2)), "array scales: expected 4 rows, one for each replica, got 0"),
        (lambda n: np.ones(1), "array scales: expected 4 rows, one for each replica, got 1"),
        (lambda n: 3.0, "array scales: expected 4 rows, one for each replica, got a single value"),
    ],
)
def test_an_array_without_a_row_for_each_replica_fails_the_run(
    toy, store, client, monkeypatch, made, says
):
    monkeypatch.setattr(Toy, "products", lambda self, batch, *_: {"scales": made(len(batch))})
    job = toy({"scale": (1, 2)}, seeds=(0, 1))
    assert perform(claimed(store, job)) == "failed"
    assert client.run(job.id).error == says
    assert client.arrays(job.id) == {}


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (np.ones(1), "measure count: expected a number for each of 4 replicas, got 1"),
        (
            np.ones((4, 3)),
            "measure count: expected one number for each replica, got an array of shape (4, 3)",
        ),
    ],
)
def test_a_column_without_a_number_for_each_replica_fails_the_run(
    toy, store, client, monkeypatch, column, says
):
    counted = lambda self, batch, *_: (1, Counted(column, np.ones(len(batch))))  # noqa: E731
    monkeypatch.setattr(Toy, "step", counted)
    job = toy({"scale": (1, 2)}, seeds=(0, 1))
    assert perform(claimed(store, job)) == "failed"
    assert client.run(job.id).error == says


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        ("raise", "ValueError: the toy is broken"),
        ("memory", "Memory ran out: run fewer replicas at once or a smaller model"),
    ],
)
def test_a_method_that_raises_fails_in_one_sentence(toy, store, client, behaviour, says):
    job = toy(behaviour=behaviour)
    assert perform(claimed(store, job)) == "failed"
    assert client.run(job.id).error == says
    assert client.events(job.id)[-1][1] == Failed(0, says)
    again = toy()
    assert perform(claimed(store, again)) == "completed"


def test_diverged_replicas_are_kept_with_the_run(toy, store, client):
    job = toy({"scale": (1, 2)}, behaviour="diverge")
    perform(claimed(store, job))
    assert client.run(job.id).diverged == (0,)


def test_a_data_set_that_cannot_be_read_fails_the_run(toy, store, client, monkeypatch):
    def missing(name):
        raise DatasetError(f"{name}: expected a file, there is none")

    monkeypatch.setattr(work.data_catalog, "load", missing)
    job = toy()
    assert perform(claimed(store, job)) == "failed"
    assert client.run(job.id).error == "flchain: expected a file, there is none"


@pytest.mark.parametrize(
    ("change", "says"),
    [({"version": "0.0.0"}, "version: expected a job"), ({"simulated": True}, "dataset: the file")],
)
def test_a_job_that_would_be_another_here_fails(toy, store, client, change, says):
    job = replace(toy(), **change)
    assert perform(claimed(store, job)) == "failed"
    assert client.run(job.id).error.startswith(says)


def test_a_stop_is_heard_between_steps(toy, store, client):
    job = toy(**LONG)
    claim = claimed(store, job)
    once(lambda: client.events(job.id), lambda: client.cancel(job.id))
    assert perform(claim) == "cancelled"
    assert client.events(job.id)[-1][1].outcome == "cancelled"


def test_a_stop_breaks_into_a_long_step(toy, store, client, monkeypatch):
    monkeypatch.setattr(recorder, "NUDGE", 0.2)
    job = toy(behaviour="spin", pause=60)
    claim = claimed(store, job)
    once(lambda: client.events(job.id), lambda: client.cancel(job.id))
    assert perform(claim) == "cancelled"
    assert not any(isinstance(event, Measured) for _, event in client.events(job.id))


@pytest.mark.thorough
def test_a_step_that_will_not_stop_is_given_up(toy, store, client, monkeypatch):
    monkeypatch.setattr(recorder, "NUDGE", 60.0)
    given_up = threading.Event()
    monkeypatch.setattr("tests.engine.toy.behave", lambda spec: given_up.wait(60.0))
    job = toy()
    claim = claimed(store, job)
    once(lambda: client.events(job.id), lambda: client.cancel(job.id))  # within the step
    assert perform(claim, stuck=Stuck(0.2, given_up.set)) == "cancelled"
    assert given_up.is_set()


def test_a_deleted_job_stops(toy, store, client):
    job = toy(**LONG)
    claim = claimed(store, job)
    once(lambda: client.events(job.id), lambda: client.delete(job.id))
    assert perform(claim) == "cancelled"
    assert client.runs() == []


def test_a_job_stopped_and_asked_for_again_is_queued_again(toy, store, client):
    job = toy(**LONG)
    claim = claimed(store, job)

    def change_of_mind():
        client.cancel(job.id)
        time.sleep(0.15)
        client.submit(job)
        time.sleep(1.0)
        client.cancel(job.id)  # if it was taken back in time

    later = once(lambda: client.events(job.id), change_of_mind)
    perform(claim)
    later.join()
    assert client.run(job.id).state in ("queued", "cancelled")


def test_a_signal_to_end_leaves_the_job_interrupted(toy, store, client):
    job = toy(**LONG)
    claim = claimed(store, job)
    before = signal.getsignal(signal.SIGTERM)
    once(lambda: client.events(job.id), lambda: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(SystemExit):
        perform(claim)
    assert signal.getsignal(signal.SIGTERM) == before
    run = client.run(job.id)
    assert (run.state, run.error) == ("interrupted", work.ENDED)
    assert client.submit(job) == "new"


def test_control_c_cancels(toy, store, client):
    job = toy(**LONG)
    claim = claimed(store, job)
    once(lambda: client.events(job.id), lambda: os.kill(os.getpid(), signal.SIGINT))
    assert perform(claim) == "cancelled"
    assert client.run(job.id).state == "cancelled"


def test_a_job_is_done_in_any_thread(toy, store, client):
    """Signals belong to the main thread; elsewhere the work goes on without them."""
    job = toy()
    claim = claimed(store, job)
    thread = threading.Thread(target=perform, args=(claim,))
    thread.start()
    thread.join()
    assert client.run(job.id).state == "completed"


def test_the_end_is_written_once_a_lock_is_gone(toy, store, client, monkeypatch):
    monkeypatch.setattr(work, "BEAT", 0.01)
    job = toy()
    claim = claimed(store, job)
    finish, failures = type(claim).finish, iter([True, True])

    def sometimes(self, *arguments, **options):
        if next(failures, False):
            raise StoreError("locked")
        return finish(self, *arguments, **options)

    monkeypatch.setattr(type(claim), "finish", sometimes)
    assert perform(claim) == "completed"
    assert client.run(job.id).state == "completed"


def test_an_end_that_cannot_be_written_is_swept_by_its_own_process(toy, store, client):
    job = toy()
    claimed(store, job)
    store.sweep()
    assert client.run(job.id).state == "running"
    store.sweep(idle=here())
    assert client.run(job.id).state == "interrupted"


def test_events_that_could_not_be_written_are_written_later(toy, store, client, monkeypatch):
    job = toy(steps=40, pause=0.01)
    claim = claimed(store, job)
    append, failures = type(claim).append, iter([True, True])

    def sometimes(self, events):
        if next(failures, False):
            raise StoreError("locked")
        return append(self, events)

    monkeypatch.setattr(type(claim), "append", sometimes)
    perform(claim)
    steps = [event.step for _, event in client.events(job.id) if hasattr(event, "values")]
    assert steps == list(range(1, 41))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RuntimeError("CUDA out of memory. Tried"), "Memory ran out"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "Memory ran out"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), "Memory ran out"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (OSError("a\n  b"), "OSError: a b"),
        (DatasetError("it is gone"), "it is gone"),
    ],
)
def test_every_error_is_a_sentence(error, says):
    assert sentence(error).startswith(says)
    assert "\n" not in sentence(error)


def test_warming_up_survives_a_module_that_is_broken(toy, monkeypatch, capsys):
    broken = type(toy().entry())(**{**vars(toy().entry()), "module": "no.such.module"})
    from engine.catalog import catalog

    paper = type(catalog()["toy"])(**{**vars(catalog()["toy"]), "methods": (broken,)})
    monkeypatch.setattr("engine.service.worker.catalog", lambda: {"toy": paper})
    assert "no.such.module" in list(warm())
    assert "no.such.module" in capsys.readouterr().err


def test_warming_up_takes_one_step_of_each_paper_and_works_out_its_arrays(toy, monkeypatch, capsys):
    """What is computed once for a table is there before anybody asks."""
    from engine.catalog import catalog

    told, method = [], type(toy().entry().load())

    def noted(name):
        known = getattr(method, name)
        return lambda *args: told.append(name) or known(*args)

    for name in ("step", "products"):
        monkeypatch.setattr(method, name, noted(name))
    monkeypatch.setattr("engine.service.worker.catalog", lambda: {"toy": catalog()["toy"]})
    assert f"toy on {catalog()['toy'].datasets[0]}" in list(warm())
    assert told == ["step", "products"]
    assert capsys.readouterr().err == ""


def test_a_worker_of_older_code_leaves_the_job_to_another(toy, store, client, monkeypatch):
    worker = Worker(store, "cpu", idle=60.0)
    monkeypatch.setattr("engine.service.worker.code", lambda: code() + 1.0)
    client.submit(toy())
    assert not worker.turns.go()
    assert not worker._staying()
    assert client.run(toy().id).state == "queued"


@pytest.mark.parametrize(
    "name", ["engine/papers/one/method.py", "engine/papers/one/paper.toml", "added/paper.toml"]
)
def test_a_table_beside_the_code_and_a_paper_that_is_installed_are_code(
    tmp_path, monkeypatch, name
):
    for file in ("engine/service/worker.py", "added/__init__.py", name):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    entry = SimpleNamespace(module="added.method")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(service, "__file__", str(tmp_path / "engine/service/worker.py"))
    monkeypatch.setattr(changes, "outside", lambda: ("added",))
    monkeypatch.setattr(changes, "catalog", lambda: {"added": SimpleNamespace(methods=(entry,))})
    before = code()
    os.utime(tmp_path / name, (before + 60.0, before + 60.0))
    assert code() == before + 60.0


@pytest.mark.parametrize("text", ["x", "0", "-1", "inf", "nan"])
def test_settings_of_the_environment_are_positive_numbers(monkeypatch, text):
    monkeypatch.setenv("EXPLORER_IDLE_SECONDS", text)
    with pytest.raises(RequestError, match="EXPLORER_IDLE_SECONDS: expected a positive number"):
        presence.setting("EXPLORER_IDLE_SECONDS", 1.0)
    monkeypatch.setenv("EXPLORER_IDLE_SECONDS", "2.5")
    assert presence.setting("EXPLORER_IDLE_SECONDS", 1.0) == 2.5


def test_a_whole_number_of_thousands_of_digits_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setenv(quotas.RUNS, "9" * 5_000)
    with pytest.raises(RequestError, match="whole number of at most 18 digits, got '99"):
        settings.whole(quotas.RUNS, 1)
    monkeypatch.setenv(quotas.RUNS, "9" * 18)
    assert settings.whole(quotas.RUNS, 1) == 10**18 - 1


# In a process of its own


@pytest.mark.thorough
def test_the_life_of_a_worker(toy, client, worker):
    """One process: it fails, runs out of disk, is stopped, and still does the next job."""

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, 6_000_000))

    process = worker(preexec_fn=small_files)
    failing = toy(behaviour="raise")
    client.submit(failing)
    assert ended(client, failing.id).error == "ValueError: the toy is broken"

    large = toy(behaviour="large")  # 8 MB of arrays, where files end at 6 MB
    client.submit(large)
    run = ended(client, large.id)
    assert run.state == "failed"
    assert "expected to write 8.0 MB of arrays, got: " in run.error
    assert list(client.store.artifacts.iterdir()) == []

    stopped = toy(**LONG)
    client.submit(stopped)
    running(client, stopped.id)
    client.cancel(stopped.id)
    assert ended(client, stopped.id).state == "cancelled"

    at_once = toy({"scale": (1, 2)}, **LONG)
    client.submit(at_once)
    client.cancel(at_once.id)  # before or just after it was taken
    assert ended(client, at_once.id).state == "cancelled"

    good = toy({"scale": (1, 2, 3)})
    client.submit(good)
    assert ended(client, good.id).state == "completed"
    assert client.arrays(good.id)["scales"].tolist() == [[1, 1], [2, 2], [3, 3]]
    assert process.poll() is None

    second = worker()
    assert second.wait(300) == 0  # the device has its worker

    reported = toy(**LONG, behaviour="spin")
    client.submit(reported)
    running(client, reported.id)
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 128 + signal.SIGTERM
    run = client.run(reported.id)
    assert (run.state, run.error) == ("interrupted", work.ENDED)


@pytest.mark.slow
def test_workers_that_hang_and_die(toy, client, worker):
    """One hangs and is given up; its successor is killed; nothing but the run at hand is lost."""
    process = worker(environment={"EXPLORER_GRACE_SECONDS": "1.5"})
    hanging, waiting, killed = toy(behaviour="hang", pause=60), toy({"scale": (1, 2)}), toy(**LONG)
    client.submit(hanging)
    until(lambda: client.events(hanging.id))
    client.submit(waiting)
    client.cancel(hanging.id)
    assert ended(client, hanging.id).state == "cancelled"
    assert process.wait(300) == 1

    successor = worker()
    assert ended(client, waiting.id).state == "completed"
    client.submit(killed)
    running(client, killed.id)
    successor.kill()
    dead = time.time()
    run = ended(client, killed.id, 10.0)
    assert run.state == "interrupted"
    assert run.finished - dead < 10.0
    assert client.run(waiting.id).state == "completed"
    assert client.arrays(waiting.id)["scales"].shape == (2, 2)
    assert client.submit(killed) == "new"
    assert take(client.store, here()).job == killed


APP = """
import sys
from engine.service.client import Client
Client(workers=False).register_app()
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_worker_stays_while_an_app_lives_and_leaves_after_it(home, toy, worker):
    app = subprocess.Popen(
        [sys.executable, "-c", APP], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    app.stdout.readline()
    process = worker(environment={"EXPLORER_IDLE_SECONDS": "2"})
    store = Store(home)
    until(lambda: presence.working(store, presence.device()))
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(4)
    app.kill()
    app.communicate()
    assert process.wait(300) == 0
    assert take(store, here()) is None
    store.database.close()


@pytest.mark.parametrize(
    ("asked", "cores", "memory", "cluster", "two"),
    [
        ("", 2, 8_000, "", True),
        ("", 1, 8_000, "", False),
        ("", 2, 2_000, "", False),
        ("2", 1, 2_000, "", True),
        ("1", 2, 8_000, "", False),
        ("2", 2, 8_000, "dask://host:8786", False),
    ],
)
def test_two_processes_train_where_there_is_room(monkeypatch, asked, cores, memory, cluster, two):
    monkeypatch.setenv("EXPLORER_WORKERS", asked)
    monkeypatch.setenv("EXPLORER_EXECUTOR", cluster)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr("engine.runs.footprint.machine", lambda: memory * 1_000_000)
    assert plural("cpu") is two


def test_how_many_processes_train_is_a_whole_number(monkeypatch):
    monkeypatch.setenv("EXPLORER_WORKERS", "two")
    with pytest.raises(RequestError, match="EXPLORER_WORKERS: expected a positive whole number"):
        plural("cpu")
    monkeypatch.setenv("EXPLORER_WORKERS", "7")
    with pytest.raises(RequestError, match="whole number, at most 2, got '7'"):
        plural("cpu")


def test_a_worker_that_loads_what_takes_long_stays(store, monkeypatch):
    """On a busy machine a library takes longer than a worker without an app stays."""
    loaded = []

    def pieces():
        for number in range(3):
            time.sleep(0.3)
            loaded.append(number)
            yield str(number)
        one._leaving = True

    monkeypatch.setattr("engine.service.worker.BEAT", 0.05)
    monkeypatch.setattr("engine.service.worker.warm", pieces)
    presence.open_app(store)
    one = Worker(store, "cpu", 0.2)
    one._work()
    assert loaded == [0, 1, 2]


@pytest.mark.parametrize(
    ("said", "told"), [(None, "glibc.malloc.hugetlb=1"), ("glibc.malloc.perturb=1", None)]
)
def test_a_process_is_told_of_large_pages_unless_the_environment_says_more(
    store, monkeypatch, said, told
):
    environments = []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, env, **more: environments.append(env))
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if said:
        monkeypatch.setenv("GLIBC_TUNABLES", said)
    Starter(store, "engine.service.worker").start("cpu")
    assert [env["GLIBC_TUNABLES"] for env in environments] == [said or told]


def test_the_other_process_begins_with_the_first_whole_run(toy, client, store, monkeypatch):
    """It helps a person who moves a slider before all is loaded, and takes nothing from a curve."""
    started = []
    monkeypatch.setattr("engine.service.worker.plural", lambda device: True)
    monkeypatch.setattr("engine.service.worker.BEAT", 0.0)
    monkeypatch.setattr(Starter, "start", lambda self, device: started.append(device) or 0)
    presence.open_app(store)
    first, ada = Worker(store, "cpu", 60.0), Visitor("page", "ada")
    for steps, stage in enumerate((Stage.POINT, Stage.COARSE, Stage.OTHER, Stage.FULL)):
        job = toy(steps=300 + steps, pause=0.001)
        look_on(store, ada, {job.id: stage})
        client.submit(job, {}, ada, passing=True)
        first.turns.go()
        assert first._look()
        assert started == ["cpu, second"] * (stage == Stage.FULL)
        assert first.turns.shared is (stage == Stage.FULL)
    first.turns.leave()


@pytest.mark.slow
def test_a_worker_starts_another_beside_it_once_an_app_is_there(home, toy, worker, monkeypatch):
    """It stands back for the rest of the machine, comes back when killed, and ends with the app."""
    monkeypatch.setenv("EXPLORER_WORKERS", "2")
    app = subprocess.Popen(
        [sys.executable, "-c", APP], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    app.stdout.readline()
    process = worker(environment={"EXPLORER_IDLE_SECONDS": "2", "EXPLORER_WORKERS": "2"})
    store, name = Store(home), presence.second(presence.device())

    def second() -> int:
        with store.database.reading() as connection:
            row = connection.execute("SELECT pid FROM workers WHERE device = ?", [name]).fetchone()
        return int(row["pid"]) if row and presence.working(store, name) else 0

    until(second, SHARE)
    one = second()
    assert one != process.pid
    until(lambda: os.getpriority(os.PRIO_PROCESS, one) == NICE)
    session = Path(f"/proc/{one}/autogroup")  # Linux shares out among sessions first
    if session.exists() and session.read_text():
        assert session.read_text().endswith(f"nice {NICE}\n")
    os.kill(one, signal.SIGKILL)
    until(lambda: second() not in (0, one), SHARE)
    app.kill()
    app.communicate()
    assert process.wait(300) == 0
    until(lambda: not second(), SHARE)
    store.database.close()


def test_a_small_table_is_worked_on_by_one_thread_unless_the_operator_says_otherwise(monkeypatch):
    def told() -> Iterator[int]:
        while True:
            yield torch.get_num_threads()

    before = torch.get_num_threads()
    monkeypatch.delenv("EXPLORER_THREADS", raising=False)
    monkeypatch.setattr(work, "_threads", lambda: 2)
    try:
        small = work.threaded(told(), work.LARGE - 1)
        large = work.threaded(told(), work.LARGE)
        assert [next(one) for one in (small, large, small, large)] == [1, 2, 1, 2]
        monkeypatch.setenv("EXPLORER_THREADS", "2")
        assert next(work.threaded(told(), 1)) == 2
    finally:
        torch.set_num_threads(before)
