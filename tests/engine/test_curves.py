"""The whole curve of a guarantee: against closed forms, and against what one point of it says."""

import math
from dataclasses import replace

import numpy as np
import pytest
import yaml
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    NonPrivateDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
    UnsupportedDpEvent,
)
from scipy.stats import norm

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.core.errors import BudgetError
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy import curves
from engine.privacy.accounting import epsilon
from engine.privacy.guarantee import RELATIONS
from engine.privacy.pure import PureDp
from engine.runs import registry

GAUSSIAN = ComposedDpEvent([GaussianDpEvent(2.0), SelfComposedDpEvent(GaussianDpEvent(4.0), 4)])
"""1/4 + 4/16 = 1/2: together one release of mu = sqrt(1/2)."""
SAMPLED = SelfComposedDpEvent(PoissonSampledDpEvent(0.05, GaussianDpEvent(1.5)), 50)
AT = np.array([0.0, 0.25, 0.5, 1.0, 2.0])
ALARMS = np.linspace(0.0, 1.0, 21)


def test_mu_is_exact_for_gaussians_alone():
    assert curves.mu(GAUSSIAN) == pytest.approx(math.sqrt(0.5))
    for event in (SAMPLED, PureDp(1.0), NonPrivateDpEvent(), ComposedDpEvent([PureDp(1.0)])):
        assert curves.mu(event) is None


@pytest.mark.thorough
@pytest.mark.parametrize("event", [GAUSSIAN, SAMPLED])
def test_the_curve_goes_through_the_card_s_point(event):
    for delta in (1e-3, 1e-5):
        at = epsilon(event, delta, "zero_out_one", tight=True)
        actual = curves.deltas(event, np.array([at]), "zero_out_one")
        assert actual == pytest.approx([delta], rel=2e-3)  # the accountant's own grid is 1e-4


def test_the_worst_of_a_pure_guarantee_is_randomised_response():
    """It answers truly with chance p = e/(1+e) at epsilon 1: delta(t) = p - e^t (1 - p)."""
    p = math.e / (1.0 + math.e)
    expected = np.maximum(p - np.exp(AT) * (1.0 - p), 0.0)
    np.testing.assert_allclose(curves.deltas(PureDp(1.0), AT, "replace_one"), expected, atol=1e-12)
    actual = curves.misses(PureDp(1.0), np.array([1.0 - p]), "replace_one")
    assert actual == pytest.approx([1.0 - p], abs=1e-3)  # the corner, up to the curve's grid


def test_laplace_is_better_than_the_worst_of_its_epsilon():
    """Its own curve is 1 - exp((t - epsilon)/2) for t < epsilon."""
    actual = curves.deltas(LaplaceDpEvent(1.0), AT, "add_or_remove_one")
    np.testing.assert_allclose(actual, np.maximum(-np.expm1((AT - 1.0) / 2.0), 0.0), atol=2e-4)
    assert (actual <= curves.deltas(PureDp(1.0), AT, "add_or_remove_one") + 1e-12).all()


def test_the_trade_off_of_gaussians_is_the_normal_one_and_the_curve_s_bound_meets_it():
    mu = math.sqrt(0.5)
    exact = norm.cdf(norm.ppf(1.0 - ALARMS) - mu)
    np.testing.assert_allclose(curves.misses(GAUSSIAN, ALARMS, "replace_one"), exact)
    wide = curves.EPSILONS
    left = 1.0 - curves.deltas(GAUSSIAN, wide, "replace_one")[:, None]
    bound = np.maximum(
        left - np.exp(wide)[:, None] * ALARMS, (left - ALARMS) / np.exp(wide)[:, None]
    )
    assert (bound.max(0) <= exact + 1e-12).all()
    np.testing.assert_allclose(bound.max(0), exact, atol=2e-3)


@pytest.mark.parametrize("event", [GAUSSIAN, SAMPLED, PureDp(0.5)])
def test_a_trade_off_is_no_better_than_a_coin_and_falls(event):
    actual = curves.misses(event, ALARMS, "zero_out_one")
    assert (actual <= 1.0 - ALARMS + 1e-9).all()
    assert (np.diff(actual) <= 1e-12).all()
    assert actual[0] <= 1.0
    assert actual[-1] == pytest.approx(0.0, abs=1e-9)


def test_without_noise_the_bound_always_fails_and_nothing_is_missed():
    assert (curves.deltas(NonPrivateDpEvent(), AT, "replace_one") == 1.0).all()
    assert (curves.misses(NonPrivateDpEvent(), ALARMS, "replace_one") == 0.0).all()


def test_nothing_is_said_of_an_event_that_no_accountant_knows():
    with pytest.raises(BudgetError):
        curves.deltas(UnsupportedDpEvent(), AT, "replace_one")


def test_leaving_a_record_out_costs_what_removing_it_costs():
    left_out = epsilon(SAMPLED, 1e-5, "zero_out_one", tight=True)
    assert left_out == epsilon(SAMPLED, 1e-5, "add_or_remove_one", tight=True)


def test_a_registry_entry_names_what_it_cannot_fill():
    described = data_catalog.card("flchain")
    card = paper("survival").entry("dp_gd").guarantee(SurvivalSpec(), 7874, described.record)
    told = registry.of(card, described, "this test")
    entry = told["entry"]["deployment"]
    lost = entry["privacy_loss"]
    assert lost["privacy_parameters"] == {"epsilon": card.epsilon_proved, "delta": card.delta}
    assert lost["privacy_unit"] == "a person"
    assert lost["privacy_unit_details"] == RELATIONS["replace_one"]
    assert "deployment.basic.data_curators" in told["unfilled"]
    assert "deployment.basic.name" not in told["unfilled"]
    body = registry.text(told["entry"])
    assert yaml.safe_load(body) == told["entry"]
    assert all(f"#   {name}\n" in body for name in told["unfilled"])


def test_a_registry_entry_calls_nothing_private_that_is_not_and_counts_no_rows_as_persons():
    described = data_catalog.card("flchain")
    entries = paper("survival").methods
    for card in (one.guarantee(SurvivalSpec(), 7874, described.record) for one in entries):
        told = registry.of(card, replace(described, rows=3), "this test")
        variant = told["entry"]["deployment"]["dp_variant"]["variant_name"]
        assert (variant == "None proved") == (card.epsilon_proved in (None, math.inf))
        assert "deployment.privacy_loss.number_of_privacy_units" in told["unfilled"]
    told = registry.of(
        replace(card, epsilon_proved=1.0, delta=0.0, failure="unknown"), described, ""
    )
    assert told["entry"]["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    told = registry.of(replace(card, epsilon_proved=math.inf), described, "")["entry"]["deployment"]
    assert told["dp_variant"]["variant_name"] == "None proved"
    assert told["privacy_loss"]["privacy_parameters"] == {}
    assert told["privacy_loss"]["number_of_privacy_units"] == described.records
