"""Figures from results, without a browser."""

import dataclasses
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from plotly.offline import get_plotlyjs_version

from engine.core.gauges import Gauge
from engine.runs.results import Results
from pages.ui.charts import curves, theme
from pages.ui.charts.dots import dots
from pages.ui.charts.figure import Figure
from pages.ui.kit import plot
from pages.ui.papers.survival import figures as survival
from tests.pages.drawn import sound

EPSILONS = np.repeat([0.1, 1.0, 10.0], 5)
GAUGE = Gauge("Error", "down", scale="log", unit="m")


def results(values: np.ndarray) -> Results:
    return Results(
        run="r", step=np.ones(15, np.int64), seeds=np.tile(np.arange(5), 3),
        axes={"epsilon": EPSILONS}, gauges={"error": values}, epsilon=EPSILONS,
    )  # fmt: skip


def drawn() -> list[curves.Curve]:
    rng = np.random.default_rng(0)
    return [
        curves.curve(results(rng.uniform(1, 2, 15) / EPSILONS), "error", name, i)
        for i, name in enumerate(("One", "Two", "Three"))
    ]


def figure(chosen: float = 1.0):
    levels = [curves.Level("None", theme.reference_style(0), 0.05)]
    return curves.utility(drawn(), levels, GAUGE, chosen, "r", (0.1, 10.0))


def test_a_curve_holds_medians_and_the_inner_four_fifths():
    values = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 3)
    one = curves.curve(results(values), "error", "One", 0)
    assert one.epsilon == (0.1, 1.0, 10.0)
    assert one.middle == (3.0,) * 3
    assert one.low == pytest.approx((1.4,) * 3)  # linear between order statistics: 1 + 0.1 * 4
    assert one.high == pytest.approx((4.6,) * 3)
    assert one.count == (5,) * 3


def test_what_diverged_or_waits_is_left_out():
    values = np.full(15, np.nan)
    values[5:8] = (2.0, np.nan, 4.0)
    one = curves.curve(results(values), "error", "One", 0)
    assert (one.epsilon, one.middle, one.count) == ((1.0,), (3.0,), (2,))
    assert one.at(1.0) == 0
    assert one.at(10.0) is None
    nothing = curves.curve(results(np.full(15, np.nan)), "error", "One", 0)
    assert nothing.epsilon == ()


def test_a_figure_of_nothing_can_be_drawn():
    nothing = curves.curve(results(np.full(15, np.nan)), "error", "One", 0)
    empty = curves.utility([nothing], [], GAUGE, 1.0, "r", (0.1, 10.0))
    assert json.loads(empty.to_json())["layout"]["xaxis"]["type"] == "log"
    assert "no points yet" in curves.reading([nothing], GAUGE, 1.0)


def test_the_chosen_budget_has_a_rule_a_flag_and_rings():
    body = json.loads(figure(10.0).to_json())
    assert body["layout"]["shapes"][0]["x0"] == 10.0
    flag = body["layout"]["annotations"][0]
    assert (flag["x"], flag["text"]) == (1.0, "ε = 10")  # a logarithmic axis is placed by powers
    rings = [trace for trace in body["data"] if trace.get("marker", {}).get("size") == 15]
    assert [ring["x"] for ring in rings] == [[10.0]] * 3


@pytest.mark.parametrize(
    ("better", "budget", "end"),
    [
        ("up", 10.0, "bottom"),
        ("up", 0.8, "bottom"),
        ("up", 0.1, "top"),
        ("down", 10.0, "top"),
        ("down", 0.8, "top"),
        ("down", 0.1, "bottom"),
    ],
)
def test_the_flag_stands_where_few_lines_are(better: str, budget: float, end: str):
    gauge = replace(GAUGE, better=better)  # type: ignore[arg-type]
    flag = curves.utility([], [], gauge, budget, "r", (0.1, 10.0)).layout["annotations"][0]
    assert (flag["yanchor"], flag["y"]) == (end, 1 if end == "top" else 0)


def test_colour_never_stands_alone():
    lines = [t for t in json.loads(figure().to_json())["data"] if t.get("mode") == "lines+markers"]
    assert len({line["line"]["dash"] for line in lines}) == 3
    assert len({line["marker"]["symbol"] for line in lines}) == 3


def test_every_colour_follows_the_theme():
    people = [survival.Person("A", *np.full((3, 4), 0.5), exact=np.full(4, 0.4))]
    time = np.arange(4.0)
    for one in (
        figure(),
        survival.survival(time, people, (time, time), "days"),
        survival.noise(["age"], np.array([1.0]), np.array([2.0])),
    ):
        body = json.loads(one.to_json())
        del body["layout"]["template"]
        actual = set(re.findall(r"#[0-9a-fA-F]{6}", json.dumps(body)))
        assert actual <= {*theme.SERIES, theme.GRID, theme.MUTED, theme.INK, theme.GROUND}


def test_the_axes_say_what_they_are_and_which_end_is_private():
    layout = json.loads(figure().to_json())["layout"]
    assert layout["xaxis"]["title"]["text"].startswith("← more private")
    assert layout["yaxis"]["title"]["text"] == "Error [m] · lower is better"
    assert layout["uirevision"] == "r"


