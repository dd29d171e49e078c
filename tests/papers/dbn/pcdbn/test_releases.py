"""What the rigorous calibration spends: split, price and refusals."""

import math

import pytest
import torch
from scipy.stats import norm

from engine.core.errors import SpecError
from engine.papers.dbn import price as shared
from engine.papers.dbn.pcdbn import PAPER, guarantees, price
from engine.papers.dbn.pcdbn.sensitivity import monomials
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.privacy import accounting, gaussian
from engine.privacy.releases import cost

N = 60_000


def delta_of(multiplier: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8, with sensitivity one."""
    return norm.cdf(0.5 / multiplier - epsilon * multiplier) - math.exp(epsilon) * norm.cdf(
        -0.5 / multiplier - epsilon * multiplier
    )


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("degree", [1, 2, 3, 5, 7])
def test_the_whole_costs_what_was_asked(epsilon, degree):
    made = price.releases(PcdbnSpec(epsilon=epsilon, degree=degree), N)
    parts = (*made.moments, made.matrix, made.vector)
    assert len(parts) == 7 + {1: 0, 2: 1, 3: 1, 5: 4, 7: 3}[degree]
    whole = sum(part.multiplier**-2 for part in parts) ** -0.5
    assert delta_of(whole, epsilon) <= 1e-5
    assert delta_of(whole, epsilon * 0.999) > 1e-5
    assert all(part.sensitivity == 1.0 for part in parts)


def test_the_price_is_that_of_the_noise():
    spec = PcdbnSpec(epsilon=1.0)
    event = cost(price.releases(spec, N).listed)
    tight = accounting.epsilon(event, spec.delta, "add_or_remove_one")
    assert 0.999 < tight <= 1.0
    assert guarantees.pcdbn_card(spec, N, "an image").epsilon_proved == tight


def test_a_single_gaussian_by_hand():
    # multiplier 7.0318 is the root of the curve at epsilon = 0.5 and delta = 1e-5
    assert shared.whole(0.5, 1e-5) == pytest.approx(7.0318, abs=2e-3)
    assert gaussian.epsilon(7.0318**-2, 1e-5) == pytest.approx(0.5, abs=1e-4)


def test_moments_get_their_share_and_no_more_than_enough():
    spec = PcdbnSpec(epsilon=0.1, moment_share=0.2)
    made = price.releases(spec, N)
    total = shared.whole(0.1, 1e-5) ** -2
    assert sum(m.multiplier**-2 for m in made.moments) == pytest.approx(0.2 * total)
    rich = price.releases(spec.replace(epsilon=8.0), N)
    assert rich.patches.multiplier == N / price.ENOUGH


def test_epochs_cost_nothing():
    spec = PcdbnSpec(solver="descent", epochs=500)
    entry = PAPER.entry("pcdbn")
    assert entry.steps(spec, N) == 500
    assert repr(entry.cost(spec, N, 1)) == repr(entry.cost(spec, N, 500))


@pytest.mark.parametrize(
    ("polynomial", "degree", "orders"),
    [
        ("printed", 1, ()),
        ("printed", 2, (3,)),
        ("printed", 3, (4,)),
        ("printed", 5, (3, 4, 5, 6)),
        ("printed", 7, (4, 6, 8)),
        ("chebyshev", 2, ()),  # the logistic function less 1/2 is odd
        ("chebyshev", 7, (4, 6, 8)),
    ],
)
def test_moments_are_those_of_the_polynomial(polynomial, degree, orders):
    spec = PcdbnSpec(degree=degree, polynomial=polynomial)
    made = price.releases(spec, N)
    assert made.orders == orders
    assert len(made.listed) == 7 + len(orders)
    assert len({release.what for release in made.listed}) == len(made.listed)


def test_even_activations_have_odd_moments_and_the_rectifier_none():
    orders = {
        name: price.orders(PcdbnSpec(degree=5, activation=name))
        for name in ("tanh", "gaussian", "sinc", "relu")
    }
    assert orders == {"tanh": (4, 6), "gaussian": (3, 5), "sinc": (3, 5), "relu": ()}


@pytest.mark.parametrize("field", ["moment_share", "matrix_share", "layer_share"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_part_without_budget_is_refused(field, value):
    with pytest.raises(SpecError, match=f"{field}: expected a number from"):
        PcdbnSpec(**{field: value})


def test_status_by_calibration():
    status = {
        c: guarantees.pcdbn_card(PcdbnSpec(calibration=c), N, "an image").status
        for c in ("rigorous", "paper", "released")
    }
    assert status == {"rigorous": "proved", "paper": "heuristic", "released": "not_private"}
    for name in ("cdbn", "tcdbn"):
        assert PAPER.entry(name).guarantee(PcdbnSpec(), N, "an image").status == "not_private"


@pytest.mark.parametrize(("name", "degree"), [("pcdbn", 3), ("pcdbn_te", 5), ("pcdbn_pw", 1)])
def test_a_card_as_printed_calls_fewer_coefficients_our_reading(name, degree):
    """The text perturbs all of them; that it is not done here is no reason against the text."""
    spec = PcdbnSpec(calibration="paper", degree=3)
    reasons = PAPER.entry(name).guarantee(spec, N, "an image").reasons
    (said,) = [one for one in reasons if "which is our reading" in one]
    assert "The text gives it to every coefficient" in said
    assert f"{monomials(5, degree):,} in each group at L = {degree}" in said
    assert f"there are {monomials(5, 7):,}, which cannot be run" in said


def test_a_card_as_printed_counts_the_rectifiers_coefficients():
    """It is a line where it is positive, whatever L."""
    spec = PcdbnSpec(calibration="paper", degree=7, activation="relu")
    reasons = PAPER.entry("pcdbn").guarantee(spec, N, "an image").reasons
    assert any(f"{monomials(5, 1):,} in each group at L = 1 and" in one for one in reasons)
    assert any("second layer's noise has the first layer's sensitivity" in one for one in reasons)


def test_psgd_spends_its_budget_with_its_last_epoch():
    spec = PcdbnSpec(epsilon=1.0, sgd_epochs=3)
    made = shared.gradient_releases(spec, N)
    whole = accounting.epsilon(cost(made), 1e-5, "add_or_remove_one")
    assert 0.99 < whole <= 1.0
    more = accounting.epsilon(cost(made * 2), 1e-5, "add_or_remove_one")
    assert more > 1.2


def test_layers_share_the_budget():
    assert sum(shared.layer_budgets(0.5, PcdbnSpec().layer_share, 1)) == pytest.approx(0.5)
    assert torch.get_default_dtype() == torch.float32
