"""What ships is marked as today's only where today's code gives the same numbers."""

import json
import lzma
import math
import re
import shutil
from contextlib import closing
from dataclasses import replace

import pytest
import torch

from engine.cli import again, confirm, exhibits
from engine.cli.main import main
from engine.papers.mean.method import LAPLACE
from engine.runs import attacks, audits, changes, driver, met, naming, reference, shipped
from engine.runs.exhibit import Cell, Exhibit, Point, over, spread_of
from engine.runs.job import request
from engine.service import job_runner
from engine.service.client import Client
from tests.engine.toy import PAPER, Toy

RUN = next(
    run
    for run, ship in shipped.index(shipped.FOLDER).items()
    if (ship.job.paper, ship.job.method) == ("mean", "laplace") and ship.path.parent.name == "mean"
)
"""A shipped run of one chunk that takes a tenth of a second."""
ROW = "0cc33d118d05"
"""A shipped attack on a mean."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of one shipped run and of the attacks, which may be written."""
    there, here = naming.FOLDER, tmp_path / "reference"
    (here / "defaults" / "mean").mkdir(parents=True)
    for end in (".xz", ".npz"):
        shutil.copy(there / "defaults" / "mean" / f"{RUN}{end}", here / "defaults" / "mean")
    for name in ("audits.json", "met.json", "defaults.json"):
        shutil.copy(there / name, here)
    monkeypatch.setattr(shipped, "FOLDER", here / "defaults")
    monkeypatch.setattr(naming, "FOLDER", here)
    return here


@pytest.fixture
def renamed(monkeypatch):
    """Every source has another word in it than when the numbers were computed."""
    meaning = changes._meaning
    monkeypatch.setattr(changes, "_meaning", lambda module: f"{meaning(module)} renamed")
    changes._digest.cache_clear()
    yield
    monkeypatch.undo()
    changes._digest.cache_clear()


def confirmed(capsys, *arguments, code=0):
    assert main(["confirm", *arguments, "--json"]) == code
    return {item["name"]: item for item in json.loads(capsys.readouterr().out)["items"]}


def today(run):
    shipped.index.cache_clear()
    ship = shipped.index(shipped.FOLDER)[run]
    return ship.origin.sources == changes.sources(ship.job)


def lines(folder):
    return lzma.decompress((folder / f"defaults/mean/{RUN}.xz").read_bytes()).decode().splitlines()


@pytest.mark.thorough
def test_a_renaming_is_confirmed_and_only_the_digest_changes(folder, renamed, capsys):
    before = lines(folder)
    listed = confirmed(capsys, "--only", "runs", "--dry-run", code=1)
    assert listed[RUN]["outcome"] == confirm.STALE
    assert not today(RUN)
    actual = confirmed(capsys, "--only", "runs")
    assert actual[RUN]["outcome"] == confirm.WRITTEN
    assert re.search(r"chunk 0, \d+ replicas, 2 events, 4 arrays", actual[RUN]["words"])
    assert today(RUN)
    after = lines(folder)
    assert after[1:] == before[1:]
    assert {k for k, v in json.loads(after[0]).items() if v != json.loads(before[0])[k]} == {
        "sources"
    }
    assert confirmed(capsys, "--only", "runs")[RUN]["outcome"] == confirm.SAME


def test_a_run_with_another_number_is_left_alone(folder, renamed, capsys):
    head, *rest = lines(folder)
    body = json.loads(next(line for line in rest if "values" in line))
    name = next(iter(body["values"]))
    body["values"][name][7] = float(f"{body['values'][name][7] * 1.00001:.6g}")
    text = "\n".join([head, *(json.dumps(body) if "values" in li else li for li in rest)])
    (folder / f"defaults/mean/{RUN}.xz").write_bytes(lzma.compress(text.encode()))
    shipped.index.cache_clear()
    actual = confirmed(capsys, "--only", "runs", code=1)
    assert actual[RUN]["outcome"] == confirm.DIFFERS
    assert not today(RUN)


