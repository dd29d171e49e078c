"""The page of learned prototypes, on runs whose numbers are made up; and its figures alone."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from datasets import catalog as data_catalog
from datasets import own
from engine.catalog import catalog
from engine.core.gauges import gauges
from engine.core.spec import Value
from engine.papers.lvq import PAPER
from engine.papers.lvq.spec import PRINTED, LvqSpec
from engine.privacy.guarantee import Guarantee
from engine.runs.events import Advanced, Finished, Measured, Produced, Started
from engine.runs.job import Job
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from engine.service.store import Store
from pages.ui.charts.theme import MUTED
from pages.ui.charts.tiles import Layer, tiles
from pages.ui.kit import card
from pages.ui.kit.chart import Picture
from pages.ui.paper import defaults, panels
from pages.ui.paper.choice import QUICK, untouched
from pages.ui.paper.said import say
from pages.ui.paper.view import offers
from pages.ui.papers.lvq import costs as lvq_costs
from pages.ui.papers.lvq import figures
from pages.ui.papers.lvq import sections as lvq
from pages.ui.words import short
from tests.pages.conftest import Open, with_coarse
from tests.pages.drawn import texts, tour

WIDTHS = {"digits": 64, "segment": 18}
CHARTS = ("utility", "learning", "prototypes", "relevance", "plane", "clipping", "memory",
          "failing")  # fmt: skip


def wanted(dataset: str = "digits", **values: Value) -> dict[str, Job]:
    """What the page asks for when it is opened on a data set, with these settings."""
    paper, layout = catalog()["lvq"], defaults.layout("lvq")
    offered = offers(paper, layout)
    first = untouched(offered)
    chosen = replace(first, dataset=dataset, values={**first.values, **values})
    return defaults.wanted(paper, layout, offered, chosen)


def finish(home: Path, job: Job, *, lost: bool = False) -> None:
    """A run that is over, with two measurements and every array; all NaN where it is lost."""
    store = Store(home)
    store.submit(job, {})
    claim = take(store, here(), job.id)
    assert claim is not None
    rng, rows = np.random.default_rng(3), tuple(range(job.replicas()))
    names = gauges(job.entry().info)
    events: list[Any] = [Started(0, 20, len(rows))]
    for step in (1, 20):
        column = tuple(None if lost else float(v) for v in rng.uniform(0.1, 0.9, len(rows)))
        events.append(Measured(step, rows, dict.fromkeys(names, column)))
    digest = claim.keep("final-0000", arrays(job, rng, lost))
    events += [Produced(20, "final-0000", digest, rows), Advanced(20, 4, 4)]
    claim.append(events)
    claim.finish("completed", [Finished(20, "completed", rows if lost else ())])


def arrays(job: Job, rng: np.random.Generator, lost: bool) -> dict[str, Any]:
    """What a run leaves behind, with the shapes that the engine promises."""
    count, d = job.replicas(), WIDTHS[job.dataset]
    k = data_catalog.card(job.dataset).classes or 0
    points = rng.uniform(0, 16, (count, k, d))
    counts = rng.integers(0, 20, (count, 2, 60)) * [[1], [job.method.startswith("gmlvq")]]
    return {
        "prototypes": np.full_like(points, np.nan) if lost else points,
        "labels": np.tile(np.arange(k, dtype=np.int32), (count, 1)),
        "relevance": rng.uniform(0, 0.1, (count, d)),
        "eigenvalues": np.tile(np.linspace(0.1, 0.0, min(d, 20)), (count, 1)),
        "eigenvectors": rng.normal(0, 0.1, (count, 3, d)),
        "points": rng.normal(0, 1, (count, 40, 2)),
        "classes": rng.integers(0, k, (count, 40)).astype(np.int32),
        "anchors": rng.normal(0, 1, (count, k, 2)),
        "nearest": np.zeros((count, k), np.int32),
        "distance": rng.uniform(0.1, 0.2, (count, k)),
        "typical": rng.uniform(0.3, 0.4, (count, k)),
        "members": np.full((count, k), 140, np.int32),
        "histogram": counts.astype(np.int32),
        "edges": np.tile(np.logspace(-3, 3, 61), (count, 1)),
    }


def said(test: AppTest) -> str:
    """All words of a page."""
    kinds = (test.title, test.header, test.subheader, test.markdown, test.caption)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def body(figure: Any) -> dict[str, Any]:
    actual: dict[str, Any] = json.loads(figure.to_json())
    return actual


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[dict[str, Any], str, list[Any]]]:
    """The page's charts by key: what is drawn, its words and its table."""
    actual: dict[str, tuple[dict[str, Any], str, list[Any]]] = {}

    def keep(key: str, picture: Picture) -> None:
        name = key.removeprefix("lvq.").removesuffix(".chart")
        actual[name] = (json.loads(picture.text), picture.alt, list(picture.rows))

    monkeypatch.setattr("pages.ui.kit.chart.draw", keep)
    return actual