def test_a_level_of_nothing_is_not_drawn_on_a_logarithmic_axis():
    levels = [curves.Level("Zero", theme.reference_style(0), 0.0)]
    body = json.loads(curves.utility([], levels, GAUGE, 1.0, "r", (0.1, 10.0)).to_json())
    assert not body["data"]


def test_the_table_and_the_sentence_hold_the_same_numbers():
    one = curves.curve(results(np.full(15, 2.0)), "error", "One", 0)
    rows = curves.rows([one], [curves.Level("None", theme.reference_style(0), 0.5)])
    assert [row["Median"] for row in rows] == [2.0, 2.0, 2.0, 0.5]
    assert curves.reading([one], GAUGE, 1.0) == "Error at epsilon 1: One 2."


def test_log_ticks_are_round_and_enough():
    short = theme.log_axis("x", [0.3, 4.0])["tickvals"]
    long = theme.log_axis("x", [1e-6, 1e9])["tickvals"]
    assert short == [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    assert len(long) <= 8
    assert theme.log_axis("x", [])["tickvals"]


def test_long_curves_are_thinned_with_both_ends():
    kept = survival.thin(2001)
    assert len(kept) == survival.POINTS
    assert (kept[0], kept[-1]) == (0, 2000)
    assert survival.thin(5).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("spread", "said"),
    [((3.0, 3.0), "larger than every"), ((0.1, 0.1), "every coefficient is larger"),
     ((0.1, 3.0), "larger than 1 of 2")],
)  # fmt: skip
def test_the_noise_is_put_in_words(spread, said):
    text = survival.noise_reading(["age", "sex"], np.array([1.0, 2.0]), np.array(spread), 1.0)
    assert said in text


def test_a_coefficient_of_zero_can_be_drawn():
    body = json.loads(survival.noise(["age"], np.zeros(1), np.ones(1)).to_json())
    assert min(body["data"][1]["x"]) > 0
    assert survival.noise_rows(["age"], np.zeros(1), np.ones(1))[0]["Noise / coefficient"] is None


@pytest.mark.parametrize("count", [50, 73, 99])
def test_dots_count_to_a_hundred(count):
    picture = dots(count)
    assert picture.count("h0") == 100
    *grey, pale = picture.split("<path")[1:]
    assert (sum(part.count("h0") for part in grey), pale.count("h0")) == (count, 100 - count)


def test_a_legend_has_short_names_where_there_are_some_and_the_table_long_ones():
    one = replace(curves.curve(results(np.full(15, 2.0)), "error", "A long name", 0), brief="Short")
    level = curves.Level("Nothing private", theme.reference_style(0), 0.5, brief="None")
    drawn = curves.utility([one], [level], GAUGE, 1.0, "r", (0.1, 10.0))
    assert [t.name for t in drawn.whole.data if t.showlegend is not False] == ["Short", "None"]
    assert {row["Method"] for row in curves.rows([one], [level])} == {"A long name", level.label}


def test_among_many_curves_only_the_one_that_is_looked_at_has_a_band():
    one = drawn()[0]
    many = [dataclasses.replace(one, label=f"method {i}") for i in range(curves.BANDS + 1)]
    made = [
        [t.legendgroup for t in figure.whole.data if t.fill == "toself"]
        for figure in (
            curves.utility(many, [], GAUGE, 1.0, "r", (0.1, 10.0), closer="method 3"),
            curves.utility(many[:-1], [], GAUGE, 1.0, "r", (0.1, 10.0), closer="method 3"),
        )
    ]
    assert made == [["method 3"], [one.label for one in many[:-1]]]


def test_the_bundle_of_plotly_is_of_the_version_that_makes_figures():
    head = plot.LIBRARY.read_text(encoding="utf-8")[:100]
    assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}\n" in head


def test_a_figure_is_sent_as_plotly_sends_its_own():
    z = np.linspace(0.0, 1.0, 6).reshape(2, 3)[:, ::2]
    traces = [
        {"type": "heatmap", "z": z, "zmin": None},
        {"type": "scatter", "x": [1, 2], "y": np.array([np.nan, 1.0]), "customdata": [(1, "a")]},
        {"type": "scatter", "y": [math.inf, 0.5]},
    ]
    made = Figure(traces, {"meta": {"tall": 2}, "template": {}, "shapes": [{"x0": 1.0}]})
    made.note(budget=1.0)
    theirs = json.loads(made.whole.to_json())
    theirs["layout"]["template"] = {}
    assert json.loads(made.to_json()) == theirs
    assert theirs["layout"]["meta"] == {"tall": 2, "budget": 1.0}


def test_a_property_that_plotly_does_not_know_is_seen():
    one = {"type": "scatter", "y": [1.0]}
    sound({"data": [one], "layout": {}})
    with pytest.raises(ValueError, match="colour"):
        sound({"data": [{**one, "colour": "red"}], "layout": {}})
    with pytest.raises(AssertionError):
        sound({"data": [one], "layout": {"xaxis_title": "ε"}})
