"""The whole guarantee: its curves are the card's, and a downloaded run holds those of the page."""

import io
import json
import math
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.core.spec import Spec
from engine.method import Entry
from engine.runs import whole as engine_whole
from engine.runs.job import request
from engine.service.client import Client
from pages.ui.charts import attack as charts
from pages.ui.jobs.runs_table import bundle
from pages.ui.paper import whole
from tests.pages.played import play

DATA = data_catalog.card("flchain")


def asked(paper: str, method: str) -> tuple[Entry, Spec]:
    """A method with the defaults of its paper."""
    return catalog()[paper].entry(method), catalog()[paper].spec()


@pytest.mark.parametrize(
    ("paper", "method"), [("survival", "out_pert"), ("survival", "dp_gd"), ("mean", "gaussian")]
)
def test_the_curve_goes_through_the_card(paper: str, method: str):
    entry, spec = asked(paper, method)
    card = entry.promise(spec, DATA)
    profile = whole.curves(entry, spec, DATA, card)
    assert profile is not None
    proved = np.interp(card.epsilon_proved, profile["epsilons"], profile["deltas"])
    # between two points a convex curve lies below its chord, by at most the chord's fall
    step = np.searchsorted(profile["epsilons"], card.epsilon_proved)
    fall = profile["deltas"][step - 1] - profile["deltas"][step]
    assert card.delta <= proved + 1e-12
    assert proved <= card.delta + fall + 1e-12


def test_a_gaussian_says_its_mu():
    entry, spec = asked("mean", "gaussian")
    profile = whole.curves(entry, spec, DATA, entry.promise(spec, DATA))
    assert profile is not None
    at = profile["false_alarms"][2]
    assert at == pytest.approx(0.05)
    missed = 100 * norm.cdf(norm.ppf(1 - at) - profile["mu"])
    said = whole.reading(profile)
    assert f"at least {math.floor(missed)} of 100" in said
    assert "μ =" in said


def test_misses_that_are_proved_are_rounded_down():
    profile = {"false_alarms": [0.05], "misses": [0.9163], "mu": None}
    assert "at least 91 of 100 cases" in whole.reading(profile)


def test_what_is_not_private_has_no_curve():
    entry, spec = asked("survival", "non_private")
    assert whole.curves(entry, spec, DATA, entry.promise(spec, DATA)) is None


@pytest.mark.parametrize("method", ["gaussian", "laplace"])
def test_a_person_with_three_rows_has_curves_of_her_own(method: str):
    """Three rows of one Gaussian are exactly three times μ; of pure ε, three times ε at δ = 0."""
    entry, spec = asked("mean", method)
    data = replace(DATA, rows=3)
    card = entry.promise(spec, data)
    profile = engine_whole.curves(entry, spec, data, card)
    one = engine_whole.curves(entry, spec, DATA, entry.promise(spec, DATA))
    assert profile is not None
    assert one is not None
    alarms, missed = np.array(profile["false_alarms"]), np.array(profile["misses"])
    if method == "laplace":
        steps = np.array(profile["epsilons"]) >= card.epsilon_proved
        assert (np.array(profile["deltas"])[steps] == 0.0).all()
        assert np.array(profile["deltas"])[~steps].min() > 0.0
        return
    assert profile["mu"] == pytest.approx(3.0 * one["mu"])
    exact = norm.cdf(norm.ppf(1.0 - alarms) - profile["mu"])
    np.testing.assert_allclose(missed, exact, atol=1e-12)
    step = np.searchsorted(profile["epsilons"], card.epsilon_proved)
    assert profile["deltas"][step] <= card.delta <= profile["deltas"][step - 1]


def test_a_download_holds_the_curves_that_the_page_draws(home):
    job = request("mean", "gaussian", "flchain", axes={"epsilon": (0.5, 2.0)})
    play(home, job)
    client = Client(home, workers=False)
    with zipfile.ZipFile(io.BytesIO(bundle(client, client.run(job.id)))) as archive:
        card = json.loads(archive.read(f"run-{job.id}/released/card.json"))
    client.close()
    for point, spec in zip(card["points"], job.batch().specs, strict=True):
        promised = job.entry().promise(spec, DATA)
        assert point["curves"] == whole.curves(job.entry(), spec, DATA, promised)
        assert point["mu"] == point["curves"]["mu"]
        assert len(point["curves"]["misses"]) == len(point["curves"]["false_alarms"])
    assert len({point["mu"] for point in card["points"]}) == 2


def test_figures_mark_the_card_and_the_blind_guess():
    drawn = charts.deltas([0.0, 1.0, 2.0], [0.1, 0.01, 0.0], 1.0, 0.01)
    assert [trace.name for trace in drawn.whole.data] == ["Proved", "This card"]
    assert drawn.whole.data[0].y == (0.1, 0.01, None)
    pure = charts.deltas([0.0, 1.0], [0.1, 0.0], 1.0, 0.0)
    assert [trace.name for trace in pure.whole.data] == ["Proved"]
    both = charts.allowed([0.0, 1.0], [1.0, 0.0])
    assert [trace.name for trace in both.whole.data] == ["Fewest misses proved", "Blind guess"]
