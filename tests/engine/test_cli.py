"""The command line: the same engine and store, one sentence for what is wrong."""

import csv
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine.catalog import catalog
from engine.cli import exhibits, running, work
from engine.cli.export import command
from engine.cli.main import main
from engine.cli.shared import plain, seeds
from engine.core.errors import RequestError
from engine.runs import reference
from engine.runs.changes import sources
from engine.runs.exhibit import Exhibit, Point, over
from engine.runs.job import Job, request
from engine.service.job_runner import perform
from engine.service.process import Process
from engine.service.run import OUTDATED
from tests.audit import planted
from tests.engine.conftest import ROOT, claimed, once
from tests.engine.toy import PAPER, guarantee

RUN = ["run", "toy", "count", "--sweep", "scale=1,2", "--seeds", "2"]


def said(capsys, *arguments: str, code: int = 0) -> str:
    """What a command prints when it ends with the code expected."""
    assert main(arguments) == code
    out, error = capsys.readouterr()
    if code:
        assert len(error.splitlines()) == 1
        assert "Traceback" not in error
        return error.strip()
    return out


def parsed(capsys, *arguments: str):
    return json.loads(said(capsys, *arguments, "--json"))


# list and price


def test_list_tells_names_bounds_and_defaults(toy, capsys):
    body = parsed(capsys, "list")
    papers = {paper["slug"]: paper for paper in body["papers"]}
    assert {"toy", "survival"} <= set(papers)
    survival = papers["survival"]
    methods = [method["name"] for method in survival["methods"]]
    assert {"non_private", "cox", "out_pert", "obj_pert"} <= set(methods)
    assert survival["knobs"]["epsilon"]["bounds"] == [0.001, 1000.0]
    assert survival["knobs"]["epsilon"]["axis"] is True
    assert survival["knobs"]["intervals"]["default"] == 200
    assert survival["knobs"]["intervals"]["opens"] == 10
    assert survival["knobs"]["calibration"]["options"] == ["paper", "rigorous"]
    gauges = survival["methods"][0]["gauges"]
    assert {"mre", "mre_beta", "concordance", "brier", "cox_error"} <= set(gauges)
    assert {card["name"] for card in body["datasets"]} >= {"flchain", "wichert"}


def test_list_prints_tables_of_one_paper(toy, capsys):
    text = said(capsys, "list", "toy")
    for word in ("Counting", "0 to 9", "count, raise", "Steps taken", "flchain", "embedded"):
        assert word in text
    assert "out_pert" not in text


def test_a_price_is_the_card_of_a_point(capsys, home):
    card = parsed(capsys, "price", "survival", "out_pert", "--set", "epsilon=0.5")
    assert card["dataset"] == "flchain"
    assert card["records"] == 7874
    guarantee = card["guarantee"]
    assert guarantee["epsilon_claimed"] == guarantee["epsilon_proved"] == 0.5
    assert {"status", "delta", "relation", "unit", "reasons"} <= set(guarantee)
    assert not home.exists()  # nothing was stored, and nothing read


def test_a_price_that_cannot_be_proved_is_null(capsys):
    card = parsed(capsys, "price", "survival", "non_private")
    assert card["guarantee"]["status"] == "not_private"
    assert card["guarantee"]["epsilon_proved"] is None


def test_prices_of_a_sweep_come_point_by_point(toy, capsys):
    body = parsed(capsys, "price", "toy", "count", "--sweep", "epsilon=0.5,2")
    prices = [(point["epsilon"], point["guarantee"]["epsilon_proved"]) for point in body["points"]]
    assert prices == [(0.5, 0.5), (2.0, 2.0)]
    text = said(capsys, "price", "toy", "count", "--sweep", "epsilon=0.5,2")
    for word in ("Counting, epsilon = 0.5", "Proved", "one record replaced", "proved by playing"):
        assert word in text


# run


