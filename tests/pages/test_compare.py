"""The Compare page: finished runs side by side, and what to do while there are none."""

from dataclasses import replace
from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine.catalog import catalog
from engine.runs.job import Job, request
from engine.service.client import Client
from engine.service.store import Store
from pages.ui.compare import candidates as contenders
from tests.pages.conftest import Open
from tests.pages.drawn import charts
from tests.pages.played import begin, play

EPSILONS = (0.1, 1.0, 6.4)


def job(method: str = "out_pert", dataset: str = "flchain", **values: object) -> Job:
    return request("survival", method, dataset, values, {"epsilon": EPSILONS}, range(3))


def chart(test: AppTest) -> dict:
    (found,) = charts(test)
    return found


def lines(test: AppTest) -> set[str]:
    return {trace["name"] for trace in chart(test)["data"] if trace.get("name")}


def test_an_empty_store_leads_on(visit: Open):
    test = visit("compare")
    assert not test.exception
    assert "nothing to compare yet" in test.info[0].value
    assert not charts(test)


def test_finished_runs_share_a_chart_and_a_table(visit: Open, home: Path):
    for one in (job(), job("obj_pert"), job(dataset="wichert"), job("non_private")):
        play(home, one)
    test = visit("compare")
    assert not test.exception
    assert not test.error
    assert lines(test) == {
        "Output perturbation, FLchain",
        "Output perturbation, Wichert",
        "Objective perturbation, FLchain",
        "Without privacy, FLchain",
    }
    body = test.table[0].value
    assert len(body) == 4
    assert list(body.columns) == ["Run", "Median", "Guarantee"]  # more do not fit a telephone
    assert body["Guarantee"].str.contains("Protects a person").sum() == 3
    private = body[body["Run"].str.contains("Output")]
    assert private["Guarantee"].str.contains("proved under an assumption: ε = 1").all()
    assert body["Guarantee"].str.contains("not private").sum() == 1
    assert any("different data" in caption.value for caption in test.caption)


def test_a_budget_that_a_run_was_not_trained_with_says_so(visit: Open, home: Path):
    play(home, job())
    play(home, request("survival", "obj_pert", "flchain", {}, {"epsilon": (0.2, 2.0)}, range(3)))
    test = visit("compare", **{"compare.epsilon": "2"})
    readings = dict(zip(test.table[0].value["Run"], test.table[0].value["Median"], strict=True))
    assert sum(text.startswith("not measured") for text in readings.values()) == 1


def test_another_measure_is_drawn_and_stays_in_the_address(visit: Open, home: Path):
    play(home, job())
    test = visit("compare")
    first, other = test.selectbox[0].options[:2]
    title = chart(test)["layout"]["yaxis"]["title"]["text"]
    assert title.startswith(first)
    test.selectbox[0].set_value(other).run()
    assert not test.exception
    assert chart(test)["layout"]["yaxis"]["title"]["text"].startswith(other)


def test_a_run_at_one_budget_is_one_point(visit: Open, home: Path):
    play(home, request("survival", "out_pert", "flchain", {"epsilon": 1.0}, {}, range(3)))
    test = visit("compare")
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
    (only,) = contenders.found(Client(home, workers=False).runs())
    assert only.job == job(intervals=50)
    assert only.settings == "Time intervals 50"


def test_runs_of_a_paper_that_is_gone_are_left_out(home: Path):
    Store(home).submit(job(), {})
    run = Client(home, workers=False).runs()[0]
    gone = replace(run, state="completed", job=replace(run.job, paper="gone"))
    assert contenders.found([gone]) == []
    kept = replace(run, state="completed")
    assert len(contenders.found([gone, kept])) == 1


def test_measures_of_most_papers_come_first():
    def made(paper: str) -> contenders.Contender:
        found = catalog()[paper]
        entry = found.methods[0]
        return contenders.Contender(request(paper, entry.name, found.datasets[0]), found, entry)

    ranked = contenders.gauges([made("survival")])
    assert next(iter(ranked)) == catalog()["survival"].gauge
    papers = [made(slug) for slug in catalog()]
    shared = contenders.gauges(papers)
    assert set(shared) == {name for one in papers for name in one.gauges}
