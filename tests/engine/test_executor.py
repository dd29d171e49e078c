"""Both executors are held by the same tests, number for number; and what only a cluster suffers."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from dask import config
from distributed import LocalCluster

from datasets import catalog as data_catalog
from datasets import own
from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import InterruptedRunError, RequestError
from engine.runs import artifacts, task
from engine.runs.checkpoint import HEARD, STEP, Checkpoints
from engine.runs.driver import drive
from engine.runs.events import Advanced, Finished, Measured, encode
from engine.runs.executor import chosen as choice
from engine.runs.executor import cluster as clusters
from engine.runs.executor.cluster import Cluster, connected
from engine.runs.executor.local import Local
from engine.runs.job import request
from tests.datasets.test_own import plain
from tests.engine import walk
from tests.engine.conftest import until

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.thorough,  # a cluster of processes
    pytest.mark.filterwarnings("ignore:Creating scratch directories:UserWarning"),  # a slow disk
]


def started(folder: Path, workers: int = 2, **how) -> LocalCluster:
    # else a worker that starts slowly after a kill may be given up for good
    config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    made = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
        env={"PYTHONPATH": str(ROOT), **how}, local_directory=str(folder),
    )  # fmt: skip
    with made.get_client() as client:
        client.register_plugin(walk.Register())
    return made


def place(made: LocalCluster) -> str:
    return made.scheduler_address.removeprefix("tcp://")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("walk") / "steps"


@pytest.fixture(scope="module", autouse=True)
def quiet_main():
    """A worker's process begins with what runs as the main program: here with nothing.

    A page that was tested before in this process would otherwise be run in each of them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        yield


@pytest.fixture(scope="module")
def dask(log, quiet_main, tmp_path_factory):
    with started(tmp_path_factory.mktemp("scratch"), **{walk.LOG: str(log)}) as made:
        yield place(made)


@pytest.fixture(autouse=True)
def paper(monkeypatch, log):
    monkeypatch.setitem(catalog(), "walk", walk.PAPER)
    log.write_text("")


@pytest.fixture(params=["local", pytest.param("dask", marks=pytest.mark.thorough)])
def executor(request):
    return Local() if request.param == "local" else Cluster(request.getfixturevalue("dask"))


def walking(method: str = "walk", steps: int = 30, pause: float = 0.0, seeds: int = 6):
    return request("walk", method, "digits", {"steps": steps, "pause": pause}, {}, range(seeds))


def kept_in(kept: dict):
    return lambda name, arrays: (
        kept.update({name: {k: np.array(v) for k, v in arrays.items()}}) or (name)
    )


def remembering(past: dict) -> Checkpoints:
    return Checkpoints(past.get, lambda kept, going_on: past.update(kept))


def run(job, executor, past=None, data=None):
    """The events of a run and its arrays."""
    kept: dict = {}
    table = data if data is not None else data_catalog.load(job.dataset)
    events = drive(job, table, kept_in(kept), executor=executor, past=past)
    return list(events), kept


def here(job, past=None, data=None):
    """The same in this process, where no step waits: pauses give time to kill and to stop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk.time, "sleep", lambda seconds: None)
        return run(job, Local(), past=past, data=data)


@cache
def expected_of(name: str):
    """What one of the jobs is to say, once for both executors."""
    return here(JOBS[name]())


def said(events) -> list[str]:
    """What was said of replicas, in an order that does not depend on turns."""
    return sorted(json.dumps(encode(e), sort_keys=True) for e in events if not progress(e))


def progress(event) -> bool:
    return isinstance(event, Advanced)


def steps(events) -> Counter:
    """How often each replica's step was measured."""
    return Counter((e.replicas, e.step) for e in events if isinstance(e, Measured))


JOBS = {
    "walk": lambda: walking(),
    "stroll": lambda: walking("stroll"),
    "glvq": lambda: request("lvq", "glvq_dp", "digits", {"epochs": 1}, {"epsilon": (1, 9)}, (0, 1)),
    "output": lambda: request("survival", "out_pert", "flchain", {}, {"epsilon": (1, 9)}, (0, 1)),
}


