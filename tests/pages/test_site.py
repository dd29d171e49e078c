"""The static pages hold the app's own sentences, rulers and figures; no text is a part of one."""

import json
import re
from pathlib import Path

import pytest

from engine.runs import shipped
from pages.ui.bundle import collect, slide
from pages.ui.paper import foot, panels
from pages.ui.paper.defaults import addressed
from pages.ui.site import states, write
from tests.pages.conftest import ROOT


@pytest.fixture
def taken(home: Path, monkeypatch: pytest.MonkeyPatch) -> states.Taken:
    """The mean's page with its shipped stops."""
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    one = states.take("mean")
    assert one is not None
    return one


def test_every_stop_says_what_the_app_says(taken: states.Taken):
    offered = addressed("mean", {}).offers.knobs
    assert taken.opening.budgets == list(offered["epsilon"].texts)
    bound = next(one for one in taken.sliders if one.field == "bound")
    assert bound.label == "Clipping bound B [mg/dL]"
    assert bound.texts == list(offered["bound"].texts)
    assert bound.states[bound.first] is None
    for at, budget in enumerate(taken.opening.budgets):
        view = slide.opened("mean", {"mean.epsilon": budget})
        assert taken.opening.findings[at] == collect.html(panels.result(view))
        drawn, _, odds = foot.marks(view, view.guarantee())
        assert drawn.partition("</style>")[2] in taken.opening.rulers[at]
        assert collect.html(odds) in taken.opening.rulers[at]
    moved = [one for one in bound.states if one is not None]
    assert len(moved) == len(bound.texts) - 1
    assert len({one.findings[one.first] for one in moved}) > 1
    assert all(len(one.frames) == len(one.budgets) >= 5 for one in moved)


def test_figures_are_whole_at_every_budget(taken: states.Taken):
    state = taken.opening
    for frame in state.frames:
        data = [*state.base["data"], *frame["data"]]
        lines = [one for one in data if one.get("mode") == "lines+markers" and len(one["x"]) > 1]
        assert len(lines) == 3
        assert {"xaxis", "yaxis"} <= {*state.base["layout"], *frame}


def test_no_text_becomes_a_part_of_a_page(taken: states.Taken):
    bad = states.Taken(**(vars(taken) | {"title": "<script>alert(1)</script>"}))
    text = write.page(bad.title, write._paper(bad), {"mean": bad}, data=True)
    assert "<script>" not in re.sub(r"<script src=\"[^\"]+\" defer></script>", "", text)
    assert not re.search(r"\son\w+=", text)
    data = json.dumps(bad.json() | {"slug": "</script>"}, cls=write.PlotlyJSONEncoder)
    assert "</script>" not in write.within_script(data)


def test_the_app_s_chart_is_handed_over_without_modules():
    text = write.charts()
    assert "window.drawn = function" in text
    assert not re.search(r"^(import|export) ", text, re.M)
