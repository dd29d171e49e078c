"""The Compare page: finished runs side by side, and what to do while there are none."""

import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from datasets import flchain
from engine.catalog import catalog
from engine.core.gauges import Gauge
from engine.privacy.guarantee import STATUSES
from engine.runs import shipped
from engine.runs.common import common
from engine.runs.job import Job, request
from engine.service.client import Client
from engine.service.store import Store
from pages.ui.charts.measured import BANDS, Curve
from pages.ui.charts.theme import INK, MUTED, style
from pages.ui.compare import answers, candidates, shown
from pages.ui.paper import cast as casting
from tests.pages.conftest import ROOT, Open
from tests.pages.drawn import charts
from tests.pages.played import begin, play

EPSILONS = (0.1, 1.0, 6.4)
TOLD_APART = "Can two be told apart?"


def job(method: str = "out_pert", dataset: str = "flchain", **values: object) -> Job:
    return request("survival", method, dataset, values, {"epsilon": EPSILONS}, range(3))


def chart(test: AppTest) -> dict:
    (shown,) = charts(test)
    return shown


def lines(test: AppTest) -> set[str]:
    return {trace["name"].partition(" · ")[0] for trace in chart(test)["data"] if trace.get("name")}


def test_an_empty_store_leads_on(visit: Open):
    test = visit("compare")
    assert not test.exception
    assert "nothing to compare yet" in test.info[0].value
    assert not charts(test)


def test_finished_runs_share_a_chart_and_a_table(visit: Open, home: Path):
    for one in (job(), job("obj_pert"), job(dataset="wichert"), job("non_private")):
        play(home, one)
    assert lines(visit("compare")) == {
        "Output noise", "Objective noise", "No privacy",  # as on the page of the paper
    }  # fmt: skip
    level = next(one for one in chart(visit("compare"))["data"] if one["name"].startswith("No pr"))
    assert (level["line"]["color"], level["line"]["dash"]) == (INK, "dot")
    test = visit("compare", **{"compare.data": "All data sets"})
    assert not test.exception
    assert not test.error
    test.multiselect[0].set_value(test.multiselect[0].options).run()
    assert lines(test) == {
        "Output noise, FLchain",
        "Output noise, Wichert",
        "Objective noise, FLchain",
        "No privacy, FLchain",
    }
    body = test.table[0].value
    assert len(body) == 4
    assert list(body.columns) == ["Run", "Median", "Guarantee"]  # more do not fit a telephone
    assert body["Guarantee"].str.contains("Protects a person").sum() == 3
    private = body[body["Run"].str.contains("Output")]
    assert private["Guarantee"].str.contains("proved: ε = 1").all()
    assert body["Guarantee"].str.contains("not private").sum() == 1
    assert any("different data" in caption.value for caption in test.caption)
    assert any(BANDS in caption.value for caption in test.caption)


def test_a_budget_that_a_run_was_not_trained_with_says_so(visit: Open, home: Path):
    play(home, job())
    play(home, request("survival", "obj_pert", "flchain", {}, {"epsilon": (0.2, 2.0)}, range(3)))
    test = visit("compare", **{"compare.epsilon": "2"})
    readings = dict(zip(test.table[0].value["Run"], test.table[0].value["Median"], strict=True))
    assert sum(text.startswith("not measured") for text in readings.values()) == 1


def test_another_measure_is_drawn_and_stays_in_the_address(visit: Open, home: Path):
    play(home, job())
    test = visit("compare")
    first, other = test.selectbox[1].options[:2]
    title = chart(test)["layout"]["yaxis"]["title"]["text"]
    assert title.startswith(first)
    test.selectbox[1].set_value(other).run()
    assert not test.exception
    assert chart(test)["layout"]["yaxis"]["title"]["text"].startswith(other)


def test_a_run_at_one_budget_is_one_point(visit: Open, home: Path):
    play(home, request("survival", "out_pert", "flchain", {"epsilon": 1.0}, {}, range(3)))
    test = visit("compare", **{"compare.by": "By claim"})
    assert not test.exception
    (trace,) = (t for t in chart(test)["data"] if t.get("mode") == "lines+markers")
    assert trace["x"] == [1.0]


