"""What a notebook imports: runs, prices, cards and attacks without a server."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import epsilon_explorer as ee
from datasets import own
from engine.runs.job import request
from engine.service.client import Client

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A store of one's own."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))


def test_runs_are_those_of_the_app_and_the_command_line():
    runs = ee.run(
        "mean", ["laplace", "exact"], epsilon=[0.5, 1.0], seeds=3, progress=False, bound=6
    )
    job = request("mean", "laplace", "flchain", {"bound": 6}, {"epsilon": (0.5, 1.0)}, range(3))
    assert runs[0].job.id == job.id
    client = Client(workers=False)
    assert client.run(job.id).state == "completed"
    assert client.table(job.id).gauges["error"].tolist() == runs[0].results.gauges["error"].tolist()
    client.close()
    frame = runs.frame()
    assert isinstance(frame, pd.DataFrame)
    laplace = frame[frame.method == "laplace"]
    assert laplace.error.tolist() == runs[0].results.gauges["error"].tolist()
    assert laplace.epsilon_proved.tolist() == [0.5] * 3 + [1.0] * 3
    assert set(frame[frame.method == "exact"].status) == {"not_private"}
    assert [one.label for one in runs[:1]] == ["Laplace"]


def test_what_an_earlier_version_computed_is_marked_until_it_is_trained_again():
    asked = {"epsilon": 1.0, "seeds": 2, "progress": False}
    assert not ee.run("mean", "laplace", **asked).frame().outdated.any()
    client = Client(workers=False)
    with client.store.changing() as connection:
        connection.execute("UPDATE jobs SET sources = 'an earlier one'")
    with pytest.warns(UserWarning, match=r"computed by an earlier version.*again=True"):
        old = ee.run("mean", "laplace", **asked)
    assert old.frame().outdated.all()
    assert not ee.run("mean", "laplace", again=True, **asked).frame().outdated.any()
    client.close()


def test_a_run_is_drawn_as_on_its_page():
    figure = ee.run("mean", "laplace", epsilon=[0.5, 1.0], seeds=3, progress=False).plot("error")
    assert isinstance(figure, go.Figure)
    assert any(trace.name and "Laplace" in trace.name for trace in figure.data)
    with pytest.raises(ee.ExplorerError, match="gauge: expected one of"):
        ee.run("mean", "laplace", epsilon=1.0, progress=False).plot("colour")


def test_prices_cards_and_attacks():
    assert ee.price("mean", "laplace", epsilon=0.5).epsilon_proved == 0.5
    document = ee.card(ee.run("mean", "laplace", epsilon=0.5, progress=False)[0])
    assert document["guarantee"]["epsilon_proved"] == 0.5
    several = ee.run("mean", "laplace", epsilon=[0.5, 1.0], progress=False)[0]
    assert ee.card(several)["guarantee"]["epsilon_proved"] == 1.0
    assert ee.card(several, 0.5) == document
    with pytest.raises(ee.ExplorerError, match=r"epsilon: expected one of 0\.5, 1, got 2"):
        ee.card(several, 2.0)
    found = ee.audit("mean", "laplace", epsilon=4.0, replicas=200)
    assert 0.0 < found.epsilon_attacked <= 4.0
    assert ee.verify("mean", "laplace").differs == ()
    assert "mean" in ee.papers()
    assert "flchain" in [card.name for card in ee.datasets()]


def test_an_interrupt_keeps_what_is_finished(monkeypatch):
    """The second of two methods is stopped: the first is not trained again, and the second goes
    on when it is asked for again."""
    from engine.cli import work

    asked = {"epsilon": [0.5, 1.0], "seeds": 3, "progress": False}
    whole, trained = work.complete, []

    def stopped(client, job, report, *, again):
        def tell(done, total):
            trained.append(job.method)
            if job.method == "gaussian":
                raise KeyboardInterrupt

        return whole(client, job, tell, again=again)

    def states():
        client = Client(workers=False)
        found = {run.job.method: run.state for run in client.runs()}
        client.close()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(work, "complete", stopped)
        with pytest.raises(KeyboardInterrupt):
            ee.run("mean", ["laplace", "gaussian", "exact"], **asked)
        assert states() == {"laplace": "completed", "gaussian": "cancelled"}
        trained.clear()
        with pytest.raises(KeyboardInterrupt):
            ee.run("mean", ["laplace", "gaussian"], **asked)
        assert "laplace" not in trained
    assert len(ee.run("mean", ["laplace", "gaussian"], **asked).frame()) == 12
    assert states() == {"laplace": "completed", "gaussian": "completed"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ee.run("nowhere", "laplace"), "paper: expected one of"),
        (lambda: ee.run("mean", "gradient"), "method: expected one of"),
        (lambda: ee.run("mean", "laplace", epsilon="much", progress=False), "epsilon"),
        (lambda: ee.run("mean", "laplace", epsilon=-1.0, progress=False), "epsilon"),
        (lambda: ee.run("mean", "laplace", colour="red"), "colour: expected a setting"),
        (lambda: ee.run("mean", "laplace", data="nowhere"), "dataset: expected one of"),
        (lambda: ee.run("mean", "laplace", seeds=[-1]), "seeds: expected whole numbers"),
        (
            lambda: ee.run("survival", "cox", data=np.zeros((9, 3))),
            "data: expected a data frame of pandas or the name of a data set, got ndarray",
        ),
        (
            lambda: ee.run("survival", "cox", data=pd.DataFrame({"a": [1.5] * 30, "b": 2})),
            r'data: .*or name the column of classes in columns \(role = "label"\)',
        ),
    ],
)
def test_wrong_calls_are_one_sentence(call, said):
    with pytest.raises(ee.ExplorerError, match=said):
        call()


def test_numbers_of_numpy_are_numbers():
    """In ε, seeds and settings, one by one or in an array, and in what is said of columns."""
    plain = ee.run("mean", "laplace", epsilon=[0.5, 1.0], seeds=[3], records=100, progress=False)
    asked = {"records": np.int64(100), "progress": False}
    for seeds in (np.array([3]), [np.int64(3)], pd.Series([3])):
        found = ee.run("mean", "laplace", epsilon=np.array([0.5, 1.0]), seeds=seeds, **asked)
        assert found[0].job == plain[0].job
    some = ee.run("mean", "laplace", epsilon=np.float32(0.5), seeds=np.int64(2), **asked)
    assert (some[0].job.values["epsilon"], some[0].job.seeds) == (0.5, (0, 1))
    ends = {"low": np.int64(0), "high": np.float64(90.0)}
    frame = pd.DataFrame({"time": range(30), "event": [0, 1] * 15, "age": range(30)})
    name = ee._kept(frame, {"age": ends, "time": {"high": np.float64(60.0)}}, False)
    assert own.card(name).bounds.covariates == ((0.0, 90.0),)


@pytest.mark.thorough
def test_the_notebook_runs(tmp_path):
    """Every cell of the guide's notebook, in one process and in their order."""
    told = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(cells)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.thorough