def test_a_run_is_one_object_and_then_comes_from_the_store(toy, capsys):
    first = parsed(capsys, *RUN)
    assert set(first) == {"run", "seconds", "cached", "outdated", "warnings", "replicas"}
    assert first["cached"] is False
    assert [(r["scale"], r["seed"]) for r in first["replicas"]] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert first["replicas"][2]["gauges"] == {"count": 3.0, "product": 6.0}
    assert first["replicas"][0]["guarantee"]["status"] == "proved"
    second = parsed(capsys, *RUN)
    assert second == {**first, "cached": True}


def test_what_an_earlier_version_computed_is_marked_until_it_is_trained_again(
    toy, capsys, client, tmp_path
):
    assert parsed(capsys, *RUN)["outdated"] is False
    assert OUTDATED not in said(capsys, "runs")
    (run,) = client.runs()
    with client.store.changing() as connection:
        connection.execute("UPDATE jobs SET sources = 'an earlier one'")
    body = parsed(capsys, *RUN)
    assert (body["cached"], body["outdated"]) == (True, True)
    (warning,) = body["warnings"]
    assert f"Run {run.id} was {OUTDATED}" in warning
    assert said(capsys, *RUN).count(OUTDATED) == 1
    listed = said(capsys, "runs")
    assert f"{OUTDATED.capitalize()}: use `run` with --again" in listed
    assert main(["export", run.id, "--to", str(tmp_path / "out")]) == 0
    assert OUTDATED in capsys.readouterr().err
    outer = tmp_path / "out" / "released"
    assert json.loads((outer / "about.json").read_text())["outdated"] is True
    assert OUTDATED in (outer / "README.md").read_text()
    again = parsed(capsys, *RUN, "--again")
    assert (again["cached"], again["outdated"], again["warnings"]) == (False, False, [])
    assert OUTDATED not in said(capsys, "runs")


def test_a_release_is_not_trained_again(toy, capsys, tmp_path):
    told = ("run", "toy", "count", "--release", "--again", "--to", str(tmp_path / "out"))
    assert said(capsys, *told, code=2).startswith("again: expected a run, got a release")


def test_a_run_is_a_table_of_means(toy, capsys):
    text = said(capsys, *RUN)
    assert "2 seeds, in" in text
    assert "6 ± 0" in text
    assert "from the store" in said(capsys, *RUN)


def test_what_diverges_is_null(toy, capsys):
    body = parsed(capsys, *RUN, "--set", "behaviour=diverge")
    assert [r["gauges"]["product"] for r in body["replicas"]] == [None, 3, 6, 6]
    assert "3" in said(capsys, *RUN, "--set", "behaviour=diverge")


