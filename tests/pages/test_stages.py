"""What a page asks for first, and what its lines are drawn from meanwhile."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.catalog import catalog
from engine.core.vocabulary import EPSILONS
from engine.privacy import answers
from engine.runs import shipped
from engine.runs.events import Spent
from engine.runs.job import request
from engine.runs.reference import FOLDER
from engine.service.client import Client
from engine.service.watching import Stage
from pages.ui import openings
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice, defaults, drawing, stages, total
from pages.ui.paper import former as ghosts
from pages.ui.paper.view import Page, offers
from tests.pages.conftest import Open
from tests.pages.drawn import charts
from tests.pages.played import begin, play


@pytest.mark.parametrize("first", [*EPSILONS[1:-1]])
def test_a_coarse_grid_has_few_budgets_with_both_ends_and_the_first(first: float):
    actual = stages.spread(EPSILONS, first)
    assert 4 <= len(actual) <= stages.COARSE
    assert {EPSILONS[0], first, EPSILONS[-1]} <= set(actual)
    assert list(actual) == sorted(actual)


@pytest.mark.parametrize("slug", sorted(catalog()))
def test_a_coarse_curve_is_a_part_of_the_whole_under_an_id_of_its_own(slug: str):
    for job in defaults.opening(slug).values():
        sketch = stages.coarse(job, 1.0, 1)
        assert set(sketch.axes.get(BUDGET, ())) <= set(job.axes.get(BUDGET, ()))
        assert set(sketch.seeds) <= set(job.seeds)
        assert (sketch.id == job.id) == (sketch.replicas() == job.replicas())
        assert sketch.batch().specs[0] in job.batch().specs


def test_a_view_asks_for_the_point_then_the_chosen_then_the_proved_then_the_rest(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(total, "seconds", lambda job: float(sum(map(ord, job.method)) % 17))
    visit("survival", **{"survival.epsilon": "2", "survival.intervals": "20"})
    client = Client(home, workers=False)
    with client.store.database.reading() as connection:
        rows = connection.execute("SELECT run, stage, place FROM looking ORDER BY place").fetchall()
    order = [(client.run(row["run"]).job, row["stage"]) for row in rows if _there(client, row)]
    numbers = [stage for _, stage in order]
    assert numbers == sorted(numbers)
    assert set(numbers) == {Stage.POINT, Stage.CURVE, Stage.COARSE, Stage.OTHER, Stage.FULL}
    point, coarse = order[0][0], order[1][0]
    assert (point.method, point.axes[BUDGET], point.seeds) == ("dp_newton", (2.0,), (0,))
    assert (coarse.method, len(coarse.axes[BUDGET])) == ("dp_newton", 5)
    proved = {job.method for job, stage in order if stage == Stage.COARSE}
    whole = [job for job, stage in order if stage == Stage.FULL and BUDGET in job.axes]
    assert whole[0].method == "dp_newton"  # and then those that take less time first
    takes = [total.seconds(job) for job in whole[1:]]
    assert len(set(takes)) > 3
    assert takes == sorted(takes)
    assert {"out_pert", "dp_gd"} <= proved
    assert not {"cox", "non_private"} & proved


def test_the_point_comes_before_a_coarse_curve_that_has_it_too(visit: Open, home: Path):
    """The budget that a page opens with is on every coarse curve, which takes longer."""
    test = visit("survival", **{"survival.intervals": "23"})
    client = Client(home, workers=False)
    waiting = {run.job.replicas(): run.job for run in client.runs() if run.job.seeds == (0,)}
    assert waiting[1].axes[BUDGET] == (1.0,)
    (coarse,) = (
        run.job for run in client.runs()
        if run.job.method == "dp_newton" and len(run.job.axes[BUDGET]) == 5
    )  # fmt: skip
    play(home, coarse)
    client.cancel(waiting[1].id)
    test.run()
    with client.store.database.reading() as connection:
        rows = connection.execute("SELECT run FROM looking").fetchall()
    assert waiting[1].id not in {row["run"] for row in rows}  # its coarse curve says it all


def _there(client: Client, row: object) -> bool:
    return row["run"] in {run.id for run in client.runs()}  # type: ignore[index]


def test_what_ends_is_drawn_and_what_trains_is_not(home: Path):
    job = defaults.opening("survival")["out_pert"]
    sketch = stages.coarse(job, 1.0, 3)
    claim = begin(home, job)  # a quarter of the replicas, budget by budget, is over
    one = live.watch({"it": job}, {"it": "It"}, {"it": (sketch,)})["it"]
    assert not one.settled
    assert one.drawn is not None
    over = set(one.drawn.axes[BUDGET])
    assert len(one.drawn.seeds) == job.replicas() // 4
    claim.append([Spent(1, (job.replicas() - 1,), (1.0,), (0.0,))])
    play(home, sketch)
    one = live.watch({"it": job}, {"it": "It"}, {"it": (sketch,)})["it"]
    assert one.settled
    assert one.drawn is not None
    budgets = one.drawn.axes[BUDGET]
    assert set(budgets) == over | set(sketch.axes[BUDGET])
    for budget in over & set(sketch.axes[BUDGET]):  # the whole run goes before the coarse curve
        assert np.sum(budgets == budget) == np.sum(
            job.batch().column(BUDGET)[: job.replicas() // 4] == budget
        )


@pytest.mark.thorough
def test_the_former_curve_stays_and_is_named_until_the_new_one_is_whole(visit: Open, trained: Path):
    test = visit("survival")
    best = defaults.opening("survival")["dp_newton"]
    said = "\n".join(one.value for one in test.markdown)
    assert "At ε = 1, " in said
    axis = charts(test)[0]["layout"]["yaxis"]
    for move in ("20", "50"):  # the second before the first has brought anything
        test.select_slider(key="survival.intervals").set_value(move).run()
    assert before(test) == {"q = 10, before"}
    assert charts(test)[0]["layout"]["yaxis"] == axis
    said = "\n".join(one.value for one in test.markdown)
    assert "at q = 50 …" in said
    assert "At ε = 1, " not in said
    for run in Client(trained, workers=False).runs():
        coarse = run.job.seeds != best.seeds or BUDGET not in run.job.axes
        if run.state == "queued" and run.job.values["intervals"] == 50 and coarse:
            play(trained, run.job)
    test.run()
    waiting = ("Sanitised posterior", "Output perturbation, G", "Objective perturbation, G")
    assert {name for name in former(test) if not name.startswith(waiting)} == set()
    assert "Training" not in "\n".join(one.value for one in test.markdown)


@pytest.mark.parametrize(
    ("rate", "epochs", "told"), [("0.1", "5", True), ("0.5", "5", False), ("0.1", "10", False)]
)
@pytest.mark.thorough
def test_a_stop_that_does_not_ship_says_which_are_answered_at_once(
    rate: str, epochs: str, told: bool, visit: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", FOLDER / "defaults")
    test = visit("lvq", **{"lvq.sample_rate": rate, "lvq.epochs": epochs})
    said = "q = 0.2 to 1 is shown at once. This value has to be trained first."
    assert any(one.value.endswith(said) for one in test.markdown) == told


@pytest.mark.parametrize(
    ("takes", "asked"), [(5.0, {1, 5}), (40.0, {5}), (600.0, set()), (None, set())]
)
def test_on_a_large_data_set_the_chosen_curve_alone_trains_by_itself(
    takes: float | None,
    asked: set[int],
    visit: Open,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(total, "seconds", lambda job: takes)
    test = visit("lvq", **{"lvq.dataset": "MNIST", "lvq.epochs": "10", "lvq.epsilon": "2.5"})
    assert not test.exception
    jobs = [run.job for run in Client(home, workers=False).runs()]
    assert {job.method for job in jobs} == ({"glvq_dp"} if asked else set())
    assert {job.values["calibration"] for job in jobs} <= {"rigorous"}
    assert {job.replicas() for job in jobs} == asked
    assert any(button.label == "Train" for button in test.button) == (not asked)
    told = "The curve of GLVQ, private, with proof takes about 10 min, all 8 lines about 40 min."
    assert any(told in one.value for one in test.markdown) == (takes == 600.0)
    trains = "Training **GLVQ, private, with proof** … (about 40 s)"
    assert any(trains in one.value for one in test.markdown) == (takes == 40.0)


@pytest.mark.thorough
def test_a_large_data_set_opens_with_curves_that_ship_and_trains_nothing(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", FOLDER / "defaults")
    test = visit("lvq", **{"lvq.dataset": "MNIST"})
    assert not test.exception
    assert Client(home, workers=False).runs() == []
    drawn = {one["legendgroup"]: len(one["x"]) for one in charts(test)[0]["data"] if "name" in one}
    assert drawn["GLVQ, private, with proof"] == stages.COARSE
    assert drawn["GMLVQ, private, with proof"] == stages.COARSE
    said = [one.value for one in test.caption if "Not trained yet" in one.value]
    assert len(said) == 1
    assert "Not trained yet: GMLVQ, BFGS. " in said[0]
    assert "7 methods" in said[0]
    assert any(button.label == "Train" for button in test.button)


@pytest.mark.parametrize("slug", sorted(catalog()))
def test_what_ships_of_large_data_sets_takes_no_minutes_each(slug: str):
    layout = defaults.layout(slug)
    assert set(layout.ships) <= set(layout.ask_first)
    for job, sketch in openings.elsewhere(slug):
        assert job.dataset in layout.ships
        assert job.method not in (*layout.by_hand, *layout.last)
        assert len(sketch.seeds) == 1


@pytest.mark.thorough
def test_the_others_keep_their_former_curves_until_the_button_is_pressed(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(total, "seconds", lambda job: 5.0)
    at = {"lvq.dataset": "MNIST"}
    jobs = defaults.addressed("lvq", {"lvq.dataset": "mnist"}).jobs
    for name in ("glvq_dp", "gmlvq_dp"):
        play(home, stages.coarse(jobs[name], 1.0, 1))
    play(home, jobs["glvq_bfgs"])  # which no setting that is moved here concerns
    test = visit("lvq", **at)
    assert former(test) == set()
    assert any(button.label == "Train" for button in test.button)
    test.select_slider(key="lvq.epochs").set_value("10").run()
    proved = {"GLVQ, private, with proof", "GMLVQ, private, with proof"}
    assert former(test) == proved
    for run in Client(home, workers=False).runs():
        if run.state == "queued":
            play(home, run.job)
    test.run()
    assert not test.exception
    assert former(test) == proved - {"GLVQ, private, with proof"}
    drawn = charts(test)[0]["data"]
    modes = {one["mode"] for one in drawn if one.get("name", "").endswith("before")}
    assert modes == {"lines"}  # although each has one repetition
    assert any(button.label == "Train" for button in test.button)


@pytest.mark.parametrize("others", [False, True])
def test_a_former_curve_stays_also_where_nobody_asks_for_the_new_one(
    others: bool, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of a method that takes minutes, each setting waits until somebody presses a button."""
    monkeypatch.setattr(ghosts.st, "session_state", {})
    job, other = (defaults.opening("survival")[name] for name in ("out_pert", "dp_gd"))
    play(home, job)
    watched = live.watch({"it": job}, {"it": "It"})
    view = SimpleNamespace(watched=watched, waits=False, paper=catalog()["survival"])
    assert ghosts.ghosts("survival", view) == {}  # type: ignore[arg-type]
    if others:
        play(home, other)
    moved = replace(job, values={**job.values, "intervals": 20})
    view.watched = live.watch({"it": moved, "other": other}, {"it": "It", "other": "Other"})
    found = ghosts.ghosts("survival", view)  # type: ignore[arg-type]
    assert {name: one.setting for name, one in found.items()} == {"it": "q = 10"}
    play(home, moved)
    view.watched = live.watch({"it": moved, "other": other}, {"it": "It", "other": "Other"})
    assert ghosts.ghosts("survival", view) == {}  # type: ignore[arg-type]


