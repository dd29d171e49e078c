"""Every page, drawn in this process: empty store, full store, ends of knobs, junk, damage."""

import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit import net_util
from streamlit.testing.v1 import AppTest
from streamlit.web.server.server_util import is_url_from_allowed_origins

from engine.catalog import catalog
from engine.core.errors import SpecError
from engine.core.spec import Knob, knobs
from engine.papers.survival.spec import SurvivalSpec
from engine.runs import shipped
from engine.runs.job import request
from engine.service.client import Client
from engine.service.store import Store
from pages.ui.jobs.sentences import progress
from pages.ui.kit.address import link
from pages.ui.kit.offers import offer
from pages.ui.paper import defaults
from tests.pages.conftest import ROOT, Open, with_coarse
from tests.pages.drawn import charts, loads_nothing_heavy, plots, texts
from tests.pages.played import begin, play

PAPERS = [slug for slug in catalog() if (ROOT / "pages" / f"{slug}.py").exists()]
FIELDS = {
    field: offer(SurvivalSpec, field, knob, catalog()["survival"].opens()[field])
    for field, knob in knobs(SurvivalSpec).items()
    if any(field in entry.uses for entry in catalog()["survival"].methods)
}


def said(test: AppTest) -> str:
    """All words of a page."""
    kinds = (test.title, test.header, test.subheader, test.markdown, test.caption)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def address(**fields: str) -> dict[str, str]:
    return {f"survival.{field}": text for field, text in fields.items()}


@pytest.mark.parametrize("page", ["home", "runs", *PAPERS])
@pytest.mark.thorough
def test_every_page_opens_on_an_empty_store(visit: Open, page: str):
    test = visit(page)
    assert not test.exception
    assert not test.error
    assert test.title