def test_a_run_with_another_array_is_left_alone(folder, renamed, capsys):
    import numpy as np

    path = folder / f"defaults/mean/{RUN}.npz"
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    name = next(name for name in arrays if name != shipped.ROWS and arrays[name].dtype.kind == "f")
    arrays[name] = np.nextafter(arrays[name], np.float32(9))
    np.savez_compressed(path, **arrays)
    actual = confirmed(capsys, "--only", "runs", code=1)
    assert actual[RUN]["outcome"] == confirm.DIFFERS
    assert name in actual[RUN]["words"]


def test_an_attack_is_compared_by_its_first_trainings(folder, renamed, capsys):
    actual = confirmed(capsys, "--only", "audits", "--item", ROW)
    assert actual[ROW]["outcome"] == confirm.WRITTEN
    assert not next(row for row in audits.rows() if row.run == ROW).outdated


@pytest.mark.parametrize(
    "change",
    [
        lambda row: {"first": (row.first[0] + 1e-5, *row.first[1:])},
        lambda row: {"epsilon_proved": row.epsilon_proved * 1.00001},
    ],
)
def test_an_attack_with_another_number_is_left_alone(folder, renamed, capsys, change):
    rows = [replace(r, **change(r)) if r.run == ROW else r for r in audits.rows()]
    audits.write(rows)
    attacks._read.cache_clear()
    actual = confirmed(capsys, "--only", "audits", "--item", ROW, code=1)
    assert actual[ROW]["outcome"] == confirm.DIFFERS
    assert next(row for row in audits.rows() if row.run == ROW).outdated


def mean_met():
    return next(row for row in met.rows() if row.paper == "mean")


def test_an_attack_on_what_is_published_is_compared_by_its_first_trainings(folder, renamed, capsys):
    asked = ("--only", "met", "--paper", "mean")
    actual = confirmed(capsys, *asked)[mean_met().run]
    assert actual["outcome"] == confirm.WRITTEN
    assert actual["words"].startswith(f"({len(mean_met().first)} numbers")
    assert not mean_met().outdated


@pytest.mark.parametrize("place", [0, 7, -2, -1])
def test_an_attack_on_what_is_published_with_another_number_is_left_alone(
    folder, renamed, capsys, place
):
    row = mean_met()
    first = list(row.first)
    first[place] = float(f"{first[place] * 1.00001:.6g}")
    met.write([replace(row, first=first)])
    attacks._read.cache_clear()
    actual = confirmed(capsys, "--only", "met", code=1)[row.run]
    assert actual["outcome"] == confirm.DIFFERS
    assert mean_met().outdated


def test_a_method_that_publishes_other_numbers_is_seen_by_its_attack(
    folder, renamed, capsys, monkeypatch
):
    """The last count of each published histogram is one more."""
    products = type(LAPLACE).products

    def other(self, batch, data, state):
        kept = dict(products(self, batch, data, state))
        kept["histogram"] = kept["histogram"].copy()
        kept["histogram"][:, -1] += 1.0
        return kept

    monkeypatch.setattr(type(LAPLACE), "products", other)
    actual = confirmed(capsys, "--only", "met", "--paper", "mean", code=1)[mean_met().run]
    assert actual["outcome"] == confirm.DIFFERS


def both(results):
    """The sum of both points' means."""
    return sum(results[0].mean("product", scale=scale) for scale in (2, 3)), math.nan


def total(results):
    """What a whole array comes to."""
    arrays = results[0].arrays()
    return float(arrays["scales"].sum()) if "scales" in arrays else math.nan, math.nan


