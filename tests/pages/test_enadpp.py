"""The page of noise in training, on runs whose numbers are made up; and its figures alone."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from datasets.connectivity import PAIRS, REGIONS, WINDOWS
from engine.catalog import catalog
from engine.core.gauges import gauges
from engine.papers.enadpp.price import paper_epsilon
from engine.papers.enadpp.spec import EnadppSpec
from engine.runs.events import Advanced, Finished, Measured, Produced, Started
from engine.runs.job import Job
from engine.service.claim import Claim, take
from engine.service.client import Client
from engine.service.process import here
from engine.service.store import Store
from engine.training.split import held_out_rows
from pages.ui.charts import lines
from pages.ui.charts.theme import style
from pages.ui.charts.tiles import Layer, tiles
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import Picture, show
from pages.ui.paper import choice, defaults, parts
from pages.ui.paper.overlay import overlays
from pages.ui.paper.said import say
from pages.ui.paper.view import offers
from pages.ui.papers.enadpp import budgets as enadpp_budgets
from pages.ui.papers.enadpp import figures, pictures
from pages.ui.papers.enadpp.regions import square
from tests.pages.conftest import Open, with_coarse
from tests.pages.drawn import loads_nothing_heavy, texts, tour

STEPS = (5, 100, 200)
SIDE = 8


def wanted(dataset: str = "digits", **values: Any) -> dict[str, Job]:
    """What the page asks for when it is opened with these settings."""
    paper, layout = catalog()["enadpp"], defaults.layout("enadpp")
    offered = offers(paper, layout, dataset)
    first = choice.untouched(offered)
    chosen = replace(first, dataset=dataset, values={**first.values, **values})
    actual = choice.jobs(paper, chosen, offered.knobs[BUDGET].values)
    return {**actual, **overlays(paper, actual)}


def finish(home: Path, job: Job) -> None:
    """A run that is over, with three measurements and every array."""
    store = Store(home)
    store.submit(job, {})
    claim = take_up(store, job)
    rows = tuple(range(job.replicas()))
    rng = np.random.default_rng(3)
    names = gauges(job.entry().info)
    events: list[Any] = [Started(0, STEPS[-1], len(rows))]
    events += [
        Measured(step, rows, {name: tuple(rng.uniform(0.2, 0.9, len(rows))) for name in names})
        for step in STEPS
    ]
    digest = claim.keep("final-0000", arrays(job, rng))
    events += [Produced(STEPS[-1], "final-0000", digest, rows), Advanced(STEPS[-1], 4, 4)]
    claim.append(events)
    claim.finish("completed", [Finished(STEPS[-1], "completed", ())])


def take_up(store: Store, job: Job) -> Claim:
    claim = take(store, here(), job.id)
    assert claim is not None
    return claim


def arrays(job: Job, rng: np.random.Generator) -> dict[str, Any]:
    """What a run leaves behind, with the shapes that the engine promises."""
    count, features = job.replicas(), job.method == "dpsgd"
    actual: dict[str, Any] = {
        "accuracy_by_class": rng.uniform(0, 1, (count, 10)),
        "predicted": rng.integers(0, 10, (count, 10)),
        "gradient_norm_counts": rng.integers(0, 20, (count, 60)),
        "gradient_norm_edges": np.tile(np.logspace(-3, 3, 61), (count, 1)),
        "noise_to_signal_layers": rng.uniform(0.5, 50, (count, len(STEPS), 1 if features else 3)),
    }
    if job.dataset == "adni":
        for rule in ("z_plus", "epsilon"):
            actual[f"compared_{rule}"] = rng.dirichlet(np.ones(WINDOWS * PAIRS), count)
        return actual
    if not features:
        actual["images"] = rng.uniform(0, 1, (count, 10, SIDE * SIDE))
        actual["relevance_z_plus"] = rng.uniform(0, 1, (count, 10, SIDE * SIDE))
        actual["relevance_epsilon"] = rng.normal(0, 1, (count, 10, SIDE * SIDE))
    if job.values.get("clipping") == "adaptive":
        actual["clipping_bound"] = np.full(count, 0.07)
    if job.method in ("enadpp", "adppl"):
        actual["alpha_1"] = rng.uniform(0.05, 1, (count, 64))
        actual["alpha_2"] = rng.uniform(0.05, 1, (count, 32))
    return actual


@pytest.fixture
def learned(home: Path) -> Path:
    """A store in which the page's first runs are over."""
    for job in wanted().values():
        finish(home, job)
    return home


Charts = dict[str, dict[str, Any]]


