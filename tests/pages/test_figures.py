"""Figures from results, without a browser."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plotly.offline import get_plotlyjs_version

from engine.core.gauges import Gauge
from engine.runs.results import Results
from pages.ui import messages
from pages.ui.charts import curves, heights, lines, measured, notes, proof, theme
from pages.ui.charts.dots import dots
from pages.ui.charts.figure import Figure
from pages.ui.charts.rows import Marks, marks
from pages.ui.kit import labels, plot
from pages.ui.paper import defaults, parts
from pages.ui.paper.said import say
from pages.ui.papers.survival import figures as survival
from tests.pages.drawn import sound

EPSILONS = np.repeat([0.1, 1.0, 10.0], 5)
GAUGE = Gauge("Error", "down", scale="log", unit="m")


def results(values: np.ndarray) -> Results:
    return Results(
        run="r", step=np.ones(15, np.int64), seeds=np.tile(np.arange(5), 3),
        axes={"epsilon": EPSILONS}, gauges={"error": values}, epsilon=EPSILONS,
    )  # fmt: skip


def drawn() -> list[measured.Curve]:
    rng = np.random.default_rng(0)
    return [
        measured.curve(results(rng.uniform(1, 2, 15) / EPSILONS), "error", name, i)
        for i, name in enumerate(("One", "Two", "Three"))
    ]


def figure(chosen: float = 1.0):
    levels = [measured.Level("None", theme.reference_style(0), 0.05)]
    return curves.utility(drawn(), levels, GAUGE, chosen, "r", (0.1, 10.0))


def test_a_curve_holds_medians_and_the_inner_four_fifths():
    values = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 3)
    one = measured.curve(results(values), "error", "One", 0)
    assert one.epsilon == (0.1, 1.0, 10.0)
    assert one.middle == (3.0,) * 3
    assert one.low == pytest.approx((1.4,) * 3)  # linear between order statistics: 1 + 0.1 * 4
    assert one.high == pytest.approx((4.6,) * 3)
    assert one.count == (5,) * 3


def test_what_diverged_or_waits_is_left_out():
    values = np.full(15, np.nan)
    values[5:8] = (2.0, np.nan, 4.0)
    one = measured.curve(results(values), "error", "One", 0)
    assert (one.epsilon, one.middle, one.count) == ((1.0,), (3.0,), (2,))
    assert one.at(1.0) == 0
    assert one.at(10.0) is None
    nothing = measured.curve(results(np.full(15, np.nan)), "error", "One", 0)
    assert nothing.epsilon == ()


def test_a_figure_of_nothing_can_be_drawn():
    nothing = measured.curve(results(np.full(15, np.nan)), "error", "One", 0)
    empty = curves.utility([nothing], [], GAUGE, 1.0, "r", (0.1, 10.0))
    assert json.loads(empty.to_json())["layout"]["xaxis"]["type"] == "log"
    assert "no points yet" in labels.in_words([nothing], [], GAUGE, 1.0)


def test_the_chosen_budget_has_a_rule_a_flag_and_rings():
    body = json.loads(figure(10.0).to_json())
    assert body["layout"]["shapes"][0]["x0"] == 10.0
    flag = body["layout"]["annotations"][0]
    assert (flag["x"], flag["text"]) == (1.0, "ε = 10")  # a logarithmic axis is placed by powers
    rings = [shape for shape in body["layout"]["shapes"] if shape.get("name") == "ring"]
    heights = [line["y"][-1] for line in body["data"] if line.get("mode") == "lines+markers"]
    assert [(ring["xanchor"], ring["yanchor"]) for ring in rings] == [(10.0, y) for y in heights]


def test_a_move_of_the_slider_changes_no_trace_where_lines_are_named():
    """Plotly draws a chart again when one of its traces is another; a shape alone is quick."""
    few, other = json.loads(figure(10.0).to_json()), json.loads(figure(1.0).to_json())
    assert few["data"] == other["data"]
    assert few["layout"]["shapes"] != other["layout"]["shapes"]
    many = [replace(drawn()[0], label=f"method {i}") for i in range(curves.NAMED + 1)]
    made = curves.utility(many, [], GAUGE, 10.0, "r", (0.1, 10.0))
    rings = [trace for trace in made.traces if trace["mode"] == "markers"]
    assert [ring["legendgroup"] for ring in rings] == [one.label for one in many]
    assert all(ring["cliponaxis"] is False for ring in rings)  # one at the axis is drawn whole


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
def test_the_flag_below_a_legend_stands_where_few_lines_are(better: str, budget: float, end: str):
    gauge = replace(GAUGE, better=better)  # type: ignore[arg-type]
    many = [replace(drawn()[0], label=f"method {i}") for i in range(curves.NAMED + 1)]
    flag = curves.utility(many, [], gauge, budget, "r", (0.1, 10.0)).layout["annotations"][0]
    assert (flag["yanchor"], flag["y"]) == (end, 1 if end == "top" else 0)


def test_colour_never_stands_alone():
    """Few lines are named at their ends; of many, each has a mark of its own."""
    few = json.loads(figure().to_json())
    names = [one for one in few["layout"]["annotations"] if one.get("name") == notes.END]
    assert [one["text"] for one in names] == ["One", "Two", "Three", "No privacy"]
    assert len({one["font"]["color"] for one in names}) == 4
    one = drawn()[0]
    many = [replace(one, label=f"method {i}", style=theme.style(i)) for i in range(7)]
    body = curves.utility(many, [], GAUGE, 1.0, "r", (0.1, 10.0)).to_plotly_json()
    assert not [one for one in body["layout"]["annotations"] if one.get("name") == notes.END]
    lines = [trace for trace in body["data"] if trace["mode"] == "lines+markers"]
    assert len({line["marker"]["symbol"] for line in lines}) == 7


def test_every_colour_follows_the_theme():
    people = [survival.Person("A", *np.full((3, 4), 0.5), survival.DRAWS, exact=np.full(4, 0.4))]
    time = np.arange(4.0)
    for one in (
        figure(),
        survival.survival(time, people, (time, time), "days", "Still alive"),
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
    levels = [measured.Level("Zero", theme.reference_style(0), 0.0)]
    body = json.loads(curves.utility([], levels, GAUGE, 1.0, "r", (0.1, 10.0)).to_json())
    assert not body["data"]


def test_a_level_that_is_rounding_sets_no_axis_and_is_not_drawn():
    one = measured.curve(results(np.full(15, 2.0)), "error", "One", 0)
    gauge = replace(GAUGE, scale="log", better="down")

    def drawn(value: float) -> tuple[float, int]:
        levels = [measured.Level("None", theme.reference_style(0), value)]
        low = heights.heights([one], levels, gauge).low
        body = json.loads(curves.utility([one], levels, gauge, 1.0, "r", (0.1, 10.0)).to_json())
        return low, sum(trace.get("name") == "None" for trace in body["data"])

    assert drawn(1e-9)[0] > 1.0
    assert drawn(1e-2)[0] < 1e-2
    assert (drawn(1e-9)[1], drawn(1e-2)[1]) == (0, 1)


def test_a_level_tells_how_many_repetitions_it_is_the_median_of():
    found = measured.level(results(np.arange(15.0)), "error", "None", 0)
    assert found is not None
    assert (found.value, found.count) == (7.0, 15)
    assert found.sure == measured.interval(np.arange(15.0))
    (row,) = curves.rows([], [found])
    assert row["Repetitions"] == 15
    assert (row["Median at least"], row["Median at most"]) == found.sure


def test_the_table_and_the_sentence_hold_the_same_numbers():
    one = measured.curve(results(np.full(15, 2.0)), "error", "One", 0)
    rows = curves.rows([one], [measured.Level("None", theme.reference_style(0), 0.5)])
    assert [row["Median"] for row in rows] == [2.0, 2.0, 2.0, 0.5]
    assert labels.in_words([one], [], GAUGE, 1.0) == "Error at epsilon 1: One 2."


def test_the_sentence_says_what_is_proved_elsewhere_and_what_costs_no_budget():
    one = measured.curve(results(np.full(15, 2.0)), "error", "One", 0)
    count = len(one.epsilon)
    places = {"A": 1.0, "B": 0.744, "C": None, "D": math.inf}
    lines = [replace(one, label=name, proved=(at,) * count) for name, at in places.items()]
    level = measured.Level("None", theme.reference_style(0), 0.5)
    assert labels.in_words(lines, [level], GAUGE, 1.0) == (
        "Error at epsilon 1: A 2, B 2 (proved 0.744), C 2 (no proof), D 2 (no proof), None 0.5."
    )


def test_the_legend_shows_the_mark_of_a_method_whose_first_release_fails():
    one = measured.curve(results(np.full(15, 2.0)), "error", "One", 0)
    count = len(one.epsilon)
    failing = replace(one, failed=(0.5,) + (0.0,) * (count - 1))
    lines = [
        replace(failing, label=f"Line {i}", style=theme.style(i), focus=True) for i in range(7)
    ]
    figure = curves.utility(lines, [], GAUGE, 1.0, "r", (0.1, 10.0))
    traces = json.loads(figure.to_json())["data"]
    for line in lines:
        drawn = [one for one in traces if one.get("name") == line.legend]
        [shown] = [one for one in drawn if one.get("showlegend", True)]
        own = proof.look(line.style, line.status).marker
        assert shown["marker"]["symbol"] == own
        assert any(one["marker"]["symbol"][0] == curves.FAILS for one in drawn if one is not shown)


def test_the_legend_shows_the_mark_of_a_method_all_of_whose_releases_fail():
    one = measured.curve(results(np.full(15, 2.0)), "error", "One", 0)
    lines = [
        replace(one, label=f"Line {i}", style=theme.style(i), failed=(0.5,) * len(one.epsilon))
        for i in range(7)
    ]
    figure = curves.utility(lines, [], GAUGE, 1.0, "r", (0.1, 10.0))
    shown = [
        one["marker"]["symbol"]
        for one in figure.traces
        if one.get("name") and one.get("showlegend", True)
    ]
    assert shown == [proof.look(line.style, line.status).marker for line in lines]


def test_the_sentence_says_the_measure_that_is_drawn_in_the_language():
    share = Gauge("Test accuracy", "up", unit="share")
    one = measured.curve(results(np.full(15, 0.7545)), "error", "EnADPP, with proof", 0)
    told = "Falsch gelesene Testdatensätze bei Epsilon 0,1: EnADPP, mit Beweis 24,6\u00a0%."
    with messages.spoken("de"):
        assert labels.in_words([one], [], share, 0.1, "Test records read wrongly") == told
    assert labels.in_words([one], [], share, 0.1) == (
        "Test accuracy at epsilon 0.1: EnADPP, with proof 75.4\u00a0%."
    )


def test_where_lines_end_is_said_in_the_unit_of_their_axis():
    line = lines.Line("One", theme.style(0), *(np.array([0.5, 0.8274]),) * 4)
    assert parts.ends([line]) == "One 0.827"
    assert parts.ends([line], per_cent=True) == "One 82.7\u00a0%"


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
    facts = survival.noise_facts(["age", "sex"], np.array([1.0, 2.0]), np.array(spread))
    own = next(one for one in defaults.layout("survival").sections if one.name == "noise")
    assert said in say(own.words, "finding", {**facts, "budget": 1.0})


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
    one = replace(
        measured.curve(results(np.full(15, 2.0)), "error", "A long name", 0), brief="Short"
    )
    level = measured.Level("Nothing private", theme.reference_style(0), 0.5, brief="None")
    drawn = curves.utility([one], [level], GAUGE, 1.0, "r", (0.1, 10.0))
    assert {t.name for t in drawn.whole.data if t.showlegend is not False} == {"Short", "None"}
    assert {row["Method"] for row in curves.rows([one], [level])} == {"A long name", level.label}


@pytest.mark.parametrize(("count", "light"), [(5, 0), (6, 1)])
def test_a_median_has_a_dark_band_and_of_many_repetitions_a_light_one(count: int, light: int):
    """The method that is looked at has it; the range of five would be wider than the light one."""
    lines = [replace(one, count=(count,) * len(one.count)) for one in drawn()]
    made = curves.utility(lines, [], GAUGE, 1.0, "r", (0.1, 10.0), closer="Two").traces
    filled = [(t["legendgroup"], t["opacity"]) for t in made if t.get("fill") and t["x"]]
    dark = [(name, curves.SURE) for name in ("One", "Two", "Three")]
    assert sorted(filled) == sorted([*dark, *[("Two", curves.SINGLE)] * light])


def test_lines_that_are_not_in_focus_are_thin_and_grey_and_have_no_name_and_no_band():
    one, two, _ = drawn()
    made = curves.utility([one, replace(two, focus=False)], [], GAUGE, 1.0, "r", (0.1, 10.0))
    line = next(t for t in made.traces if t.get("name") == "Two")
    assert (line["line"]["color"], line["showlegend"], line["mode"]) == (
        theme.MUTED,
        False,
        "lines",
    )
    assert not [t for t in made.traces if t.get("fill") and t["x"] and t["legendgroup"] == "Two"]
    named = [n["text"] for n in made.layout["annotations"] if n.get("name") == notes.END]
    assert named == ["One"]
    assert "Two" in line["hovertemplate"]


@pytest.mark.parametrize(("count", "width"), [(1, 1.2), (5, 1.2), (6, 2.5), (200, 2.5)])
def test_a_line_of_few_repetitions_is_thin(count: int, width: float):
    one, _, _ = drawn()
    one = replace(one, count=(count,) * len(one.count))
    made = curves.utility([one], [], GAUGE, 1.0, "r", (0.1, 10.0))
    line = next(t for t in made.traces if t.get("name") == "One")
    assert (line["line"]["width"], line["mode"]) == (width, "lines+markers")


@pytest.mark.parametrize("count", [1, 2, 5, 6, 9, 20, 200])
def test_the_interval_of_a_median_holds_it_as_often_as_it_says(count: int):
    """Of uniform draws the median is 1/2; 4,000 intervals miss it within 4 standard deviations."""
    draws = np.random.default_rng(count).uniform(size=(4000, count))
    ends = [measured.interval(column) for column in draws]
    held = np.mean([low <= 0.5 <= high for low, high in ends])
    sure = measured.SURE if count >= measured.FEWEST else 1.0 - 2.0 ** (1 - count)
    assert held >= sure - 4.0 * math.sqrt(sure * (1.0 - sure) / 4000)
    if count >= measured.FEWEST:  # and it is no wider than order statistics can make it
        rank = sum(
            low == column.min() for (low, _), column in zip(ends, np.sort(draws), strict=True)
        )
        assert (rank == 4000) == (count < 9)


def test_the_axis_shows_errors_on_a_log_scale_where_a_method_comes_within_a_tenth_of_none():
    share = Gauge("Accuracy", "up", unit="share")
    level = [measured.Level("None", theme.reference_style(0), 0.9)]

    def axis(top: float, proved: tuple[float | None, ...] = (0.1, 1.0, 10.0)) -> Any:
        middle = (0.5, 0.7, top)
        one = measured.Curve(
            "One", theme.style(0), (0.1, 1.0, 10.0), middle, middle, middle, (5,) * 3,
            status="proved", proved=proved,
        )  # fmt: skip
        return heights.heights([one], level, share, "Wrong answers", 0.5)

    near, far = axis(0.891), axis(0.885)  # errors of 10.9 % and 11.5 %, where 10 % is without
    assert (near.log, far.log) == (True, False)
    assert not axis(0.891, (None, None, None)).log  # nothing of it is proved
    assert near.title == "Wrong answers [%] · lower is better"
    assert near.of([0.9]) == pytest.approx([0.1])
    assert near.low < 0.1 < 0.5 < near.high  # no privacy and guessing are on the axis
    assert near.axis()["ticktext"] == ["10 %", "15 %", "20 %", "30 %", "50 %"]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_an_axis_stays_while_lines_come_in_and_grows_only_for_what_would_leave_it(scale: Any):
    gauge = Gauge("Error", "down", scale=scale)

    def axis(*middle: float, before: Any = None, whole: bool = False) -> Any:
        grid = (0.1, 1.0, 10.0)[: len(middle)]
        one = measured.Curve("One", theme.style(0), grid, middle, middle, middle, (1,) * len(grid))
        return heights.heights([one], [], gauge, before=before, whole=whole)

    first = axis(9.0, 4.0, 1.0)
    assert axis(8.0, before=first) == first
    assert axis(8.0, 5.0, 2.0, before=first, whole=True) == first  # and at the end it does not jump
    grown = axis(30.0, before=first)
    assert (grown.low, grown.high) == (first.low, axis(30.0).high)
    assert axis(3.0, 2.9, 2.8, before=first, whole=True) == axis(3.0, 2.9, 2.8)
    assert axis(3.0, 2.9, 2.8, before=first) == first
    assert heights.heights([], [], gauge, before=first) == heights.heights([], [], gauge)


def test_ticks_have_as_many_decimals_as_they_need():
    fine = heights.Heights("Error", True, False, "down", True, 0.0026, 0.012)
    assert fine.axis()["ticktext"] == ["0.3 %", "0.5 %", "0.7 %", "1 %"]
    plain = heights.Heights("Error", False, False, "down", False, 0.0, 0.11)
    assert plain.axis()["ticktext"] == ["0", "0.02", "0.04", "0.06", "0.08", "0.1"]


def test_points_without_a_proof_are_one_bar_and_its_range_is_told():
    middle = (0.4, 0.5, 0.61)
    one = measured.Curve(
        "One", theme.style(0), (0.1, 1.0, 10.0), middle, middle, middle, (5,) * 3,
        status="heuristic", proved=(None,) * 3,
    )  # fmt: skip
    made = curves.utility(
        [one], [], Gauge("Accuracy", "up", unit="share"), 1.0, "r", (0.1, 10.0), by_proof=True
    )
    line = next(t for t in made.traces if t.get("name"))
    assert len(set(line["x"])) == 1
    assert line["mode"] == "lines"
    assert made.layout["xaxis"]["ticktext"][-1] == "no proof:<br>40–61 %"


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


def test_the_table_of_a_chart_names_its_measure_and_says_budgets_as_the_page_does():
    one = replace(drawn()[0], proved=(0.1, 1.99973, None))
    level = measured.Level("None", theme.reference_style(0), 0.05)
    table = curves.rows([one], [level], "Pairs ranked correctly")
    assert all("Pairs ranked correctly, median" in row for row in table)
    assert [row["Proved ε"] for row in table[:3]] == [0.1, 2.0, None]
    plain = curves.rows([one], [level])
    assert (plain[0]["Median"], plain[1]["Proved ε"]) == (one.middle[0], 1.99973)


def test_a_proof_under_an_assumption_has_a_hollow_mark():
    rows = [Marks("a", 1.0, 1.0, 0.5), Marks("b", 1.0, 2.0, 5.0, broken=True, assumed=True)]
    drawn = {one["name"]: one for one in marks(rows).traces if one.get("name")}
    assert drawn["proved"]["marker"]["symbol"] == "square"
    assert drawn["proved under an assumption"]["marker"]["symbol"] == "square-open"
    assert [len(one["x"]) for one in drawn.values()] == [2, 1, 1, 1, 1]