def test_an_empty_store_is_waited_for_in_every_section(visit: Open, home: Path):
    assert texts(tour(visit, "lvq")).count("Appears as soon as") == 8
    asked = {run.id for run in Client(home, workers=False).runs()}
    assert asked == with_coarse("lvq", wanted().values())


def test_only_quick_methods_are_repeated_often_and_not_where_it_takes_long():
    opening, moved = wanted(), wanted(clip=2.0)
    for method in ("glvq_dp", "glvq_dp:paper", "gmlvq_dp", "gmlvq_dp:paper"):
        assert len(opening[method].seeds) == QUICK
    assert len(moved["glvq_dp"].seeds) == len(wanted(sample_rate=0.1)["glvq_dp"].seeds) == QUICK
    assert len(wanted(epochs=2.0)["glvq_dp"].seeds) == QUICK
    assert len(wanted(epochs=10.0)["glvq_dp"].seeds) == QUICK / 2  # twice the steps, as soon whole
    assert len(wanted(epochs=50.0, sample_rate=0.1)["glvq_dp"].seeds) == QUICK / 10
    few = len(opening["gmlvq_sgd"].seeds)
    assert len(moved["gmlvq_dp"].seeds) == few < QUICK  # more of it ship than are trained here
    assert {len(job.seeds) for job in wanted("mnist").values()} == {few}


@pytest.mark.parametrize("dataset", ["digits", "segment"])
@pytest.mark.parametrize("method", ["GLVQ, private", "GMLVQ, private"])
@pytest.mark.thorough
def test_every_section_draws_what_the_runs_left(
    visit: Open, home: Path, drawn: dict[str, Any], dataset: str, method: str
):
    for job in wanted(dataset).values():
        finish(home, job)
    words = texts(tour(visit, "lvq", **{"lvq.dataset": dataset, "lvq.method": method}))
    assert set(drawn) - {"attack.ruler"} == set(CHARTS)  # some have an attack that ships
    assert all(alt and rows for _, alt, rows in drawn.values())
    for key in ("learning", "plane", "clipping", "memory"):
        layout = drawn[key][0]["layout"]
        assert layout["xaxis"]["title"]["text"]
    names = {trace.get("name") for trace in drawn["clipping"][0]["data"]}
    assert ("bound of the matrix = 0.548" in names) == method.startswith("GMLVQ")  # C sqrt(0.3)
    assert "The printed noise is enough here" in words
    course = [one["line"] for one in drawn["learning"][0]["data"] if one.get("name")]
    assert course[0]["dash"] == "solid"  # proved
    assert course[1]["dash"] in ("dot", "2px,6px")  # not private: GLVQ, then GMLVQ
    assert course[1]["color"] == MUTED


def test_a_line_shows_what_is_proved_of_it(visit: Open, home: Path, drawn: dict[str, Any]):
    for job in wanted().values():
        finish(home, job)
    visit("lvq")
    lines = {
        trace["name"]: trace
        for trace in drawn["utility"][0]["data"]
        if "name" in trace and "line" in trace
    }
    for name in ("GLVQ, private", "GMLVQ, private, as printed"):
        line = lines[f"{name} · proved"]
        assert line["line"]["dash"] == "solid"
        marks = np.atleast_1d(line["marker"]["symbol"])  # a cross where some releases fail
        assert not any(mark.endswith("-open") for mark in marks)
    exact = [line for name, line in lines.items() if name.endswith(" · not private")]
    assert len({line["line"]["dash"] for line in exact}) == len(exact) == 4
    inked = [line for line in exact if line["opacity"] == 1.0]
    assert len(inked) == 1  # the best one is named beside the chart, the others are faint
    assert len({line["line"]["color"] for line in exact if line not in inked}) == 1


@pytest.mark.thorough
def test_what_diverged_is_told(visit: Open, home: Path, drawn: dict[str, Any]):
    for job in wanted().values():
        finish(home, job, lost="dp" in job.method)
    words = texts(tour(visit, "lvq"))
    assert "Training diverged at this ε in every repetition" in words
    assert "prototypes" not in drawn


def test_as_printed_moves_every_knob_and_defaults_move_them_back(visit: Open, home: Path):
    test = visit("lvq")
    test.button(key="lvq.printed").click().run()
    assert not test.exception
    assert test.segmented_control(key="lvq.calibration").value == "As printed"
    knobs = {name: value for name, value in PRINTED.items() if not isinstance(value, str)}
    for name, value in knobs.items():
        assert float(test.select_slider(key=f"lvq.{name}").value) == value
    latest = [run.job for run in Client(home, workers=False).runs() if run.job.method == "gmlvq_dp"]
    assert any(job.values["initialisation"] == "paper" for job in latest)
    test.button(key="lvq.defaults").click().run()
    assert test.segmented_control(key="lvq.calibration").value == "With proof"
    assert test.select_slider(key="lvq.sample_rate").value == "0.25"