@pytest.mark.parametrize(
    "name",
    [name if name == "output" else pytest.param(name, marks=pytest.mark.slow) for name in JOBS],
)
def test_a_run_is_the_same_number_for_number(name: str, executor):
    job = JOBS[name]()
    expected, arrays = expected_of(name)
    events, kept = run(job, executor)
    assert said(events) == said(expected)
    assert isinstance(events[-1], Finished)
    assert [e for e in events if progress(e)][-1].done == [e for e in expected if progress(e)][
        -1
    ].done
    assert kept.keys() == arrays.keys()
    for part, held in arrays.items():
        for key, array in held.items():
            np.testing.assert_array_equal(kept[part][key], array)


def test_a_stopped_run_goes_on_elsewhere_and_tells_every_step_once(executor):
    job, past = walking(steps=100, pause=0.005), {}
    expected, _ = here(job)
    first: list = []
    table = data_catalog.load("digits")
    mind = remembering(past)
    with closing(drive(job, table, lambda n, a: n, executor=executor, past=mind)) as events:
        for event in events:
            first.append(event)
            if len(steps(first)) > 40:
                break
    rest, _ = here(job, past=remembering(past))
    assert said([*first, *rest]) == said(expected)


def test_a_stop_reaches_the_tasks_within_two_seconds(dask, log):
    """Two workers take at most as many steps as fit into two seconds, 20 in each."""
    job = walking(steps=2000, pause=0.05, seeds=4)
    with closing(drive(job, data_catalog.load("digits"), lambda n, a: n,
                       executor=Cluster(dask))) as events:  # fmt: skip
        while not any(isinstance(next(events), Measured) for _ in range(3)):
            pass
        asked = time.time()

    def rest() -> list[str]:
        lines = log.read_text().splitlines()
        time.sleep(1.0)
        return lines if log.read_text().splitlines() == lines else []

    lines = until(rest, 30.0)
    assert sum(float(line.split()[3]) > asked for line in lines) <= 2 * 2 * 20


def killing(dask: str, log: Path, kills: int, over: threading.Event) -> list[int]:
    """Kills the worker that took the last step, so many times."""
    dead: list[int] = []
    while len(dead) < kills and not over.wait(0.2):
        lines = log.read_text().splitlines()
        pid = int(lines[-1].split()[2]) if lines else 0
        if pid and pid != os.getpid() and pid not in dead and len(lines) % 7 > 3:
            os.kill(pid, signal.SIGKILL)
            dead.append(pid)
            over.wait(1.0)
    return dead


@pytest.mark.slow
@pytest.mark.parametrize(("method", "kills"), [("walk", 2), ("stroll", 1)])
def test_workers_that_are_killed_lose_and_double_nothing(method, kills, dask, log, monkeypatch):
    job = walking(method, steps=160, pause=0.03, seeds=4)
    expected, arrays = here(job)
    log.write_text("")
    over, dead = threading.Event(), []
    killer = threading.Thread(target=lambda: dead.extend(killing(dask, log, kills, over)))
    killer.start()
    events, kept = run(job, Cluster(dask))
    over.set()
    killer.join()
    assert len(dead) == kills
    assert said(events) == said(expected)
    assert set(steps(events).values()) == {1}
    for part, held in arrays.items():
        np.testing.assert_array_equal(kept[part]["place"], held["place"])


@pytest.mark.slow
def test_a_lost_chunk_begins_at_its_last_state(dask, log):
    """The worker is killed after a state was sent: no step before it is taken again."""
    job = walking(steps=200, pause=0.04, seeds=2)
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.1):
            lines = log.read_text().splitlines()
            if len(lines) > 110:  # 4.4 s, and states are sent after 2 and after 6 s
                os.kill(int(lines[-1].split()[2]), signal.SIGKILL)
                return

    killer = threading.Thread(target=kill)
    killer.start()
    events, _ = run(job, Cluster(dask))
    over.set()
    killer.join()
    taken = Counter(int(line.split()[1]) for line in log.read_text().splitlines())
    assert set(steps(events).values()) == {1}
    again = [step for step, times in taken.items() if times > 1]
    assert again
    assert min(again) > 20


