"""Runs that ship: small files from which a client answers when the store holds nothing."""

import lzma
import math

import numpy as np
import pytest

from engine.cli import shipping
from engine.core.errors import RequestError
from engine.runs import shipped
from engine.runs.changes import sources
from engine.runs.events import Measured, Spent, Started
from engine.runs.job import request
from engine.runs.shipped import STEPS, Origin
from engine.service.claim import take
from engine.service.job_runner import perform
from engine.service.process import here


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of shipped runs; what is written there is found at once."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    return tmp_path / "shipped"


@pytest.fixture
def job(toy):
    return toy({"scale": (1, 2)}, seeds=(0, 1, 2), steps=100)


def ship(job, folder):
    """Trains a job in a store of its own and writes it."""
    assert shipping.write(job.text(), str(folder), sources(job)) == ("", "")
    shipped.index.cache_clear()


def test_a_run_that_ships_answers_until_there_is_one_here(job, client, folder):
    with pytest.raises(RequestError):
        client.run(job.id)
    ship(job, folder)
    run = client.run(job.id)
    assert (run.state, run.job, run.total, run.active) == ("completed", job, 200, False)
    assert run.shipped
    assert run.shipped.origin.device == "cpu"
    assert run.shipped.origin.software["engine"] == job.version
    there = client.table(job.id)
    assert client.table(job.id) is there
    assert client.runs() == []  # it is not the user's

    client.submit(job)
    perform(take(client.store, here(), job.id))
    assert client.run(job.id).shipped is None
    computed = client.table(job.id)
    assert set(computed.gauges) == set(there.gauges)
    for name, column in computed.gauges.items():
        np.testing.assert_allclose(there.gauges[name], column, rtol=1e-5)  # six figures
    np.testing.assert_array_equal(there.step, computed.step)
    np.testing.assert_array_equal(there.epsilon, computed.epsilon)
    for name, array in client.arrays(job.id).items():
        np.testing.assert_allclose(there.arrays()[name], array, rtol=1e-6)
    client.delete(job.id)
    assert client.run(job.id).shipped


def test_what_a_live_run_has_finished_draws_over_what_ships(job, client, folder):
    ship(job, folder)
    before = client.table(job.id)
    client.submit(job)
    claim = take(client.store, here(), job.id)
    claim.append([Started(0, 100, 6), Measured(1, (0,), {"count": (7.0,), "product": (8.0,)})])
    assert client.table(job.id).gauges["count"].tolist() == before.gauges["count"].tolist()
    claim.append([Spent(1, (0,), (1.0,), (0.0,))])
    during = client.table(job.id)
    assert during.gauges["count"].tolist() == [7.0, *before.gauges["count"][1:]]
    assert [type(event) for _, event in client.events(job.id)] == [Started, Measured, Spent]


def test_it_can_be_run_again_though_the_store_holds_nothing(job, client, folder):
    ship(job, folder)
    client.again(job)
    assert client.run(job.id).state == "queued"


def test_a_course_is_thinned_and_keeps_its_ends(job, client, folder):
    ship(job, folder)
    actual = [event for _, event in client.events(job.id)]
    for first in (0, 4):  # the toy's chunks are of four
        steps = [e.step for e in actual if isinstance(e, Measured) and e.replicas[0] == first]
        assert (len(steps), steps[0], steps[-1]) == (STEPS, 1, 100)
        assert steps == sorted(steps)
    assert sum(len(event.replicas) for event in actual if isinstance(event, Spent)) == 6
    assert client.events(job.id, after=len(actual)) == []


def test_of_many_repetitions_ten_keep_their_course_and_all_the_last_measurement(toy):
    many = toy({"scale": (1, 2)}, seeds=tuple(range(12)), steps=3)
    rows = tuple(range(6, 18))  # a chunk across both settings
    told = [Measured(step, rows, {"count": tuple(step + r / 100 for r in rows)}) for step in (1, 3)]
    early, last = shipped.thinned(told, many)
    assert early.replicas == (6, 7, 8, 9, *range(12, 18))
    assert early.values["count"] == pytest.approx([1 + r / 100 for r in early.replicas])
    assert last == shipped.rounded(told[-1])


@pytest.mark.thorough
def test_large_arrays_keep_fewer_repetitions_and_then_none(job):
    rng = np.random.default_rng(0)

    def rows(width):
        return shipped.fitting({"small": np.ones((6, 2)), "wide": rng.normal(size=(6, width))}, job)

    assert rows(100)[0] == [0, 1, 2, 3, 4, 5]
    kept, arrays = rows(10_000)  # 40 kB a row: two of six fit
    assert kept == [0, 3]
    assert arrays["wide"].shape == (2, 10_000)
    kept, arrays = rows(100_000)
    assert set(arrays) == {"small"}


def test_what_no_page_draws_is_the_first_that_does_not_ship():
    """Course and filters do not fit together; the filters are smaller, and no chart shows them."""
    job = request("yesiwell", "pcdbn", "yesiwell", {}, {}, range(1))
    rng = np.random.default_rng(0)
    parts = {"course": rng.normal(size=(1, 20_000)), "filters": rng.normal(size=(1, 15_000))}
    assert set(shipped.fitting(parts, job)[1]) == {"course"}
    other = {"course": parts["course"], "calibration": parts["filters"]}
    assert set(shipped.fitting(other, job)[1]) == {"calibration"}


