"""The page on the private mean: its own charts, drawn from the runs that ship."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.cli.work import complete
from engine.intervals import SHARE, TESTED, Estimate
from engine.runs import groups, shipped
from engine.service.client import Client
from pages.ui.paper import defaults, pays
from tests.pages.conftest import Open
from tests.pages.drawn import charts, texts

SHIPPED = shipped.FOLDER


@pytest.fixture
def measured(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shipped, "FOLDER", SHIPPED)
    return home


def test_the_histogram_has_its_counts_with_and_without_noise(visit: Open, measured: Path):
    page = visit("mean", **{"mean.tab": "Histogram"})
    assert "of 500 records on average" in texts([page])
    bars, steps = charts(page)[0]["data"]
    assert (len(bars["y"]), len(steps["x"]), len(steps["y"])) == (20, 21, 21)
    assert sum(steps["y"][:-1]) == 500
    assert bars["y"] != steps["y"][:-1]


def test_bias_and_noise_make_up_the_expected_error(visit: Open, measured: Path):
    page = visit("mean", **{"mean.tab": "Why"})
    assert "clipping lowers the mean by" in texts([page])
    bias, noise, whole = (one["y"] for one in charts(page)[0]["data"])
    assert noise == sorted(noise, reverse=True)
    assert max(bias) == min(bias) > 0
    # exact for each repetition; of 20 the median lies between two, and 4 digits are drawn
    for i, both in enumerate(whole):
        assert both == pytest.approx((bias[i] ** 2 + noise[i] ** 2) ** 0.5, rel=1e-2)


def trained(**fields: str) -> dict[str, str]:
    """The address of the page at some settings, with the runs of its first tab and the others."""
    settings = {f"mean.{field}": text for field, text in fields.items()}
    jobs = defaults.addressed("mean", settings).jobs
    for name in ("laplace", "exact"):
        complete(Client(workers=False), jobs[name], lambda done, total: None)
    return settings


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ("30", "At ε = 1 clipping does not change the mean; the noise has a standard deviation"),
        ("20", "At ε = 1 clipping does not change the mean in most repetitions; the noise has"),
    ],
)
def test_what_rounding_takes_is_no_bias_by_clipping(visit: Open, home: Path, bound: str, said: str):
    page = visit("mean", **trained(bound=bound, tab="Why"))
    assert said in texts([page])
    names = [one.get("name") for one in charts(page)[0]["data"]]
    assert names == ["Standard deviation of the noise", "Expected error"]


def test_the_finding_is_in_the_unit_of_the_column(visit: Open, measured: Path):
    assert "mg/dL of error** with" in texts([visit("mean")])


def test_the_finding_tells_what_clipping_costs_where_noise_costs_less(visit: Open, measured: Path):
    """A bound far below the values makes the noise small and the answer useless."""
    said = texts([visit("mean", **{"mean.bound": "0.5"})])
    assert "At ε = 1, clipping alone costs **0.94 mg/dL of error**; " in said
    assert "adds 4·10⁻⁶" in said
    assert "privacy costs **" not in said
    noisy = {"mean.bound": "30"}, {"mean.epsilon": "0.1"}
    assert "clipping alone" not in texts(visit("mean", **one) for one in noisy)


def test_lines_with_and_without_privacy_are_of_the_same_records():
    """Each repetition draws its records, so a cost is the difference of the same repetitions."""
    jobs = defaults.opening("mean")
    assert {job.seeds for name, job in jobs.items()} == {tuple(range(200))}


def test_who_pays_is_one_sentence_and_a_chart_and_what_is_released_has_an_interval(
    visit: Open, measured: Path
):
    page = visit("mean", **{"mean.tab": "Histogram"})
    assert not page.exception
    said = texts([page])
    assert "privacy costs most for the rarest third of the bins" in said
    histogram, pays = charts(page)[:2]
    bars = histogram["data"][0]
    assert len(bars["error_y"]["array"]) == 20
    assert min(bars["error_y"]["array"]) >= 0.0
    (dots,) = pays["data"]
    assert len(dots["y"]) == 3
    assert dots["x"] == sorted(dots["x"])
    assert all(reach > 0.0 for reach in dots["error_x"]["array"])
    assert "mean of kappa, cut at 5" in str(page.table[0].value)


def test_a_group_without_a_measure_hides_no_other_and_what_diverged_is_left_out():
    values = np.array([[[0.5, 9.0], [np.nan, 0.0]], [[np.nan, 9.0], [np.nan, 0.0]]])
    results = SimpleNamespace(rows=lambda **at: np.ones(2, bool))
    one = SimpleNamespace(results=results, arrays={groups.NAME: values})
    view = SimpleNamespace(watched={"any": one}, spends=lambda name: True, budget=1.0)
    np.testing.assert_array_equal(pays._measured(view, "any"), values[:1])


def test_the_sentence_on_who_pays_is_of_the_run_that_its_chart_is_drawn_from(
    monkeypatch: pytest.MonkeyPatch,
):
    """While a whole run trains, sections draw from what is left of its coarse curve."""
    asked: list[object] = []
    monkeypatch.setattr(pays, "found", asked.append)
    pays.line(SimpleNamespace(left="coarse"))
    assert asked == ["coarse"]


def test_an_estimate_of_a_package_s_paper_is_of_a_value_unless_records_were_tested(
    monkeypatch: pytest.MonkeyPatch,
):
    view = SimpleNamespace(paper=SimpleNamespace(slug="count"))
    for name, means in (("number of events", "HELD"), (TESTED, "TESTED")):
        one = Estimate(name, SHARE, 0.5, 0.4, 0.6, 0.95, None)
        monkeypatch.setattr(pays, "quoted", lambda view, one=one: (one,))
        (table,) = pays.told(view)
        assert table.facts["means"] == means


@pytest.mark.thorough
def test_one_group_that_loses_is_said_once(visit: Open, home: Path):
    """Of twenty records that are all clipped, one third of the bins holds all."""
    fields = {"bound": "0.5", "records": "20", "epsilon": "0.05", "tab": "Histogram"}
    said = texts([visit("mean", **trained(**fields))])
    found = "privacy costs **2,500 % of the count** for the fullest third of the bins."
    assert f"At ε = 0.05 {found}" in said
    assert "least for" not in said