def test_the_printed_rule_is_red_where_it_under_protects():
    # at epsilon 8 the paper's steps ask for 6.4 and cost 8.08 by the PLD accountant
    spec = LvqSpec(**{**PRINTED, "epsilon": 8.0})
    sigma, nominal, spent = lvq_costs.rule(spec)
    assert sigma == pytest.approx(2 * 0.01 * (5000 * np.log(1e5)) ** 0.5 / 6.4)
    assert (nominal, round(spent, 2)) == (6.4, 8.08)
    assert lvq_costs.price_text(nominal, spent).startswith(":red[")
    assert not lvq_costs.price_text(2.0, 1.2).startswith(":red[")


def test_a_card_that_spends_more_than_it_claims_says_so_in_red():
    def made(claimed: float | None, proved: float | None) -> Guarantee:
        return Guarantee(
            mechanism="noise", status="proved", epsilon_claimed=claimed, epsilon_proved=proved,
            delta=0.0, relation="add_or_remove_one", unit="a record",
        )  # fmt: skip

    assert "**Protects less than claimed**: ε = 9.2" in card.less(made(8.0, 9.2))
    assert [card.less(made(*pair)) for pair in ((8.0, 8.0), (None, 9.0), (8.0, None))] == [""] * 3


def test_a_chart_is_marked_unless_all_that_it_draws_is_released():
    assert panels.raw_note(PAPER.arrays, lvq.METRIC) == ""
    assert panels.RAW in panels.raw_note(PAPER.arrays, lvq.METRIC, without_noise=True)
    assert panels.RAW in panels.raw_note(PAPER.arrays, (*lvq.METRIC, "points"))
    assert panels.RAW in panels.raw_note(PAPER.arrays, ("nobody has declared this",))


def test_prototypes_of_one_class_are_numbered():
    assert lvq.named([0, 1, 1]) == ["Class 0", "Class 1 (1)", "Class 1 (2)"]
    assert lvq.named([0, 1], ("1", "2")) == ["Class 1", "Class 2"]
    assert lvq.named([0, 1], ("low", "treated")) == ["Class 0, low", "Class 1, treated"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "called", "tags"),
    [
        (["1", "2", "3"], ["Class 1", "Class 2", "Class 3"], ["1", "2", "3"]),
        (["1", "2", "late"], ["Class 0, 1", "Class 1, 2", "Class 2, late"], ["0", "1", "2"]),
    ],
)
def test_classes_have_the_words_of_a_table_of_one_s_own(
    visit: Open, home: Path, drawn: dict[str, Any], monkeypatch: pytest.MonkeyPatch,
    words: list[str], called: list[str], tags: list[str],
):  # fmt: skip
    rows = "".join(f"{i % 7},{i % 5},{words[i % 3]}\n" for i in range(60))
    lines = f"x.high = 7\nx.low = 0\ny.high = 5\ny.low = 0\ngrade.categories = {words}\n"
    name = own.keep("a.csv", f"x,y,grade\n{rows}".encode(), f"[columns]\n{lines}", "grade")
    monkeypatch.setitem(WIDTHS, name, 2)
    for job in wanted(name).values():
        finish(home, job)
    tour(visit, "lvq", **{"lvq.dataset": short(name), "lvq.method": "GMLVQ, private"})
    assert [row["Prototype"] for row in drawn["prototypes"][2]] == called
    assert [row["Prototype"].split(", 140")[0] for row in drawn["memory"][2]] == called
    assert [row["Class"] for row in drawn["plane"][2]] == words
    assert drawn["plane"][0]["data"][-1]["text"] == [f"<b>{tag}</b>" for tag in tags]


def test_pictures_share_the_scale_of_the_noise_free_ones():
    private, exact = figures.grey(np.array([[-9.0, 1.0, 9.0]]), np.array([[0.0, 1.0, 2.0]]))
    assert private.tolist() == [[0.0, 0.5, 1.0]]
    assert exact is not None
    assert exact.tolist() == [[0.0, 0.5, 1.0]]


def test_a_picture_lies_in_its_row_and_column():
    pictures = np.zeros((6, 2, 2))
    actual = body(tiles([Layer("private", pictures)], [str(k) for k in range(6)]))
    assert len(actual["data"]) == 6
    first, sixth = actual["data"][0], actual["data"][5]
    assert first["x"] == sixth["x"]
    assert sixth["y"][0] > max(first["y"])


def test_the_plane_belongs_to_the_nearest_prototype():
    anchors, labels = np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([3, 7])
    places = np.array([[1.9, 5.0], [2.1, -5.0]])
    assert figures.nearest(places, anchors, labels).tolist() == [3, 7]


