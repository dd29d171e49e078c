"""Gaussian compositions in closed form."""

import math

import pytest
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    NoOpDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

from engine import accounting, gaussian


def test_strengths_add():
    event = ComposedDpEvent(
        [GaussianDpEvent(2.0), SelfComposedDpEvent(GaussianDpEvent(4.0), 12), NoOpDpEvent()]
    )
    assert gaussian.strength(event) == pytest.approx(1.0)
    assert gaussian.strength(LaplaceDpEvent(1.0)) is None
    assert gaussian.strength(ComposedDpEvent([GaussianDpEvent(1.0), LaplaceDpEvent(1.0)])) is None


@pytest.mark.parametrize(("sigma", "failure"), [(1.0, 1e-5), (30.0, 1e-5), (0.3, 1e-7)])
def test_it_agrees_with_the_discretised_accountant(sigma, failure):
    """The PLD accountant rounds up, by at most its step of 1e-4 a release."""
    other = PLDAccountant().compose(GaussianDpEvent(sigma)).get_epsilon(failure)
    ours = gaussian.epsilon(1.0 / sigma, failure)
    assert other - 2e-4 * max(1.0, other) <= ours <= other + 1e-6


def test_it_holds_for_replaced_records_too():
    event = SelfComposedDpEvent(GaussianDpEvent(10.0), 100)
    for relation in ("replace_one", "add_or_remove_one"):
        found = accounting.epsilon(event, 1e-5, relation)
        assert found == pytest.approx(gaussian.epsilon(1.0, 1e-5))


@given(
    target=st.floats(1e-3, 100.0),
    failure=st.floats(1e-10, 1e-2),
)
def test_a_multiplier_never_overspends(target, failure):
    sigma = gaussian.multiplier(target, failure)
    spent = gaussian.epsilon(1.0 / sigma, failure)
    assert spent <= target
    assert spent == pytest.approx(target, rel=1e-5, abs=1e-8)


def test_ends():
    assert gaussian.epsilon(0.0, 1e-5) == 0.0
    assert gaussian.epsilon(math.inf, 1e-5) == math.inf
    assert gaussian.epsilon(1e-7, 1e-5) == 0.0
    assert math.isfinite(gaussian.epsilon(1e2, 1e-12))