def test_a_page_from_elsewhere_is_refused_without_asking_outside(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    def outside(url: str, timeout: float = 5) -> str | None:
        raise AssertionError(f"asked {url}")

    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # put back later
    monkeypatch.setattr(net_util, "_make_blocking_http_get", outside)
    visit("home")
    assert not is_url_from_allowed_origins("https://elsewhere.example")


def test_the_menu_has_every_paper_with_a_page(visit: Open):
    assert all(catalog()[slug].title in said(visit("home")) for slug in PAPERS)


def test_the_survival_page_asks_for_its_first_runs_once(visit: Open, home: Path):
    test = visit("survival")
    asked = {run.id for run in Client(home, workers=False).runs()}
    # two samplers and two perturbations take minutes, and wait for their button
    named = defaults.opening("survival").items()
    waiting = ("psgld", "exact", "out_pert_gauss", "obj_pert_gauss")
    assert asked == with_coarse("survival", (job for name, job in named if name not in waiting))
    assert len(named) == len(catalog()["survival"].methods) + 2  # as printed, drawn beside
    test.run()
    assert {run.id for run in Client(home, workers=False).runs()} == asked


def test_what_is_trained_is_drawn_with_words_and_a_guarantee(visit: Open, trained: Path):
    test = visit("survival")
    assert not test.exception
    shown = charts(test)
    assert len(shown) == 2
    assert all(chart["layout"]["meta"]["budget"] == 1.0 for chart in shown)
    assert all(one["alt"] for one in plots(test))
    words = said(test)
    assert "At ε = 1, " in words
    assert "times out of 100" in words
    assert "· ■\u00a0[proved]" in words
    assert "[proved](/learn#proved) **1" in words
    assert "attacked" in words
    assert "for comparison only" in words
    assert "diverged and are left out" in words
    assert not any("Stop" in button.label for button in test.button)


@pytest.mark.parametrize(("tab", "drawn"), [("Cost", 2), ("People", 2), ("Why", 4)])
@pytest.mark.thorough
def test_the_slider_moves_every_chart_and_starts_no_run(
    visit: Open, trained: Path, tab: str, drawn: int
):
    test = visit("survival", **{"survival.tab": tab})
    before = len(Client(trained, workers=False).runs())
    test.select_slider(key="survival.epsilon").set_value("4").run()
    assert not test.exception
    assert len(charts(test)) == drawn
    assert {chart["layout"]["meta"]["budget"] for chart in charts(test)} == {4.0}
    assert len(Client(trained, workers=False).runs()) == before


def test_another_gauge_and_another_method_are_read_from_the_same_runs(visit: Open, trained: Path):
    test = visit("survival", **address(gauge="noise_to_signal", method="objective perturbation"))
    assert not test.exception
    assert charts(test)[0]["layout"]["yaxis"]["title"]["text"].startswith("Noise to signal")
    assert test.selectbox(key="survival.gauge").options[0] == "Pairs ranked wrongly"  # as drawn
    assert test.menu_button(key="survival.method.menu").label == "Method: Objective perturbation"


@pytest.mark.thorough
def test_the_table_behind_a_chart_is_there_when_asked_for(visit: Open, trained: Path):
    test = visit("survival")
    test.session_state["survival.utility.table"] = True
    test.run()
    assert {"Method", "ε", "Pairs ranked correctly, median"} <= set(test.dataframe[0].value.columns)


@pytest.mark.parametrize("people", ["1", "3"])
@pytest.mark.thorough
def test_one_to_three_people_can_be_described(visit: Open, trained: Path, people: str):
    described = {"survival.people": people, "survival.flchain.a.age": "61"}
    test = visit("survival", **described, **{"survival.tab": "People"})
    assert not test.exception
    drawn = [
        trace["name"] for trace in charts(test)[0]["data"] if "Person" in trace.get("name", "")
    ]
    assert len(drawn) == int(people)
    assert test.number_input(key="survival.flchain.a.age").value == 61.0


def test_every_knob_at_its_lower_end(visit: Open):
    test = visit("survival", **address(**{field: one.texts[0] for field, one in FIELDS.items()}))
    assert not test.exception
    assert not test.warning


def test_every_knob_at_its_upper_end(visit: Open):
    test = visit("survival", **address(**{field: one.texts[-1] for field, one in FIELDS.items()}))
    assert not test.exception
    assert not test.warning


@pytest.mark.parametrize("beyond", ["-1e300", "1e300", "nan", "junk"])
def test_every_knob_beyond_its_ends(visit: Open, beyond: str):
    numbers = [field for field in FIELDS if isinstance(knobs(SurvivalSpec)[field], Knob)]
    test = visit("survival", **address(**dict.fromkeys(numbers, beyond)))
    assert not test.exception
    notes = [one.value for one in test.warning]
    assert len(notes) == len(numbers)
    assert all(note.startswith("Link value ignored: ") and "expected" in note for note in notes)


def test_a_moved_value_is_told_for_a_while_only(visit: Open):
    """A slider draws a part of the page, in which a lasting note would become untrue."""
    test = visit("lvq", **{"lvq.epsilon": "0.3"})
    assert not test.warning
    said = "Link value moved: epsilon 0.3 is not on its slider, 0.25 is nearest"
    assert [one.value for one in test.toast] == [said]
    assert test.select_slider(key="lvq.epsilon").value == "0.25"


@pytest.mark.thorough
def test_unknown_names_in_the_address_are_told_one_by_one(visit: Open, trained: Path):
    test = visit("survival", **address(dataset="nobody", calibration="loose", colour="red"))
    notes = "\n".join(one.value for one in test.warning)
    assert "dataset: expected one of FLchain" in notes
    assert "calibration: expected one of As printed, With proof, got 'loose'" in notes
    assert "survival.colour: expected a setting of this page" in notes
    assert len(charts(test)) == 2


def test_an_address_by_keys_is_rewritten_to_what_the_page_shows(visit: Open):
    test = visit("survival", **address(dataset="third_births", intervals="5e1"))
    assert not test.warning
    assert test.radio(key="survival.dataset").value == "Third births"
    assert test.select_slider(key="survival.intervals").value == "50"


def test_simulated_data_are_called_simulated(visit: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EXPLORER_DATA", raising=False)
    test = visit("survival", **address(dataset="second_births"))
    marked = [text.value for text in test.main.markdown if "Simulated data" in text.value]
    assert len(marked) == 1  # beside the finding, which stays where the sidebar is not shown
    assert "Simulated data" not in said(visit("survival"))


def test_contradicting_settings_are_one_sentence_and_keep_the_knobs(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise SpecError("knots", "expected fewer than intervals, got 9")

    monkeypatch.setattr("pages.ui.paper.choice.jobs", refuse)
    test = visit("survival")
    assert [one.value for one in test.error] == ["Knots: expected fewer than intervals, got 9."]
    assert test.select_slider(key="survival.intervals")
    assert not test.exception


@pytest.mark.thorough
def test_live_points_are_drawn_with_the_time_left_and_a_stop(visit: Open, home: Path):
    test = visit("survival")
    for run in Client(home, workers=False).runs():
        begin(home, run.job)
    test.run()
    assert not test.exception
    counts = [trace["customdata"] for trace in charts(test)[0]["data"] if "customdata" in trace]
    assert any(counts)
    [bar] = test.progress
    by_hand = defaults.layout("survival").by_hand
    opening = defaults.opening("survival").items()
    methods = {job.method for name, job in opening if name not in by_hand}
    assert f"Training: 0 of {len(methods)} methods" in bar.text
    assert "Training **" in said(test)
    test.button(key="survival.stop").click().run()
    assert all(run.stopping for run in Client(home, workers=False).runs())


def test_a_waiting_run_is_stopped_at_once_and_can_be_asked_for_again(visit: Open, home: Path):
    test = visit("survival")
    test.button(key="survival.stop").click().run()
    client = Client(home, workers=False)
    assert {run.state for run in client.runs()} == {"cancelled"}
    assert "stopped; what" in said(test)
    test.button(key="survival.again").click().run()
    assert {run.state for run in client.runs()} == {"queued"}


@pytest.mark.thorough
def test_what_was_stopped_is_said_where_its_progress_stood(visit: Open, home: Path):
    """How often each method was repeated until then, and the button that runs them again."""
    test = visit("enadpp")
    for run in Client(home, workers=False).runs():
        begin(home, run.job).finish("cancelled", [])
    test.run()
    assert not test.exception
    lines = [one.value for one in test.markdown]
    (at,) = (i for i, text in enumerate(lines) if text.startswith("Stopped · "))
    assert re.fullmatch(r"Stopped · (\d+ to )?\d+ repetitions?", lines[at])
    (panel,) = (i for i, text in enumerate(lines) if "stopped; what" in text)
    assert at < panel
    assert re.search(r" \d+ runs were stopped", lines[panel])  # some names have a comma
    assert [one.label for one in test.button].count("Run again") == 1
    test.button(key="enadpp.again").click().run()
    assert not any(one.value.startswith("Stopped · ") for one in test.markdown)


def paused(home: Path, intervals: int) -> set[bool]:
    """Whether the runs of one number of intervals wait for somebody to look at them."""
    runs = Client(home, workers=False).runs()
    return {run.paused for run in runs if run.job.values["intervals"] == intervals}


@pytest.mark.thorough
def test_settings_that_are_only_passed_do_not_keep_others_waiting(visit: Open, home: Path):
    test = visit("survival")

    def move(text: str) -> None:
        test.select_slider(key="survival.intervals").set_value(text).run()

    move("50")
    move("20")
    assert (paused(home, 10), paused(home, 50), paused(home, 20)) == ({True}, {True}, {False})
    move("50")
    assert (paused(home, 50), paused(home, 20)) == ({False}, {True})
    test.button(key="survival.stop").click().run()
    runs = Client(home, workers=False).runs()
    assert {run.state for run in runs if run.job.values["intervals"] == 50} == {"cancelled"}
    assert "stopped; what" in said(test)


def test_what_somebody_else_asked_for_is_not_dropped(visit: Open, home: Path):
    values = {"intervals": 50}
    other = request("survival", "cox", "flchain", values, {}, [0])
    Client(home, workers=False).submit(other)
    test = visit("survival", **address(intervals="50"))
    test.select_slider(key="survival.intervals").set_value("20").run()
    assert Client(home, workers=False).run(other.id).state == "queued"


@pytest.mark.thorough
def test_runs_that_ended_alike_are_told_in_one_line(visit: Open, home: Path):
    test = visit("survival")
    for run in Client(home, workers=False).runs():
        begin(home, run.job).finish("failed", [], "filter_size: expected fewer, got more")
    test.run()
    lines = [one.value for one in test.markdown if " failed. " in one.value]
    assert len(lines) == 1
    assert lines[0].endswith("failed. Filter size: expected fewer, got more.")
    assert all(f"**{label}**" in lines[0] for label in ("Without privacy", "Cox regression"))


@pytest.mark.parametrize("state", ["failed", "interrupted"])
@pytest.mark.thorough
def test_a_run_that_ended_badly_says_why(visit: Open, trained: Path, state: str):
    job = request("survival", "obj_pert", "flchain", {}, {"epsilon": [1.0]}, [0])
    claim = begin(trained, job)
    claim.finish(state, [], "Expected room on the disk, got none")
    test = visit("runs")
    assert "Expected room on the disk, got none." in said(test)
    assert any(button.label == "Run again" for button in test.button)


def test_a_run_is_counted_by_its_trainings(visit: Open, home: Path):
    """One budget and one repetition are one training, and it may have many settings."""
    begin(home, request("survival", "obj_pert", "flchain", {}, {"epsilon": [1.0, 2.0]}, [0, 1]))
    assert " · 4 trainings on the processor · " in said(visit("runs"))


@pytest.mark.slow
def test_runs_from_before_an_update_say_so_and_are_computed_again(
    visit: Open, trained: Path, monkeypatch: pytest.MonkeyPatch
):
    assert "earlier version" not in said(visit("survival"))
    monkeypatch.setattr("engine.service.run.sources", lambda job: "another")
    test = visit("survival")
    assert "Computed by an earlier version" in said(test)
    test.button(key="survival.again").click().run()
    client = Client(trained, workers=False)
    assert {run.state for run in client.runs()} == {"queued"}
    assert all(run.job.version in said(visit("runs")) for run in client.runs())


@pytest.mark.parametrize("state", ["failed", "running", ""])
def test_a_method_that_is_not_over_hides_no_age_of_the_others(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch, state: str
):
    monkeypatch.setattr("engine.service.run.sources", lambda job: "another")
    jobs = defaults.opening("mean")
    for name, job in jobs.items():
        if name == "laplace":
            play(home, job)
        elif state:
            claim = begin(home, job)
            if state == "failed":
                claim.finish(state, [], "epsilon: expected more, got less")
    test = visit("mean")
    assert not test.exception
    assert "Computed by an earlier version: Laplace. Run again to update." in said(test)
    test.button(key="mean.renew").click().run()
    runs = {run.job.method: run for run in Client(home, workers=False).runs()}
    assert runs["laplace"].state == "queued"


@pytest.mark.thorough
def test_a_finished_run_can_be_computed_again_from_the_list(visit: Open, trained: Path):
    client = Client(trained, workers=False)
    run = client.runs()[0]
    test = visit("runs")
    test.button(key=f"restart_alt.{run.id}").click().run()
    assert client.run(run.id).state == "queued"


@pytest.mark.thorough
def test_the_list_of_runs_can_open_take_and_delete(visit: Open, trained: Path):
    test = visit("runs")
    assert not test.exception
    client = Client(trained, workers=False)
    run = client.runs()[0]
    assert run.id in said(test)
    assert any(one.url == defaults.link(run.job) for one in test.link_button)
    assert any("python -m engine run survival" in one.value for one in test.code)
    assert test.button(key=f"delete.{run.id}").disabled  # until it is confirmed
    test.checkbox(key=f"sure.{run.id}").check().run()
    test.button(key=f"delete.{run.id}").click().run()
    assert run.id not in {one.id for one in client.runs()}


def change(home: Path, run: str, what: str) -> None:
    """Changes the row of a run in the store."""
    with Store(home).database.writing() as connection:
        connection.execute(f"UPDATE jobs SET {what}, crc = NULL WHERE id = ?", (run,))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("text = replace(text, '\"laplace\"', '\"gone\"')", "**gone** on FLchain"),
        ("text = replace(text, '\"mean\"', '\"gone\"')", "**laplace** on FLchain"),
        ("state = 'dancing'", "expected a run that this version can read, got the state 'dancing'"),
    ],
)
def test_a_run_that_is_not_known_hides_no_other_and_can_be_deleted(
    visit: Open, home: Path, what: str, says: str
):
    old, gone = (request("mean", "laplace", "flchain", {}, {}, [seed]) for seed in range(2))
    for job in (old, gone):
        play(home, job)
    change(home, gone.id, what)
    test = visit("runs")
    assert not test.exception
    assert not test.error
    assert [one.url for one in test.link_button] == [link(old)]
    assert says in said(test).replace("\\", "")
    assert not any(button.key == f"restart_alt.{gone.id}" for button in test.button)
    test.checkbox(key=f"sure.{gone.id}").check().run()
    test.button(key=f"delete.{gone.id}").click().run()
    (run,), lost = Client(home, workers=False).listed()
    assert (run.id, lost) == (old.id, [])


def test_an_address_made_from_a_job_leads_back_to_it(visit: Open, home: Path):
    values = {"intervals": 20, "calibration": "paper", "regularisation": 0.1}
    job = request("survival", "out_pert", "third_births", values, {"epsilon": [1.0, 2.0]}, [0])
    place, _, query = link(job).partition("?")
    assert place == "/survival"
    fields = dict(pair.split("=") for pair in query.replace("+", " ").split("&"))
    test = visit("survival", **fields)
    assert not test.warning
    asked = {run.job.method: run.job for run in Client(home, workers=False).runs()}
    assert {**asked["out_pert"].values, "epsilon": 1.0} == job.values
    assert asked["out_pert"].dataset == "third_births"


def test_many_runs_are_listed_ten_at_a_time(visit: Open, home: Path):
    for seed in range(12):
        play(home, request("survival", "cox", "flchain", {}, {}, [seed]))
    test = visit("runs")
    assert not test.exception
    assert sum(button.label == "Delete for good" for button in test.button) == 10


@pytest.mark.parametrize("page", ["home", "runs", "survival"])
def test_a_store_that_cannot_be_opened_is_one_sentence_on_every_page(
    visit: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str
):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "file" / "store"))
    test = visit(page)
    assert not test.exception
    assert test.error
    assert "expected a folder" in test.error[0].value
    assert test.title