def test_a_failed_run_is_one_sentence(toy, capsys, home):
    error = said(capsys, *RUN, "--set", "behaviour=raise", code=1)
    assert error.endswith("ValueError: the toy is broken")
    assert "Traceback" in (home / "worker.log").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "no", "count"], "paper: expected one of .*, got 'no'"),
        (["run", "toy", "no"], "method: expected one of count, got 'no'"),
        (["run", "toy", "count", "--dataset", "no"], "dataset: expected one of flchain, digits"),
        (["run", "toy", "count", "--set", "no=1"], "no: expected one of the fields"),
        (
            ["run", "enadpp", "psgd", "--dataset", "digits", "--set", "calibration=paper"],
            "calibration: expected a knob that psgd uses",
        ),
        (
            ["price", "enadpp", "psgd", "--dataset", "digits", "--sweep", "alpha_min=0.1,0.2"],
            "alpha_min: expected a",
        ),
        (["run", "toy", "count", "--set", "scale"], "--set: expected FIELD=VALUE, got 'scale'"),
        (["run", "toy", "count", "--set", "scale=10"], "scale: expected a number from 0 to 9"),
        (["run", "toy", "count", "--set", "scale=inf"], "scale: expected a number from 0 to 9"),
        (["run", "toy", "count", "--set", "scale=x"], "scale: expected a number .*, got 'x'"),
        (["run", "toy", "count", "--sweep", "steps=1,2"], "steps: expected an axis to sweep"),
        (["run", "toy", "count", "--sweep", "scale=1,,2"], "scale: expected a number .*, got ''"),
        (["run", "toy", "count", "--set", "scale=1", "--set", "scale=2"], "expected one --set"),
        ([*RUN, "--set", "scale=3"], "scale: expected a value or a sweep, got both"),
        ([*RUN, "--set", "steps=60000", "--set", "pause=9"], "pause: expected at most 1"),
        (["run", "toy", "count", "--seeds", "x"], "seeds: expected a count .*, got 'x'"),
        (["run", "toy", "count", "--seeds", "0"], "seeds: expected a count .*, got '0'"),
        (["run", "toy", "count", "--seeds=-1,"], "seeds: expected whole numbers"),
        (["run", "toy"], "^METHOD: expected a value, got none$"),
        (
            ["audit", "toy", "count", "--sees", "y"],
            "^--sees: expected one of everything, published, got 'y'$",
        ),
        (["runs", "--limit"], "^--limit: expected a value, got none$"),
        (["table", "add", "x.csv", "--accept=1"], "^--accept: expected no value, got '1'$"),
        (["run", "toy", "count", "--se", "x"], "^--se: expected one of --set, --seeds, got --se$"),
        (["run", "toy", "count", "--no"], "expected the arguments that --help lists, got --no"),
        (["walk"], "command: expected one of .*list, price, table, run, .*, got 'walk'"),
        (["price", "toy", "count", "--set", "epsilon=-1"], "epsilon: expected a number from"),
        (["list", "no"], "paper: expected one of"),
        (["export", "no", "--to", "x"], "run: expected the id of a run"),
        (["delete", "no"], "run: expected the id of a run"),
        (["stop", "no"], "run: expected the id of a run"),
        (["runs", "--limit", "many"], "--limit: expected a whole number, got 'many'"),
        (["runs", "--limit", str(2**63)], "--limit: expected a number from 1 to .*, got '?9223"),
        (["runs", "--paper", "\ud800"], "arguments: expected text in UTF-8, got"),
        (["export", "\ud800", "--to", "x"], "arguments: expected text in UTF-8, got"),
        (["reproduce", "no", "table2"], "paper: expected one of"),
        (["reproduce", "toy", "no"], "exhibit: expected one of none, there is none yet, got 'no'"),
        (["reproduce", "toy", "table1", "--write"], "--write: expected --full"),
    ],
)
def test_a_wrong_request_is_one_sentence(toy, capsys, arguments, says):
    assert re.search(says, said(capsys, *arguments, code=2))


def test_no_command_prints_the_help(home, capsys):
    assert main([]) == 2
    assert "reproduce" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "numbers"), [("3", (0, 1, 2)), ("0,3,5", (0, 3, 5)), ("7,", (7,)), (" 1, 2", (1, 2))]
)
def test_seeds_are_a_count_or_a_list(text, numbers):
    assert seeds(text) == numbers


@pytest.mark.parametrize("text", ["", ",", "1.5", "100001", "a,b"])
def test_other_seeds_are_wrong(text):
    with pytest.raises(RequestError, match="seeds"):
        seeds(text)


def under_way(client) -> bool:
    """Whether any run has begun."""
    return any(client.events(run.id) for run in client.runs())


def test_control_c_cancels_and_says_so(toy, capsys, client):
    once(lambda: under_way(client), lambda: os.kill(os.getpid(), signal.SIGINT))
    error = said(capsys, *RUN, "--set", "steps=50000", "--set", "pause=0.01", code=130)
    assert error == "stopped"
    assert client.runs()[0].state == "cancelled"


