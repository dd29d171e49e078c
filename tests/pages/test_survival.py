"""What the survival page has beyond the common parts: costs before training, and samplers."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from engine import catalog
from engine.cli.work import RunError, complete
from engine.core.gauges import Gauge
from engine.papers.survival.evaluation import curves as fitted_curves
from engine.papers.survival.evaluation.curves import Scale
from engine.papers.survival.price import sensitivity
from engine.papers.survival.spec import SurvivalSpec
from engine.service.client import Client
from pages.ui import words
from pages.ui.bundle import collect
from pages.ui.charts import curves, measured, theme
from pages.ui.charts.proof import NOWHERE
from pages.ui.jobs.live import Watched
from pages.ui.kit import card
from pages.ui.paper import choice, defaults
from pages.ui.paper.parts import Chart
from pages.ui.paper.series import SOON
from pages.ui.paper.view import View, offers
from pages.ui.papers.survival import costs as survival_costs
from pages.ui.papers.survival import sampler_figures as sampler
from pages.ui.papers.survival import sections
from pages.ui.papers.survival.sampler_figures import Drawn, Normal
from tests.pages.conftest import Open
from tests.pages.drawn import charts, plots
from tests.pages.played import begin, play


def address(**fields: str) -> dict[str, str]:
    return {f"survival.{field}": text for field, text in fields.items()}


def titled(test: AppTest, part: str) -> list[dict]:
    """The charts whose horizontal axis has such a title."""
    return [c for c in charts(test) if part in c["layout"]["xaxis"]["title"]["text"]]


def said(test: AppTest) -> str:
    return "\n".join(str(one.value) for kind in (test.markdown, test.caption) for one in kind)


@pytest.mark.thorough
def test_the_sanitiser_follows_the_bound_of_its_slider(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why", bound="10"))
    assert not test.exception
    [chart] = titled(test, "Loss of one record")
    bent = next(t for t in chart["data"] if t["name"] == "sanitised")
    assert bent["y"][0] == 0.0
    assert max(bent["y"]) < 10.0
    assert bent["y"][20] == pytest.approx(10.0 * np.tanh(bent["x"][20] / 10.0), rel=1e-3)
    assert "With v = 10 (set in the sidebar)" in said(test)


@pytest.mark.thorough
def test_the_bound_of_the_paper_is_twice_log_n(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why"))
    assert "With v = 17.9 (2 log n for n = 7,874, the paper's choice)" in said(test)
    assert "ε/2v = 2.8 %" in said(test)


@pytest.mark.thorough
def test_moving_the_bound_asks_for_nothing(visit: Open, trained: Path, monkeypatch):
    monkeypatch.setenv("EXPLORER_AHEAD", "off")
    before = len(Client(trained, workers=False).runs())
    test = visit("survival", **address(tab="Why"))
    test.select_slider(key="survival.bound").set_value("20").run()
    assert not test.exception
    assert len(Client(trained, workers=False).runs()) == before


@pytest.mark.thorough
def test_the_draws_are_shown_with_the_approximation_over_them(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why"))
    [chart] = titled(test, "[scale of the model]")[1:]
    drawn = {trace["name"] for trace in chart["data"]}
    assert {"Sanitised posterior, corrected", "Sanitised posterior, pSGLD"} <= drawn
    assert {"Laplace approximation", "optimum f*, without privacy"} <= drawn
    assert chart["layout"]["yaxis"]["ticktext"][:4] == [
        "α₁ baseline", "α₂ baseline", "α₃ baseline", "age",
    ]  # fmt: skip
    [mixing] = [t.value for t in test.table if "Split R̂" in t.value.columns]
    assert list(mixing["Sampler"]) == [
        "Sanitised posterior, corrected", "Sanitised posterior, pSGLD",
    ]  # fmt: skip
    assert "every step, no test" in set(mixing["Accepted"])


def test_another_link_has_no_optimum_of_the_logit(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why", link="probit"))
    assert not test.exception
    assert "Press *Train these too*" in said(test)


def columns(test: AppTest) -> list[str]:
    """What the columns of the tables of a page are called."""
    return [str(column) for one in test.table for column in one.value.columns]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "link", "ratio", "held"),
    [
        ("dp_newton", "logit", "odds", "Odds ratios are those of the discrete-time model"),
        ("cox_dp", "logit", "hazard", "its ratios are hazard ratios"),
        ("psgld", "cloglog", "hazard", "its ratios are hazard ratios"),
        ("psgld", "probit", "", "neither an odds ratio nor a hazard ratio"),
    ],
)
def test_a_coefficient_is_called_what_its_link_makes_of_it(
    visit: Open, home: Path, method: str, link: str, ratio: str, held: str
):
    label = catalog.paper("survival").entry(method).label
    fields = address(tab="People", method=label, link=link)
    jobs = defaults.addressed("survival", fields).jobs
    for name in (method, "non_private"):
        play(home, jobs[name])
    test = visit("survival", **fields)
    assert not test.exception
    private = [column for column in columns(test) if column.startswith("Private ")]
    assert private == ([f"Private {ratio} ratio (four out of five draws)"] if ratio else [])
    assert held in said(test)


def test_people_without_privacy_are_of_the_fit_without_regularisation():
    """As the odds ratios below them are."""
    best, x = np.array([[-3.0, 0.5, 0.2, 1.0]]), np.array([[0.5], [-0.5]])
    scale = Scale(np.zeros(1), np.ones(1), 1.0, 1.0)
    fits = {"optimum": best, "coefficients": 0.1 * best}
    estimate = sections.Fit(scale, best, np.ones(4), fits)
    exact = sections.without_noise(estimate, x, 10, 3)
    np.testing.assert_allclose(exact, fitted_curves.survival(best, x, 10, 3)[0])
    assert sections.without_noise(sections.Fit(scale, best, np.ones(4), {}), x, 10, 3) is None


def test_the_course_of_a_chain_is_drawn_while_it_runs(visit: Open, home: Path):
    begin(home, defaults.opening("survival")["psgld"])
    # a quarter of the grid is measured: the smallest budgets
    test = visit("survival", **address(tab="Why", epsilon="0.05"))
    assert not test.exception
    assert len(titled(test, "Epochs of the sampler")) == 1
    assert "as soon as the first settings are trained" in said(test)
    test = visit("survival", **address(tab="Why", epsilon="10"))
    assert "The chains at this budget have not begun." in said(test)


@pytest.mark.thorough
def test_the_course_of_a_chain_is_counted_in_epochs(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why"))
    [chart] = titled(test, "Epochs of the sampler")
    assert [t["name"] for t in chart["data"] if "name" in t] == [
        "Sanitised posterior, pSGLD", "Sanitised posterior, corrected",
    ]  # fmt: skip
    # the played run measures after step 1 of 100, of three epochs
    assert chart["data"][1]["x"] == [0.03]
    assert "mean of the errors of all draws so far" in said(test)  # Equation 9, not of their mean


def test_a_curve_says_what_it_counts(visit: Open, trained: Path):
    titles = {
        axis["title"]["text"]
        for chart in charts(visit("survival"))
        if "title" in (axis := chart["layout"].get("yaxis", {}))
    }
    assert "Still alive [%]" in titles
    assert words.surviving("third_births") == "No third child yet"
    assert words.surviving("a table of one's own") == "Without the event"


def test_costs_are_there_before_anything_is_trained(visit: Open, home: Path):
    test = visit("survival", **address(tab="Why", epsilon="2", try_q="50", try_e="5"))
    assert not test.exception
    assert not titled(test, "Time intervals q")
    test.session_state["survival.before"] = True
    test.run()
    shown = titled(test, "Time intervals q")
    assert len(shown) == 3
    own = SurvivalSpec(epsilon=2.0, intervals=50, knots=5)
    lines = {t["name"]: dict(zip(t["x"], t["y"], strict=True)) for t in shown[0]["data"]}
    for name, way in survival_costs.WAYS.items():
        assert lines[name][50] == sensitivity.gradient_bound(50, 5, way)
    left = {t["name"]: dict(zip(t["x"], t["y"], strict=True)) for t in shown[1]["data"]}
    actual = sensitivity.objective_noise(own, 7874, 5 + 8)
    assert left["as proved"][50] == actual.epsilon
    assert shown[2]["layout"]["yaxis"]["title"]["text"] == "Mean length of the noise"
    [table] = [t.value for t in test.table if any("As tried" in c for c in t.value.columns)]
    assert sum("q = 50, e = 5" in column for column in table.columns) == 2


def test_the_optimum_is_told_for_what_is_trained_alone(visit: Open, home: Path):
    """It grows with q: over that of another q the noise would seem larger than it is."""
    fields = address(tab="Why", dataset="Wichert", try_q="400")
    play(home, defaults.addressed("survival", fields).jobs["non_private"])
    test = visit("survival", **fields)
    assert not test.exception
    [table] = [t.value for t in test.table if any("As tried" in c for c in t.value.columns)]
    of = table.set_index(table.columns[0]).loc["Output perturbation: noise over the optimum"]
    (proved,) = (told for head, told in of.items() if head.startswith("As trained, as proved"))
    assert float(proved) > 0.0
    assert list(of).count("not known") == 3  # tried, and the records scaled as printed


def begun(method: str, rows: list[bool], **arrays: np.ndarray) -> View:
    """A page that looks at a method; which rows of its arrays are at the budget."""
    label = catalog.paper("survival").entry(method).label
    page = defaults.addressed("survival", address(method=label, dataset="Wichert"))
    results = SimpleNamespace(rows=lambda **at: np.array(rows), values=None)
    one = SimpleNamespace(
        arrays=arrays, results=results, job=page.jobs[method], run=None, label=label
    )  # fmt: skip
    none = SimpleNamespace(arrays={}, results=None)
    return replace(page.view({}, page.chosen), watched={method: one, "non_private": none})


def test_a_curve_of_everyone_is_read_where_its_chunk_is_over():
    """The chunk of the slider's budget goes first: rows before it are not there yet."""
    curve, empty = np.linspace(1.0, 0.2, 11), np.full(11, np.nan)
    known = {f"km_{name}": np.stack([empty, curve]) for name in ("private", "low", "high")}
    chart = sections.everyone(begun("km_dp", [False, True], horizon=np.r_[np.nan, 500.0], **known))
    assert [row["Time [days]"] for row in chart.rows][-1] == 500.0
    assert "half by 312 days" in chart.facts["medians"]


