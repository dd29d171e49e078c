"""The fold with the whole guarantee: what it says, and that its curves are the card's."""

import numpy as np
import pytest
from scipy.stats import norm

from datasets import catalog as data_catalog
from engine.catalog import catalog
from pages.ui.charts import guarantee as charts
from pages.ui.paper import whole

RECORDS = data_catalog.card("flchain").records


@pytest.mark.parametrize(
    ("paper", "method"), [("survival", "out_pert"), ("survival", "dp_gd"), ("mean", "gaussian")]
)
def test_the_curve_goes_through_the_card(paper: str, method: str):
    entry = catalog()[paper].entry(method)
    spec = catalog()[paper].spec()
    card = entry.guarantee(spec, RECORDS, "a person")
    profile = whole.curves(entry, spec, RECORDS)
    assert profile is not None
    proved = np.interp(card.epsilon_proved, profile["epsilons"], profile["deltas"])
    # between two points a convex curve lies below its chord, by at most the chord's fall
    step = np.searchsorted(profile["epsilons"], card.epsilon_proved)
    fall = profile["deltas"][step - 1] - profile["deltas"][step]
    assert card.delta <= proved + 1e-12
    assert proved <= card.delta + fall + 1e-12


def test_a_gaussian_says_its_mu():
    entry, spec = catalog()["mean"].entry("gaussian"), catalog()["mean"].spec()
    profile = whole.curves(entry, spec, RECORDS)
    assert profile is not None
    at = profile["false_alarms"][2]
    assert at == pytest.approx(0.05)
    missed = 100 * norm.cdf(norm.ppf(1 - at) - profile["mu"])
    said = whole.reading(profile)
    assert f"at least {missed:.0f} of 100" in said
    assert "μ =" in said


def test_what_is_not_private_has_no_curve():
    entry, spec = catalog()["survival"].entry("non_private"), catalog()["survival"].spec()
    assert whole.curves(entry, spec, RECORDS) is None


def test_figures_mark_the_card_and_the_blind_guess():
    drawn = charts.deltas([0.0, 1.0, 2.0], [0.1, 0.01, 0.0], 1.0, 0.01)
    assert [trace.name for trace in drawn.data] == ["Proved", "This card"]
    assert drawn.data[0].y == (0.1, 0.01, None)
    pure = charts.deltas([0.0, 1.0], [0.1, 0.0], 1.0, 0.0)
    assert [trace.name for trace in pure.data] == ["Proved"]
    both = charts.tradeoff([0.0, 1.0], [1.0, 0.0])
    assert [trace.name for trace in both.data] == ["Fewest misses proved", "Blind guess"]
