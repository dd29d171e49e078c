"""Runs of other libraries on Compare: drawn, explained, removed, and not shown to others."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from engine.runs.job import request
from engine.yours import kept_runs, library_run
from pages.ui.compare import library
from pages.ui.kit import visitors
from tests.pages.conftest import Open
from tests.pages.drawn import charts
from tests.pages.played import play

RUN = {
    "format": library_run.FORMAT, "version": 1, "library": "Opacus 1.6.0", "records": 1_797,
    "dataset": "digits", "noise_multiplier": 1.4, "clipping_norm": 1.0, "sampling": "shuffled",
    "rate": 0.1, "steps": 100, "epsilon_claimed": 1.0, "delta": 1e-5, "measures": {"loss": "down"},
    "results": [
        {"epsilon_claimed": at, "noise_multiplier": noise, "seed": seed, "accuracy": 0.6 + at / 10,
         "loss": 3.0 - at}
        for at, noise in ((1.0, 6.0), (2.0, 4.0)) for seed in range(3)
    ],
}  # fmt: skip
CONTENT = json.dumps(RUN).encode()
NAME = "Opacus 1.6.0, private training"


def lines(test):
    (shown,) = charts(test)
    return {t["name"].partition(" · ")[0]: t for t in shown["data"] if t.get("name")}


@pytest.mark.thorough
def test_a_librarys_run_is_a_curve_beside_those_of_this_app(visit: Open, home: Path):
    """Its points stand where the shuffled batches put them, not where the library claims."""
    play(home, request("lvq", "glvq_dp", "digits", {}, {"epsilon": (1.0, 8.0)}, range(3)))
    kept = kept_runs.keep(CONTENT)
    test = visit("compare")
    assert not test.exception
    assert not test.error
    drawn = lines(test)
    assert len(drawn) == 2
    assert drawn[NAME]["x"] == pytest.approx([kept.prices[1.0][0], kept.prices[2.0][0]], rel=1e-3)
    assert drawn[NAME]["y"] == pytest.approx([0.7, 0.8])
    by_claim = visit("compare", **{"compare.by": "By claim"})
    assert lines(by_claim)[NAME]["x"] == [1.0, 2.0]
    (row,) = (r for r in test.table[0].value.to_dict("records") if NAME in r["Run"])
    assert "under an assumption" in row["Guarantee"]
    assert "Brought as a file" in row["Run"]
    said = " ".join(text.value for text in test.markdown)
    proved, coins = kept.prices[2.0]
    assert "Opacus 1.6.0 claims ε = 2. Its batches were shuffled, which costs" in said
    assert f"{proved:.3g}" in said
    assert f"Poisson batches would have cost ε = {coins:.3g}" in said


@pytest.mark.thorough
def test_it_is_drawn_where_nothing_of_this_app_is(visit: Open, home: Path):
    kept_runs.keep(json.dumps({**RUN, "dataset": "our clinic", "sampling": "poisson"}).encode())
    test = visit("compare", **{"compare.measure": "μ"})
    assert not test.exception
    assert test.selectbox[0].value == "Our clinic"
    assert 0.0 < lines(test)[NAME]["x"][0] < lines(test)[NAME]["x"][1]
    test.selectbox[1].set_value("Loss").run()
    assert not test.exception
    assert lines(test)[NAME]["y"] == pytest.approx([2.0, 1.0])
    for tab in ("Best proved", "Which ε do I need?", "Can two be told apart?"):
        test.session_state["compare.tab"] = tab
        test.run()
        assert not test.exception
        assert not test.error
        assert not any("costs no privacy" in text.value for text in test.caption)  # nobody knows
    assert any("two runs of this app" in text.value for text in test.markdown)


@pytest.mark.thorough
def test_a_budget_that_is_not_the_runs_own_says_at_which_its_card_is(visit: Open, home: Path):
    play(home, request("lvq", "glvq_dp", "digits", {}, {"epsilon": (1.0, 8.0)}, range(3)))
    kept_runs.keep(CONTENT)
    test = visit("compare", **{"compare.epsilon": "8"})
    (row,) = (r for r in test.table[0].value.to_dict("records") if NAME in r["Run"])
    assert row["Median"] == "not measured at this ε"
    assert "at ε = 2, " in row["Guarantee"]


@pytest.mark.thorough
def test_others_do_not_see_it_and_only_its_owner_removes_it(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = kept_runs.keep(CONTENT, owner="somebody")
    assert not charts(visit("compare"))
    monkeypatch.setattr(visitors, "visitor", lambda: "somebody")
    test = visit("compare")
    assert NAME in lines(test)
    test.button(f"library.remove.{kept.name}").click().run()
    assert not test.exception
    assert kept_runs.names() == ()
    assert not charts(test)


@pytest.mark.thorough
def test_nobody_removes_what_everybody_sees_unless_the_app_is_theirs(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = kept_runs.keep(CONTENT)
    monkeypatch.setattr(visitors, "alone", lambda: False)
    assert not [one for one in visit("compare").button if one.key and kept.name in one.key]
    monkeypatch.setattr(visitors, "alone", lambda: True)
    visit("compare").button(f"library.remove.{kept.name}").click().run()
    assert kept_runs.names() == ()


@pytest.mark.parametrize(("content", "kept"), [(CONTENT, 1), (b"{}", 0), (b"\x80\x04K\x01.", 0)])
@pytest.mark.thorough
def test_a_file_is_kept_or_refused_in_one_sentence(
    content: bytes, kept: int, visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """What is drawn begins anew with the new run, on its data set."""
    monkeypatch.setattr(visitors, "visitor", lambda: "somebody")
    for dataset in ("flchain", "wichert"):
        play(home, request("survival", "out_pert", dataset, {}, {"epsilon": (1.0, 2.0)}, range(3)))
    test = visit("compare")
    test.multiselect[0].set_value(test.multiselect[0].options[:1]).run()
    test.file_uploader(key=library.FILE).set_value(("run.json", content, "text/json")).run()
    assert not test.exception
    assert len(kept_runs.names()) == kept
    if not kept:
        assert test.error[0].value.startswith(("Format: expected", "Run: expected JSON"))
        return
    assert not test.error
    assert kept_runs.owner(kept_runs.names()[0]) == "somebody"
    assert test.selectbox[0].value == "Digits"
    assert test.selectbox[1].value == "Share of right answers"
    assert NAME in lines(test)
    test.selectbox[0].set_value("FLchain").run()
    assert not test.exception
    assert len(kept_runs.names()) == 1


def test_no_file_is_taken_where_uploads_are_off(visit: Open, monkeypatch: pytest.MonkeyPatch):
    assert visit("compare").get("file_uploader")
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    test = visit("compare")
    assert not test.get("file_uploader")
    assert any("turned off" in text.value for text in test.markdown)
    monkeypatch.setattr(
        st, "session_state", {library.FILE: SimpleNamespace(getvalue=lambda: CONTENT)}
    )
    library._bring()
    assert kept_runs.names() == ()
