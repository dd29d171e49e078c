"""Curves and ratios that a page computes while a slider moves."""

import numpy as np
import pytest
import torch

from datasets import catalog
from engine.papers.survival import PAPER
from engine.papers.survival.evaluation import curves, evaluate
from engine.papers.survival.evaluation.products import scale
from engine.papers.survival.evaluation.scored import evaluation
from engine.papers.survival.likelihood.links import LINKS
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.scale import scaled, unbounded
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec
from tests.papers.survival.toys import table


@pytest.fixture
def case():
    data = unbounded(table(50, 2))
    read = curves.Scale.read(scale(scaled(data), 3), 2)
    return data, read, np.random.default_rng(0).normal(size=(3, 5))


def hazard(f: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The chance of the event in each of 12 intervals for who reaches it, shape (R, m, 12)."""
    alpha, beta = f[:, :3], f[:, 3:]
    eta = (alpha @ basis(12, 3).T)[:, None] + (beta @ x.T)[:, :, None]
    return 1.0 / (1.0 + np.exp(-eta))


def test_profiles_are_scaled_like_the_records(case):
    data, read, _ = case
    np.testing.assert_allclose(read.covariates(data.x), scaled(data).x)
    assert read.horizon == data.time.max()


def test_survival_is_the_product_over_the_intervals(case):
    data, read, f = case
    x = read.covariates(data.x[:4])
    h, S = hazard(f, x), curves.survival(f, x, 12, 3)
    assert h.shape == (3, 4, 12)
    assert S.shape == (3, 4, 13)
    np.testing.assert_allclose(S[:, :, 0], 1.0)
    np.testing.assert_allclose(S[:, :, 1:], np.cumprod(1.0 - h, axis=2))
    np.testing.assert_allclose(curves.times(read, 12)[[0, -1]], [0.0, data.time.max()])


def test_an_export_names_every_coefficient_and_holds_their_basis():
    spec, card = SurvivalSpec(intervals=12, knots=3), catalog.card("flchain")
    actual = PAPER.model(spec, card)
    assert actual["parameters"] == ["baseline 1", "baseline 2", "baseline 3", *card.features]
    np.testing.assert_array_equal(actual["basis"], design(catalog.load("flchain"), 12, 3).A)


def test_a_burn_in_beyond_half_the_chain_is_said_on_the_card():
    entry, long = PAPER.entry("psgld"), SurvivalSpec(burn_in=400, sampler_epochs=8.0)
    assert "burn-in" not in " ".join(entry.guarantee(long, 100, "a person").reasons)
    text = " ".join(entry.guarantee(long.replace(burn_in=401), 100, "a person").reasons)
    assert "longer than half of the chain: only the first 400 of its 800 steps" in text


def test_curves_are_those_that_are_scored(case):
    data, _, f = case
    sample = evaluation(data)
    S = curves.survival(f, sample.x.numpy(), 12, 3)
    log_survival = np.log(S)
    scored = evaluate.survival_at(torch.tensor(f), 3, 12, sample).log().numpy()
    for row in range(3):
        for record in range(5):
            expected = np.interp(sample.times, np.arange(13) / 12, log_survival[row, record])
            np.testing.assert_allclose(scored[row, record], expected, atol=1e-10)


def test_ratios_are_per_unit_of_the_table(case):
    """One unit more moves the log-odds of every interval by the log of the ratio."""
    _, read, f = case
    ratio = curves.ratios(f[:, 3:], read)
    low, high = curves.confidence(f[0, 3:], np.full(2, 0.1), read)
    h = hazard(f, read.covariates([[0.5, 1.0], [1.5, 1.0]]))
    odds = h / (1.0 - h)
    np.testing.assert_allclose(odds[:, 1] / odds[:, 0], np.repeat(ratio[:, :1], 12, 1))
    assert (low < ratio[0]).all()
    assert (ratio[0] < high).all()
    units = read.span * read.norm  # on the log scale 95 % is 1.96 standard errors to each side
    np.testing.assert_allclose(np.log(high / ratio[0]) * units, 0.1959964, rtol=1e-6)
    np.testing.assert_allclose(np.log(ratio[0] / low) * units, 0.1959964, rtol=1e-6)


def test_far_coefficients_stay_finite(case):
    _, read, f = case
    x = read.covariates([[0.0, 0.0]])
    with np.errstate(all="raise", under="ignore"):
        S = curves.survival(1e9 * f, x, 12, 3)
        ratio = curves.ratios(1e9 * f[:, 3:], read)
    assert np.isfinite(S).all()
    assert np.isfinite(ratio).all()


def test_bands_leave_out_what_diverged():
    values = np.array([[0.0], [1.0], [2.0], [np.nan]])
    low, middle, high = curves.band(values, 0.0, 1.0)
    assert (low[0], middle[0], high[0]) == (0.0, 1.0, 2.0)
    assert np.isnan(curves.band(values[3:])[1]).all()


def test_a_design_and_a_curve_share_one_basis(case):
    data, *_ = case
    np.testing.assert_array_equal(design(data, 12, 3).A.numpy(), curves.basis(12, 3))


@pytest.mark.parametrize("link", ["logit", "cloglog", "probit"])
def test_curves_follow_every_link_of_the_samplers(link):
    rng = np.random.default_rng(0)
    f, x = rng.normal(-1, 0.5, (3, 5)), rng.normal(0, 0.5, (4, 2))
    curve = curves.survival(f, x, 7, 3, link)
    eta = (f[:, 3:] @ x.T)[:, :, None] + (f[:, :3] @ basis(7, 3).T)[:, None, :]
    cost, _ = LINKS[link].survived(torch.tensor(eta))
    np.testing.assert_allclose(-np.diff(np.log(curve), axis=2), cost.numpy(), rtol=1e-9, atol=1e-12)