@pytest.fixture
def charts(monkeypatch: pytest.MonkeyPatch) -> Charts:
    """Every chart that the page's sections draw, by its key without the slug."""
    actual: Charts = {}

    def kept(key: str, picture: Picture, *rest: Any) -> None:
        assert picture.alt
        assert list(picture.rows)
        name = key.removeprefix("enadpp.").removesuffix(".chart")
        actual[name] = {**json.loads(picture.text), "alt": picture.alt}
        show(key, picture, *rest)

    monkeypatch.setattr(parts, "show", kept)
    return actual


def said(test: AppTest) -> str:
    kinds = (test.markdown, test.caption, test.subheader)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def named(body: dict[str, Any]) -> list[str]:
    return [trace["name"] for trace in body["data"] if trace.get("name")]


def test_the_page_opens_and_asks_for_every_method_once(visit: Open, home: Path):
    test = visit("enadpp")
    assert not test.exception
    assert not test.error
    asked = {run.id for run in Client(home, workers=False).runs()}
    assert asked == with_coarse("enadpp", wanted().values())
    why = said(visit("enadpp", **{"enadpp.tab": "Why"}))
    assert "Appears as soon as" in why
    assert "Figure 1 of the paper" in why  # a formula waits for nothing
    for title, result in (("What helps private training", "choices"), ("Published ε", "budgets")):
        (line,) = (text for text in why.splitlines() if f">{title}" in text)
        assert "/reproduce?" in line
        assert result in line  # what ships, in a sentence


def test_mnist_waits_for_a_button(visit: Open, home: Path):
    test = visit("enadpp", **{"enadpp.dataset": "MNIST"})
    assert not test.exception
    assert Client(home, workers=False).runs() == []
    assert any(button.label == "Train" for button in test.button)


def test_every_section_draws(visit: Open, learned: Path, charts: Charts):
    words = texts(tour(visit, "enadpp"))
    assert set(charts) == {
        "accuracy", "loss", "norms", "cut", "alpha", "layers", "figure1", "classes", "heat",
        "spent", "ledger",
    }  # fmt: skip
    assert named(charts["accuracy"]) == ["EnADPP, with proof", "No privacy"]
    _, _, ends = charts["accuracy"]["alt"].partition("at the end: ")
    assert ends.count("\u00a0%") == 2  # as its axis says them
    assert named(charts["layers"])[-1] == "layer 3 (output)"
    assert "Appears as soon as" not in words
    assert "for comparison only" in words


@pytest.mark.parametrize("method", ["pSGD", "APPDL", "ADPPL"])
@pytest.mark.thorough
def test_every_section_draws_for_every_method(
    visit: Open, learned: Path, charts: Charts, method: str
):
    words = texts(tour(visit, "enadpp", **{"enadpp.method": method, "enadpp.epsilon": "2"}))
    assert method in named(charts["loss"])
    assert ("uses α = 1 for all neurons" in words) == (method != "ADPPL")


def test_features_of_an_image_are_not_drawn_as_one(visit: Open, learned: Path, charts: Charts):
    test = visit("enadpp", **{"enadpp.method": "DP-SGD today", "enadpp.tab": "Pictures"})
    assert not test.exception
    assert "cannot be drawn as an image" in said(test)
    assert "heat" not in charts


def test_records_that_are_no_images_have_no_pixels_to_show(visit: Open, home: Path, charts: Charts):
    for job in wanted("segment").values():
        finish(home, job)
    test = visit("enadpp", **{"enadpp.dataset": "Segment", "enadpp.tab": "Pictures"})
    assert not test.exception
    assert "classes" in charts
    assert not {"heat", "regions"} & set(charts)
    assert "These records are not images" in said(test)
    assert not [one for one in test.expander if "behind an answer" in one.label]


@pytest.mark.parametrize("method", ["EnADPP", "DP-SGD today"])
def test_persons_are_compared_by_the_connections_between_regions(
    visit: Open, home: Path, charts: Charts, monkeypatch: pytest.MonkeyPatch, method: str
):
    monkeypatch.delenv("EXPLORER_DATA", raising=False)
    for job in wanted("adni").values():
        finish(home, job)
    address = {"enadpp.dataset": "ADNI", "enadpp.method": method, "enadpp.tab": "Pictures"}
    test = visit("enadpp", **address)
    assert not test.exception
    squares = charts["regions"]["data"]
    assert len(squares) == 2  # with privacy and without
    assert all(len(one["z"]) == len(one["z"][0]) == REGIONS for one in squares)
    total = sum(v for i, row in enumerate(squares[0]["z"]) for v in row[i + 1 :])
    assert total == pytest.approx(100.0, abs=0.1)  # 120 numbers rounded to 0.0005
    assert "**Simulated**: no region belongs to a real brain" in said(test)
    assert "heat" not in charts