@pytest.fixture
def table(toy, folder, monkeypatch):
    """A table that ships, of a job with two points in a chunk."""
    job = request("toy", "count", "flchain", {"steps": 3}, {"scale": [2, 3]}, (0, 1, 2, 3))
    mean = over("product")
    points = [
        *(Point("row", f"{s}", "ours", None, (job,), mean, at={"scale": s}) for s in (2, 3)),
        Point("row", "both", "ours", None, (job,), both),
        Point("row", "array", "ours", None, (job,), total),
    ]
    made = Exhibit(
        name="table1", title="Table 1", caption="", quantity="", better="up",
        points=lambda full: points,
    )  # fmt: skip
    known = {"table1": made}
    for module in (confirm, exhibits):
        monkeypatch.setattr(module, "exhibits", lambda slug: known if slug == PAPER.slug else {})
    monkeypatch.setattr(reference, "FOLDER", folder)
    run = job.id
    values = {"2": 6.0, "3": 9.0, "both": 15.0, "array": 40.0}
    kept = [
        Cell("row", at, "ours", None, value, 0.0 if len(at) == 1 else None, run)
        for at, value in values.items()
    ]
    reference.save("toy", "table1", kept, full=True, seconds=1.0, sources="old", folder=folder)
    return kept


def test_cells_that_follow_from_a_point_are_compared(table, capsys):
    actual = confirmed(capsys, "--paper", "toy")["table1"]
    assert (actual["outcome"], actual["words"][:13]) == (confirm.WRITTEN, "(1 cells of 4")
    assert main(["reproduce", "toy", "--list"]) == 0
    assert exhibits.TODAY in capsys.readouterr().out


def test_an_exhibit_of_an_earlier_version_is_listed(table, capsys):
    assert main(["reproduce", "toy", "--list"]) == 0
    assert exhibits.EARLIER in capsys.readouterr().out


def test_an_exhibit_with_another_number_is_left_alone(table, folder, capsys):
    table[0] = replace(table[0], ours=6.00001)
    reference.save("toy", "table1", table, full=True, seconds=1.0, sources="old", folder=folder)
    actual = confirmed(capsys, "--paper", "toy", code=1)["table1"]
    assert actual["outcome"] == confirm.DIFFERS
    assert reference.load("toy", "table1").sources == "old"


def test_code_that_computes_another_number_is_refused(table, capsys, monkeypatch):
    step = Toy.step

    def wrong(self, batch, data, state, rng):
        state, counted = step(self, batch, data, state, rng)
        return state, replace(counted, product=counted.product + 1e-5)

    monkeypatch.setattr(Toy, "step", wrong)
    actual = confirmed(capsys, "--paper", "toy", code=1)["table1"]
    assert actual["outcome"] == confirm.DIFFERS


def test_a_mean_over_jobs_of_which_arrays_are_read_needs_them_all(
    table, folder, capsys, monkeypatch
):
    """A job that is not computed has no arrays, so the mean of the others would look whole."""
    jobs = tuple(
        request("toy", "count", "flchain", {"steps": 3, "scale": scale}, {}, (0,))
        for scale in (2, 3)
    )

    def scales(results):
        kept = [result.arrays() for result in results]
        return spread_of([one["scales"][:, 0].astype(float) for one in kept if "scales" in one])

    points = [Point("row", "mean", "ours", None, jobs, scales)]
    made = Exhibit(
        name="table1", title="Table 1", caption="", quantity="", better="up",
        points=lambda full: points,
    )  # fmt: skip
    for module in (confirm, exhibits):
        monkeypatch.setattr(module, "exhibits", lambda slug: {"table1": made})
    for mean, outcome in ((2.5, confirm.WRITTEN), (2.0, confirm.DIFFERS)):
        cell = Cell("row", "mean", "ours", None, mean, 0.5**0.5, jobs[0].id)
        reference.save("toy", "table1", [cell], full=True, seconds=1.0, sources="old",
                       folder=folder)  # fmt: skip
        code = int(outcome != confirm.WRITTEN)
        assert confirmed(capsys, "--paper", "toy", code=code)["table1"]["outcome"] == outcome


DATA = ("flchain", "digits")