@pytest.mark.slow
def test_a_cluster_that_goes_away_leaves_a_run_that_can_go_on(log, tmp_path):
    job, past = walking(steps=200, pause=0.02, seeds=4), {}
    expected, _ = here(job)
    first: list = []
    made = started(tmp_path, 1)
    events = drive(job, data_catalog.load("digits"), lambda n, a: n,
                   executor=Cluster(place(made)), past=remembering(past))  # fmt: skip
    while len(steps(first)) < 30:
        first.append(next(events))
    made.close()
    with pytest.raises(InterruptedRunError, match="The cluster went away: ask for the run again"):
        first.extend(events)
    rest, _ = here(job, past=remembering(past))
    assert said([*first, *rest]) == said(expected)


def test_a_table_that_the_workers_lack_comes_once_as_bytes(dask, monkeypatch):
    table = data_catalog.load("digits")
    other = replace(table, x=np.minimum(table.x + 1.0, 16.0))
    sent: list = []
    packed = clusters.parcel.packed_table
    monkeypatch.setattr(
        clusters.parcel, "packed_table", lambda one: sent.append(one) or packed(one)
    )
    events, _ = run(walking(), Cluster(dask), data=other)
    assert said(events) == said(here(walking(), data=other)[0])
    assert len(sent) == 1


def test_a_worker_without_a_panel_s_file_is_one_sentence(dask):
    """A panel holds the function that draws it, which is sent nowhere."""
    panel = replace(data_catalog.load("yesiwell"))
    with pytest.raises(RequestError, match="expected the file of the data set there, got none"):
        run(walking(), Cluster(dask), data=panel)


def test_a_table_of_one_s_own_stays_here_unless_the_operator_allows_it(
    dask, log, tmp_path, monkeypatch
):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    monkeypatch.setenv(walk.LOG, str(log))
    monkeypatch.setenv(choice.SETTING, f"dask://{dask}")
    job = request("walk", "walk", own.keep("a.csv", plain()), {}, {}, range(4))
    here, _ = run(job, choice.chosen(job.dataset))
    assert {int(line.split()[2]) for line in log.read_text().splitlines()} == {os.getpid()}
    log.write_text("")
    monkeypatch.setenv(choice.SHARE, "allow")
    there, _ = run(job, choice.chosen(job.dataset))
    assert os.getpid() not in {int(line.split()[2]) for line in log.read_text().splitlines()}
    assert said(here) == said(there)


def test_the_command_line_prints_the_same_gauges(dask, tmp_path, monkeypatch, capsys):
    command = ["run", "mean", "laplace", "--sweep", "epsilon=1,9", "--seeds", "3", "--json"]
    replicas = []
    for name, address in (("a", ""), ("b", f"dask://{dask}")):
        monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / name))
        monkeypatch.setenv(choice.SETTING, address)
        assert main(command) == 0
        replicas.append(json.loads(capsys.readouterr().out)["replicas"])
    assert replicas[0] == replicas[1]


@pytest.mark.parametrize("text", ["dask://", "dask://host", "spark://host:1", "dask:host:1", "x"])
def test_an_executor_that_does_not_exist_is_one_sentence(text, monkeypatch):
    monkeypatch.setenv(choice.SETTING, text)
    with pytest.raises(RequestError, match="EXPLORER_EXECUTOR: expected local, or dask://host"):
        choice.chosen("heart")


def test_an_address_where_nobody_answers_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(clusters, "CONNECT", 1)
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    monkeypatch.setenv(choice.SETTING, "dask://127.0.0.1:9")
    with config.set({"distributed.comm.timeouts.connect": 10}):  # the engine sets it for good
        assert main(["run", "mean", "laplace"]) == 1
    error = capsys.readouterr().err
    assert "expected a Dask scheduler at 127.0.0.1:9, got no answer within 1 s" in error


def test_another_version_on_a_worker_is_one_sentence(dask, monkeypatch):
    def other(job):
        return {**task.identity(job), "torch": "0.0.1"}

    monkeypatch.setattr(clusters, "identity", other)
    with pytest.raises(RequestError, match=r"worker tcp://.*: expected torch 0.0.1, got 2"):
        run(walking(), Cluster(dask))


BARE = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


@contextmanager
def scheduler(folder: Path, **more: str) -> Iterator[str]:
    """The address of a scheduler that starts in a folder, as the operator's shell does."""
    note = folder / "scheduler.json"
    command = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
               "--no-dashboard", "--scheduler-file", str(note)]  # fmt: skip
    with subprocess.Popen([sys.executable, *command], cwd=folder, env=BARE | more) as process:
        try:
            while not note.exists() or not note.read_text():
                assert process.poll() is None
                time.sleep(0.1)
            where = json.loads(note.read_text())["address"].removeprefix("tcp://")
            with closing(connected(where)):
                yield where
        finally:
            process.terminate()