def test_no_run_chosen_says_so(visit: Open, home: Path):
    play(home, job())
    test = visit("compare")
    test.multiselect[0].set_value([]).run()
    assert not test.exception
    assert "Choose at least one run" in test.info[0].value


def test_a_link_of_nonsense_is_put_right(visit: Open, home: Path):
    play(home, job())
    junk = {"compare.gauge": "beauty", "compare.runs.mre": "no such", "compare.x": "1"}
    test = visit("compare", **junk)
    assert not test.exception
    assert len(test.warning) == 2


def test_unfinished_runs_and_other_sweeps_are_left_out(home: Path):
    begin(home, job("obj_pert"))
    wide = {"epsilon": EPSILONS, "regularisation": (1e-3, 1e-2)}
    play(home, request("survival", "out_pert", "flchain", {}, wide, (0,)))
    play(home, job(intervals=50))
    (only,) = candidates.listed(Client(home, workers=False).runs())
    assert only.job == job(intervals=50)
    assert only.settings == "Time intervals 50"


def test_runs_of_a_paper_that_is_gone_are_left_out(home: Path):
    Store(home).submit(job(), {})
    run = Client(home, workers=False).runs()[0]
    gone = replace(run, state="completed", job=replace(run.job, paper="gone"))
    assert candidates.listed([gone]) == []
    kept = replace(run, state="completed")
    assert len(candidates.listed([gone, kept])) == 1


def test_measures_of_most_papers_come_first():
    def made(paper: str) -> candidates.Candidate:
        actual = catalog()[paper]
        return candidate(request(paper, actual.methods[0].name, actual.datasets[0]))

    ranked = candidates.gauges([made("survival")])
    assert next(iter(ranked)) == catalog()["survival"].gauge
    papers = [made(slug) for slug in catalog()]
    shared = candidates.gauges(papers)
    assert set(shared) == {name for one in papers for name in one.gauges}


# Names, colours and what is drawn at first


def candidate(job: Job) -> candidates.Trained:
    return candidates.trained(job.id, job)


def test_runs_are_named_by_what_differs_in_their_settings():
    runs = [job(), job(intervals=50), job("obj_pert"), job(), job(intervals=50)]
    runs[3] = request("survival", "out_pert", "flchain", {}, {"epsilon": EPSILONS}, range(9))
    names = list(candidates.named([candidate(one) for one in runs]))
    assert names == [
        "Output perturbation",
        "Output perturbation (Time intervals 50)",
        "Objective perturbation",
        "Output perturbation, Survival regression",
        "Output perturbation (Time intervals 50), Survival regression",
    ]
    assert not any(one.id[:6] in name for one in runs for name in names)


def test_choices_are_named_as_pages_do():
    changed = candidate(request("enadpp", "enadpp", "digits", {"calibration": "paper"}))
    assert "paper" not in changed.label
    assert "as printed" in changed.label.lower() or changed.settings == ""


def test_a_method_keeps_its_colour_and_two_methods_never_share_one():
    first = [candidate(job()), candidate(job("obj_pert")), candidate(job(intervals=50))]
    looks = candidates.looks(first)
    assert looks[0].colour == looks[2].colour == casting.look(first[0].paper, job()).colour
    assert looks[1].colour == casting.look(first[1].paper, job("obj_pert")).colour
    assert (looks[0].marker, looks[0].dash) != (looks[2].marker, looks[2].dash)
    papers = [candidate(request(s, p.methods[0].name, p.datasets[0])) for s, p in catalog().items()]
    assert len({look.colour for look in candidates.looks(papers)}) == len(papers)


