"""Several people and one run: who may stop it, when it is dropped, how much each may ask for."""

import os
import time

import numpy as np
import pytest

from engine.core.errors import RequestError
from engine.runs.events import Failed, Finished
from engine.service import quotas, watching
from engine.service.claim import take
from engine.service.process import Process, here
from engine.service.watching import NOBODY, PAUSED, Stage, Visitor, wanted
from tests.engine.conftest import claimed

ADA, BOB = Visitor("page 1", "ada"), Visitor("page 2", "bob")


def stage(store, job) -> int:
    """What a job of the queue is for now; PAUSED if it is for nobody."""
    return next((one.stage for one in wanted(store, here()) if one.run == job.id), PAUSED)


def test_a_run_is_paused_when_the_last_who_looks_at_it_moves_on(toy, client, store):
    job = toy()
    client.submit(job, {}, ADA, passing=True)
    watching.look_on(store, ADA, [job.id])
    watching.look_on(store, BOB, [job.id])
    assert watching.others(store, job.id, ADA) == 1
    watching.look_on(store, ADA, [])
    assert (stage(store, job), client.run(job.id).paused) == (Stage.FULL, False)  # Bob still looks
    watching.look_on(store, BOB, ["another"])
    assert (stage(store, job), client.run(job.id).paused) == (PAUSED, True)
    assert take(store, here()) is None
    assert watching.others(store, job.id, ADA) == 0
    watching.look_on(store, ADA, {job.id: Stage.POINT})
    assert (stage(store, job), client.run(job.id).paused) == (Stage.POINT, False)
    assert take(store, here()).job == job


def test_what_was_asked_for_on_purpose_goes_on_in_the_background(toy, client, store):
    job = toy()
    client.submit(job, {}, ADA)
    watching.look_on(store, ADA, [job.id])
    watching.look_on(store, ADA, [])
    assert (stage(store, job), client.run(job.id).paused) == (Stage.BACKGROUND, False)


def test_who_has_said_nothing_for_a_while_does_not_look_on(toy, client, store, monkeypatch):
    job = toy()
    client.submit(job, {}, ADA, passing=True)
    watching.look_on(store, BOB, [job.id])
    later = store.now() + watching.GONE + 1
    monkeypatch.setattr(store, "now", lambda: later)
    assert watching.others(store, job.id, ADA) == 0
    assert stage(store, job) == PAUSED


def test_a_session_that_is_over_looks_at_nothing(toy, client, store):
    job = toy()
    client.submit(job, {}, ADA, passing=True)
    watching.look_on(store, ADA, [job.id])
    watching.look_on(store, BOB, [job.id])
    watching.gone(store, [ADA.session])
    assert stage(store, job) == Stage.FULL
    watching.gone(store, [BOB.session])
    assert stage(store, job) == PAUSED


def test_only_its_owner_stops_a_run_that_others_look_at(toy, client, store):
    job = toy()
    client.submit(job, {}, ADA)
    watching.look_on(store, ADA, [job.id])
    watching.look_on(store, BOB, [job.id])
    watching.may_stop(store, job.id, ADA)
    watching.may_stop(store, job.id, NOBODY)
    with pytest.raises(RequestError, match="another person is looking at this run: only"):
        watching.may_stop(store, job.id, BOB)
    watching.look_on(store, ADA, [])
    watching.may_stop(store, job.id, BOB)  # the last one who looks


def test_deleting_a_run_forgets_who_looked(toy, client, store):
    job = toy()
    client.submit(job, {}, ADA)
    watching.look_on(store, BOB, [job.id])
    client.delete(job.id)
    assert watching.others(store, job.id, ADA) == 0


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (quotas.RUNS, "runs: expected at most 2 in this store"),
        (quotas.WAITING, "queue: expected at most 2 waiting runs"),
        (quotas.MINE, "queue: expected at most 2 waiting runs of yours"),
    ],
)
def test_one_run_too_many_is_one_sentence(setting, said, toy, client, monkeypatch):
    monkeypatch.setenv(setting, "2")
    for steps in (1, 2):
        client.submit(toy(steps=steps), {}, ADA)
    with pytest.raises(RequestError, match=said):
        client.submit(toy(steps=3), {}, ADA)
    client.submit(toy(steps=2), {}, ADA)  # one that is there takes no more room
    if setting == quotas.MINE:
        client.submit(toy(steps=3), {}, BOB)
    if setting != quotas.RUNS:
        client.submit(toy(steps=4), {}, ADA, ahead=True)  # nobody waits for it


def test_too_much_work_is_one_sentence(toy, client, monkeypatch):
    monkeypatch.setenv(quotas.WORK, "30")
    client.submit(toy(steps=10, seeds=(0, 1, 2)))
    with pytest.raises(RequestError, match="replicas times steps: expected at most 30"):
        client.submit(toy(steps=11, seeds=(0, 1, 2)))
    monkeypatch.setenv(quotas.WORK, "many")
    with pytest.raises(RequestError, match="EXPLORER_MOST_WORK: expected a positive whole number"):
        client.submit(toy())


def test_a_clock_that_is_wrong_takes_no_run_from_its_owner(toy, store, client, monkeypatch):
    """A worker in another container, whose clock is an hour off in either direction."""
    elsewhere = Process(4711, "another place/1")
    for job, off in ((toy(steps=1), -3600.0), (toy(steps=2), 3600.0)):
        store.submit(job, {})
        with monkeypatch.context() as there:
            real = time.time
            there.setattr(time, "time", lambda off=off, real=real: real() + off)
            claim = take(store, elsewhere, job.id)
            claim.beat()
        store.sweep()
        assert client.run(job.id).state == "running"
        still = store.now() + 3600.0
        with monkeypatch.context() as later:
            later.setattr(store, "now", lambda still=still: still)
            store.sweep()
        assert client.run(job.id).state == "interrupted"