@pytest.mark.parametrize("few", [5, 10])  # as it opens, and what was asked for since
def test_more_repetitions_begin_with_those_that_are_there(few: int, visit: Open, home: Path):
    at = {"enadpp.epsilon": "2.5"}
    before, after = (
        defaults.addressed("enadpp", {**at, "enadpp.repeats": f"{count}"}).jobs
        for count in (few, 20)
    )
    play(home, before["enadpp"])
    test = visit("enadpp", **at, **{"enadpp.repeats": "20"})
    assert not test.exception
    lines = {one["legendgroup"]: one for one in charts(test)[0]["data"] if "name" in one}
    assert len(lines["EnADPP, with proof"]["x"]) == len(before["enadpp"].axes[BUDGET])
    asked = [run.job for run in Client(home, workers=False).runs() if run.state == "queued"]
    own = [job for job in asked if job.method == "enadpp" and job.values == after["enadpp"].values]
    assert [job.id for job in own] == [after["enadpp"].id]  # no coarse curve, and no point
    others = {len(job.seeds) for job in asked if job.method == "psgd"}
    assert others == {1, 20}  # of which nothing is there


@pytest.mark.parametrize(("early", "drawn"), [(18, 18), (15, 15), (3, 15)])
def test_at_each_budget_the_run_with_more_repetitions_is_drawn(early: int, drawn: int, home: Path):
    job = stages.at(defaults.opening("survival")["dp_gd"], (0.05, 0.4, 1.0), 20)
    begin(home, job)  # 15 at the first budget are over
    sketch = stages.at(job, (0.05, 1.0), early)
    play(home, sketch)
    one = live.watch({"it": job}, {"it": "It"}, {"it": (sketch,)})["it"]
    assert one.drawn is not None
    budgets = one.drawn.axes[BUDGET].tolist()
    assert {budget: budgets.count(budget) for budget in budgets} == {0.05: drawn, 1.0: early}
    assert total.repeated({"it": one}, {BUDGET: 0.05}) == drawn
    assert total.repeated({"it": one}, {BUDGET: 0.4}) == 0