def test_the_first_runs_are_of_one_data_set_and_never_a_table_of_ones_own(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    mine = "own_clinic_0123456789ab"
    monkeypatch.setattr(candidates.own, "mine", lambda name: name == mine)
    runs = [candidate(job()), candidate(job("obj_pert")), candidate(job(dataset="wichert"))]
    runs += [candidate(replace(one.job, dataset=mine)) for one in runs]
    runs += [candidate(replace(job("dp_gd"), dataset=mine))]
    assert candidates.datasets(runs) == ("flchain", "wichert", mine)
    everything = {str(i): one for i, one in enumerate(runs)}
    monkeypatch.setattr(candidates, "_merit", lambda one, gauge: (0, False, one.job.method))
    assert candidates.first(everything, "mre", 9) == ["1", "0"]  # one run of each method
    assert candidates.first(everything, "mre", 1) == ["1"]


def test_a_proof_without_an_assumption_and_more_repetitions_stand_first(
    monkeypatch: pytest.MonkeyPatch,
):
    def made(
        values: dict[str, object], seeds: int, value: float, method: str = "dp_gd"
    ) -> candidates.Trained:
        asked = request("survival", method, "flchain", values, {"epsilon": (1.0,)}, range(seeds))
        found = SimpleNamespace(gauges={"mre": np.array([value])})
        monkeypatch.setitem(results, asked.id, found)
        return replace(candidate(asked), measures={"mre": Gauge("Error", "down")})

    results: dict[str, SimpleNamespace] = {}
    monkeypatch.setattr(candidates.Trained, "results", property(lambda one: results[one.run]))
    monkeypatch.setattr(candidates.Trained, "proved", lambda one, at: at)
    runs = {
        "assumed": made({"calibration": "paper"}, 200, 0.1),
        "few": made({}, 10, 0.2),
        "many": made({"knots": 4}, 200, 0.3),
    }
    assert candidates.first(runs, "mre", 4) == ["many"]  # one run of a method
    del runs["many"]
    assert candidates.first(runs, "mre", 4) == ["few"]
    runs["worst"] = made({"knots": 5}, 200, 0.9)
    runs["best"] = made({"knots": 6}, 200, 0.1)
    runs["other"] = made({}, 200, 0.5, "dp_newton")
    assert candidates.first(runs, "mre", 1) == ["best"]  # by its best run, not by its worst


def test_accuracy_and_error_of_one_task_share_an_axis(visit: Open, home: Path):
    play(home, request("lvq", "glvq_dp", "digits", {}, {"epsilon": (1.0, 8.0)}, range(3)))
    play(home, request("pcdbn", "pcdbn", "digits", {}, {"epsilon": (1.0, 8.0)}, range(3)))
    test = visit("compare")
    assert not test.exception
    assert test.selectbox[1].value == "Share of right answers"
    client = Client(home, workers=False)
    drawn = {
        t["name"].partition(" · ")[0]: t["y"]
        for t in chart(test)["data"]
        if t.get("mode", "").startswith("lines")
    }
    assert len(drawn) == 2
    for run in client.runs():
        gauge, right = ("error", False) if run.job.paper == "lvq" else ("accuracy", True)
        values = client.table(run.id).values(gauge, epsilon=1.0)
        values = np.median(values[np.isfinite(values)])
        expected = values if right else 1.0 - values
        assert drawn[run.job.entry().label][0] == pytest.approx(expected, rel=1e-3)


def test_an_error_that_is_no_share_is_no_share_of_right_answers():
    """The mean's error is in mg/dL: no share, nor the test error of another paper."""
    asked = request("mean", "laplace", "flchain", {}, {"epsilon": (1.0,)}, range(2))
    one = candidate(asked)
    assert not {"error", candidates.SHARE} & set(one.gauges)
    assert next(iter(one.gauges)) == "mean_error"
    assert one.asked("mean_error") == "error"


def test_an_error_in_a_unit_has_a_chart_of_its_own(visit: Open, home: Path):
    play(home, request("mean", "laplace", "flchain", {}, {"epsilon": (1.0, 2.0)}, range(3)))
    test = visit("compare")
    assert not test.exception
    (run,) = Client(home, workers=False).runs()
    values = Client(home, workers=False).table(run.id).values("error", epsilon=1.0)
    (drawn,) = (t for t in chart(test)["data"] if t.get("mode", "").startswith("lines"))
    assert drawn["y"][0] == pytest.approx(np.median(values), rel=1e-3)


# What it answers


def falling(low: tuple[float, ...], high: tuple[float, ...]) -> Curve:
    middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    at = (0.1, 1.0, 10.0)
    return Curve("a", style(0), at, middle, low, high, (5, 5, 5), proved=at)


@pytest.mark.parametrize(
    ("wanted", "low", "high", "said"),
    [
        (0.7, 1.0, 10 ** (2 / 3), "between 1 and 4.64"),  # 0.5 to 0.8 over one decade
        (0.95, math.inf, math.inf, "not reached up to ε = 10"),
        (0.85, 10 ** (3 / 4), math.inf, "5.62 or more; possibly not reached by ε = 10"),
        (0.1, -math.inf, -math.inf, "reached at every budget measured, from ε = 0.1"),
        (0.4, -math.inf, 10 ** (-1 / 4), "ε up to 0.562"),
    ],
)
def test_the_budget_that_a_wanted_value_needs_is_an_interval_within_what_was_measured(
    wanted: float, low: float, high: float, said: str
):
    actual = answers.need(falling((0.2 - 0.1, 0.5, 0.8), (0.4, 0.7, 0.9)), wanted, up=True)
    assert actual is not None
    assert (actual.low, actual.high) == (pytest.approx(low), pytest.approx(high))
    assert said in actual.sentence()
    errors = falling(tuple(1 - v for v in (0.4, 0.7, 0.9)), tuple(1 - v for v in (0.1, 0.5, 0.8)))
    down = answers.need(errors, 1.0 - wanted, up=False)
    assert down is not None
    assert (down.low, down.high) == (pytest.approx(actual.low), pytest.approx(actual.high))


def test_a_needed_budget_is_what_is_proved_and_not_what_is_claimed():
    curve = falling((0.1, 0.5, 0.8), (0.4, 0.7, 0.9))
    half = replace(curve, proved=(0.05, 0.5, None))
    assert answers.needed(half, 0.1, up=True).endswith("from ε = 0.05 on")
    assert "not reached up to ε = 0.5" in answers.needed(half, 0.75, up=True)
    none = replace(curve, proved=(None, None, None))
    assert answers.needed(none, 0.1, up=True) == "no finite ε is proved"
    wide = falling((0.1, 0.1, 0.1), (0.4, 0.7, 0.9))
    assert answers.needed(wide, 0.3, up=True) == (
        "possibly reached from ε = 0.1 on; possibly not reached by ε = 10"
    )


def test_the_frontier_counts_what_is_proved_and_leaves_out_what_is_not():
    spent: dict[str, tuple[float | None, ...]] = {
        "out_pert": (0.1, 1.0, 6.4),
        "obj_pert": (0.5, 5.0, 9.0),
        "dp_gd": (None,) * 3,
    }
    heights = {"out_pert": (9.0, 5.0, 2.0), "obj_pert": (4.0, 3.0, 1.0), "dp_gd": (0.1, 0.1, 0.1)}
    lines = {
        name: Curve(name, style(0), EPSILONS, *[heights[name]] * 3, (3, 3, 3), proved=proved)
        for name, proved in spent.items()
    }
    actual = answers.frontier(lines, Gauge("Error", "down"))
    assert [(one.epsilon, one.names, one.middle) for one in actual] == [
        (0.1, ("out_pert",), 9.0), (0.5, ("obj_pert",), 4.0),
        (6.4, ("out_pert",), 2.0), (9.0, ("obj_pert",), 1.0),
    ]  # fmt: skip
    assert actual[0].said == "**out_pert**"

    # with an interval of 1.5 to each side the last two are not told apart any more
    wide = {
        name: replace(
            one, sure_low=tuple(v - 1.5 for v in one.middle),
            sure_high=tuple(v + 1.5 for v in one.middle),
        )
        for name, one in lines.items()
    }  # fmt: skip
    tied = answers.frontier(wide, Gauge("Error", "down"))
    assert [one.names for one in tied][-1] == ("obj_pert", "out_pert")
    assert tied[-1].said == "**obj_pert** and **out_pert**, no difference found"
    assumed = {**wide, "out_pert": replace(wide["out_pert"], status="proved_under_assumption")}
    told = answers.frontier(assumed, Gauge("Error", "down"))[-1].said
    word = STATUSES["proved_under_assumption"].lower()  # as the card has it
    assert told == f"**obj_pert** and **out_pert** ({word}), no difference found"
    assert len(tied) == 3


def test_the_address_holds_the_open_tab_and_a_tab_that_is_not_there_is_said(
    visit: Open, home: Path
):
    play(home, job())
    test = visit("compare", **{"compare.tab": "Best proved"})
    assert not test.exception
    assert not test.warning
    assert shown.NONE in [one.value for one in test.markdown]
    assert test.query_params["compare.tab"] == "Best proved"
    wrong = visit("compare", **{"compare.tab": "Worst"})
    assert not wrong.exception
    assert "expected one of Guarantees, Best proved" in wrong.warning[0].value
    assert "Guarantee" in wrong.table[0].value.columns


@pytest.mark.thorough
def test_two_runs_are_told_apart_by_the_engine(visit: Open, home: Path):
    play(home, job())
    play(home, job("obj_pert"))
    test = visit("compare", **{"compare.tab": TOLD_APART})
    test.session_state["compare.tab"] = "Can two be told apart?"
    test.run()
    assert not test.exception
    assert not test.error
    reported = " ".join(one.value for one in (*test.markdown, *test.caption))
    # both are played with the same numbers, so every pair differs by nothing
    assert "No, not with 3 repetitions of each" in reported
    assert "p = 1" in reported
    assert "same seed" in reported
    assert "scipy" not in vars(sys.modules["pages.ui.compare.difference"])


def test_kinds_of_guarantees_have_a_note_and_a_common_measure(visit: Open, home: Path):
    """At ε = 1 pure noise lets more guesses be right than Gaussian noise at δ = 1e-5."""
    play(home, job("out_pert"))
    play(home, job("dp_newton"))
    test = visit("compare")
    assert any("Two kinds of guarantee share this axis" in one.value for one in test.caption)
    test = visit("compare", **{"compare.measure": "μ"})
    assert not test.exception
    assert not any("Two kinds" in one.value for one in test.caption)
    drawn = chart(test)
    assert "μ of Gaussian noise" in drawn["layout"]["xaxis"]["title"]["text"]
    assert not [one for one in drawn["layout"].get("shapes", ()) if one["type"] == "line"]
    named = {t["name"].partition(" · ")[0]: t["x"] for t in drawn["data"] if t.get("name")}
    pure, other = named["Output noise"], named["Private Newton"]
    for name, places in (("out_pert", pure), ("dp_newton", other)):
        entry = catalog()["survival"].entry(name)
        wanted = [
            common(entry, job(name).spec().replace(epsilon=e), flchain.CARD, 1e-5).mu
            for e in EPSILONS
        ]
        assert places == pytest.approx(wanted, rel=1e-3)
    assert pure[1] > 3 * other[1]
    assert "Private Newton 0.2" in " ".join(one.value for one in test.caption)
    test = visit("compare", **{"compare.measure": "Best attacker"})
    places = [t["x"] for t in chart(test)["data"] if t.get("name")]
    assert all(0.0 < one <= 1.0 for some in places for one in some)


def test_kinds_alike_have_no_note(visit: Open, home: Path):
    play(home, job("out_pert"))
    play(home, job("obj_pert"))
    test = visit("compare")
    assert not any("Two kinds" in one.value for one in test.caption)


def test_the_page_opens_with_a_question_its_answer_and_the_chart(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """The answer is that of the budget under the slider, and names a method without settings."""
    monkeypatch.setattr(candidates.Trained, "proved", lambda one, epsilon: epsilon)
    for one in (job(intervals=50), job("obj_pert"), job("non_private")):
        play(home, one)
    test = visit("compare", **{"compare.epsilon": "1"})
    assert test.subheader[0].value == "Which proved method is best on FLchain at each ε?"
    order = [node.type for node in test.main]
    assert order.index("subheader") < order.index("select_slider") < order.index("selectbox")
    (said,) = (text.value for text in test.markdown if "At ε" in text.value)
    assert re.match(r"At ε = 1, \*\*.* (is|are) best", said)
    assert "Output noise" in said or "Objective noise" in said
    assert "Time intervals" not in said


@pytest.mark.thorough
def test_four_lines_are_in_colour_first_those_that_the_answer_names(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """The others are one press away; without privacy takes no colour."""
    monkeypatch.setattr(candidates.Trained, "proved", lambda one, epsilon: epsilon)
    methods = ("out_pert", "obj_pert", "dp_gd", "out_pert_gauss", "obj_pert_gauss", "non_private")
    for one in methods:
        play(home, job(one))
    test = visit("compare", **{"compare.epsilon": "1"})
    (said,) = (text.value for text in test.markdown if "At ε" in text.value)

    def coloured() -> set[str]:
        drawn = [t for t in chart(test)["data"] if t["mode"] == "lines+markers"]
        return {
            t["name"].partition(" · ")[0] for t in drawn if t["line"]["color"] != MUTED
        }  # fmt: skip

    assert len(coloured()) == 4
    for name in re.findall(r"\*\*(.+?)\*\*", said)[:4]:
        assert name in coloured()
    test.segmented_control(key="compare.lines").set_value("All lines").run()
    assert len(coloured()) == 5
    plain = candidates.looks([candidate(job("non_private")), candidate(job("out_pert"))])
    assert plain[1] == replace(plain[1], colour=candidate(job("out_pert")).colour)


def test_two_runs_of_one_method_keep_what_tells_them_apart(home: Path):
    play(home, job(intervals=50))
    play(home, job(intervals=20))
    listed = candidates.named(candidates.listed(Client(home, workers=False).runs()))
    brief = {name.replace("perturbation", "noise") for name in listed}
    assert len(brief) == 2
    assert candidates.shortened(listed).keys() == brief
    (one, *_) = listed
    assert candidates.shortened({one: listed[one]}).keys() == {"Output noise"}


def test_a_paper_is_named_only_where_the_name_alone_is_that_of_another_run():
    """Runs of one method that are not drawn lengthen no name of those that are."""
    runs = [job(), job(intervals=50), job("obj_pert"), job(), job(intervals=50), job("obj_pert")]
    runs[3:] = [replace(one, seeds=tuple(range(9))) for one in runs[3:]]
    known = candidates.named([candidate(one) for one in runs])
    last = list(known)[-1]
    assert last == "Objective perturbation, Survival regression"
    alone = {name: known[name] for name in (next(iter(known)), last)}
    assert candidates.shortened(alone).keys() == {"Output noise", "Objective noise"}
    twice = {name: known[name] for name in known if "Objective" in name}
    assert len(candidates.shortened(twice)) == 2


def test_an_answer_says_from_which_budget_to_which_it_holds():
    def best(epsilon: float, *names: str) -> answers.Best:
        return answers.Best(epsilon, names, ("",) * len(names), 0.1, 0.0, 0.2)

    rows = [best(0.05, "A"), best(0.2, "B", "C"), best(4.0, "C")]
    assert shown.answer(rows, 0.1) == (
        "At ε = 0.1, **A** is best. This holds below ε = 0.2; from there to 4, **B** and **C** "
        "are best.",
        ("A",),
    )
    assert shown.answer(rows, 1.0)[0] == (
        "At ε = 1, **B** and **C** are best, and no difference between them is found. "
        "This holds from ε = 0.2 to 4; for other ε, see *Best proved* below."
    )
    last = "This holds from ε = 4 on; from ε = 0.2 to 4, **B** and **C** are best."
    assert last in shown.answer(rows, 8.0)[0]
    assert "below ε = 0.2; from there on, **B**" in shown.answer(rows[:2], 0.1)[0]
    assert "from ε = 0.2 on; before, **A** is best." in shown.answer(rows[:2], 8.0)[0]
    assert shown.answer(rows[:1], 8.0)[0] == "At ε = 8, **A** is best."
    assert shown.answer(rows, 0.01)[1] == ()


@pytest.fixture
def ships(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs that ship with the app."""
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")


@pytest.mark.thorough
def test_another_data_set_shows_its_own_runs_and_measure(visit: Open, ships: None):
    """What was chosen before is not among its options."""
    test = visit("compare")
    for data in ("Digits", "YesiWell", "All data sets", "Digits"):
        test.selectbox(key="compare.data").set_value(data).run()
        assert not test.exception
        (runs,) = test.multiselect
        assert len(runs.value) >= 4
        assert set(runs.value) <= set(runs.options)
        measure = test.selectbox(key="compare.gauge")
        assert measure.value in measure.options
        assert not any("Choose at least one run" in one.value for one in test.info)


def test_a_measure_without_a_better_end_has_no_best_method(visit: Open, ships: None):
    test = visit("compare", **{"compare.gauge": "Published mean"})
    assert not test.exception
    assert any("has no better direction" in one.value for one in test.markdown)
    assert not any("** is best" in one.value or "** are best" in one.value for one in test.markdown)


def test_budgets_that_differ_by_rounding_alone_are_one_row():
    lines = {}
    for name, height, by in (("A", 0.2, 1.0), ("B", 0.1, 1.0 + 1e-9)):
        proved = tuple(at * by for at in EPSILONS)
        lines[name] = Curve(
            name, style(0), EPSILONS, *[(height,) * 3] * 3, (3, 3, 3), proved=proved
        )
    rows = answers.frontier(lines, Gauge("Error", "down"))
    assert [(row.epsilon, row.names) for row in rows] == [(EPSILONS[0], ("B",))]


def test_a_row_whose_neighbour_went_by_rounding_is_not_told_twice():
    """B is best between two budgets that read the same; A before and after."""
    known = {"A": ((3.0, 1.0), (0.1, 1.0)), "B": ((2.0, 9.0), (0.9998, None))}
    lines = {
        name: Curve(name, style(0), (0.1, 1.0), *[middle] * 3, (3, 3), proved=proved)
        for name, (middle, proved) in known.items()
    }
    rows = answers.frontier(lines, Gauge("Error", "down"))
    assert [(row.epsilon, row.names) for row in rows] == [(0.1, ("A",))]


def test_one_repetition_is_told_apart_from_none():
    lines = {
        name: Curve(name, style(0), EPSILONS, *[(height,) * 3] * 3, (count,) * 3, proved=EPSILONS)
        for name, height, count in (("A", 0.2, 3), ("B", 0.1, 1), ("C", 0.3, 3))
    }
    gauge = Gauge("Error", "down")
    assert answers.frontier(lines, gauge)[0].names == ("B", "A", "C")
    lines["B"] = replace(lines["B"], count=(3,) * 3)
    assert answers.frontier(lines, gauge)[0].names == ("B",)


@pytest.mark.thorough
def test_runs_on_different_data_have_no_best_method(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """One task may be easier than another, so the better result says nothing of the method."""
    monkeypatch.setattr(candidates.Trained, "proved", lambda one, epsilon: epsilon)
    play(home, job())
    play(home, job("obj_pert", dataset="wichert"))
    address = {"compare.data": shown.ALL, "compare.tab": "Best proved"}
    test = visit("compare", **address)
    assert not test.exception
    assert len(lines(test)) == 2
    said = [one.value for one in test.markdown]
    assert said.count(shown.UNRANKED) == 2  # below the question, and in the tab
    assert not any("best." in text for text in said)
    assert not test.table
    test.multiselect[0].set_value(test.multiselect[0].options[:1]).run()
    assert any("is best" in one.value for one in test.markdown)
    test = visit("compare", **{**address, "compare.tab": TOLD_APART})
    assert any("a difference may come from the data" in one.value for one in test.caption)


@pytest.mark.thorough
def test_the_address_holds_the_lines_and_the_pair_that_is_tested(visit: Open, home: Path):
    methods = ("out_pert", "obj_pert", "dp_gd", "out_pert_gauss", "obj_pert_gauss")
    for one in methods:
        play(home, job(one))
    test = visit("compare", **{"compare.tab": TOLD_APART})
    names = test.selectbox(key="compare.first").options
    held = {"lines": "All lines", "first": names[2], "second": names[4]}
    address = {f"compare.{name}": text for name, text in held.items()}
    test = visit("compare", **{"compare.tab": TOLD_APART}, **address)
    assert not test.exception
    assert not test.warning
    assert test.segmented_control(key="compare.lines").value == "All lines"
    pair = [test.selectbox(key=f"compare.{name}") for name in ("first", "second")]
    assert [one.value for one in pair] == [names[2], names[4]]
    for one in (test.segmented_control(key="compare.lines"), *pair):
        assert one.proto.query_param_key == one.key  # the browser writes it there
    stale = visit("compare", **{"compare.tab": TOLD_APART, "compare.first": "gone"})
    assert not stale.exception
    assert stale.selectbox(key="compare.first").value == names[0]