def test_a_pair_of_regions_stands_on_both_sides_of_the_line():
    actual = square(np.array([1.0, 2.0, 3.0]), 3)
    assert (actual[0, 1], actual[0, 2], actual[1, 2]) == (1.0, 2.0, 3.0)
    np.testing.assert_array_equal(actual, actual.T)
    assert np.isnan(np.diag(actual)).all()


@pytest.mark.parametrize("reading", ["A", "B", "C"])
def test_the_printed_noise_is_counted_under_every_reading(visit: Open, home: Path, reading: str):
    address = {"enadpp.calibration": "paper", "enadpp.noise_reading": reading}
    test = visit("enadpp", **address, **{"enadpp.tab": "Proof"})
    assert not test.exception
    words = said(test)
    assert f"Chosen now: reading {reading}." in words
    assert "this is a count, not a proof" in words
    assert "ε = **288**" in words  # 1 · 143.8 / 0.5: of 1,797 digits 1,438 are trained on


@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
def test_the_page_says_that_printed_ratios_have_no_smallest_one(
    visit: Open, learned: Path, calibration: str
):
    test = visit("enadpp", **{"enadpp.calibration": calibration, "enadpp.tab": "Why"})
    assert not test.exception
    assert ("there is no smallest ratio; here it is 0.8" in said(test)) is (calibration == "paper")


def test_a_dragged_relevance_moves_figure_one(visit: Open, learned: Path, charts: Charts):
    test = visit("enadpp", **{"enadpp.feature1": "1.0", "enadpp.tab": "Why"})
    bars = charts["figure1"]["data"]
    assert bars[0]["y"][0] == max(bars[0]["y"])
    assert sum(bars[0]["y"]) == pytest.approx(1.0, abs=1e-3)  # ADPPL's printed ratio is a share
    test.slider(key="enadpp.feature1").set_value(0.0).run()
    assert not test.exception
    bars = charts["figure1"]["data"]
    assert (bars[0]["y"][0], bars[1]["y"][0]) == (0.0, 0.0)


def test_the_other_rule_shows_both_colours(visit: Open, learned: Path, charts: Charts):
    visit("enadpp", **{"enadpp.looks": "All parts", "enadpp.tab": "Pictures"})
    maps = charts["heat"]["data"]
    assert len(maps) == 30  # ten digits, with privacy and without
    assert any(min(min(row) for row in one["z"]) < 0 for one in maps)


@pytest.mark.slow
def test_the_page_loads_no_training_library(learned: Path):
    loads_nothing_heavy("enadpp")


def test_accountants_agree_with_the_budget_and_with_each_other():
    spec = EnadppSpec(noise="gaussian")
    steps, ways = enadpp_budgets.counted("enadpp", spec, 1797)
    assert (steps[0], steps[-1]) == (0, 200)
    assert ways[enadpp_budgets.PLD][-1] == pytest.approx(1.0, rel=1e-3)
    assert all(
        r >= p for r, p in zip(ways[enadpp_budgets.RENYI], ways[enadpp_budgets.PLD], strict=True)
    )
    assert list(ways[enadpp_budgets.PLD]) == sorted(ways[enadpp_budgets.PLD])


def reading(method: str, spec: EnadppSpec) -> str:
    """How the page says that the accountants' lines are to be read."""
    own = next(one for one in defaults.layout("enadpp").sections if one.name == "spent")
    facts = {"delta": spec.delta, **enadpp_budgets.reads(method, spec, 1797)}
    return say(own.words, "caption", facts)


def test_what_is_spent_before_the_first_step_is_counted_at_step_zero():
    """The moments alone at ε = 1, n = 1,797: .285, for any batches."""
    spec = EnadppSpec(representation="whitened", sampling="shuffled")
    steps, ways = enadpp_budgets.counted("dpsgd", spec, 1797)
    assert steps[0] == 0
    assert ways[enadpp_budgets.PLD][0] == pytest.approx(0.285, abs=1e-3)
    assert ways[enadpp_budgets.COINS][0] == pytest.approx(ways[enadpp_budgets.PLD][0])
    assert "second moments" in reading("dpsgd", spec)
    plain = spec.replace(representation="scattering")
    _, ways = enadpp_budgets.counted("dpsgd", plain, 1797)
    assert {values[0] for values in ways.values()} == {0.0}
    assert "second moments" not in reading("dpsgd", plain)


