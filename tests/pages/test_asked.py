"""Questions to private records have a price, said first and entered; public ones are free."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from engine.runs import ledger
from engine.runs.job import request
from pages.ui.kit import visitors
from pages.ui.paper import buying
from pages.ui.paper.buying import Question
from tests.engine.test_ledger import SETTINGS, TABLE
from tests.pages.conftest import Open
from tests.pages.played import play

NEED, BEST = "Which ε do I need?", "Best proved"
FREE = "The app treats these data as public, so the answer is exact and costs no privacy."


def brought(home: Path, *, methods: tuple[str, ...] = ("out_pert_gauss",), owner: str = "") -> str:
    """A table of one's own with runs on it."""
    name = own.keep("study.csv", TABLE.encode(), SETTINGS, owner=owner)
    for method in methods:
        axes = {"epsilon": (0.5, 1.0, 4.0)}
        play(home, request("survival", method, name, {"intervals": 5}, axes, range(3)))
    return name


def opened(visit: Open, tab: str) -> AppTest:
    """A tab of Compare, with all runs chosen: none on a table of one's own is at first."""
    test = visit("compare")
    test.session_state["compare.tab"] = tab
    for runs in [one for one in test.multiselect if one.label == "Runs"]:
        runs.set_value(list(runs.options)).run()
    assert not test.exception
    assert not test.error
    return test


def said(test: AppTest) -> str:
    return " ".join(str(one.value) for kind in ("markdown", "caption") for one in test.get(kind))


def test_public_records_answer_exactly_and_say_so(visit: Open, home: Path):
    axes = {"epsilon": (0.5, 1.0, 4.0)}
    play(home, request("survival", "out_pert", "flchain", {}, axes, range(3)))
    test = opened(visit, NEED)
    assert FREE in said(test)
    assert list(test.table[-1].value.columns) == ["Run", "Proved ε"]
    assert not [one for one in test.button if one.key.startswith("compare.need")]


@pytest.mark.thorough
def test_a_search_on_private_records_says_its_price_first_and_is_entered(visit: Open, home: Path):
    name = brought(home)
    test = opened(visit, NEED)
    assert FREE not in said(test)
    assert not [one for one in test.table if "Proved ε" in one.value.columns]
    key = f"compare.need.{name}"
    button = test.button(key=f"{key}.ask")
    assert button.label == "Search, for ε = 4 at most"
    assert ledger.read(name).releases == ()  # nothing is asked before the button is pressed
    test.multiselect(key=f"{key}.stops").set_value([2.0, 8.0])
    test.number_input(key=f"{key}.target").set_value(0.05).run()
    button = test.button(key=f"{key}.ask")
    assert button.label == "Search, for ε = 8 at most"
    button.click().run(timeout=120)
    assert not test.exception
    assert not test.error
    (entry,) = ledger.read(name).releases
    # its noise is the operating system's: the first stop is enough in nearly all searches
    stop = 2.0 if entry.epsilon < 5.0 else 8.0
    assert entry.epsilon == pytest.approx(stop, rel=1e-6)
    assert entry.method == "out_pert_gauss"
    text = said(test)
    assert f"ε = {stop:g} is enough for a mean record score of 0.05." in text
    assert "Before it began, at most ε = 8 was promised." in text
    assert f"1 release: ε = {stop:g} spent" in text
    again = opened(visit, NEED)  # another session reads the answer from the ledger, for nothing
    assert again.table[-1].value["Answer"].tolist() == [entry.said]
    assert len(ledger.read(name).releases) == 1


@pytest.mark.thorough
def test_a_limit_stops_the_search_and_the_page_says_so(visit: Open, home: Path):
    name = brought(home)
    ledger.set_limit(name, ledger.Limit(1.0))
    test = opened(visit, NEED)
    test.button(key=f"compare.need.{name}.ask").click().run(timeout=120)
    assert [one for one in test.error if "nothing was drawn" in one.value]
    assert ledger.read(name).releases == ()


@pytest.mark.thorough
def test_the_best_of_private_records_is_chosen_for_one_price(visit: Open, home: Path):
    name = brought(home, methods=("out_pert", "out_pert_gauss", "km_dp"))
    test = opened(visit, BEST)
    key = f"compare.best.{name}"
    names = test.multiselect(key=f"{key}.methods").options
    end = " (Time intervals 5)"
    judged = {f"Output perturbation{end}", f"Output perturbation, Gaussian{end}"}
    assert set(names) == judged  # no curve is
    test.select_slider(key=f"{key}.budget").set_value(4.0).run()
    test.button(key=f"{key}.ask").click().run(timeout=120)
    assert not test.exception
    assert not test.error
    (entry,) = ledger.read(name).releases
    assert 3.9 < entry.epsilon <= 4.0
    assert entry.method == "choose"
    assert entry.said in test.table[-1].value["Answer"].tolist()


def test_a_choice_is_made_at_the_settings_of_the_runs_on_the_chart(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    name, asked = brought(home), list[Question]()
    monkeypatch.setattr(buying, "ask", asked.append)
    opened(visit, BEST)
    assert "intervals=5" in asked[-1].words
    axes = {"epsilon": (0.5, 1.0)}
    play(home, request("survival", "out_pert", name, {"intervals": 4}, axes, range(3)))
    asked.clear()
    test = opened(visit, BEST)
    assert not asked
    assert any("differ in Time intervals" in one.value for one in test.info)


def test_only_whoever_added_a_table_may_spend_on_it(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    name = brought(home, owner="ann")
    monkeypatch.setattr("streamlit.get_option", lambda key: ["192.168.1.20"])
    monkeypatch.setattr(visitors, "visitor", lambda: "ben")
    monkeypatch.setattr(visitors, "sees", lambda job: True)  # a link has named the table
    test = opened(visit, NEED)
    assert "Only the visitor who added this table may spend its budget." in said(test)
    assert not [one for one in test.button if one.key == f"compare.need.{name}.ask"]
