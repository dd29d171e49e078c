"""Lower bounds on epsilon and mu: never above the truth more often than they say."""

import itertools
import math
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from engine.audit.bounds import (
    Judged,
    Scores,
    _judge,
    best_stakes,
    epsilon_bound,
    epsilon_of_errors,
    epsilon_of_rates,
    error_bound,
    interval,
    mean_bound,
    mu_bound,
    needed,
    reachable,
    winnings,
)
from engine.audit.tradeoff import curves, empirical
from engine.privacy import gaussian

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


@pytest.mark.thorough
def test_an_audit_that_believed_too_little_would_be_noticed():
    """The same test rejects bounds on a mechanism that is worse than it says."""
    rng = np.random.default_rng(0)
    actual = [epsilon_bound({"score": laplace(2.0, 400, rng)}, 0.0).epsilon for _ in range(AUDITS)]
    assert above(np.sum(np.array(actual) > 1.0), 0.05)


@pytest.mark.thorough
def test_choosing_among_useless_scores_costs_no_confidence():
    rng = np.random.default_rng(1)
    actual = []
    for _ in range(AUDITS):
        scores = {str(k): Scores(rng.normal(size=200), rng.normal(size=200)) for k in range(5)}
        actual.append(epsilon_bound(scores, 0.0).epsilon)
    assert not above(np.sum(np.array(actual) > 0.0), 0.05)


def ratios(mu, rng, trainings=1000, apart=False):
    """Log likelihood ratios of Gaussian noise: of the same noise, or each of its own."""
    noise = mu * rng.normal(size=(2, trainings))
    return Scores(noise[0] - mu * mu / 2, noise[int(apart)] + mu * mu / 2)


@pytest.mark.parametrize("unsure", [0.0, 0.5], ids=["sure", "by a coin near 0"])
@pytest.mark.parametrize("apart", [False, True], ids=["pairs", "independent"])
@pytest.mark.parametrize("mu", [0.27, 1.0])
def test_the_bound_on_mu_is_at_most_mu_as_often_as_it_says(mu, apart, unsure):
    rng = np.random.default_rng(2)
    actual = [mu_bound(ratios(mu, rng, 1000, apart), 0.95, unsure * mu) for _ in range(AUDITS)]
    assert not above(np.sum(np.array(actual) > mu), 0.05)
    # at mu = 1 the share of rights is .691; a bet takes 2.4 deviations of .0077 or .0112 off
    assert mu < 1.0 or np.median(actual) > 0.8


def test_a_bound_on_worse_noise_than_it_says_would_be_noticed():
    """The same test rejects noise that is smaller by a tenth than mu = .27 says."""
    rng, mu = np.random.default_rng(2), 0.27
    actual = [mu_bound(ratios(mu / 0.9, rng), 0.95, 0.5 * mu) for _ in range(AUDITS)]
    assert above(np.sum(np.array(actual) > mu), 0.05)


def test_pairs_and_unsure_guesses_say_more():
    """At mu = .27 guesses are right in a share of .0537 above one half, .0517 with a coin near 0.

    Of 1,000 pairs it has a deviation of .0112 by independent coins, of .0049 by pairs, which differ
    from one half in 11 % of all cases only, and of .0021 with a coin near 0. A bet takes
    sqrt(2 ln 20) = 2.4 deviations off: .49, .78 and .87 of mu, medians of 50 to a twentieth.
    """
    rng, mu = np.random.default_rng(4), 0.27

    def shown(apart, unsure):
        some = [mu_bound(ratios(mu, rng, 1000, apart), 0.95, unsure) / mu for _ in range(50)]
        return float(np.median(some))

    coins, pairs, eased = shown(True, 0.0), shown(False, 0.0), shown(False, 0.5 * mu)
    assert 0.4 < coins < 0.6 < 0.72 < pairs < 0.84 < eased < 0.95


