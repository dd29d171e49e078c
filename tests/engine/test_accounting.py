"""Costs whose value is known by hand, and noise that meets a budget."""

import itertools
import math

import numpy as np
import pytest
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    NonPrivateDpEvent,
    NoOpDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
    UnsupportedDpEvent,
)
from dp_accounting.rdp import RdpAccountant
from scipy.stats import norm

from engine.core.errors import BudgetError
from engine.privacy import accounting
from engine.privacy.accounting import calibrate, epsilon
from engine.privacy.mechanisms import GammaSphere, Gaussian, Laplace
from engine.privacy.pure import PureDp, pure

ADDED = "add_or_remove_one"
KNOWN = [
    (NoOpDpEvent(), 0.0),
    (LaplaceDpEvent(0.5), 2.0),
    (PureDp(0.3), 0.3),
    (SelfComposedDpEvent(LaplaceDpEvent(10.0), 10), 1.0),
    (ComposedDpEvent([PureDp(0.25), LaplaceDpEvent(4.0)]), 0.5),
    (PoissonSampledDpEvent(0.5, PureDp(math.log(3.0))), math.log(2.0)),
    (PoissonSampledDpEvent(0.0, PureDp(1.0)), 0.0),
    (PoissonSampledDpEvent(1.0, PureDp(1.0)), 1.0),
    (PoissonSampledDpEvent(0.01, PureDp(1e4)), 1e4 + math.log(0.01)),
    (LaplaceDpEvent(0.0), math.inf),
    (NonPrivateDpEvent(), math.inf),
]


@pytest.mark.parametrize(("event", "expected"), KNOWN, ids=lambda x: type(x).__name__)
def test_pure_epsilon(event, expected):
    assert pure(event) == pytest.approx(expected)
    assert epsilon(event, 0.0, "add_or_remove_one") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mechanism", "price"),
    [(Laplace(3.0, 0.5), 0.5), (GammaSphere(469.8, 6.4, 11), 6.4)],
    ids=["laplace", "gamma sphere"],
)
def test_a_pure_mechanism_costs_its_epsilon(mechanism, price):
    assert epsilon(mechanism.event, 0.0, "replace_one") == pytest.approx(price)


def test_a_gaussian_against_the_analytic_formula():
    """Balle and Wang 2018, Theorem 8, with sensitivity 1 and sigma 1, at epsilon 1."""
    delta = norm.cdf(0.5 - 1.0) - math.e * norm.cdf(-0.5 - 1.0)
    event = Gaussian(1.0, 1.0).event
    assert delta == pytest.approx(0.126937, abs=1e-6)
    assert epsilon(event, delta, "add_or_remove_one", tight=True) == pytest.approx(1.0, abs=1e-3)


def test_the_tight_accountant_never_says_more():
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(4.0)), 10_000)
    quick = epsilon(event, 1e-5, "add_or_remove_one")
    tight = epsilon(event, 1e-5, "add_or_remove_one", tight=True)
    assert quick == pytest.approx(1.035, abs=2e-3)  # RDP
    assert tight == pytest.approx(0.947, abs=2e-3)  # PLD


@pytest.mark.parametrize("target", [0.05, 0.6, 3.0])
@pytest.mark.thorough
def test_calibrated_noise_meets_the_budget_and_no_less_would(target):
    def make(multiplier):
        return SelfComposedDpEvent(PoissonSampledDpEvent(0.02, GaussianDpEvent(multiplier)), 200)

    mechanism = calibrate(make, target, 1e-5, "add_or_remove_one")
    assert epsilon(make(mechanism), 1e-5, "add_or_remove_one", tight=True) <= target
    assert epsilon(make(0.995 * mechanism), 1e-5, "add_or_remove_one", tight=True) > target


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_a_coarser_division_of_the_loss_stays_a_bound_and_near(scale, monkeypatch):
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.1, LaplaceDpEvent(scale)), 200)
    coarse = epsilon(event, 1e-5, "add_or_remove_one", tight=True)
    monkeypatch.setattr(accounting, "interval", lambda bound: accounting.FINEST)
    fine = accounting._epsilon.__wrapped__(accounting._Key(event), 1e-5, "add_or_remove_one", True)
    assert fine <= coarse <= 1.001 * fine


@pytest.mark.parametrize("target", [699.0, 1000.0])
def test_a_huge_budget_is_met_from_below(target):
    def make(multiplier):
        return SelfComposedDpEvent(PoissonSampledDpEvent(0.1, GaussianDpEvent(multiplier)), 200)

    mechanism = calibrate(make, target, 1e-5, "add_or_remove_one")
    assert 600.0 < epsilon(make(mechanism), 1e-5, "add_or_remove_one", tight=True) <= target


def test_an_event_that_nobody_knows_is_an_error():
    with pytest.raises(BudgetError, match="expected an event that an accountant knows"):
        epsilon(UnsupportedDpEvent(), 1e-5, "add_or_remove_one")


def test_a_budget_that_no_noise_meets_is_an_error():
    with pytest.raises(BudgetError, match="expected a budget that some noise meets"):
        calibrate(GaussianDpEvent, 1e-3, 1e-5, "add_or_remove_one", bracket=(0.1, 10.0))


@pytest.mark.thorough
def test_leaving_out_orders_changes_no_answer():
    """Over budgets from far below to far above what is used, against all orders at once."""
    orders, adjacent = tuple(itertools.chain(*accounting.ORDERS)), accounting.neighbours(ADDED)
    rng = np.random.default_rng(0)
    for rate, noise, steps, delta in zip(
        10 ** rng.uniform(-4, 0, 30), 10 ** rng.uniform(-1.2, 2.5, 30),
        10 ** rng.uniform(0, 4, 30), 10 ** rng.uniform(-9, -2, 30), strict=True,
    ):  # fmt: skip
        event = SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(noise)), int(steps))
        every = RdpAccountant(orders, adjacent).compose(event).get_epsilon(delta)
        assert epsilon(event, delta, ADDED) == every


def test_a_price_of_a_huge_budget_asks_no_large_order(monkeypatch):
    """They take most of the time, and prove nothing there."""
    asked: list[float] = []
    plain = RdpAccountant

    def noted(orders, adjacent):
        asked.extend(orders)
        return plain(orders, adjacent)

    monkeypatch.setattr(accounting, "RdpAccountant", noted)
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.0999, GaussianDpEvent(0.21)), 200)
    assert epsilon(event, 1e-5, ADDED) > 500.0
    assert max(asked) <= 16


def test_replacing_a_record_of_a_sample_is_priced_for_both_that_may_be_in_it():
    r"""At the \varepsilon that is stated, \delta of the two mixtures by integration is what it is.

    Noise of deviation 1.5 hides a record that moves the sum by 1, or by -1, in a fifth of batches.
    """
    rate, x = 0.2, np.linspace(-15.0, 15.0, 300_001)
    event = PoissonSampledDpEvent(rate, GaussianDpEvent(1.5))
    stated = epsilon(event, 1e-5, "replace_one", tight=True)
    first, second = (
        (1.0 - rate) * norm.pdf(x, 0.0, 1.5) + rate * norm.pdf(x, side, 1.5) for side in (1.0, -1.0)
    )
    over = np.maximum(0.0, first - math.exp(stated) * second).sum() * (x[1] - x[0])
    assert over == pytest.approx(1e-5, rel=0.02)
    assert epsilon(event, 1e-5, ADDED, tight=True) < 0.9 * stated
