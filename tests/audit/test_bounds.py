"""Lower bounds on epsilon and mu: never above the truth more often than they say."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from engine.audit.bounds import (
    Scores,
    epsilon_bound,
    epsilon_of_errors,
    epsilon_of_rates,
    interval,
    mu_bound,
    needed,
    reachable,
)
from engine.audit.tradeoff import curves, empirical

AUDITS = 200


def laplace(epsilon, trainings, rng):
    """Scores of the Laplace mechanism: sensitivity 1, scale 1/epsilon."""
    scale = 1.0 / epsilon
    return Scores(rng.laplace(0.0, scale, trainings), rng.laplace(1.0, scale, trainings))


def above(shares, most):
    """Whether so many of the audits are too many for a chance of `most` each, at 1 in 10,000."""
    return binomtest(int(shares), AUDITS, most, alternative="greater").pvalue < 1e-4


def test_the_share_of_bounds_above_the_truth_is_at_most_five_percent():
    rng = np.random.default_rng(0)
    actual = [epsilon_bound({"score": laplace(1.0, 400, rng)}, 0.0).epsilon for _ in range(AUDITS)]
    assert not above(np.sum(np.array(actual) > 1.0), 0.05)
    assert np.median(actual) > 0.3  # and it says something: TPR .70 and FPR .30 at this scale


def test_an_audit_that_believed_too_little_would_be_noticed():
    """The same test rejects bounds on a mechanism that is worse than it says."""
    rng = np.random.default_rng(0)
    actual = [epsilon_bound({"score": laplace(2.0, 400, rng)}, 0.0).epsilon for _ in range(AUDITS)]
    assert above(np.sum(np.array(actual) > 1.0), 0.05)


def test_choosing_among_useless_scores_costs_no_confidence():
    rng = np.random.default_rng(1)
    actual = []
    for _ in range(AUDITS):
        scores = {str(k): Scores(rng.normal(size=200), rng.normal(size=200)) for k in range(5)}
        actual.append(epsilon_bound(scores, 0.0).epsilon)
    assert not above(np.sum(np.array(actual) > 0.0), 0.05)


def test_the_bound_on_mu_is_at_most_mu_as_often_as_it_says():
    rng, mu = np.random.default_rng(2), 1.0
    actual = [
        mu_bound(Scores(rng.normal(-mu * mu / 2, mu, 1000), rng.normal(mu * mu / 2, mu, 1000)))
        for _ in range(AUDITS)
    ]
    assert not above(np.sum(np.array(actual) > mu), 0.05)
    assert np.median(actual) > 0.8  # 2 ndtri(.69 - .029) = .83


def test_delta_is_taken_off_the_right_answers():
    assert epsilon_of_rates(0.6, 0.2, 0.1) == pytest.approx(math.log(0.5 / 0.2))
    assert epsilon_of_rates(0.95, 0.5, 0.0) == pytest.approx(math.log(0.5 / 0.05))
    assert epsilon_of_rates(0.2, 0.6, 0.0) == 0.0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_how_many_trainings_are_needed_is_where_enough_begins(epsilon):
    count = needed(epsilon, 1e-5, 0.95)
    assert reachable(count, 1e-5, 0.95) >= epsilon
    assert reachable(count - 2, 1e-5, 0.95) < epsilon


def test_intervals_hold_a_share_as_often_as_they_say():
    trials, share = 50, 0.3
    counts = np.arange(trials + 1)
    low, high = interval(counts, trials, 0.025)
    chances = binom.pmf(counts, trials, share)
    assert chances[low > share].sum() <= 0.025
    assert chances[high < share].sum() <= 0.025


def test_empirical_misses_are_those_of_the_best_cut():
    scores = Scores(np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.5, 2.5, 3.5, 4.5]))
    # one alarm of four is the cut at 2: only 1.5 of the four is missed
    assert empirical(scores, np.array([0.0, 0.25, 1.0])).tolist() == [0.5, 0.25, 0.0]


def test_the_errors_of_a_guess_bound_epsilon():
    """Randomised response errs in 1/(1 + e^epsilon) of its answers: ln(.75/.25) = 1.099."""
    assert epsilon_of_errors(0.25, 0.0) == pytest.approx(math.log(3.0))
    assert epsilon_of_errors(0.25, 0.5) == pytest.approx(0.0)
    assert epsilon_of_errors(0.6, 0.0) == 0.0
    assert epsilon_of_errors(0.0, 0.0) > 600.0


def test_the_region_misses_the_true_curve_as_often_as_it_says():
    """Two normal scores 3 apart: the best test misses Phi(z_(1 - alarms) - 3), all of them at 0."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(AUDITS):
        scores = Scores(rng.normal(size=300), rng.normal(3.0, 1.0, 300))
        found = curves(scores, 0.95, np.zeros_like)
        actual = norm.cdf(norm.isf(found["alarms"]) - 3.0)
        low, high = found["misses_low"], found["misses_high"]
        missed += bool(((actual < low - 1e-12) | (actual > high + 1e-12)).any())
    assert not above(missed, 0.05)


def test_no_upper_limit_is_known_below_the_smallest_rate_that_can_be_told():
    scores = Scores(np.zeros(100), np.ones(100))
    found = curves(scores, 0.95, np.zeros_like)
    assert found["misses_high"][0] == 1.0
    assert found["misses_high"][-1] < 1.0
