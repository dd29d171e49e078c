"""The page on behaviour models, on runs whose numbers are made up."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.core.gauges import gauges
from engine.papers.dbn.yesiwell.spec import Behaviour
from engine.runs.events import Advanced, Finished, Measured, Produced, Started
from engine.runs.job import Job
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from pages.ui.papers.yesiwell import network, sections
from tests.pages.conftest import Open
from tests.pages.drawn import charts, plots

USERS, TIMES = 30, 5


def said(test: AppTest) -> str:
    kinds = (test.title, test.header, test.subheader, test.markdown, test.caption)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def finish(home: Path, job: Job) -> None:
    """A run of three measurements and the arrays that its method leaves."""
    claim = take(Client(home, workers=False).store, here(), job.id)
    assert claim is not None
    rows = range(job.replicas())
    claim.append([Started(0, 100, len(rows))])
    rng = np.random.default_rng(len(job.method))
    for step in (10, 50, 100):
        values = {
            name: tuple(float(v) for v in rng.uniform(0.5, 0.9, len(rows)))
            for name in gauges(Behaviour)
        }
        claim.append([Measured(step, tuple(rows), values)])
    count = len(rows)
    chance = rng.uniform(size=(count, TIMES, USERS)).astype(np.float32)
    links = np.stack([np.arange(USERS - 1), np.arange(1, USERS)], 1)
    arrays = {
        "calibration": rng.uniform(0.1, 0.9, (count, 10, 3)),
        "by_friends": rng.uniform(0.5, 0.9, (count, 5, 3)),
        "course": np.round(100 * chance).astype(np.uint8),
        "came": (chance > 0.3).astype(np.uint8),
        "places": rng.uniform(-1, 1, (count, USERS, 2)),
        "links": np.broadcast_to(links, (count, USERS - 1, 2)),
    }
    digest = claim.keep("final-0000", arrays)
    claim.append([Produced(100, "final-0000", digest, tuple(rows))])
    claim.finish("completed", [Advanced(100, 1, 1), Finished(100, "completed", ())])


@pytest.fixture
def visited(visit: Open, home: Path) -> Open:
    """Opens the page on finished runs."""

    def opened(**address: str) -> AppTest:
        where = {f"yesiwell.{field}": text for field, text in address.items()}
        test = visit("yesiwell", **where)
        for run in Client(home, workers=False).runs():
            if run.state == "queued":
                finish(home, run.job)
        return test.run()

    return opened


def test_the_page_opens_on_an_empty_store_and_says_simulated(visit: Open):
    test = visit("yesiwell", **{"yesiwell.tab": "Network"})
    assert not test.exception
    assert "simulated" in said(test)


def test_the_network_follows_the_time(visited: Open):
    test = visited(tab="Network", time="2")
    assert not test.exception
    assert "2 days after training" in said(test)
    assert "users are predicted correctly" in said(test)
    [drawn] = [one for one in charts(test) if "symbol" in one["data"][1].get("marker", {})]
    users = drawn["data"][1]
    assert len(users["x"]) == USERS
    assert {"circle", "x"} == set(users["marker"]["symbol"])
    assert min(users["marker"]["color"]) < 0.3 < 0.7 < max(users["marker"]["color"]) <= 1.0


@pytest.mark.thorough
@pytest.mark.parametrize("left", [0, 1])
def test_where_training_diverged_no_prediction_is_counted(
    visited: Open, monkeypatch: pytest.MonkeyPatch, left: int
):
    """No chance is known there; it is no prediction that nobody exercises more."""
    rows: list[np.ndarray] = []

    def seen(view, method):
        rows.append(chosen(view, method))
        return rows[-1]

    def lost(kept):
        known = chances(kept)
        if known is not None:
            known[rows[-1][: len(rows[-1]) - left]] = np.nan
        return known

    chances, chosen = network.chances, network.chosen
    monkeypatch.setattr(network, "chances", lost)
    monkeypatch.setattr(network, "chosen", seen)
    test = visited(tab="Network")
    assert not test.exception
    assert ("Training diverged at this ε" in said(test)) is (left == 0)
    assert ("users are predicted correctly" in said(test)) is (left == 1)


def test_the_network_has_its_widgets_below_it(visited: Open):
    """The common page has the method above what a tab draws."""
    test = visited(tab="Network")
    assert not test.exception
    assert "users are predicted correctly" in said(test)
    assert "symbol" in charts(test)[0]["data"][1]["marker"]
    widgets = [one.key for one in test.main if getattr(one, "key", None)]
    assert {"yesiwell.method.menu", "yesiwell.time"} <= set(widgets)
    assert len([one for one in test.menu_button if one.key == "yesiwell.method.menu"]) == 1


def test_the_method_can_be_changed_before_there_is_a_picture(visit: Open):
    test = visit(
        "yesiwell", **{"yesiwell.tab": "Network", "yesiwell.task": "Classify the present time"}
    )
    assert not test.exception
    assert "Shown for the task of predicting" in said(test)
    assert [one.key for one in test.menu_button if one.key == "yesiwell.method.menu"]


def test_why_shows_epochs_calibration_friends_and_tests(visited: Open):
    test = visited(tab="Why")
    assert not test.exception
    text = said(test)
    for word in ("power fits", "Paired over the repetitions", "five equal groups"):
        assert word in text
    table = test.table[0].value
    assert "dPAH" in set(table["pCDBN against"])
    assert "2.73e-12" in " ".join(map(str, table["p in the paper"])).replace("·10⁻¹²", "e-12")


def test_the_text_of_the_predicted_chances_says_how_many_came_true(visited: Open):
    """Near 25 % and near 75 %, as the line has them."""
    test = visited(tab="Why")
    [one] = [one for one in plots(test) if one["alt"].startswith("How often predicted chances")]
    told, chart = one["alt"], one["figure"]
    lines = {one["name"]: one for one in chart["data"] if one.get("name") and one.get("y")}
    assert any(name.startswith("pCDBN") for name in lines)
    assert "at ε = " in told
    for name, one in lines.items():
        own = told.partition(f"{name} ")[2].partition(";")[0]
        for aim in (25.0, 75.0):
            x, y = min(zip(one["x"], one["y"], strict=True), key=lambda point: abs(point[0] - aim))
            assert f"{y:.0f} % of those near {x:.0f} %" in own


@pytest.mark.thorough
def test_a_group_without_a_test_window_is_not_drawn(visited: Open, monkeypatch: pytest.MonkeyPatch):
    """Fewer than five users leave groups empty, which are kept as zeros."""

    def emptied(view, method, name):
        found = product(view, method, name)
        if name == "by_friends" and found is not None:
            found = np.concatenate([np.zeros_like(found[:, :1]), found[:, 1:]], 1)
        return found

    product = sections.product
    monkeypatch.setattr(sections, "product", emptied)
    test = visited(tab="Why")
    assert "% for users with" in said(test)
    assert ": 0.0 % for users with" not in said(test)


def test_the_proof_counts_windows(visited: Open):
    test = visited(tab="Proof")
    assert not test.exception
    assert "at most D = 30 friends" in said(test)
    rows = next(t.value for t in test.table if "Own windows" in t.value.columns)
    assert list(rows["Own windows"]) == ["9", "9", "1"]
    assert list(rows["Friends' windows"]) == ["270", "270", "0"]


def test_a_drawing_has_a_line_for_each_friendship():
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    links = np.array([[0, 1], [1, 2]])
    drawn = network.draw(places, links, np.array([0.1, 0.6, 0.9]), np.array([True] * 3))
    edges, users = drawn.to_plotly_json()["data"]
    assert list(edges["x"]) == [0.0, 1.0, None, 1.0, 0.0, None]
    assert max(users["marker"]["size"]) == users["marker"]["size"][1]


def test_chances_are_read_from_runs_of_today_and_of_earlier_versions():
    kept = {"course": np.array([[[0.0, 57.0, 255.0]]], np.float32)}
    np.testing.assert_allclose(network.chances(kept), [[[0.0, 0.57, np.nan]]])
    np.testing.assert_allclose(network.chances({"course": np.array([[[0.5, 1.0]]])}), [[[0.5, 1]]])
    assert network.chances({}) is None
