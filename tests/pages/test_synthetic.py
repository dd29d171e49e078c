"""The synthetic table of a table of one's own: its price first, its columns, its files."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from engine.cli.main import main
from engine.runs import ledger
from pages.ui import rights
from pages.ui.charts import shares
from pages.ui.kit import visitors
from pages.ui.words import short
from tests.engine.test_ledger import SETTINGS, TABLE
from tests.pages.conftest import Open
from tests.pages.drawn import charts

ASK = "survival.synthetic.ask"
RAW = "Computed from the raw data, for comparison only. Not private."


def opened(visit: Open, name: str) -> AppTest:
    test = visit("survival", **{"survival.dataset": short(name), "survival.tab": "Data"})
    assert not test.exception
    return test


def said(test: AppTest) -> str:
    return " ".join(str(one.value) for kind in ("markdown", "caption") for one in test.get(kind))


def heads(test: AppTest) -> list[str]:
    return [one.value for one in test.subheader]


def test_a_public_data_set_has_no_such_section(visit: Open, home: Path):
    test = visit("survival", **{"survival.tab": "Data"})
    assert "Synthetic table" not in heads(test)


def test_bounds_from_the_data_have_no_button(visit: Open, home: Path):
    test = opened(visit, own.keep("study.csv", TABLE.encode(), accept=True))
    assert "Synthetic table" in heads(test)
    assert "The bounds of this table were taken from the data" in said(test)
    assert not [one for one in test.button if one.key == ASK]


@pytest.mark.thorough
def test_a_press_costs_what_the_button_says_and_shows_synthetic_columns(visit: Open, home: Path):
    name = own.keep("study.csv", TABLE.encode(), SETTINGS)
    test = opened(visit, name)
    assert test.button(key=ASK).label == "Make a synthetic table, for ε = 1"
    test.select_slider(key="survival.synthetic.budget").set_value(3.0).run()
    assert test.button(key=ASK).label == "Make a synthetic table, for ε = 3"
    assert ledger.read(name).releases == ()  # nothing is asked before the button is pressed
    test.button(key=ASK).click().run(timeout=120)
    assert not test.exception
    assert not test.error
    (entry,) = ledger.read(name).releases
    assert entry.epsilon == pytest.approx(3.0, rel=1e-6)
    text = said(test)
    assert "**200 synthetic records** cost ε = 3 at δ = 1·10⁻⁵." in text
    assert "1 release: ε = 3 spent" in text  # the ledger in the sidebar, at once
    assert "Proved" in text
    assert "a person" in str(test.table[-1].value)
    assert RAW not in text
    drawn = [one for one in charts(test) if one["data"][0]["type"] == "bar"][-1]
    assert [one["name"] for one in drawn["data"]] == ["Synthetic, no event", "Synthetic, event"]
    test.toggle(key="survival.synthetic.original").set_value(True).run()
    assert RAW in said(test)
    drawn = [one for one in charts(test) if one["data"][0]["type"] == "bar"][-1]
    assert any("not private" in one["name"] for one in drawn["data"])
    assert len(list((home / "releases").glob("*.csv"))) == 1


def released(home: Path, name: str, epsilon: float, at: str) -> None:
    """A synthetic table as the button makes it, at some moment."""
    folder = home / "releases"
    folder.mkdir(exist_ok=True)
    to = folder / f"{name}-{at}.csv"
    assert main(["synthetic", name, "--epsilon", str(epsilon), "--to", str(to)]) == 0


def test_what_was_made_before_is_there_after_a_reload(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """To those who may spend on the table, the latest first; other tables' and damaged ones not."""
    name, other = (own.keep("study.csv", TABLE.encode(), SETTINGS) for _ in range(2))
    released(home, name, 3.0, "20260102-030405")
    released(home, other, 8.0, "20260102-030406")
    test = opened(visit, name)
    assert "**200 synthetic records** cost ε = 3 at δ = 1·10⁻⁵." in said(test)
    labels = [one.label for one in test.get("download_button") if "Download" in one.label]
    assert {"Download the table", "Download its settings", "Download its card"} <= {*labels}
    assert test.button(key=ASK).label == "Make a synthetic table, for ε = 1"
    released(home, name, 2.0, "20260102-040506")
    (home / "releases" / f"{name}-20260103-000000.card.json").write_text("{}")
    test = opened(visit, name)
    assert "cost ε = 2 at" in said(test)
    [box] = [one for one in test.selectbox if one.label == "Made before"]
    assert box.options == ["2026-01-02 04:05:06 UTC, ε = 2", "2026-01-02 03:04:05 UTC, ε = 3"]
    box.select_index(1).run()
    assert "cost ε = 3 at" in said(test)
    monkeypatch.setattr(rights, "may", lambda action, name: False)
    assert "synthetic records** cost" not in said(opened(visit, name))


@pytest.mark.thorough
def test_a_table_of_classes_has_the_section_too(visit: Open, home: Path):
    rows = "".join(f"{i % 7},{i * 37 % 100},{'ab'[i % 7 > 3]}\n" for i in range(300))
    bounds = "[columns.x]\nlow = 0\nhigh = 7\n[columns.y]\nlow = 0\nhigh = 100\n"
    bounds += '[columns.kind]\ncategories = ["a", "b"]\n'
    name = own.keep("study.csv", f"x,y,kind\n{rows}".encode(), bounds, "kind")
    test = visit("lvq", **{"lvq.dataset": short(name), "lvq.tab": "Data"})
    test.button(key="lvq.synthetic.ask").click().run(timeout=120)
    assert not test.exception
    assert not test.error
    assert test.selectbox(key="lvq.synthetic.column").options == ["label", "x", "y"]
    drawn = [one for one in charts(test) if one["data"][0]["type"] == "bar"][-1]
    assert drawn["data"][0]["x"] == ["class a", "class b"]


def test_only_whoever_added_a_table_may_spend_on_it(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    name = own.keep("study.csv", TABLE.encode(), SETTINGS, owner="ann")
    monkeypatch.setattr("streamlit.get_option", lambda key: ["192.168.1.20"])
    monkeypatch.setattr(visitors, "visitor", lambda: "ben")
    monkeypatch.setattr(visitors, "sees", lambda job: True)
    test = opened(visit, name)
    assert "Only the visitor who added this table may spend its budget." in said(test)
    assert not [one for one in test.button if one.key == ASK]


def test_the_chart_shows_every_share_once():
    column = {"title": "age", "heads": ["age"], "levels": 0, "low": 0.0, "high": 4.0, "bins": 4,
              "shares": [0.1, 0.2, 0.3, 0.4]}  # fmt: skip
    drawn = json.loads(shares.shares(column, [0.25] * 4).to_json())
    assert drawn["data"][0]["x"] == [0.5, 1.5, 2.5, 3.5]
    assert drawn["data"][0]["y"] == [10.0, 20.0, 30.0, 40.0]
    assert drawn["data"][1]["y"] == [25.0] * 4
    assert [row["Synthetic"] for row in shares.table(column)] == column["shares"]
    arms = {**column, "title": "arm b", "heads": ["arm b", "arm c"], "levels": 3,
            "shares": [0.5, 0.2, 0.3]}  # fmt: skip
    assert shares.cells(arms) == ["none of these", "arm b", "arm c"]
