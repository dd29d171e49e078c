"""Ids outlive what is added to a paper, and end with what changes a run's meaning."""

import json
from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from engine.catalog import catalog
from engine.core.errors import StoreError
from engine.core.spec import Knob
from engine.runs import naming, reference
from engine.runs.exhibit import exhibits
from engine.runs.job import Job, request
from engine.service.claim import take
from engine.service.job_runner import perform
from engine.service.process import here
from tests.engine.toy import PAPER, ToySpec


@dataclass(frozen=True, kw_only=True)
class Wider(ToySpec):
    """The toy with one more knob, which its method uses."""

    extra: Annotated[float, Knob("Extra", "e", (0.0, 9.0), (0.0, 9.0))] = 0.5


@dataclass(frozen=True, kw_only=True)
class Other(ToySpec):
    """The toy with another default."""

    scale: Annotated[float, Knob("Scale", "s", (0.0, 9.0), (0.1, 4.0), axis=True)] = 2.0


def paper(spec, *more: str):
    (entry,) = PAPER.methods
    return replace(PAPER, spec=spec, methods=(replace(entry, uses=(*entry.uses, *more)),))


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """The toy's defaults are on file, as a shipped paper's are."""
    naming.record(PAPER, tmp_path)
    actual = naming.recorded(tmp_path)
    monkeypatch.setattr(naming, "recorded", lambda: actual)
    return actual


def test_a_knob_that_is_added_renames_no_run(toy, monkeypatch):
    before = toy({"scale": (1.0, 2.0)}, steps=5)
    monkeypatch.setitem(catalog(), "toy", paper(Wider, "extra"))
    assert toy({"scale": (1.0, 2.0)}, steps=5).id == before.id
    assert toy({"scale": (1.0, 2.0)}, steps=5, extra=0.5).id == before.id
    assert toy({"scale": (1.0, 2.0)}, steps=5, extra=0.6).id != before.id


def test_a_default_that_changes_gives_new_ids(toy, recorded, monkeypatch):
    before, two = toy(), toy(scale=2.0)
    monkeypatch.setitem(catalog(), "toy", paper(Other))
    assert toy().id == two.id != before.id
    assert toy(scale=1.0).id == before.id


def test_what_a_method_does_not_use_names_nothing(toy, monkeypatch):
    (entry,) = PAPER.methods
    few = replace(PAPER, methods=(replace(entry, uses=("steps",)),))
    monkeypatch.setitem(catalog(), "toy", few)
    assert toy(scale=3.0).id == toy().id != toy(steps=4).id


def test_the_engines_version_names_nothing(toy):
    assert replace(toy(), version="9.9.9").id == toy().id


def test_a_field_on_file_keeps_its_first_default(tmp_path):
    naming.record(paper(ToySpec), tmp_path)
    naming.record(paper(Other), tmp_path)
    naming.record(paper(Wider), tmp_path)
    assert naming.recorded(tmp_path)["toy"] == {**ToySpec().values(), "extra": 0.5}


def test_a_job_from_before_a_knob_stands_at_what_its_absence_meant(toy, recorded, monkeypatch):
    body = json.loads(toy().text())
    del body["values"]["scale"]
    body["values"]["gone"] = 3
    monkeypatch.setitem(catalog(), "toy", paper(Other))
    job = Job.read(json.dumps(body))
    assert job.values["scale"] == 1.0
    assert set(job.values) == set(Other().values())


def test_a_run_under_an_earlier_name_is_read_and_done_again_under_todays(toy, store, client):
    job = toy(steps=2)
    client.submit(job)
    perform(take(store, here()))
    with store.database.writing() as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        for table, column in (("events", "run"), ("artifacts", "run"), ("jobs", "id")):
            connection.execute(f"UPDATE {table} SET {column} = 'abc' WHERE {column} = '{job.id}'")
        connection.execute("UPDATE jobs SET sources = ''")
    (run,) = client.runs()
    assert (run.id, run.job.id, run.state, run.outdated) == ("abc", "abc", "completed", True)
    assert client.table("abc").gauges["count"].tolist() == [2.0]
    assert client.table("abc").run == "abc"
    assert client.again(run.job) == "new"
    assert [actual.id for actual in client.runs()] == [job.id]


def test_a_queued_run_under_an_earlier_name_is_done_under_it(toy, store, client):
    client.submit(toy(steps=2))
    with store.database.writing() as connection:
        connection.execute("UPDATE jobs SET id = 'abc'")
    assert perform(take(store, here())) == "completed"
    assert client.table("abc").gauges["count"].tolist() == [2.0]


def test_a_run_of_a_method_that_is_gone_can_be_read(toy, store, client, monkeypatch):
    job = toy()
    client.submit(job)
    monkeypatch.setitem(catalog(), "toy", replace(PAPER, methods=()))
    assert client.run(job.id).job.id == job.id


SHIPPED = [
    (slug, name)
    for slug in catalog()
    for name in exhibits(slug)
    if (reference.FOLDER / slug / f"{name}.json").exists()
]


@pytest.mark.parametrize(("slug", "name"), SHIPPED)
def test_every_shipped_id_is_what_todays_code_asks_for(slug, name):
    actual = reference.load(slug, name)
    assert {cell.run for cell in actual.cells if cell.run} <= {
        job.id for job in exhibits(slug)[name].jobs(True).values()
    }


@pytest.mark.parametrize("slug", sorted({slug for slug, _ in SHIPPED}))
def test_every_field_of_a_shipped_paper_is_on_file(slug):
    """`naming.record` adds what is missing: run `reproduce --full --write`, or call it."""
    assert set(catalog()[slug].spec().values()) <= set(naming.recorded()[slug])


def test_equal_requests_have_equal_ids_across_papers():
    jobs = [request(p.slug, e.name, p.datasets[0]) for p in catalog().values() for e in p.methods]
    assert len({job.id for job in jobs}) == len(jobs)


@pytest.mark.parametrize("text", ["null", "[]", "{", '{"mean": null}', '{"mean": {"bound": []}}'])
def test_damaged_defaults_are_one_sentence(tmp_path, text):
    (tmp_path / naming.FILE).write_text(text)
    with pytest.raises(StoreError, match="expected the defaults by which runs are named") as raised:
        naming.recorded(tmp_path)
    assert "\n" not in str(raised.value)
