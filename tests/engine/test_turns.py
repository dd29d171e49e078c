"""Jobs that share a process: none waits for another's end, and no number changes."""

import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from engine.runs.artifacts import DONE
from engine.runs.events import Advanced, Finished, Measured, Produced, Spent, Started
from engine.runs.job import request
from engine.service import job_runner as work
from engine.service import recorder, shares, watching
from engine.service import scheduler as turns
from engine.service.claim import take
from engine.service.client import Client
from engine.service.job_runner import FULL, JobRunner, perform
from engine.service.process import here
from engine.service.scheduler import OPEN, Scheduler
from engine.service.watching import Stage, Visitor
from tests.engine.conftest import claimed, ended, once, until
from tests.papers.survival.toys import table

pytestmark = pytest.mark.usefixtures("looks_last")

SURVIVAL = {"intervals": 8, "samples": 80, "sampler_epochs": 2.0, "burn_in": 20, "minibatch": 10}


ADA = Visitor("page 1", "ada")


def look(client: Client, *jobs, stage: Stage = Stage.FULL) -> None:
    """Asks for jobs, each of which somebody else looks at."""
    for job in jobs:
        client.submit(job, {"epsilon": 1.0})
        watching.look_on(client.store, Visitor(job.id, job.id), {job.id: stage})


def through(desk: Scheduler) -> None:
    """Scheduler until nothing is left to do."""
    while desk.go():
        pass


def story(client: Client, run: str) -> list[str]:
    """Each chunk's events in their order; whose turn it was may differ."""
    measured = [event for _, event in client.events(run)]
    about = (Measured, Produced, Spent)
    return list(
        map(repr, sorted(measured, key=lambda e: e.replicas[0] if isinstance(e, about) else -1))
    )


@pytest.fixture
def desk(store, monkeypatch) -> Scheduler:
    """Scheduler of one step, and no lead."""
    monkeypatch.setattr(turns, "SLICE", 0.0)
    return Scheduler(store, "cpu", 10.0)


@pytest.mark.thorough
def test_numbers_do_not_depend_on_who_else_runs(tmp_path, monkeypatch):
    """Two samplers, a closed form and a descent, alone and step by step in turns."""
    monkeypatch.setattr(turns, "SLICE", 0.0)
    data = table(60, 2)
    monkeypatch.setattr("engine.service.job_runner.data_catalog.load", lambda name: data)
    axes = {"epsilon": (0.5, 5.0)}
    jobs = [
        request("survival", method, "flchain", SURVIVAL, axes, (0, 1))
        for method in ("psgld", "exact", "dp_gd", "out_pert")
    ]
    alone, shared = Client(tmp_path / "one", workers=False), Client(tmp_path / "two", workers=False)
    for job in jobs:
        alone.submit(job)
        perform(take(alone.store, here()))
    for job in jobs:  # only now: a look does not last
        look(shared, job)
    desk, most = Scheduler(shared.store, "cpu", 10.0), 0
    while desk.go():
        most = max(most, len(desk.open))
    assert most == len(jobs)
    for job in jobs:
        assert shared.run(job.id).state == "completed"
        reported = [story(one, job.id) for one in (alone, shared)]
        assert reported[0] == reported[1]
        arrays = [one.arrays(job.id) for one in (alone, shared)]
        assert arrays[0].keys() == arrays[1].keys()
        for name, values in arrays[0].items():
            np.testing.assert_array_equal(arrays[1][name], values)
    alone.close(), shared.close()


def test_a_short_job_does_not_wait_for_a_long_one(toy, store, client, desk):
    long, short = toy(steps=5000, pause=0.001), toy({"scale": (1, 2)})
    look(client, long), look(client, short)
    while client.run(short.id).state != "completed":
        assert desk.go()
    run = client.run(long.id)
    assert run.state == "running"
    steps = [e.step for _, e in client.events(short.id) if isinstance(e, Measured)]
    assert steps == [1, 2, 3]
    desk.leave()


def test_a_turn_that_is_over_stays_over(toy, client, store, desk):
    """It is asked after a step and again after its event."""
    for i in range(2):
        look(client, toy(steps=40 + i))
    desk.go(), desk.go()
    assert len(desk.open) == 2
    assert desk._enough()
    assert desk._enough()
    desk.leave()


def test_a_job_that_has_had_little_goes_first(toy, client, store, clock, monkeypatch):
    monkeypatch.setattr(turns, "SLICE", 0.0)
    old, young = toy(steps=1000, pause=0.001), toy(steps=20, pause=0.001)
    desk = Scheduler(store, "cpu", 10.0)
    for job in (old, young):
        client.submit(job)
    watching.look_on(client.store, ADA, [old.id, young.id])
    desk.go()
    desk.open[0].spent = 2.0
    done = []
    while client.run(young.id).state != "completed":
        assert desk.go()
        done.append(client.run(old.id).done)
    assert done[0] == done[-1]
    desk.leave()