def test_the_map_says_what_the_whole_metric_gets_right_and_no_order(visit: Open, home: Path):
    """With much noise the plane alone can be right more often than the whole metric."""
    jobs = wanted()
    for job in jobs.values():
        finish(home, job)
    page = visit("lvq", **{"lvq.tab": "Pictures", "lvq.method": "GMLVQ, private"})
    job = jobs["gmlvq_dp"]
    rows = np.isclose(job.batch().column("epsilon"), float(page.select_slider("lvq.epsilon").value))
    rng = np.random.default_rng(3)
    _, wrong = (rng.uniform(0.1, 0.9, len(rows)) for _ in range(2))  # the second one stands
    right = 1.0 - wrong[np.flatnonzero(rows)[0]]
    assert "does better" not in said(page)
    assert f"this repetition is right on {100 * right:.0f}\u00a0% of all test records" in said(page)


@pytest.mark.parametrize(("far", "kind"), [(0.3, "-"), (30.0, "log")])
def test_distances_that_differ_much_are_logarithmic(far: float, kind: str):
    actual = body(figures.memory(["A"], np.array([0.1]), None, np.array([far])))
    assert actual["layout"]["xaxis"].get("type", "-") == kind


def small(monkeypatch: pytest.MonkeyPatch, private: dict[str, Any], **spec: Any) -> Any:
    """What a section draws from, with these arrays of the chosen method and nothing else."""
    monkeypatch.setattr(lvq_costs, "both", lambda view, method: (private, None))
    results = SimpleNamespace(gauges={"clipped_omega": 0}, mean=lambda gauge, **at: 1.0)
    return SimpleNamespace(
        method="gmlvq_dp", spec=LvqSpec(**spec), budget=1.0, data=data_catalog.card("digits"),
        watched={"gmlvq_dp": SimpleNamespace(results=results)},
    )  # fmt: skip


@pytest.mark.parametrize("split", [0.0, 0.3])
def test_gradients_that_are_clipped_as_one_are_not_counted_apart(
    monkeypatch: pytest.MonkeyPatch, split: float
):
    counts = np.zeros((1, 2, 60), np.int32)
    counts[:, :, 20] = 10  # both parts of all gradients are shorter than C
    private = {"histogram": counts, "edges": np.logspace(-3, 3, 61)[None]}
    chart = lvq_costs.clipping(small(monkeypatch, private, split=split))
    apart = [name for name in chart.rows[0] if name.startswith("Clipped")]
    dotted = [one for one in body(chart.figure)["data"] if one.get("yaxis") == "y2"]
    assert len(apart) == len(dotted) == (2 if split else 0)
    section = next(one for one in defaults.layout("lvq").sections if one.name == "clipping")
    said = say(section.words, "finding", {"budget": 1.0, **chart.facts})
    assert ("gradients are clipped, prototypes and matrix taken as one." in said) is (split == 0.0)


def test_a_prototype_without_a_record_of_its_class_reveals_none(monkeypatch: pytest.MonkeyPatch):
    """In the first repetition there is no record of class 2, and in none of class 1."""
    members = np.array([[5, 0, 0, 4], [5, 0, 1, 4]])
    none = members == 0
    apart = np.where(none, np.inf, [[0.5, 0.0, 0.0, 0.3], [0.3, 0.0, 0.1, 0.3]])
    private = {
        "labels": np.tile(np.arange(4), (2, 1)), "members": members, "distance": apart,
        "typical": np.where(none, np.nan, 0.5),
    }  # fmt: skip
    chart = lvq_costs.memory(small(monkeypatch, private))
    assert [row["Prototype"] for row in chart.rows] == ["Class 0, 5 records", "Class 3, 4 records"]
    assert [row["Nearest, with noise"] for row in chart.rows] == pytest.approx([0.4, 0.3])
    assert (chart.facts["nearest"], chart.facts["LEFT"]) == ("Class 3", True)


def test_each_bound_cuts_what_is_longer():
    counts = np.array([0.0, 6.0, 3.0, 1.0])
    assert figures.longer(counts).tolist() == pytest.approx([100.0, 100.0, 40.0, 10.0, 0.0])
    assert figures.longer(np.zeros(2)).tolist() == [0.0, 0.0, 0.0]
    edges = np.array([0.1, 0.2, 0.5, 1.0, 2.0])
    parts, bounds = [("prototypes", counts), ("matrix", counts)], [("bound C", 0.5)]
    drawn = body(figures.norms(parts, edges, bounds))["data"]
    dotted = [trace for trace in drawn if trace.get("yaxis") == "y2"]
    assert [trace["line"]["dash"] for trace in dotted] == ["dot", "dot"]
    assert dotted[0]["y"] == pytest.approx([100.0, 100.0, 40.0, 10.0, 0.0])
