"""What a page shows in a place whose new picture is on its way."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.service.client import Client
from engine.service.store import Store
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import defaults, stages
from pages.ui.paper.series import SOON
from pages.ui.papers.survival import sections
from tests.pages.conftest import Open
from tests.pages.drawn import charts, plots, texts
from tests.pages.played import begin, play

LEFT = "changes the answer for these two people"


def moved(test: AppTest) -> AppTest:
    """One step of q."""
    return test.select_slider(key="survival.intervals").set_value("20").run()


def faded(test: AppTest) -> list[str]:
    """What is said of the pictures from before the last move."""
    return [one.value for one in test.caption if "Before" in one.value]


@pytest.mark.thorough
@pytest.mark.parametrize("tab", ["Cost", "People"])
def test_a_picture_stays_until_the_new_one_is_there(visit: Open, trained: Path, tab: str):
    test = visit("survival", **{"survival.tab": tab})
    count = len(charts(test))
    assert faded(test) == []
    moved(test)
    assert not test.exception
    assert len(charts(test)) == count
    assert faded(test)[0].endswith("Before: q = 10")
    names = [one["alt"] for one in plots(test)]
    assert [one.startswith("Before: q = 10. ") for one in names].count(True) == len(faded(test))
    assert LEFT not in texts([test])
    for run in Client(trained, workers=False).runs():
        if run.job.values.get("intervals") == 20:
            play(trained, run.job)
    test.run()
    assert len(charts(test)) == count
    assert faded(test) == []
    assert (LEFT in texts([test])) == (tab == "Cost")


@pytest.mark.thorough
def test_a_picture_that_stays_is_named_in_the_language(visit: Open, trained: Path):
    at = {"survival.tab": "People", "survival.epsilon": "0.5"}
    test = visit("survival", lang="de", **at)
    test.select_slider(key="survival.epsilon").set_value("2")
    moved(test)
    caption = next(one.value for one in test.caption if "Vorher" in one.value)
    assert caption.endswith("Vorher: q = 10, ε = 0,5")
    assert any(one["alt"].startswith("Vorher: q = 10, ε = 0,5. ") for one in plots(test))


@pytest.mark.thorough
def test_no_picture_stays_where_nothing_comes(visit: Open, trained: Path):
    test = moved(visit("survival", **{"survival.tab": "People"}))
    store = Store(trained)
    for run in Client(trained, workers=False).runs():
        store.cancel(run.id)
    test.run()
    assert faded(test) == []
    assert SOON in texts([test])


def test_what_a_coarse_curve_has_left_is_drawn_before_the_whole_run(visit: Open, trained: Path):
    moved(test := visit("survival"))
    jobs = defaults.addressed("survival", {"survival.intervals": "20"}).jobs
    for name in ("dp_newton", "non_private"):
        play(trained, stages.coarse(jobs[name], 1.0, 1))
    test.run()
    assert "points** in 1 release." in texts([test])


def test_the_first_run_that_has_left_arrays_at_the_budget_is_drawn(home: Path):
    whole = defaults.opening("survival")["out_pert"]
    coarse = stages.coarse(whole, 1.0, 1)
    other = next(one for one in whole.axes[BUDGET] if one not in coarse.axes[BUDGET])

    def now() -> live.Watched:
        return live.watch({"it": whole}, {"it": "It"}, {"it": (coarse,)})["it"]

    assert now().left(epsilon=1.0).job == whole  # nothing is there
    play(home, coarse)
    assert now().left(epsilon=1.0).job == coarse
    assert now().left(epsilon=float(other)).job == whole  # none has it
    play(home, whole)
    assert now().left(epsilon=1.0).job == whole


def test_a_whole_run_that_has_left_nothing_yet_is_not_drawn(home: Path):
    whole = defaults.opening("survival")["out_pert"]
    coarse = stages.coarse(whole, 1.0, 1)
    play(home, coarse)
    begin(home, whole)
    watched = live.watch({"it": whole}, {"it": "It"}, {"it": (coarse,)})["it"]
    assert watched.left(epsilon=1.0).job == coarse


def test_how_far_most_releases_stay_counts_each_release_at_its_worst_time():
    """Ten releases, each off by its number at one time of its own and exact elsewhere."""
    exact = np.ones((2, 12))
    drawn = np.tile(exact, (10, 1, 1))
    for i in range(10):
        drawn[i, i % 2, i] += (-1) ** i * (i + 1) / 100
    assert sections.farthest(drawn, exact, 0.8) == pytest.approx(0.09)
    assert sections.farthest(drawn, exact, 1.0) == pytest.approx(0.10)