def test_the_band_of_one_release_is_called_an_interval():
    curve = np.linspace(1.0, 0.2, 11)[None]
    known = {f"km_{name}": curve for name in ("private", "low", "high")}
    one = begun("km_dp", [True], horizon=np.r_[500.0], **known)
    several = begun("km_dp", [True], horizon=np.r_[500.0], **{**known, "km_low": np.nan * curve})
    for view, said, head in (
        (one, "95\u00a0% interval", "Everyone, private, 95 % interval from"),
        (several, "middle 80\u00a0% of the draws", "Everyone, private, 10 %"),
    ):
        chart = sections.everyone(view)
        assert head in chart.rows[0]
        (hover,) = (t["hovertemplate"] for t in chart.figure.traces if "customdata" in t)
        assert said in hover


def test_people_are_drawn_from_the_first_release_that_is_over():
    p, d = 3, 6
    late = lambda *values: np.stack([np.full_like(values, np.nan), values])  # noqa: E731
    view = begun(
        "dp_newton", [True, True], centre=late(*np.full(p, 50.0)), span=late(*np.full(p, 40.0)),
        norm=np.r_[np.nan, 1.2], horizon=np.r_[np.nan, 5000.0], noise=late(*np.ones(d)),
        coefficients=late(-2.0, *np.zeros(d - 1)), sampling=late(*np.full(d, 1e-4)),
        uncertainty=np.stack([np.full((d, d), np.nan), 2e-8 * np.eye(d)]),
        events_per_noise=np.r_[np.nan, 1e6],
    )  # fmt: skip
    chart = sections.people(view)
    assert isinstance(chart, Chart)
    assert "half by" in chart.facts["medians"]
    assert "nan" not in chart.facts["medians"]
    assert all(0.0 < row["Person A, 95 % interval from"] <= 1.0 for row in chart.rows)