def shipped_on_two(monkeypatch, folder, wrong):
    """A table that ships, with a row for each of two data sets: one of them has another number."""
    jobs = {name: request("toy", "count", name, {"steps": 3}) for name in DATA}
    points = [Point(name, "mean", "", None, (job,), over("product")) for name, job in jobs.items()]
    made = Exhibit(
        name="table1", title="Table 1", caption="", quantity="", better="up",
        points=lambda full: points,
    )  # fmt: skip
    for module in (confirm, exhibits):
        monkeypatch.setattr(module, "exhibits", lambda slug: {"table1": made})
    monkeypatch.setattr(reference, "FOLDER", folder)
    kept = [
        Cell(name, "mean", "", None, 3.00001 if name == wrong else 3.0, None, job.id)
        for name, job in jobs.items()
    ]
    reference.save("toy", "table1", kept, full=True, seconds=7.0, sources="old")
    return jobs


@pytest.mark.parametrize("wrong", DATA)
def test_cells_of_every_data_set_are_compared(wrong, toy, folder, monkeypatch, capsys):
    """Code may change the numbers of one alone, and the quicker one must not stand for both."""
    shipped_on_two(monkeypatch, folder, wrong)
    actual = confirmed(capsys, "--paper", "toy", code=1)["table1"]
    assert actual["outcome"] == confirm.DIFFERS
    assert actual["words"].startswith(wrong)


def test_only_what_is_computed_otherwise_is_computed_again(
    toy, folder, monkeypatch, tmp_path, capsys
):
    """One data set has the number that ships, the other another."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    jobs = shipped_on_two(monkeypatch, folder, "digits")
    asked = ("reproduce", "toy", "table1", "--full", "--write", "--changed")
    assert main([*asked, "--json"]) == 0
    assert "digits: expected" in capsys.readouterr().err
    new = reference.load("toy", "table1")
    assert [cell.ours for cell in new.cells] == [3.0, 3.0]
    assert new.sources == changes.sources(*jobs.values())
    with closing(Client(workers=False)) as client:
        assert [run.id for run in client.runs()] == [jobs["digits"].id]


def test_what_changed_is_kept_or_not_asked_for(table, capsys):
    assert main(["reproduce", "toy", "table1", "--changed"]) == 2
    assert "--changed: expected --write" in capsys.readouterr().err


def test_what_takes_too_long_is_left_alone(table, capsys, monkeypatch):
    monkeypatch.setattr(again.time, "monotonic", iter(range(0, 10**9, 1000)).__next__)
    actual = confirmed(capsys, "--paper", "toy", code=1)["table1"]
    assert actual["outcome"] == confirm.UNKNOWN
    assert reference.load("toy", "table1").sources == "old"


def test_a_wrong_time_is_refused(capsys):
    assert main(["confirm", "--seconds", "0"]) == 2
    assert "seconds: expected a number above 0" in capsys.readouterr().err


def test_a_chunk_is_computed_on_as_many_threads_as_its_run_has(toy, monkeypatch):
    """Small tables are trained on one: some products add up otherwise on two."""
    seen = []

    def chunk(*arguments):
        seen.append(torch.get_num_threads())
        yield from ()

    before = torch.get_num_threads()
    monkeypatch.delenv("EXPLORER_THREADS", raising=False)
    monkeypatch.setattr(job_runner, "_threads", lambda: 2)
    monkeypatch.setattr(driver, "chunk", chunk)
    try:
        torch.set_num_threads(2)
        again.compute(toy(steps=2), [0], math.inf)
    finally:
        torch.set_num_threads(before)
    assert seen == [1]


@pytest.mark.thorough
def test_every_exhibit_that_ships_is_of_today(capsys):
    """Else run `python -m engine confirm`, or compute it again if its numbers have changed."""
    assert main(["reproduce", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["exhibits"]
    assert len(rows) >= 29
    assert [row for row in rows if row["computed by"] != exhibits.TODAY] == []
