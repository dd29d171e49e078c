"""What pages see: a run from its request to its arrays, from any number of places."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.errors import RequestError, StoreError
from engine.runs.events import Advanced, Measured, Produced, Spent, Started
from engine.runs.job import request
from engine.runs.results import collect
from engine.service import presence, starting
from engine.service.claim import take
from engine.service.client import Client, Run
from engine.service.job_runner import perform
from engine.service.process import here
from tests.engine.conftest import ROOT, claimed, ended, until

GAUGES = ("count", "product")


def done(client: Client, job) -> str:
    perform(claimed(client.store, job))
    return job.id


def test_a_request_becomes_a_run(toy, client):
    job = toy({"scale": (1, 2)}, seeds=(0, 1))
    assert client.submit(job, {"scale": 1.0}) == "new"
    assert client.submit(job) == "joined"
    waiting = client.run(job.id)
    assert (waiting.state, waiting.ahead, waiting.seconds) == ("queued", 0, None)
    assert waiting.job == job
    assert waiting.active
    assert np.isnan(client.table(job.id).seconds())
    perform(take(client.store, here()))
    run = client.run(job.id)
    assert (run.state, run.done, run.total, run.active) == ("completed", 3, 3, False)
    assert run.created <= run.started <= run.finished
    assert 0 < run.seconds <= run.finished - run.started
    assert client.table(job.id).seconds() == run.seconds
    assert client.submit(job) == "cached"
    assert [actual.id for actual in client.runs()] == [job.id]
    assert client.runs(paper="survival") == []


def test_two_clients_that_ask_for_the_same_see_one_run(toy, home, client):
    other = Client(home, workers=False)
    job = toy()
    assert client.submit(job) == "new"
    assert other.submit(job) == "joined"
    done_by = take(client.store, here())
    perform(done_by)
    assert other.run(job.id) == client.run(job.id)
    assert other.events(job.id) == client.events(job.id)
    other.close()


def test_events_come_after_a_number(toy, client):
    run = done(client, toy())
    events = client.events(run)
    assert [number for number, _ in events] == list(range(1, len(events) + 1))
    assert client.events(run, after=2) == events[2:]
    assert client.events(run, after=99) == []


def test_a_table_has_a_row_for_each_replica(toy, client):
    run = done(client, toy({"scale": (1, 2)}, seeds=(3, 5)))
    table = client.table(run)
    assert table.axes["scale"].tolist() == [1, 1, 2, 2]
    assert table.seeds.tolist() == [3, 5, 3, 5]
    assert table.gauges["product"].tolist() == [3, 3, 6, 6]
    assert table.epsilon.tolist() == [1, 1, 1, 1]
    assert client.table(run) is table


def test_a_table_grows_with_its_run(toy, client):
    job = toy({"scale": (1, 2)})
    claim = claimed(client.store, job)
    assert np.isnan(client.table(job.id).gauges["count"]).all()
    claim.append([Measured(7, (1,), {"count": (7.0,), "product": (None,)})])
    table = client.table(job.id)
    assert table.step.tolist() == [0, 7]
    np.testing.assert_array_equal(table.gauges["count"], [np.nan, 7.0])
    assert np.isnan(table.gauges["product"]).all()


values = st.none() | st.floats(-1e9, 1e9)
measured = st.lists(st.integers(0, 3), unique=True).flatmap(
    lambda rows: st.builds(
        Measured,
        st.integers(1, 9),
        st.just(tuple(rows)),
        st.fixed_dictionaries({name: st.tuples(*[values] * len(rows)) for name in GAUGES}),
    )
)
spent = st.builds(
    Spent, st.just(1), st.just((1, 2)), st.tuples(values, values), st.just((0.0, 0.0))
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reported=st.lists(st.lists(measured | spent, max_size=4), max_size=4))
def test_a_table_read_in_pieces_is_the_table_read_at_once(toy, client, reported):
    job = toy({"scale": (1, 2)}, seeds=(0, 1))
    claim = claimed(client.store, job)
    pieces = client.table(job.id)
    for some in reported:
        claim.append(some)
        pieces = client.table(job.id)
    client.delete(job.id)
    whole = collect(job, [event for some in reported for event in some])
    for name in GAUGES:
        np.testing.assert_array_equal(pieces.gauges[name], whole.gauges[name])
    np.testing.assert_array_equal(pieces.epsilon, whole.epsilon)
    np.testing.assert_array_equal(pieces.step, whole.step)


def test_arrays_have_nan_where_nothing_is_yet(toy, client):
    job = toy({"scale": (1, 2, 3)}, seeds=(0, 1))
    claim = claimed(client.store, job)
    assert client.arrays(job.id) == {}
    part = {"curve": np.ones((2, 3)), "count": np.array([4, 5]), "name": np.array(["a", "b"])}
    claim.append([Produced(1, "final-0001", claim.keep("final-0001", part), (4, 5))])
    arrays = client.arrays(job.id)
    assert arrays["curve"].shape == (6, 3)
    assert np.isnan(arrays["curve"][:4]).all()
    assert arrays["count"].tolist()[4:] == [4, 5]
    assert np.isnan(arrays["count"][:4]).all()
    assert arrays["name"].tolist() == ["", "", "", "", "a", "b"]
    rest = {"curve": np.zeros((4, 3)), "count": np.arange(4), "name": np.array(["c"] * 4)}
    claim.append([Produced(1, "final-0000", claim.keep("final-0000", rest), (0, 1, 2, 3))])
    assert client.arrays(job.id)["count"].tolist() == [0, 1, 2, 3, 4, 5]


def test_longer_names_of_a_later_chunk_are_kept_whole(toy, client):
    job = toy({"scale": (1, 2)})
    claim = claimed(client.store, job)
    for row, name in enumerate(("a", "longer")):
        digest = claim.keep(name, {"name": np.array([name])})
        claim.append([Produced(1, name, digest, (row,))])
    assert client.arrays(job.id)["name"].tolist() == ["a", "longer"]


def test_time_left_follows_the_pace(toy, client):
    job = toy()
    claim = claimed(client.store, job)
    assert client.run(job.id).seconds_left is None
    claim.append([Started(0, 3, 1), Advanced(1, 1, 4)])
    run = client.run(job.id)
    fixed = Run(**{**vars(run), "started": 100.0, "finished": 110.0})
    assert fixed.seconds_left == 30.0


def test_a_stop_is_seen_while_it_lasts(toy, client):
    job = toy()
    claimed(client.store, job)
    assert not client.run(job.id).stopping
    client.cancel(job.id)
    assert client.run(job.id).stopping


def test_a_stop_pressed_at_once_runs_nothing(toy, client):
    job = toy()
    client.submit(job)
    client.cancel(job.id)
    assert client.run(job.id).state == "cancelled"
    assert take(client.store, here()) is None


def test_what_is_deleted_is_gone(toy, client):
    run = done(client, toy())
    client.delete(run)
    assert list(client.store.artifacts.iterdir()) == []
    for look in (client.run, client.table, client.arrays, client.delete, client.cancel):
        with pytest.raises(RequestError, match="run: expected the id"):
            look(run)
    assert client.events(run) == []


# Workers


@pytest.mark.thorough
def test_a_worker_is_started_once_and_does_the_job(home, monkeypatch):
    """The real one, with the real paper, from a request to arrays."""
    monkeypatch.setenv("EXPLORER_IDLE_SECONDS", "1")
    monkeypatch.setenv("EXPLORER_THREADS", "1")
    client, other = Client(home), Client(home)
    job = request(
        "survival", "out_pert", "flchain", {"intervals": 10}, {"epsilon": (1.0, 4.0)}, (0, 1)
    )
    client.submit(job)
    until(lambda: presence.working(client.store, presence.device()))
    other.ensure_worker()
    client.ensure_worker()
    assert other._starter._process is None
    run = ended(client, job.id)
    assert run.state == "completed", run.error
    assert np.isfinite(client.table(job.id).gauges["mre"]).all()
    assert all(len(array) == 4 for array in client.arrays(job.id).values())
    assert client._starter._process.wait(300) == 0  # no app was there to stay for
    assert "Traceback" not in (home / "worker.log").read_text()
    client.close()
    other.close()


def test_a_worker_that_cannot_start_is_a_sentence(toy, home, monkeypatch):
    client = Client(home)
    monkeypatch.setattr(starting, "AT_ONCE", 600.0)
    monkeypatch.setattr(starting.sys, "executable", "/bin/false")
    client.submit(toy())
    client._starter._process.wait()
    for _ in range(2):
        with pytest.raises(StoreError, match=r"it ended at once with code 1; .*worker.log says"):
            client.run(toy().id)
    monkeypatch.setattr(starting, "AT_ONCE", 0.0)
    monkeypatch.setattr(starting.sys, "executable", "/bin/true")
    assert client.run(toy().id).state == "queued"  # another attempt
    client._starter._process.wait()
    client.close()


def test_an_interpreter_that_is_gone_is_a_sentence(toy, home, monkeypatch):
    client = Client(home)
    monkeypatch.setattr(starting.sys, "executable", "/no/such/python")
    with pytest.raises(StoreError, match="worker: expected to start a process, got"):
        client.submit(toy())
    client.close()


def test_a_large_log_begins_again(toy, home, monkeypatch):
    home.mkdir()
    (home / "worker.log").write_bytes(b"x" * 1_000_001)
    client = Client(home)
    monkeypatch.setattr(starting.sys, "executable", "/bin/true")
    client.submit(toy())
    client._starter._process.wait()
    assert (home / "worker.log").stat().st_size == 0
    client.close()


def test_a_log_that_grows_long_under_a_worker_begins_again(toy, client, home):
    """What is refused is told on the page, and is nothing for the log."""
    log = home / "worker.log"
    job, odd = toy(behaviour="raise"), toy(behaviour="refuse")
    for one in (job, odd):
        client.submit(one)
    log.write_bytes(b"x" * 1_000_001)
    assert perform(claimed(client.store, odd)) == "failed"
    assert log.stat().st_size == 1_000_001
    assert perform(claimed(client.store, job)) == "failed"
    text = log.read_text()
    assert len(text) < 20_000
    assert "Traceback" in text
    client.close()


def test_folders_of_the_environment_hold_in_the_worker_too(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXPLORER_DATA", "data")
    monkeypatch.delenv("EXPLORER_CACHE", raising=False)
    assert presence.places() == {"EXPLORER_DATA": str(tmp_path / "data")}


def test_a_registered_app_is_known(client):
    client.register_app()
    assert presence.apps(client.store)


PAGE = """
import sys
from tests.engine import toy
from engine.service.client import Client
toy.register()
client = Client(workers=False)
client.register_app()
run = sys.argv[1]
print(client.run(run).state, len(client.table(run).seeds), len(client.events(run)) > 0)
client.arrays(run)
heavy = ("torch", "lifelines", "sksurv", "sklearn", "scipy", "dp_accounting")
print(*[name for name in heavy if name in sys.modules])
"""


def test_reading_a_run_loads_nothing_heavy(toy, client, home):
    job = toy()
    perform(claimed(client.store, job))
    page = subprocess.run(
        [sys.executable, "-c", PAGE, job.id],
        cwd=ROOT,
        env={**os.environ, "EXPLORER_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert page.stdout.splitlines() == ["completed 1 True", ""]


def test_a_notice_is_read_by_whoever_comes_later(toy, client, home):
    client.submit(toy())
    assert client.store.notice() == ""
    client.close()
    (home / "store.sqlite").write_bytes(b"junk" * 2000)
    with pytest.raises(StoreError):
        client.runs()
    assert "is damaged" in Client(home, workers=False).store.notice()