@pytest.mark.slow
def test_a_scheduler_that_cannot_import_the_program_is_named_before_the_first_chunk(tmp_path):
    with scheduler(tmp_path) as where:
        says = rf"The scheduler at {where} cannot import this program \(No module named 'engine"
        with pytest.raises(InterruptedRunError, match=says):
            run(walking(), Cluster(where))


@pytest.mark.slow
@pytest.mark.parametrize("older", [False, True])
def test_a_worker_that_cannot_import_the_program_is_one_sentence(older, tmp_path, monkeypatch):
    """It has no program on its path, or one of before what it is sent was made."""
    place = tmp_path / "worker"
    for folder in ("engine", "engine/runs", "engine/runs/executor") if older else ():
        (place / folder).mkdir(parents=True)
        (place / folder / "__init__.py").touch()
    if older:
        (place / "engine/runs/task.py").write_text("def run_chunk(order): pass\n")
        (place / "engine/runs/executor/parcel.py").touch()
    place.mkdir(exist_ok=True)
    monkeypatch.setattr(clusters, "LONELY", 120.0)
    with scheduler(tmp_path, PYTHONPATH=str(ROOT)) as where:
        command = ["-m", "distributed.cli.dask_worker", f"tcp://{where}", "--nthreads", "1"]
        with subprocess.Popen([sys.executable, *command], cwd=place, env=BARE) as worker:
            try:
                says = "attribute 'Order'" if older else "No module named 'engine"
                with pytest.raises(RequestError, match=rf"worker: expected this program, .*{says}"):
                    run(walking(), Cluster(where))
                assert worker.poll() is None
            finally:
                worker.terminate()


def test_many_workers_send_fewer_messages_each_and_still_hear_a_stop_in_time():
    assert clusters.tick(2) == clusters.TICK
    assert 200 / clusters.tick(200) <= 200
    assert clusters.tick(100_000) < 2.0


@pytest.mark.slow
def test_cards_are_the_workers_not_this_machine_s(dask, monkeypatch):
    assert Cluster(dask).device("auto") == "cpu"
    client = connected(dask)
    info = client.scheduler_info(n_workers=-1)
    next(iter(info["workers"].values()))["resources"] = {"GPU": 1}
    monkeypatch.setattr(client, "scheduler_info", lambda **how: info)
    assert Cluster(dask).device("auto") == "cuda"


def test_a_table_of_one_s_own_has_its_runs_here_unless_it_may_leave(monkeypatch):
    monkeypatch.setenv(choice.SETTING, "dask://host:1")
    assert isinstance(choice.chosen("own_study_0123abcd"), Local)
    assert isinstance(choice.chosen("heart"), Cluster)
    monkeypatch.setenv(choice.SHARE, "allow")
    assert isinstance(choice.chosen("own_study_0123abcd"), Cluster)


def test_what_was_told_before_a_second_stop_stays_told():
    left = artifacts.packed({STEP: np.array(10), HEARD: np.array(20)})
    assert int(clusters.Chunk(0, state=left).packed()[HEARD]) == 20
    assert int(clusters.Chunk(0, steps={"Measured": 30}, state=left).packed()[HEARD]) == 30


def test_a_chunk_is_over_once_its_last_step_is_told():
    """A run that is stopped at this event would else take the chunk up again and tell it twice."""
    told = {"events": [encode(Advanced(3, 3, 3))], "arrays": {}}
    chunk = clusters.Chunk(0, future=SimpleNamespace(result=lambda timeout: told))
    run, past = object.__new__(clusters.Run), Checkpoints(places={0: chunk})
    run.work, run.open = SimpleNamespace(past=past), {0: chunk}
    assert next(run._finished(chunk)) == (0, Advanced(3, 3, 3))
    assert not past.places


def test_a_task_that_took_itself_for_stopped_interrupts_the_run():
    run = object.__new__(clusters.Run)
    chunk = clusters.Chunk(0, future=SimpleNamespace(result=lambda timeout: None))
    with pytest.raises(InterruptedRunError):
        list(run._finished(chunk))