def test_a_run_that_another_process_does_is_followed(toy, capsys, client, monkeypatch):
    """The other process dies once the command has waited for it, and the command takes over."""
    job = toy({"scale": (1, 2)}, seeds=(0, 1))
    client.submit(job)
    elsewhere = Process(1, "another machine/1")
    with client.store.database.writing() as connection:
        connection.execute(
            "UPDATE jobs SET state = 'running', started = 1, pid = ?, born = ?, beat = ?",
            (elsewhere.pid, elsewhere.born, client.store.now()),
        )

    waited = []

    def die(seconds):
        waited.append(seconds)
        with client.store.database.writing() as connection:
            connection.execute("UPDATE jobs SET beat = 0")
        time.sleep(seconds)

    monkeypatch.setattr(work, "time", SimpleNamespace(sleep=die))
    body = parsed(capsys, *RUN)
    assert waited
    assert body["run"] == job.id
    assert body["replicas"][0]["gauges"]["count"] == 3.0


def test_a_run_stopped_elsewhere_is_stopped_here(toy, capsys, client):
    job = toy({"scale": (1, 2)}, seeds=(0, 1), steps=50_000, pause=0.01)
    once(lambda: under_way(client), lambda: client.cancel(job.id))
    said(capsys, *RUN, "--set", "steps=50000", "--set", "pause=0.01", code=130)


def test_progress_is_drawn_on_a_terminal_only(toy, capsys, monkeypatch):
    with work.progress("toy") as report:
        report(1, 2)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with work.progress("toy") as report:
        report(1, 2)
    assert "toy" in capsys.readouterr().err


# runs, stop, delete, export


def test_runs_are_listed_stopped_and_deleted(toy, capsys, client):
    done, waiting = toy(), toy(steps=9)
    perform(claimed(client.store, done))
    client.submit(waiting)
    listed = parsed(capsys, "runs")["runs"]
    assert [(run["run"], run["state"]) for run in listed] == [
        (waiting.id, "queued"),
        (done.id, "completed"),
    ]
    assert listed[0]["values"]["steps"] == 9
    assert done.id in said(capsys, "runs", "--paper", "toy", "--limit", "5")
    assert parsed(capsys, "runs", "--paper", "survival")["runs"] == []
    said(capsys, "stop", waiting.id)
    assert client.run(waiting.id).state == "cancelled"
    said(capsys, "delete", waiting.id, done.id)
    assert client.runs() == []