def test_the_same_run_gives_the_same_bytes(job, client, folder, tmp_path):
    origin = Origin(
        job=job.text(), device="cpu", threads=1, seconds=1.0, finished=0.0, total=1,
        diverged=(), sources="", software={},
    )  # fmt: skip
    reported = [Measured(1, (0,), {"count": (1 / 3,), "product": (None,)})]
    first = shipped.save(origin, reported, {"a": np.ones((6, 1))}, tmp_path / "one")
    second = shipped.save(origin, reported, {"a": np.ones((6, 1))}, tmp_path / "two")
    assert first.read_bytes() == second.read_bytes()
    actual = shipped.index(tmp_path / "one")[job.id].events()
    assert actual[0] == Measured(1, (0,), {"count": (0.333333,), "product": (None,)})


def test_what_older_code_computed_is_outdated_and_trained_again(job, client, folder, monkeypatch):
    ship(job, folder)
    wanted = {job.id: job}
    assert not client.run(job.id).outdated
    assert shipping.missing(wanted, folder) == {}
    monkeypatch.setattr("engine.service.run.sources", lambda job: "another")
    monkeypatch.setattr(shipping, "sources", lambda job: "another")
    assert client.run(job.id).outdated
    assert shipping.missing(wanted, folder) == wanted


def test_files_that_no_page_opens_with_are_named(job, toy, folder):
    ship(job, folder)
    assert shipping.unwanted({job.id: job}, folder) == []
    other = toy(steps=4)
    actual = shipping.unwanted({other.id: other}, folder)
    assert [path.name for path in actual] == [f"{job.id}.npz", f"{job.id}.xz"]


def test_a_run_that_fails_is_a_sentence(toy, folder):
    job = toy(behaviour="raise")
    assert shipping.write(job.text(), str(folder), sources(job))[0].startswith("toy count: run")
    assert not list(folder.glob("*/*"))


def test_a_damaged_file_ships_nothing(job, client, folder):
    ship(job, folder)
    (folder / "toy" / f"{job.id}.xz").write_bytes(b"no LZMA")
    shipped.index.cache_clear()
    with pytest.raises(RequestError):
        client.run(job.id)


@pytest.mark.thorough
def test_the_project_s_own_files_can_be_read_and_are_small():
    actual = shipped.index(shipped.FOLDER)
    paths = [path for path in shipped.FOLDER.rglob("*") if path.is_file()]
    whole = [path for path in paths if path.suffix == ".xz" and path.parent != shipped.FOLDER]
    assert sum(one.held is None for one in actual.values()) == len(whole)
    for path in shipped.FOLDER.glob("*.xz"):  # every line of a file that many share can be read
        lines = len(lzma.decompress(path.read_bytes()).splitlines())
        assert sum(one.path == path for one in actual.values()) == lines
    every = [path for path in shipped.FOLDER.parent.rglob("*") if path.is_file()]
    blocks = sum(math.ceil(path.stat().st_size / 4096) for path in every)  # as disks keep files
    assert 4096 * blocks < 7.8 * 2**20
    for one in actual.values():
        assert any(isinstance(event, Measured) for event in one.events())
        rows, arrays = one.arrays()
        assert all(len(array) == len(rows) for array in arrays.values())


def test_an_array_that_is_the_same_in_every_replica_is_kept_once(job):
    same, other = np.tile(np.arange(5.0), (6, 1)), np.arange(30.0).reshape(6, 5)
    rows, kept = shipped.fitting({"same": same, "other": other}, job)
    assert rows == list(range(6))
    assert kept["same"].shape == (1, 5)
    assert kept["other"].shape == (6, 5)


def packs(job, folder):
    """Trains a job and writes it into the file that coarse curves share."""
    error, line = shipping.write(job.text(), "", sources(job))
    assert error == ""
    shipping.pack({job.id: job}, {job.id: line}, folder)
    return folder / f"{job.paper}.xz"


def test_a_coarse_curve_ships_in_a_shared_file_with_the_same_numbers(job, client, folder):
    path = packs(job, folder)
    assert [one.name for one in folder.rglob("*") if one.is_file()] == [path.name]
    run = client.run(job.id)
    assert (run.state, run.job, run.shipped.held is not None) == ("completed", job, True)
    there = client.table(job.id)
    assert client.arrays(job.id) == {}
    assert run.id not in {one.id for one in client.at_hand()}  # it is no whole run
    client.submit(job)
    perform(take(client.store, here(), job.id))
    computed = client.table(job.id)
    for name, column in computed.gauges.items():
        np.testing.assert_allclose(there.gauges[name], column, rtol=1e-5)  # six figures
    np.testing.assert_array_equal(there.epsilon, computed.epsilon)
    np.testing.assert_array_equal(there.step, computed.step)


def test_a_shared_file_is_the_same_when_it_is_written_again_and_loses_what_nobody_wants(
    job, toy, folder
):
    path = packs(job, folder)
    before, wanted = path.read_bytes(), {job.id: job}
    assert shipping.missing(wanted, folder) == {}
    shipping.pack(wanted, {}, folder)
    assert path.read_bytes() == before
    [ship] = shipped.packed(path)
    shipped.mark([ship], {job.id: "older"})
    assert shipping.missing(wanted, folder) == wanted  # other sources: it is stale
    other = toy({"scale": (3,)}, seeds=(0,), steps=100)
    shipping.pack({other.id: other}, {}, folder)
    assert not path.exists()


def test_a_damaged_shared_file_is_as_if_it_did_not_ship(job, client, folder):
    path = packs(job, folder)
    for content in (
        b"",
        b"x",
        lzma.compress(b"{}"),
        lzma.compress(b"\xff"),
        path.read_bytes()[:-9],
    ):
        path.write_bytes(content)
        shipped.index.cache_clear()
        with pytest.raises(RequestError):
            client.run(job.id)