def test_the_stores_time_goes_on_and_is_no_process_s_own(store, toy, monkeypatch):
    claimed(store, toy())
    first = store.now()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    time.sleep(0.02)
    assert store.now() > first > 1e9
    assert (store.folder / ".clock").stat().st_mode & 0o777 == 0o600
    assert here().pid == os.getpid()


def test_a_waiting_run_says_its_place_and_how_long_it_will_wait(toy, client, store):
    """Two runs of 30 s are over, one runs, one waits before: 30 s, and half of 30 s."""
    for steps in (1, 2):
        claimed(store, toy(steps=steps)).finish("completed", [], worked=30.0)
    claimed(store, toy(steps=3))
    client.submit(toy(steps=4))
    last = toy(steps=5)
    client.submit(last)
    client.submit(toy(steps=6), {}, ADA, passing=True)  # nobody looks at it, so it takes no turn
    run = client.run(last.id)
    assert (run.ahead, run.beside, run.seconds_waiting) == (1, 1, 45.0)
    assert client.run(toy(steps=3).id).seconds_waiting is None


def test_a_view_says_what_each_run_is_for_and_in_which_order(toy, client, store):
    stages = {"b": Stage.POINT, "a": Stage.COARSE, "c": Stage.AHEAD}
    watching.look_on(store, ADA, stages)
    watching.look_on(store, BOB, ["c", "a"])
    with store.database.reading() as connection:
        rows = connection.execute("SELECT * FROM looking ORDER BY session, place").fetchall()
    assert [(row["run"], row["stage"]) for row in rows] == [
        *stages.items(),
        *(("c", Stage.FULL), ("a", Stage.FULL)),
    ]


def test_asking_again_passes_no_limit_by(toy, client, store, monkeypatch):
    """What has ended counts like any other, and a refusal removes nothing."""
    monkeypatch.setenv(quotas.MINE, "1")
    stopped, over = toy(steps=1), toy(steps=2)
    client.submit(stopped, {}, ADA)
    client.cancel(stopped.id)
    claimed(store, over).finish("completed", [])
    client.submit(toy(steps=3), {}, ADA)
    for ask in (client.submit, client.again):
        with pytest.raises(RequestError, match="queue: expected at most 1 waiting runs of yours"):
            ask(stopped, {}, ADA)
    with pytest.raises(RequestError, match="queue: expected at most 1 waiting runs of yours"):
        client.again(over, {}, ADA)
    assert client.run(over.id).state == "completed"
    assert client.submit(over, {}, ADA) == "cached"


def test_what_nobody_looks_at_counts_for_no_limit(toy, client, store, monkeypatch):
    monkeypatch.setenv(quotas.MINE, "1")
    for steps in (1, 2, 3):
        job = toy(steps=steps)
        watching.look_on(store, ADA, [job.id])
        client.submit(job, {}, ADA, passing=True)
    client.submit(toy(steps=4), {}, ADA, ahead=True)
    with pytest.raises(RequestError, match="waiting runs of yours"):
        client.submit(toy(steps=5), {}, ADA)


def test_runs_that_were_only_passed_are_bounded(toy, client, store, monkeypatch):
    """The oldest go; not what somebody looks at, nor what was asked for on purpose."""
    monkeypatch.setenv(quotas.PASSING, "2")
    jobs = [toy(steps=steps) for steps in range(1, 7)]
    for job in jobs:
        client.submit(job, {}, ADA, passing=job != jobs[0])
    claimed(store, jobs[2]).finish("completed", [])
    watching.look_on(store, ADA, [jobs[1].id])
    quotas.tidy(store)
    assert {run.job.id for run in client.runs()} == {job.id for job in (*jobs[:2], *jobs[4:])}


def test_what_was_only_passed_is_bounded_on_the_disk_too(toy, client, store, monkeypatch):
    """The oldest go that do not fit; equal arrays count once for each run that names them."""
    monkeypatch.setenv(quotas.DISK, "2")
    jobs = [toy(steps=steps) for steps in range(1, 6)]
    for number, job in enumerate(jobs):
        client.submit(job, {}, ADA, passing=job != jobs[0])
        claim = claimed(store, job)
        claim.keep("final", {"weights": np.full(100_000, number + 0.5)})
        claim.finish("completed", [])
    watching.look_on(store, ADA, [jobs[1].id])
    quotas.tidy(store)
    kept = {run.job.id for run in client.runs()}
    assert kept == {job.id for job in (*jobs[:2], *jobs[3:])}


def test_what_a_page_asked_for_stays_once_it_is_asked_for_on_purpose(toy, client):
    joined, cached = toy(), toy(steps=4)
    for job in (joined, cached):
        client.submit(job, by=ADA, passing=True)
    take(client.store, here(), cached.id).finish("completed", [Finished(4, "completed")])
    for how in ({"passing": True}, {"ahead": True}):
        client.submit(joined, by=ADA, **how), client.submit(cached, by=ADA, **how)
        assert all(client.run(job.id).passing for job in (joined, cached))
    assert [client.submit(job) for job in (joined, cached)] == ["joined", "cached"]
    assert not any(client.run(job.id).passing for job in (joined, cached))


def test_what_was_trained_ahead_and_asked_for_on_purpose_says_that_it_failed(toy, client):
    """A run that nobody looks at yet is removed where it fails."""
    client.submit(job := toy(), by=ADA, ahead=True)
    assert client.submit(job) == "joined"
    take(client.store, here(), job.id).finish("failed", [Failed(0, "the toy")], "the toy")
    assert client.run(job.id).error == "the toy"