def test_an_export_needs_no_store(toy, capsys, client, tmp_path):
    job = toy({"scale": (1, 2)}, seeds=(0, 1), behaviour="diverge")
    perform(claimed(client.store, job))
    folder = tmp_path / "out" / "deep"
    names = {
        path.removeprefix(f"{folder}/")
        for path in said(capsys, "export", job.id, "--to", str(folder)).split()
    }
    outer, inner = folder / "released", folder / "raw-do-not-publish"
    files = {"README.md", "results.csv", "arrays.npz"}
    assert names == {
        f"released/{name}" for name in files | {"job.json", "card.json", "about.json"}
    } | {f"raw-do-not-publish/{name}" for name in files}
    assert Job.read((outer / "job.json").read_text()) == job
    measures = {}
    for place in (outer, inner):
        with (place / "results.csv").open() as file:
            measures[place] = list(csv.DictReader(file))
    assert [row["product"] for row in measures[inner]] == ["", "3.0", "6.0", "6.0"]
    assert "product" not in measures[outer][0]
    assert [row["count"] for row in measures[outer]] == ["3.0"] * 4
    assert measures[outer][0]["status"] == "proved"
    about = json.loads((outer / "about.json").read_text())
    assert about["versions"]["torch"].startswith("2.")
    assert (about["sources"], about["run"]) == (sources(job), job.id)
    assert set(about["arrays"]) == {"scales"}
    assert set(about["measures"]) == {"count"}
    cards = json.loads((outer / "card.json").read_text())
    assert [point["scale"] for point in cards["points"]] == [1.0, 2.0]
    assert cards["dataset"]["name"] == "flchain"
    assert "events" not in cards["dataset"]
    assert [point["mu"] for point in cards["points"]] == [None, None]  # Laplace noise has none
    whole = cards["points"][0]["curves"]
    assert (whole["epsilons"][4], whole["deltas"][4]) == (1.0, 0.0)  # the budget of the first point
    assert whole["deltas"][3] > 0.0
    assert whole["misses"][0] == 1.0
    entry = cards["points"][0]["registry"]["entry"]["deployment"]
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    with np.load(outer / "arrays.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"scales"}
        assert arrays["scales"].shape == (4, 2)
    with np.load(inner / "arrays.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"secrets", "unnamed"}  # what nobody has declared is raw
    assert command(job) in (outer / "README.md").read_text()


def test_an_export_without_a_proof_releases_nothing(toy, capsys, client, tmp_path, monkeypatch):
    job = toy()
    perform(claimed(client.store, job))
    bare = replace(
        job.entry(),
        guarantee=lambda *a: replace(guarantee(*a), status="heuristic", epsilon_proved=None),
    )
    monkeypatch.setattr("engine.runs.job.Job.entry", lambda self: bare)
    said(capsys, "export", job.id, "--to", str(tmp_path))
    outer = tmp_path / "released"
    assert not (outer / "arrays.npz").exists()
    assert "count" not in (outer / "results.csv").read_text()
    assert json.loads((outer / "about.json").read_text())["arrays"] == {}
    point = json.loads((outer / "card.json").read_text())["points"][0]
    assert (point["mu"], point["curves"]) == (None, None)
    assert "No finite ε is proved" in (outer / "README.md").read_text()
    with np.load(tmp_path / "raw-do-not-publish" / "arrays.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"scales", "secrets", "unnamed"}


def test_what_a_method_prints_does_not_mix_with_json(toy, capsys, monkeypatch):
    monkeypatch.setattr("tests.engine.toy.behave", lambda spec: print("loss 3.2"))
    toy()
    assert main(["run", "toy", "count", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["replicas"][0]["gauges"]["count"] == 3.0
    assert "loss 3.2" in shown.err


def test_an_export_onto_a_file_is_a_sentence(toy, capsys, client, tmp_path):
    perform(claimed(client.store, toy()))
    (tmp_path / "file").touch()
    assert "expected a folder that can be written" in said(
        capsys, "export", toy().id, "--to", str(tmp_path / "file"), code=2
    )


@pytest.mark.parametrize(
    ("axes", "chosen", "values"),
    [
        ({}, (0,), {}),
        ({"scale": (0.1, 1 / 3)}, (7,), {"steps": 9}),
        ({"epsilon": (1, 2), "scale": (3,)}, (0, 1, 2), {"behaviour": "spin", "pause": 1e-9}),
    ],
)
def test_the_command_of_a_job_asks_for_it(toy, monkeypatch, axes, chosen, values):
    job = toy(axes, chosen, **values)
    asked = []
    monkeypatch.setattr(running, "run_job", lambda arguments: asked.append(arguments) or 0)
    assert main(shlex.split(command(job))[3:]) == 0
    again = running.requested(asked[0], running.seeds(asked[0].seeds))
    assert again.id == job.id


# reproduce


@pytest.fixture
def exhibit(toy, monkeypatch):
    """A table of one cell, computed from one job of the toy."""

    def points(full):
        job = request("toy", "count", "flchain", {"steps": 6 if full else 3}, {"scale": [2]})
        return [
            Point("row", "2", "as printed", 5.0, (job,), lambda results: (
                results[0].mean("product", scale=2.0), 0.25), published_spread=0.75),
            Point("row", "3", "as printed", None, (job,), lambda results: (math.nan, math.nan)),
        ]  # fmt: skip

    made = Exhibit(
        name="table1",
        title="Table 1",
        caption="A caption.",
        quantity="Product",
        better="up",
        digits=2,
        points=points,
    )
    monkeypatch.setattr(exhibits, "exhibits", lambda slug: {"table1": made} if PAPER else {})
    return made


def test_an_exhibit_is_theirs_beside_ours(exhibit, capsys):
    body = parsed(capsys, "reproduce", "toy", "table1")
    first, second = body["cells"]
    assert (first["published"], first["ours"], first["ratio"]) == (5.0, 6.0, 1.2)
    assert second["ours"] is None
    assert body["full"] is False
    assert parsed(capsys, "reproduce", "toy", "table1", "--full")["cells"][0]["ours"] == 12.0
    text = said(capsys, "reproduce", "toy", "table1")
    for word in ("Table 1. A caption.", "5.00", "6.00", "0.25", "0.75", "1.200"):
        assert word in text


def test_an_exhibit_can_be_kept(exhibit, capsys, monkeypatch, tmp_path):
    kept = []
    monkeypatch.setattr(reference, "save", lambda *args, **options: kept.append((args, options)))
    said(capsys, "reproduce", "toy", "table1", "--full", "--write")
    ((slug, name, cells), options) = kept[0]
    assert (slug, name, len(cells), options["full"]) == ("toy", "table1", 2, True)
    assert options["seconds"] > 0


def test_all_exhibits_are_computed_and_one_that_fails_is_named(exhibit, capsys, monkeypatch):
    """A job without a result leaves its cells empty; an exhibit without any is an error."""
    broken = {"only": request("toy", "count", "flchain", {"behaviour": "raise"}, {"scale": [2]})}
    half = {**broken, "other": request("toy", "count", "flchain", {"steps": 4}, {"scale": [2]})}

    def pointed(jobs):
        read = over("product")
        return [Point(name, "2", "", None, (job,), read) for name, job in jobs.items()]

    made = {
        "table1": exhibit,
        "table2": replace(exhibit, name="table2", points=lambda full: pointed(half)),
        "table3": replace(exhibit, name="table3", points=lambda full: pointed(broken)),
    }
    monkeypatch.setattr(exhibits, "exhibits", lambda slug: made if slug == "toy" else {})
    assert main(["reproduce", "--json"]) == 1
    out, error = capsys.readouterr()
    actual = {body["exhibit"]: body["cells"][0]["ours"] for body in json.loads(out)["exhibits"]}
    assert actual == {"table1": 6.0, "table2": None}
    first, second = (line for line in error.splitlines() if not re.search(r": \d+ of \d+, ", line))
    assert first.startswith("Table 1, only: run ")
    assert second.startswith("toy table3: only: run ")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"laplace", "flchain"', '"laplas", "flchain"', "planted table1: method: expected one of"),
        ('over("error")', "over(0)[1]", "planted table1: expected an exhibit that can be compute"),
        ('exhibits = "exhibits"', 'exhibits = "exhibit"', "engine.papers.planted.exhibit: expecte"),
        ("quantity", "quantty", "engine.papers.planted.exhibits: expected a module with EXHIBITS"),
    ],
)
def test_a_mistake_in_an_exhibit_is_one_sentence_and_the_others_are_listed(
    outside, tmp_path, capsys, old, new, says
):
    slug = outside()
    planted.shown(tmp_path / "papers", slug, old, new)
    assert main(["reproduce", "--list"]) == 0
    out, error = capsys.readouterr()
    assert "Table 2" in out
    assert len(error.splitlines()) == 1
    assert error.startswith(says)
    assert main(["reproduce", slug]) in (1, 2)
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert error.startswith(says)


def test_exhibits_are_found_by_name():
    for slug, paper in catalog().items():
        assert all(name == e.name for name, e in exhibits.exhibits(slug).items())
        assert bool(exhibits.exhibits(slug)) == bool(paper.exhibits)


# In a process of its own


def engine(home, *arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        cwd=ROOT,
        env={**os.environ, "EXPLORER_HOME": str(home), "EXPLORER_THREADS": "1"},
        capture_output=True,
        text=True,
        **options,
    )


@pytest.mark.thorough
def test_the_whole_command(home):
    command = [
        *("run", "survival", "out_pert", "--dataset", "flchain", "--set", "intervals=10"),
        *("--sweep", "epsilon=0.1,6.4", "--sweep", "regularisation=1e-3,1e-2", "--seeds", "2"),
        "--json",
    ]
    done = engine(home, *command)
    assert (done.returncode, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert len(body["replicas"]) == 8
    assert all(np.isfinite(r["gauges"]["mre"]) for r in body["replicas"])
    assert body["replicas"][0]["guarantee"]["status"] in ("proved", "proved_under_assumption")
    again = json.loads(engine(home, *command).stdout)
    assert again == {**body, "cached": True}


def test_a_wrong_command_ends_with_two(home):
    done = engine(home, "run", "survival", "out_pert", "--set", "epsilon=99999")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "epsilon: expected a number from 0.001 to 1000, got 99999.0\n"


def test_a_reader_that_leaves_is_no_error(home):
    piped = f"{shlex.quote(sys.executable)} -m engine list --json | head -c 10"
    done = subprocess.run(
        ["bash", "-c", piped],
        cwd=ROOT,
        env={**os.environ, "EXPLORER_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert len(done.stdout) == 10


def test_numbers_of_every_kind_become_json():
    values = {"a": np.float64("nan"), "b": (np.int64(3), np.bool_(True)), "c": float("inf")}
    assert plain(values) == {"a": None, "b": [3, True], "c": None}


def test_reproduce_says_where_it_is_and_that_there_is_nothing_to_do(capsys, monkeypatch):
    from engine.cli import exhibits as command
    from engine.cli.work import RunError
    from engine.runs.exhibit import exhibits

    assert main(["reproduce", "mean"]) == 0
    assert "mean: it has no table and no figure to reproduce" in capsys.readouterr().err

    def fails(*_):
        raise RunError("no data")

    monkeypatch.setattr(command, "complete", fails)
    name, exhibit = next(iter(exhibits("lvq").items()))
    assert main(["reproduce", "lvq", name]) > 0
    jobs = exhibit.jobs(False)
    assert f"{exhibit.title}: 1 of {len(jobs)}, {next(iter(jobs))}\n" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell and /dev/full as on Unix")
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("list >&-", 0, ""),
        ("list > /dev/full", 1, "output: expected room for the answer, got: No space left"),
        ("list --json > /dev/full", 1, "output: expected room for the answer, got: No space left"),
    ],
)
def test_an_answer_that_goes_nowhere_is_no_traceback(line, code, says):
    done = subprocess.run(
        f"{sys.executable} -m engine {line}", shell=True, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == code
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == bool(says)


@pytest.mark.thorough
def test_a_file_is_printed_in_utf_8_whatever_the_stream_is_in(tmp_path):
    """As `table add FILE --propose > study.toml` does: a sign that is lost matches no record."""
    path = tmp_path / "c.csv"
    path.write_text("city,age,label\n" + "münchen,30,a\nŁódź,40,b\n" * 30, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "engine", "table", "add", str(path), "--propose"], cwd=ROOT,
        capture_output=True, env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )  # fmt: skip
    assert done.returncode == 0
    assert "łódź" in done.stdout.decode("utf-8").lower()


@pytest.mark.thorough
@pytest.mark.parametrize("asked", [["price", "mean", "laplace"], ["list", "mean", "--json"]])
def test_a_stream_that_is_not_in_utf_8_takes_every_answer(asked):
    done = subprocess.run(
        [sys.executable, "-m", "engine", *asked], cwd=ROOT, capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    if "--json" in asked:
        assert "ε" in json.dumps(json.loads(done.stdout.decode("ascii")), ensure_ascii=False)