@pytest.mark.parametrize(
    ("count", "said"), [(2, "all draws"), (6, "middle 80\u00a0% of the draws")]
)
def test_the_band_of_few_releases_holds_all_of_them(count: int, said: str):
    p, d = 3, 6
    same = lambda *values: np.tile(values, (count, 1))  # noqa: E731
    view = begun(
        "dp_newton", [True] * count, centre=same(*np.full(p, 50.0)), span=same(*np.full(p, 40.0)),
        norm=np.full(count, 1.2), horizon=np.full(count, 5000.0), noise=same(*np.ones(d)),
        coefficients=same(-2.0, *np.zeros(d - 1)),
    )  # fmt: skip
    none = SimpleNamespace(arrays={"optimum": same(-1.0, *np.zeros(d - 1))}, results=None)
    told = sections.story(replace(view, watched={**view.watched, "non_private": none}))
    assert told is not None
    hovers = {one["hovertemplate"] for one in told.figure.traces if "customdata" in one}
    assert hovers
    assert all(said in one for one in hovers)


@pytest.mark.parametrize("method", ["km_dp", "log_rank"])
def test_no_coefficients_are_promised_of_a_method_without_any(method: str):
    view = begun(method, [])
    parts = (sections.noise, sections.ratios, *([sections.people] if method == "log_rank" else []))
    assert {part(view) for part in parts} == {sections.NONE}
    assert sections.noise(begun("dp_newton", [])) == SOON