def test_a_ratio_without_end_is_a_sure_guess():
    """Noise that the other data set cannot have given, as where none is added."""
    largest = np.finfo(np.float64).max
    for far in (largest, np.inf):
        both = Scores(np.full(100, -far), np.full(100, far))
        assert error_bound(both, 0.95, 0.1) == error_bound(both, 0.95) < 0.1


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_bound_on_a_mean_is_above_it_as_seldom_as_it_says(share):
    """Coins of that share, and numbers that are spread around it."""
    rng = np.random.default_rng(5)
    for values in (
        rng.random((AUDITS, 300)) < share,
        rng.beta(20.0 * share, 20.0 * (1.0 - share), (AUDITS, 300)),
    ):
        bounds = np.array([mean_bound(some.astype(float), 0.05) for some in values])
        assert not above((bounds > share).sum(), 0.05)
        assert share < 0.5 or above((bounds > 0.9 * share).sum(), 0.05)  # nor far below


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.8])
def test_a_bet_on_the_true_mean_is_fair(mean):
    """All 64 outcomes of six coins: their winnings are 1 on average, whatever the stakes follow."""
    outcomes = np.array(list(itertools.product([0.0, 1.0], repeat=6)))
    chances = np.where(outcomes, mean, 1.0 - mean).prod(1)
    won = [math.exp(winnings(some, best_stakes(some, 0.05), mean)) for some in outcomes]
    assert chances @ won == pytest.approx(1.0)


def test_numbers_that_hardly_vary_are_known_well():
    """A bet may lose nine tenths, so n numbers of .6 refute m where n ln(1 + .9(.6/m - 1)) = 3."""
    limit = 0.6 / (1.0 + (20.0 ** (1.0 / 1000.0) - 1.0) / 0.9)
    assert mean_bound(np.full(1000, 0.6), 0.05) == pytest.approx(limit, rel=2e-3)


def test_a_diverged_training_counts_as_half_right():
    """Its scores are 0 in both worlds: the guess is a coin."""
    nothing = Scores(np.zeros(100), np.zeros(100))
    assert error_bound(nothing, 0.95, 0.1) >= 0.5
    assert error_bound(nothing, 0.95) >= 0.5


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


@pytest.mark.parametrize("apart", [False, True], ids=["pairs", "independent"])
def test_the_interval_of_right_guesses_holds_for_pairs_too(apart):
    """In words it is that of as many coins; pairs err less often together than coins."""
    rng, missed = np.random.default_rng(6), 0
    for _ in range(AUDITS):
        scores = ratios(0.5, rng, 300, apart)
        right = int((scores.present > 0.0).sum() + (scores.without <= 0.0).sum())
        low, high = interval(right, 600, 0.025)
        missed += not low <= norm.cdf(0.25) <= high
    assert not above(missed, 0.05)


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


def test_right_guesses_are_hits_and_quiet_trainings():
    one = Judged(0.0, "score", 0.0, hits=0.9, alarms=0.2, trainings=10)
    assert one.right == pytest.approx(0.85)


@pytest.fixture(scope="module")
def auditing():
    """jax-privacy's bounds of audits, loaded by themselves: its other modules need JAX."""
    (folder,) = find_spec("jax_privacy").submodule_search_locations
    spec = spec_from_file_location("jax_privacy_auditing", f"{folder}/auditing.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.02])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bound_of_a_threshold_is_that_of_another_library(auditing, epsilon, delta):
    rng = np.random.default_rng(3)
    for trainings, threshold in itertools.product((40, 1000), (-0.7, 0.5, 1.9)):
        scores = laplace(epsilon, trainings, rng)
        theirs = auditing.CanaryScoreAuditor(scores.present, scores.without)
        bound = theirs.epsilon_clopper_pearson(
            0.05, delta, one_sided=False, threshold_strategy=auditing.Explicit(threshold)
        )
        actual = _judge("", scores, threshold, delta, 0.025).epsilon
        assert actual == pytest.approx(max(bound, 0.0), abs=1e-9)


def test_the_whole_bound_is_as_good_as_that_of_another_library(auditing):
    """Both are valid; theirs corrects for all thresholds, ours chooses one on half. On average over
    20 audits neither is far ahead, and the betting bound on all pairs is above both."""
    rng, ours, theirs, pairs = np.random.default_rng(4), [], [], []
    for _ in range(20):
        noise = rng.normal(size=1000)
        scores = Scores(noise - 0.5, noise + 0.5)  # a log likelihood ratio for mu = 1
        auditor = auditing.CanaryScoreAuditor(scores.present, scores.without)
        theirs.append(auditor.epsilon_from_gdp(0.05, 1e-5))
        ours.append(epsilon_bound({"score": scores}, 1e-5).epsilon)
        pairs.append(gaussian.epsilon(mu_bound(scores) ** 2, 1e-5))
    truth = gaussian.epsilon(1.0, 1e-5)
    assert 0.0 < np.mean(ours) < truth
    assert 0.0 < np.mean(theirs) < truth
    assert np.mean(pairs) > max(np.mean(ours), np.mean(theirs))
    assert max(pairs) <= truth * 1.05