def test_a_truncated_store_is_told_and_the_page_goes_on(visit: Open, home: Path):
    (home / "store.sqlite").write_bytes(b"SQLite format 3\0 and nothing more")
    test = visit("runs")
    assert not test.exception
    assert test.warning or test.error
    assert test.title[0].value == "Runs"


@pytest.mark.thorough
def test_a_page_process_loads_nothing_heavy(trained: Path):
    """A fresh interpreter draws the page and has none of the training libraries.

    The accountant is another matter: it is loaded for the first price.
    """
    loads_nothing_heavy("survival")


def test_what_is_under_way_says_what_it_waits_for_and_shares_with(visit: Open, home: Path):
    jobs = [request("survival", name, "flchain", {}, {}, [0]) for name in ("cox", "non_private")]
    waiting = [request("survival", "cox", "wichert", {}, {}, [i]) for i in range(2)]
    client = Client(home, workers=False)
    client.submit(waiting[0], {"epsilon": 1.0})
    assert progress("It", client.run(waiting[0].id)) == "It · waiting to begin"
    for job in jobs:
        begin(home, job)
    client.submit(waiting[1], {"epsilon": 1.0})
    shared = [progress("It", client.run(job.id)) for job in jobs]
    assert all(line.startswith("It · training, 25 %, in turns with 1 other run") for line in shared)
    assert [progress("It", client.run(job.id)) for job in waiting] == [
        "It · waiting for a step of another run to end",
        "It · waiting behind 1 run",
    ]


@pytest.mark.thorough
def test_links_stay_under_the_sub_path_of_the_operator(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    usual = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda key: "lab/" if key == "server.baseUrlPath" else usual(key)
    )
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    play(home, defaults.opening("mean")["laplace"])
    for page in ("mean", "reproduce", "runs"):
        drawn = visit(page)
        links = re.findall(r"(?:\]\(|href=\")(/[^)\"]*)", texts([drawn]))
        links += [one.proto.url for one in drawn.get("link_button")]
        assert links, page
        assert [one for one in links if not one.startswith("/lab/")] == [], page


@pytest.mark.parametrize("page", ["", "mean", "runs", "learn", "compare"])
def test_a_data_folder_that_cannot_be_made_leaves_every_page_up(
    visit: Open, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / ("a" * 300)))
    test = visit(page)
    assert not test.exception
    said = "".join(one.value for one in test.error)
    assert "expected a folder" in said or page == "learn"