def test_those_who_share_get_the_same_time(toy, client, store, desk, clock):
    """A job whose steps are ten times longer is asked ten times less often."""
    short, long = toy(steps=900, pause=0.01), toy(steps=901, pause=0.1)
    look(client, short), look(client, long)
    while clock.now < 2.0:
        assert desk.go()
    spent = [one.spent for one in desk.open]
    assert abs(spent[0] - spent[1]) <= 0.2  # two steps of the longer ones
    desk.leave()


def test_only_one_job_that_nobody_looks_at_is_open(toy, client, store, desk, monkeypatch):
    monkeypatch.setattr(shares, "CREDIT", 1e-9)  # its share is due after any turn of another
    many = [toy(steps=50 + i, pause=0.001) for i in range(OPEN + 2)]
    for job in many:
        client.submit(job)
    looked = toy(steps=20)
    look(client, looked)
    assert client.run(looked.id).ahead == 0
    assert client.run(many[0].id).ahead == 1
    for _ in range(6):
        desk.go()
        assert sum(one.wanted.stage == Stage.BACKGROUND for one in desk.open) <= 1
    assert {one.claim.job.id for one in desk.open} == {looked.id, many[0].id}
    assert client.run(many[0].id).beside == 1
    through(desk)
    order = sorted(many, key=lambda job: client.run(job.id).started)
    assert order == many
    assert all(client.run(job.id).state == "completed" for job in many)


def test_no_more_than_so_many_are_open(toy, client, store, desk, monkeypatch):
    monkeypatch.setattr(watching, "LEVEL", 60.0)  # none has had more than another
    jobs = [toy(steps=30 + i) for i in range(OPEN + 2)]
    for job in jobs:
        look(client, job)
    most = 0
    while desk.go():
        most = max(most, len(desk.open))
    assert most == OPEN
    assert all(client.run(job.id).state == "completed" for job in jobs)


def test_a_job_that_raises_does_not_harm_the_others(toy, client, store, desk):
    good, bad, after = toy(steps=50), toy(behaviour="raise"), toy(steps=9)
    for job in (good, bad, after):
        look(client, job)
    through(desk)
    states = [client.run(job.id).state for job in (good, bad, after)]
    assert states == ["completed", "failed", "completed"]
    assert client.events(good.id)[0][1] == Started(0, 50, 1)


def test_a_job_that_finds_no_room_tries_again_alone(toy, client, store, desk, monkeypatch):
    beside, first = [], toy(steps=40)
    large = toy(steps=5, behaviour="diverge")
    behave = turns.Shared._go

    def full(self):
        if self.claim.job == large:
            beside.append(len(desk.open) - 1)
            if beside[-1]:
                raise MemoryError
        return behave(self)

    monkeypatch.setattr(turns.Shared, "_go", full)
    look(client, first), look(client, large)
    through(desk)
    assert client.run(first.id).state == client.run(large.id).state == "completed"
    assert beside[0] == 1
    assert beside[-1] == 0


def test_a_job_that_is_too_large_even_alone_fails(toy, client, store, desk):
    large = toy(behaviour="memory")
    look(client, toy(steps=40)), look(client, large)
    through(desk)
    assert client.run(large.id).error == FULL


@pytest.mark.thorough
def test_a_stop_ends_its_own_job_and_keeps_its_state(tmp_path, monkeypatch):
    """Of two samplers, one is stopped in turns and goes on later, number by number."""
    monkeypatch.setattr(turns, "SLICE", 0.0)
    data = table(60, 2)
    monkeypatch.setattr("engine.service.job_runner.data_catalog.load", lambda name: data)
    jobs = [
        request(
            "survival", "psgld", "flchain", SURVIVAL | {"minibatch": n}, {"epsilon": (0.5, 5.0)}
        )
        for n in (10, 12)
    ]
    client, alone = Client(tmp_path / "two", workers=False), Client(tmp_path / "one", workers=False)
    for job in jobs:
        alone.submit(job)
        perform(take(alone.store, here()))
    for job in jobs:  # only now: a look does not last
        look(client, job)
    desk = Scheduler(client.store, "cpu", 10.0)
    for _ in range(8):
        desk.go()
    stopped = desk.open[0]
    client.cancel(stopped.claim.job.id)
    until(lambda: stopped.recorder.stopping)
    desk.go()
    run = stopped.claim.job.id
    assert client.run(run).state == "cancelled"
    assert stopped.claim.recall(DONE) is not None
    assert len(desk.open) == 1
    through(desk)
    look(client, stopped.claim.job)
    through(desk)
    for job in jobs:
        assert client.run(job.id).state == "completed"
        reported = [[e for e in story(one, job.id) if "Measured" in e] for one in (alone, client)]
        assert reported[0] == reported[1]
    alone.close(), client.close()