def test_what_trains_is_compared_over_the_repetitions_that_all_have(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of a mean each seed names its records: a median of five says little of one of fifty."""
    values = dict(defaults.opening("mean")["gaussian"].values)
    values.pop(BUDGET)
    jobs = {
        name: request("mean", name, "flchain", values, {BUDGET: (1.0, 2.0)}, range(count))
        for name, count in (("gaussian", 5), ("laplace", 50), ("exact", 50))
    }
    for job in jobs.values():
        play(home, job)
    labels = {name: name.title() for name in jobs}
    paper, layout = catalog()["mean"], defaults.layout("mean")
    offered = offers(paper, layout)
    chosen = choice.untouched(offered)

    def told(active: bool) -> tuple[int, int]:
        watched = live.watch(jobs, labels)
        monkeypatch.setattr(live.Watched, "active", property(lambda one: active))
        view = Page("mean", paper, layout, offered, chosen, jobs).view(watched, chosen)
        found = drawing.told(view)
        assert found.none is not None
        return max(one.count[0] for one in (found.best, found.own) if one), found.none.count

    with answers.at_once():
        assert told(False)[1] == 50
        assert told(True) == (5, 5)


def test_no_stop_is_said_to_be_quick_where_only_the_opening_s_is(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", FOLDER / "defaults")
    test = visit("pcdbn", **{"pcdbn.dataset": "MNIST", "pcdbn.degree": "5"})
    said = "\n".join(one.value for one in test.markdown)
    assert "pCDBN, with proof" in said
    assert "is answered at once" not in said


def test_how_quick_a_machine_is_is_learnt_from_runs_of_about_the_same_size(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(shipped, "FOLDER", FOLDER / "defaults")
    monkeypatch.setattr(total, "_RATIOS", {})
    monkeypatch.setattr(total, "_LEARNT", set())
    total._paces.cache_clear()
    whole = defaults.addressed("pcdbn", {"pcdbn.dataset": "mnist"}).jobs["pcdbn"]
    for job in (stages.at(whole, (2.0,), 1), stages.coarse(whole, 2.0, 1)):
        took = 2.0 * (total.seconds(job) or 0.0)
        run = SimpleNamespace(id=job.id, shipped=None, state="completed", worked=took)
        total._learn([live.Watched("It", job, run)])  # type: ignore[arg-type]
    total._paces.cache_clear()  # other tests have other runs that ship
    ((dataset, ratios),) = total._RATIOS.items()
    assert dataset == "mnist"
    assert list(ratios) == pytest.approx([2.0])


def test_the_first_run_of_a_process_does_not_count_for_the_others(monkeypatch: pytest.MonkeyPatch):
    job = stages.coarse(defaults.opening("yesiwell")["pcdbn"], 2.0, 1)
    work = total._work(job)
    paces = {job.method: {job.dataset: [(18.0, work), (2.0, work), (3.0, work), (0.1, 2 * work)]}}
    monkeypatch.setattr(total, "_paces", lambda slug: paces)
    monkeypatch.setattr(total, "_RATIOS", {})
    assert total.seconds(job) == 3.0


def test_a_method_from_two_seconds_on_is_said_to_be_slow_whether_compared_or_not(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    slow = {"psgd": 41.0, "cdbn": 2.0, "pcdbn": 1.9}
    monkeypatch.setattr(total, "seconds", lambda job: slow.get(job.method, 0.1))
    monkeypatch.setattr(ghosts, "_compared", lambda view, name: name != "cdbn")
    test = visit("pcdbn", **{"pcdbn.epochs": "150"})
    assert not test.exception
    said = next(one.value for one in test.markdown if one.value.startswith("Training **pCDBN"))
    assert said.endswith("… (pSGD: about 41 s; CDBN: about 2 s)")


@pytest.mark.parametrize(
    ("learnt", "times"),
    [
        ({}, 1.0),
        ({"digits": [0.5]}, 1.0),  # quick on small tables: nothing is known of large ones
        ({"digits": [3.0], "flchain": [3.0]}, 3.0),
        ({"digits": [3.0], "mnist": [0.5]}, 0.5),
    ],
)
def test_a_machine_is_known_by_runs_on_the_same_table_first(
    learnt: dict[str, list[float]], times: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", FOLDER / "defaults")
    total._paces.cache_clear()
    job = defaults.addressed("pcdbn", {"pcdbn.dataset": "mnist"}).jobs["pcdbn"]
    said = []
    for ratios in ({}, learnt):
        monkeypatch.setattr(total, "_RATIOS", ratios)
        said.append(total.seconds(job))
    total._paces.cache_clear()  # other tests have other runs that ship
    assert said[0]
    assert said[1] == pytest.approx(said[0] * times)


def before(test: AppTest) -> set[str]:
    """The names of the ghosts on the curve."""
    layout = charts(test)[0]["layout"]
    return {one["text"] for one in layout["annotations"] if "before" in one.get("text", "")}


def former(test: AppTest) -> set[str]:
    """The labels of the lines that show how it was."""
    lines = charts(test)[0]["data"]
    return {one["legendgroup"] for one in lines if one.get("name", "").endswith("before")}


def test_the_bar_is_filled_as_far_as_its_sentence_says():
    def one(method: str, **state: bool) -> Any:
        return SimpleNamespace(job=SimpleNamespace(method=method), **state)

    there = {name: one(name, active=False, settled=True) for name in "ab"}
    watched = there | {"c": one("c", active=True, settled=False)}
    assert total.sentence(watched, None) == "Training: 2 of 3 methods"
    assert total.filled(watched, 0.0) == pytest.approx(2 / 3)
    assert total.filled(watched, 0.5) == pytest.approx(2.5 / 3)
    assert total.filled(there, 0.25) == 0.25  # more repetitions of what is there


def test_the_time_that_is_left_never_grows(home: Path, monkeypatch: pytest.MonkeyPatch):
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    monkeypatch.setattr(total, "seconds", lambda job: 40.0)
    monkeypatch.setattr(total, "_RATIOS", {"flchain": [1.0]})
    monkeypatch.setattr(total.st, "session_state", {})
    clock = iter((0.0, 10.0, 20.0))
    monkeypatch.setattr(total, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    said = []
    for _ in range(3):
        watched = live.watch({"it": job}, {"it": "It"})
        said.append(total._left("survival", watched, 0.1))
    assert said == [15.0, 5.0, 0.0]
    claim.finish("cancelled", [])


def test_who_comes_in_the_midst_of_a_phase_is_told_what_is_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(total, "_RATIOS", {})
    monkeypatch.setattr(total.st, "session_state", {})
    clock = iter((0.0, 15.0, 30.0))
    monkeypatch.setattr(total, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    left = [total._left("survival", {}, part) for part in (0.5, 0.625, 0.75)]
    assert left == [None, None, 30.0]  # a quarter in 30 s, and a quarter to come