def test_no_line_of_the_test_is_no_fault(visit: Open, home: Path):
    """With as many intervals as records there is no budget at which the test is run."""
    rows = "\n".join(f"{20 + i},{1 + i % 40},{i % 2}" for i in range(40))
    content = f"age,months,status\n{rows}\n".encode()
    name = own.keep("small.csv", content, accept=True)
    test = visit("survival", **address(tab="People", dataset=name, intervals="400"))
    assert not test.exception
    assert "there are too few records for a test with so many intervals" in said(test)


def test_the_mean_length_of_the_noise_is_that_of_its_draws():
    """A Gamma(d, s) length has mean ds; 4,000 draws of d = 11 have an error of s√(11/4000)."""
    own = SurvivalSpec(epsilon=1.0)
    actual = survival_costs.cost(own, 7874, 8)
    mechanism = sensitivity.output_noise(own, 7874, 11)
    drawn = np.random.default_rng(0).gamma(11, mechanism.scale, 4000).mean()
    assert abs(actual.length - drawn) < 5 * mechanism.scale * np.sqrt(11 / 4000)
    assert actual.spent == pytest.approx((1.0, 1.0))
    printed = survival_costs.cost(own.replace(calibration="paper"), 7874, 8)
    assert printed.length > actual.length
    assert printed.spent[1] == pytest.approx(400.0 / 469.8, rel=1e-3)


@pytest.mark.thorough
def test_what_is_tried_is_trained_by_a_button_only(visit: Open, trained: Path, monkeypatch):
    monkeypatch.setenv("EXPLORER_AHEAD", "off")
    test = visit("survival", **address(tab="Why"))
    before = len(Client(trained, workers=False).runs())
    test.select_slider(key="survival.try_q").set_value("50").run()
    assert len(Client(trained, workers=False).runs()) == before
    test.button(key="survival.try").click().run()
    assert not test.exception
    assert test.select_slider(key="survival.intervals").value == "50"
    asked = {run.job.values["intervals"] for run in Client(trained, workers=False).runs()}
    assert asked == {50, 10}