def test_a_late_nudge_breaks_into_nobody_else(toy, store, client, desk, monkeypatch):
    """A stop of the job that waits for its turn does not end the one whose turn it is."""
    monkeypatch.setattr(recorder, "NUDGE", 0.0)
    one, two = toy(steps=300, pause=0.002), toy(steps=301, pause=0.002)
    look(client, one), look(client, two)
    for _ in range(10):
        desk.go()
    threading.Timer(0.05, client.cancel, [one.id]).start()
    through(desk)
    assert client.run(one.id).state == "cancelled"
    assert client.run(two.id).state == "completed"


def test_a_step_that_hangs_sends_the_others_back_to_the_queue(toy, client, store, monkeypatch):
    monkeypatch.setattr(recorder, "NUDGE", 60.0)
    left = threading.Event()
    monkeypatch.setattr(turns.os, "_exit", lambda code: left.set())
    monkeypatch.setattr(turns, "SLICE", 0.0)
    desk = Scheduler(store, "cpu", 0.2)
    good, hanging = toy(steps=5000), toy(behaviour="hang")
    monkeypatch.setattr(
        "tests.engine.toy.behave", lambda spec: spec.behaviour == "hang" and left.wait(60.0)
    )
    look(client, good), look(client, hanging)
    desk.go()
    desk.open[0].spent = 2.0
    stop = once(lambda: client.events(hanging.id), lambda: client.cancel(hanging.id))
    while client.run(hanging.id).active:  # it has one turn, which lasts until it is given up
        assert desk.go()
    stop.join()
    assert left.is_set()
    assert client.run(hanging.id).state == "cancelled"
    assert client.run(good.id).state == "queued"
    desk.leave()


def test_a_signal_leaves_all_open_jobs_interrupted(toy, client, store, desk):
    """In a turn it breaks into it; between two turns its caller must hear it."""
    jobs = [toy(steps=5000 + i, pause=0.001) for i in range(2)]
    for job in jobs:
        look(client, job)
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        desk.go(), desk.go()
        threading.Timer(0.1, signal.raise_signal, [signal.SIGTERM]).start()
        with suppress(SystemExit):
            while not heard:
                assert desk.go()
    finally:
        signal.signal(signal.SIGTERM, before)
    desk.leave()
    for job in jobs:
        run = client.run(job.id)
        assert (run.state, run.error) == ("interrupted", work.ENDED)


def test_a_run_takes_as_long_as_its_own_turns(toy, client, store, desk):
    jobs = [toy(steps=20 + i, pause=0.01) for i in range(2)]
    for job in jobs:
        look(client, job)
    through(desk)
    runs = [client.run(job.id) for job in jobs]
    assert all(run.seconds >= 0.2 for run in runs)
    assert sum(run.seconds for run in runs) <= max(r.finished for r in runs) - runs[0].started + 0.1


@pytest.mark.slow
def test_a_worker_does_several_jobs_at_once(toy, client, worker):
    """In a process of its own: the short one is over while the long one goes on."""
    process = worker()
    long, short = toy(steps=4000, pause=0.01), toy({"scale": (1, 2)})
    look(client, long)
    until(lambda: len(client.events(long.id)) > 1)
    look(client, short)
    assert ended(client, short.id).state == "completed"
    assert client.run(long.id).state == "running"
    before = client.run(long.id).done
    until(lambda: client.run(long.id).done > before)
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 128 + signal.SIGTERM
    assert client.run(long.id).state == "interrupted"
    last = client.events(short.id)[-1][1]
    assert last == Finished(3, "completed")
    assert time.time() - client.run(long.id).finished < 60
    assert not [e for _, e in client.events(long.id) if isinstance(e, Advanced)]


def test_a_job_that_is_deleted_ends_alone(toy, client, desk):
    long, other = toy(steps=5000, pause=0.001), toy(steps=3)
    look(client, long), look(client, other)
    desk.go()
    client.delete(long.id)
    through(desk)
    assert not desk.open
    assert client.run(other.id).state == "completed"


def test_where_a_cluster_works_a_sign_of_life_ends_a_turn(toy, client, store, monkeypatch):
    """Its chunks may take long to their first event, and all others are open meanwhile."""
    monkeypatch.setenv("EXPLORER_EXECUTOR", "dask://host:1")
    look(client, job := toy())
    work = JobRunner(take(store, here(), job.id))
    alive = iter(range(100))
    work._events = ((Advanced(0, 0, 9), lambda: None) for _ in alive)
    assert work.turn(lambda: True) is None
    assert next(alive) < 3
    work.leave()


def test_seconds_of_a_run_that_goes_on_later_count(toy, store, client):
    claim = claimed(store, job := toy())
    claim.save({DONE: {"chunks": np.zeros(0, int)}}, [Started(0, 3, 1)], going_on=False)
    claim.finish("cancelled", [Finished(0, "cancelled")], asked=True, worked=60.0)
    assert client.run(job.id).state == "queued"
    take(store, here(), job.id).finish("completed", [Finished(3, "completed")], worked=5.0)
    assert client.run(job.id).seconds == pytest.approx(65.0)
