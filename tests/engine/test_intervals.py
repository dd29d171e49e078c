"""Intervals from noisy numbers hold the truth as often as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from engine import catalog, intervals
from engine.intervals import LEVEL, accuracy, below, reach, shares
from engine.papers.mean.estimates import average
from engine.papers.mean.spec import MeanSpec
from engine.papers.survival.evaluation.curves import slopes, survival
from engine.papers.survival.evaluation.estimates import bands, median
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import Gaussian, Laplace

NOISES = [Laplace(2.0, 0.25), Laplace(2.0, 4.0), Gaussian(1.5, 5.0)]


def drawn(noise, count, rng):
    draw = rng.laplace if isinstance(noise, Laplace) else rng.normal
    return draw(0.0, noise.scale, count)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("records", "share"), [(400, 0.0), (400, 0.01), (400, 0.5), (60, 1.0)])
@pytest.mark.thorough
def test_shares_hold_exactly_and_without_the_noise_do_not(noise, records, share):
    tries, rng = 2_000, np.random.default_rng(3)
    counts = rng.binomial(records, share, tries) + drawn(noise, tries, rng)
    low, high = shares(counts, records, noise)
    held = int(((low <= share) & (share <= high)).sum())
    least, most = binom.ppf([5e-4, 1 - 5e-4], tries, LEVEL)
    assert least <= held <= most
    assert np.all((low >= 0.0) & (high <= 1.0) & (low < high))
    ignoring = shares(counts.round().clip(0, records), records, None)
    naive = int(((ignoring[0] <= share) & (share <= ignoring[1])).sum())
    if share == 0.01 and noise is not NOISES[1]:
        assert naive < least


def test_a_count_without_noise_has_nearly_the_level():
    for records, share in ((100, 0.5), (359, 0.95), (1_000, 0.02)):
        k = np.arange(records + 1.0)
        low, high = shares(k, records, None)
        held = binom.pmf(k, records, share)[(low <= share) & (share <= high)].sum()
        assert 0.93 < held < 0.97
    assert shares(np.array([0.0, 7.0]), 7, None)[0][0] == 0.0
    assert shares(np.array([0.0, 7.0]), 7, None)[1][1] == 1.0


def test_noise_far_beyond_the_number_of_records_takes_no_more_room_than_they():
    """Nothing follows from counts with noise a billion wide: each interval holds every share."""
    low, high = shares(np.array([-1e9, 150.0, 1e9]), 300, Laplace(2.0, 2e-9))
    assert np.all((low == 0.0) & (high == 1.0))


def test_all_counts_give_the_intervals_of_those_that_noise_reaches(monkeypatch):
    counts, noise = np.array([-3.0, 0.4, 7.7, 500.2, 999.6, 1_008.0]), Gaussian(1.5, 5.0)
    some = shares(counts, 1_000, noise)
    monkeypatch.setattr(intervals, "FAR", 1e6)
    np.testing.assert_allclose(shares(counts, 1_000, noise), some, atol=1e-9)


@pytest.mark.parametrize("deviation", [0.0, 0.02, 1.0, 50.0])
@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_the_chance_of_noise_and_a_normal_part_is_that_of_draws(noise, deviation):
    rng, tries = np.random.default_rng(1), 200_000
    both = drawn(noise, tries, rng) + deviation * rng.standard_normal(tries)
    at = np.quantile(both, [0.01, 0.3, 0.5, 0.9, 0.995])
    error = 5.0 * np.sqrt(0.25 / tries)
    np.testing.assert_allclose(
        below(at, noise, deviation), [0.01, 0.3, 0.5, 0.9, 0.995], atol=error
    )
    half = reach(noise, deviation)
    assert abs(np.mean(np.abs(both) <= half) - LEVEL) < error


@pytest.mark.parametrize("method", ["laplace", "gaussian"])
def test_the_mean_s_interval_holds_and_the_one_that_ignores_the_noise_does_not(method):
    entry, tries, records = catalog.paper("mean").entry(method), 1_000, 300
    rng, edges = np.random.default_rng(5), np.linspace(0.0, 4.0, 21)
    spec = MeanSpec(epsilon=0.5, bound=4.0, records=records)
    first, second = (part.mechanism for part in entry.releases(spec, records))
    held, naive, truth = 0, 0, 2.0
    for _ in range(tries):
        column = 4.0 * rng.beta(2.0, 2.0, records)
        counts = np.histogram(column, edges)[0] + drawn(second, 20, rng)
        mean = float(column.mean() + drawn(first, 1, rng)[0])
        one = average(spec, records, (mean, edges, counts), first)
        held += one.low <= truth <= one.high
        naive += one.naive[0] <= truth <= one.naive[1]
    least, most = binom.ppf([5e-4, 1 - 5e-4], tries, LEVEL)
    assert least <= held <= most
    assert naive < 0.9 * tries


def test_a_training_that_diverged_has_no_interval():
    assert accuracy(float("nan"), 300).low is None
    assert "fewer than 200" in accuracy(0.9, 199).why
    one = accuracy(0.9, 300)
    assert one.low < 0.9 < one.high


def test_a_median_lies_where_the_band_contains_one_half():
    curve = np.array([1.0, 0.8, 0.6, 0.4, 0.2])
    found = median(curve, curve - 0.1, np.minimum(curve + 0.1, 1.0), 40.0, "days")
    assert (found.low, found.estimate, found.high) == pytest.approx((20.0, 25.0, 30.0))
    open_ended = median(curve, curve - 0.1, np.full(5, 0.7), 40.0, "days")
    assert (open_ended.low, open_ended.high) == (pytest.approx(20.0), None)
    beyond = median(np.full(5, 0.9), np.full(5, 0.8), np.full(5, 1.0), 40.0, "days")
    assert beyond.low is None
    assert "above one half" in beyond.why


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_a_person_s_band_is_that_of_draws_of_the_coefficients(link):
    rng, spec = np.random.default_rng(2), SurvivalSpec(intervals=8, link=link)
    f = np.array([-2.5, 0.4, -0.3, 0.8, -0.5])
    root = 0.05 * rng.standard_normal((5, 5))
    covariance, x = root @ root.T, np.array([[0.3, -0.2], [-0.5, 0.5]])
    step = 1e-6
    for i in range(5):
        moved = f + step * (np.arange(5) == i)
        logs = [np.log(-np.log(survival(one[None], x, 8, 3, link)[0, :, 1:])) for one in (moved, f)]
        np.testing.assert_allclose(
            slopes(f, x, 8, 3, link)[:, :, i], (logs[0] - logs[1]) / step, atol=1e-4
        )
    low, high = bands(f, covariance, x, spec)
    curves = survival(rng.multivariate_normal(f, covariance, 20_000), x, 8, 3, link)
    inside = ((low <= curves) & (curves <= high)).mean(axis=0)[:, 1:]
    assert np.all(np.abs(inside - LEVEL) < 0.01)