@pytest.mark.thorough
def test_what_is_tried_follows_the_settings_of_the_page(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why", intervals="100"))
    assert test.select_slider(key="survival.try_q").value == "100"
    test.select_slider(key="survival.intervals").set_value("200").run()
    assert test.select_slider(key="survival.try_q").value == "200"
    test.select_slider(key="survival.try_q").set_value("20").run()
    test.select_slider(key="survival.intervals").set_value("5").run()
    assert test.select_slider(key="survival.try_q").value == "5"


def test_a_late_report_of_where_a_followed_slider_stood_is_no_move(
    visit: Open, trained: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(survival_costs, "ECHO", 3600.0)
    test = visit("survival", **address(tab="Why", intervals="100", try_e="5"))
    test.select_slider(key="survival.intervals").set_value("200").run()
    test.select_slider(key="survival.try_q").set_value("100").run()  # the browser was not told yet
    assert test.select_slider(key="survival.try_q").value == "200"
    monkeypatch.setattr(survival_costs, "ECHO", 0.0)  # later it is a person who moves it there
    test.select_slider(key="survival.try_q").set_value("100").run()
    assert test.select_slider(key="survival.try_q").value == "100"


def test_junk_for_what_is_tried_is_dropped(visit: Open, trained: Path):
    test = visit("survival", **address(tab="Why", try_q="many"))
    assert not test.exception
    assert test.select_slider(key="survival.try_q").value == "10"


def drawn(width: float = 1.0) -> list[Drawn]:
    rng = np.random.default_rng(0)
    return [Drawn("One", theme.style(0), rng.normal(2.0, width, (3000, 2)))]


def test_a_density_integrates_to_one_and_peaks_where_the_draws_are():
    """A kernel estimate over all its draws leaves only its own tails outside ± 6 deviations."""
    x = np.linspace(-4.0, 8.0, 401)
    actual = sampler.density(sampler.thinned(drawn()[0].draws)[:, 0], x)
    assert np.trapezoid(actual, x) == pytest.approx(1.0, abs=1e-3)
    assert abs(x[actual.argmax()] - 2.0) < 0.5


def test_the_approximation_lies_over_draws_of_the_same_law():
    """The kernel widens a normal of deviation 1 by 1.06²·600^-0.4 < 0.09 in variance, so its
    peak is lower by at most 5 %; sampling adds about 1/√(600·0.4·0.3) < 12 % at the peak."""
    one = sampler.ridge(drawn(), Normal(np.full(2, 2.0), np.ones(2)), 0)
    assert one.laplace is not None
    assert one.heights["One"].max() == pytest.approx(one.laplace.max(), rel=0.25)
    assert one.x[0] < -0.9
    assert one.x[-1] > 4.9


def test_rows_of_the_posterior_stand_apart():
    figure = sampler.posterior(["a", "b"], drawn(), None, np.array([2.0, 2.0]))
    body = json.loads(figure.to_json())
    heights = [y for y in body["data"][0]["y"] if y is not None]
    assert max(heights) == pytest.approx(sampler.ROOM)
    assert min(heights) == -1.0
    assert body["data"][-1]["y"] == [0.0, -1.0]


def test_draws_that_are_not_finite_or_all_alike_can_be_drawn():
    draws = np.ones((50, 2))
    draws[::5] = np.nan
    actual = [Drawn("One", theme.style(0), draws)]
    figure = sampler.posterior(["a", "b"], actual, None, None)
    assert all(np.isfinite(y) for y in figure.whole.data[0].y if y is not None)
    assert sampler.posterior_rows(["a", "b"], actual, None, None)[0]["One"] == "1 (1 to 1)"


def test_the_sanitiser_is_bounded_and_nearly_the_loss_where_that_is_small():
    loss = np.array([0.0, 0.1, 5.0, 500.0])
    bent = sampler.sanitised(loss, 10.0)
    assert bent[1] == pytest.approx(0.1, rel=1e-4)
    assert bent[3] == pytest.approx(10.0)
    rows = sampler.sanitiser_rows(10.0)
    assert rows[0]["Left out [%]"] == 0.0
    assert rows[-1]["Left out [%]"] == pytest.approx(100.0 * (1.0 - np.tanh(3.0) / 3.0))


def test_measured_draws_are_all_in_the_theme_of_the_page():
    plain = theme.style(0)
    figure = sampler.posterior(["a", "b"], drawn(), None, None)
    assert figure.whole.data[0].fillcolor.startswith(plain.colour)


@pytest.mark.thorough
def test_the_messages_of_the_new_charts_are_words(visit: Open, trained: Path):
    assert all(one["alt"].endswith(".") for one in plots(visit("survival", **address(tab="Why"))))


def test_the_oracle_is_a_curve_with_as_many_repetitions_as_the_others():
    paper = catalog.paper("survival")
    offered = offers(paper, defaults.layout("survival"))
    wanted = choice.jobs(paper, choice.untouched(offered), (0.1, 1.0))
    assert wanted["oracle"].axes["epsilon"] == (0.1, 1.0)
    assert len(wanted["oracle"].seeds) == len(wanted["dp_newton"].seeds) > 1
    assert len(wanted["cox"].seeds) == 1


def test_a_curve_for_comparison_says_that_nothing_is_proved_and_stands_at_its_budget():
    places, heights = (0.1, 1.0), (2.0, 1.0)
    one = measured.Curve(
        "Oracle", theme.style(0), places, heights, heights, heights, (3, 3), status="not_private"
    )
    gauge = Gauge("Error", "down")
    figure = curves.utility([one], [], gauge, 1.0, "r", (0.1, 10.0), True).to_plotly_json()
    line = next(t for t in figure["data"] if "customdata" in t)
    assert list(line["x"]) == list(places)
    assert line["line"]["dash"] == "dot"
    assert {told[4] for told in line["customdata"]} == {NOWHERE}


def test_an_unknown_failure_probability_is_said_in_every_form_of_the_card():
    entry = catalog.paper("survival").entry("exact")
    one = entry.guarantee(SurvivalSpec(), 100, "a person")
    assert card.chance(one) == "unknown"
    assert "δ is unknown" in card.line(one)
    assert card.lines(["Exact"], [one])["Proved ε"] == ["1 (δ\u00a0is\u00a0unknown)"]
    page = defaults.addressed("survival", {})
    view = page.view({"exact": Watched("Exact", page.jobs["exact"], None)}, page.chosen)
    assert "unknown" in collect.line(view, "exact")["proved"]
    pure = catalog.paper("survival").entry("out_pert").guarantee(SurvivalSpec(), 100, "a person")
    assert card.chance(pure) == ""
    assert card.lines(["Output"], [pure])["Proved ε"] == ["1"]
    none = replace(one, status="heuristic", epsilon_proved=None)
    assert card.lines(["None"], [none])["Proved ε"] == ["none"]


def test_a_test_that_waits_is_not_said_to_be_hidden_by_noise(visit: Open, home: Path):
    fields = address(tab="People", dataset="Wichert", epsilon="5")
    begin(home, defaults.addressed("survival", fields).jobs["log_rank"])
    test = visit("survival", **fields)
    assert not test.exception
    assert "The test appears as soon as it is run." in said(test)
    assert "Noise hides too much for a test" not in said(test)


def test_noise_hides_a_test_by_a_rule_that_reads_no_record(visit: Open, home: Path):
    """There are fewer than 2 records for each interval and deviation of the noise."""
    fields = address(tab="People", dataset="Wichert", epsilon="0.1", intervals="400")
    test = visit("survival", **fields)
    assert not test.exception
    assert "Noise hides too much for a test: use fewer intervals or a larger ε." in said(test)
    assert "there are too few records for a test with so many intervals" in said(test)


def test_groups_are_not_compared_where_covariates_vary_in_time(visit: Open, home: Path):
    fields = address(tab="People", dataset="Heart", epsilon="10")
    job = defaults.addressed("survival", fields).jobs["log_rank"]
    with pytest.raises(RunError, match="fixed in time"):
        complete(Client(home, workers=False), job, lambda done, total: None)
    test = visit("survival", **fields)
    assert not test.exception
    assert "The test needs covariates that are fixed in time, and some" in said(test)
    assert "Noise hides too much" not in said(test)
    assert "a hazard ratio of 2" not in said(test)
    assert "Studies that find the difference [%]" not in {
        one["layout"]["yaxis"]["title"]["text"] for one in charts(test)
    }
