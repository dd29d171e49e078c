"""The band around the private Kaplan-Meier curve: how often it holds the truth, and from what."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from datasets.base import Bounds, SurvivalTable
from datasets.catalog import load
from engine.papers.survival.evaluation.evaluate import brier
from engine.papers.survival.evaluation.scored import scored
from engine.papers.survival.mechanisms.curve import (
    band,
    counted,
    measured,
    precision,
    product_limit,
)

CENSORED, EVENTS, STAYS = (0.04, 0.05, 0.05, 0.06, 0.15), (0.06, 0.1, 0.12, 0.09, 0.08), 0.2
"""How likely each end of follow-up is, in each interval, and to reach the horizon."""


def truth() -> np.ndarray:
    """The curve of a population in which nobody's leaving tells of the event."""
    gone, died = np.array(CENSORED), np.array(EVENTS)
    risk = 1.0 - np.concatenate([[0.0], (gone + died).cumsum()[:-1]])
    return np.concatenate([[1.0], (1.0 - died / (risk - 0.5 * gone)).cumprod()])


def drawn(n: int, scale: float, tables: int) -> torch.Tensor:
    """Noisy counts of simulated tables, shape (tables, 2q + 1)."""
    rng = np.random.default_rng((n, tables))
    exact = rng.multinomial(n, np.array([*CENSORED, *EVENTS, STAYS]), tables)
    return torch.from_numpy(exact + scale * rng.standard_normal(exact.shape))


@pytest.mark.parametrize(("n", "scale"), [(200, 0.0), (500, 8.0), (2_000, 2.0), (2_000, 30.0)])
def test_the_band_holds_the_truth_as_often_as_it_says(n, scale):
    noisy = drawn(n, scale, 2_000)
    low, high = band(product_limit(noisy, n), noisy, [scale] * len(noisy), n)
    held = ((low <= truth()) & (truth() <= high)).mean(0)
    assert held[0] == 1.0
    assert (held[1:] > 0.93).all()
    assert (held[1:] < 0.97).all()


@pytest.mark.parametrize(
    ("leaves", "intervals"),
    [
        pytest.param(0.05, 10, marks=pytest.mark.thorough),
        (0.6, 10),
        pytest.param(0.6, 25, marks=pytest.mark.thorough),
    ],
)
def test_the_band_holds_the_truth_of_times_that_are_no_ends_of_intervals(leaves, intervals):
    """Exponential times in days; some are followed to the horizon, the others leave before it.

    With everybody at risk to the end of the interval in which they leave, half of these bands miss
    the truth at the horizon.
    """
    n, tables, horizon = 2_000, 400, 1_825
    rng, found = np.random.default_rng(1), []
    bounds = Bounds(covariates=((0.0, 1.0),), horizon=horizon, source=())
    card = replace(load("heart").card, records=n, bounds=bounds, features=("x",), units=())
    for _ in range(tables):
        event = np.ceil(rng.exponential(900.0, n))
        last = np.where(
            rng.random(n) < leaves, np.ceil(rng.uniform(0.0, horizon, n)), float(horizon)
        )
        time = np.minimum(event, last)
        data = SurvivalTable(card, np.zeros((n, 1)), time, event <= last)
        found.append(counted(data, intervals))
    noisy = torch.tensor(np.array(found))
    low, high = band(product_limit(noisy, n), noisy, [0.0] * tables, n)
    truth = np.exp(-np.arange(intervals + 1) / intervals * horizon / 900.0)
    held = ((low <= truth) & (truth <= high)).mean(0)
    assert (held > 0.91).all()


def test_a_band_that_counts_less_noise_holds_the_truth_less_often():
    noisy = drawn(200, 8.0, 2_000)
    low, high = band(product_limit(noisy, 200), noisy, [0.0] * len(noisy), 200)
    assert ((low <= truth()) & (truth() <= high)).mean(0)[1:].max() < 0.93


def test_precision_is_greenwoods_and_what_noise_moves_the_curve_by_its_derivative():
    counts = drawn(500, 0.0, 1)[0]
    size, passed = precision(counts.numpy(), 500)
    slope = torch.autograd.functional.jacobian(lambda c: product_limit(c[None], 500)[0], counts)
    assert passed == pytest.approx((slope[1:] ** 2).sum(1).numpy())
    curve = product_limit(counts[None], 500)[0, 1:].numpy()
    gone, died = counts[:-1].view(2, -1).numpy()
    risk = 500 - (gone + died).cumsum() + died + 0.5 * gone
    greenwood = curve**2 * (died / risk / (risk - died)).cumsum()
    assert curve * (1.0 - curve) / size == pytest.approx(greenwood)


def test_a_curve_that_noise_left_nothing_of_has_no_band():
    noisy = torch.full((1, 11), torch.nan, dtype=torch.float64)
    assert np.isnan(band(torch.full((1, 6), torch.nan), noisy, [1.0], 100)).all()


def test_ends_stay_a_share_where_noise_is_larger_than_the_table():
    noisy = drawn(20, 100.0, 50)
    low, high = band(product_limit(noisy, 20), noisy, [100.0] * 50, 20)
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()


def test_the_score_of_a_common_curve_is_that_of_everybody_who_has_it():
    """The sum over persons is made by a product of matrices."""
    table = load("heart")
    curves = torch.rand(5, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    curves = torch.cat([torch.ones(5, 1), curves.sort(1, descending=True).values], 1)
    found, sample = measured(table, 9, curves), scored(table, 9)
    at = [np.interp(sample.times, np.arange(10) / 9, row) for row in curves.numpy()]
    each = torch.tensor(np.array(at))[:, None].expand(-1, len(sample.time), -1)
    score, error = brier(sample, each)
    np.testing.assert_allclose(found.brier, score, rtol=1e-12)
    np.testing.assert_allclose(found.brier_error, error, rtol=1e-9, atol=1e-12)
    assert score.std() > 0.01