def test_a_frame_is_kept_once_and_trained_once():
    rows = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rows.integers(20, 90, 60), "sex": rows.choice(["f", "m"], 60),
            "days": rows.integers(1, 1000, 60), "status": rows.integers(0, 2, 60),
        }
    )  # fmt: skip
    columns = {
        "age": {"role": "number", "low": 18, "high": 100},
        "sex": {"role": "categories", "categories": ["f", "m"]},
        "days": {"role": "time", "high": 1000.0},
        "status": {"role": "event"},
    }
    asked = {"columns": columns, "epsilon": [1.0, 5.0], "progress": False}
    runs = ee.run("survival", "dp_newton", data=frame, **asked)
    again = ee.run("survival", "dp_newton", data=frame.copy(), **asked)
    assert again[0].job == runs[0].job
    assert len(own.names()) == 1
    assert {"status", "concordance"} <= set(runs.frame().columns)
    assert set(runs.frame().status) == {"proved"}
    other = ee.run("survival", "dp_newton", data=frame.iloc[1:], **asked)
    assert other[0].job != runs[0].job
    with pytest.raises(ee.ExplorerError, match=r"data: expected bounds of days.*accept=True"):
        ee.run("survival", "dp_newton", data=frame, epsilon=1.0, progress=False)
    taken = ee.run("survival", "dp_newton", data=frame, accept=True, epsilon=1.0, progress=False)
    assert set(taken.frame().status) == {"proved_under_assumption"}