def test_laplace_noise_is_summed_by_hand():
    spec = EnadppSpec(calibration="paper", noise_reading="C")
    _, ways = enadpp_budgets.counted("enadpp", spec, 1797)
    # Li et al. 2012: 200 batches, each log(1 + q(exp(ε/2) − 1)), as adding is half of replacing
    assert ways[enadpp_budgets.PLAIN][-1] == pytest.approx(200 * np.log1p(0.1 * np.expm1(0.5)))
    assert paper_epsilon(spec, 1797, "C") == 1.0
    assert not enadpp_budgets.exact("enadpp", spec.replace(noise_reading="A"), 1797)
    assert not enadpp_budgets.exact("appdl", EnadppSpec(), 1797)


def test_a_line_skips_what_has_diverged():
    values = np.array([[1.0, np.nan, 3.0], [np.nan] * 3, [4.0, np.inf, 6.0]])
    one = lines.line("One", style(0), np.array([1, 2, 3]), values)
    assert one is not None
    assert (one.x.tolist(), one.middle.tolist()) == ([1.0, 3.0], [2.0, 5.0])
    assert lines.line("None", style(0), np.array([1]), np.full((1, 2), np.nan)) is None


def test_a_class_without_test_records_is_no_class_that_is_never_right(
    monkeypatch: pytest.MonkeyPatch,
):
    """Of 25 rows five are tested, none of which is of class 1."""
    y = np.array([1] * 4 + [2] * 8 + [0] * 13)
    assert set(y[held_out_rows(25)]) == {0, 2}
    shares = np.array([[0.9, 0.0, 0.4]])
    monkeypatch.setattr(pictures, "needed", lambda *asked: [shares])
    monkeypatch.setattr(pictures, "product", lambda *asked: shares)
    monkeypatch.setattr(pictures, "look", lambda *asked: style(0))
    monkeypatch.setattr(own, "labels", lambda name: (y, y[:0]))
    view = SimpleNamespace(
        method="dpsgd", entry=SimpleNamespace(label="One"),
        data=SimpleNamespace(name="own_0123456789abcdef"),
    )  # fmt: skip
    chart = pictures.classes(view)
    assert (chart.facts["worst"], chart.facts["best"], chart.facts["LEFT"]) == ("2", "0", True)
    bar, beside, _ = json.loads(chart.figure.to_json())["data"]
    assert (bar["x"], bar["y"], beside["y"]) == (["0", "2"], [90.0, 40.0], [90.0, 40.0])


def test_gradients_are_counted_on_both_sides_of_the_bound():
    counts, edges = np.zeros(60), np.logspace(-3, 3, 61)
    counts[[20, 40]] = (30.0, 10.0)  # 0.1 C and 10 C
    short, long = json.loads(figures.norms(counts, edges, "C").to_json())["data"]
    assert (sum(short["y"]), sum(long["y"])) == (75.0, 25.0)
    assert figures.norms(np.zeros(60), edges, "C").traces
    assert (short["name"], long["name"]) == ("not clipped", "clipped to the bound")
    both = json.loads(figures.norms(counts, edges, "C", rescaled=True).to_json())["data"]
    assert [one["name"] for one in both] == ["shorter than C", "longer than C"]


@pytest.mark.parametrize(
    ("clipping", "axis", "told"),
    [
        ("adaptive", "Gradient norm / final bound C = 0.07 (L2)", "follows the lengths"),
        ("automatic", "Gradient norm / bound C = 1 (L2)", "is scaled to C·g/(|g| + 0.01)"),
    ],
)
def test_lengths_are_told_by_the_bound_that_cuts_them(
    visit: Open, home: Path, charts: Charts, clipping: str, axis: str, told: str
):
    fields = {"enadpp.method": "DP-SGD today", "enadpp.clipping": clipping, "enadpp.tab": "Why"}
    finish(home, defaults.addressed("enadpp", fields).jobs["dpsgd"])
    test = visit("enadpp", **fields)
    assert not test.exception
    assert charts["norms"]["layout"]["xaxis"]["title"]["text"] == axis
    assert told in said(test)


def test_pictures_stand_below_one_another_without_overlap():
    layers = [Layer("digit", np.ones((10, 2, 2))), Layer("map", np.zeros((10, 2, 2)), signed=True)]
    actual = tiles(layers, ["x"] * 10, head=0.45)
    places = {(one.x[0], one.y[0]) for one in actual.whole.data}
    assert len(places) == len(actual.whole.data) == 20
    assert len(actual.whole.layout.annotations) == 10
    # Two rows of a word (0.45), an image and a map (1.08 each), five (1.08) wide:
    # a narrow column leaves no gap below them.
    assert json.loads(actual.to_json())["layout"]["meta"]["tall"] == pytest.approx(5.22 / 5.32)
