"""Bounds through the trade-off curves of noise of a known kind: valid, and far from idle."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from engine.audit import family
from engine.audit.bounds import Scores, error_bound
from engine.privacy import accounting
from engine.privacy.mechanisms import Exposed, GammaSphere, Gaussian, Laplace
from engine.privacy.releases import Release, cost

AUDITS, TRAININGS, DELTA = 100, 1_000, 1e-5
STEPS, RATE = 20, 0.25
SAMPLED = (Release(Gaussian(1.0, 1.2), times=STEPS, rate=RATE),)


def above(count, most):
    """Whether so many of the audits are too many for a chance of `most` each, at 1 in 10,000."""
    return binomtest(int(count), AUDITS, most, alternative="greater").pvalue < 1e-4


def sampled(multiplier, rng, declared=1.2):
    """Scores of the best attack on batches by coins: the witness adds 1 where it is drawn."""
    worlds = []
    there = rng.random((TRAININGS, STEPS)) < RATE
    noise = rng.normal(0.0, multiplier, (TRAININGS, STEPS))
    for present in (0.0, 1.0):
        seen = present * there + noise
        ratio = (2.0 * seen - 1.0) / (2.0 * declared**2)
        worlds.append(np.logaddexp(math.log1p(-RATE), math.log(RATE) + ratio).sum(1))
    return Scores(*worlds)


def bound(scores, releases=SAMPLED, delta=DELTA, width=0):
    return family.epsilon(releases, "zero_out_one", delta, error_bound(scores), width)


@pytest.mark.thorough
def test_bounds_on_sampled_noise_are_valid_and_close():
    """At 5 % risk; 38 % of 1,000 pairs are guessed right twice, and nearly all others once.

    The share of rights has a deviation of .243/sqrt(1000) = .0077, and a bet takes 2.4 of them off:
    an advantage of .34 for .38, so about .85 of epsilon."""
    rng = np.random.default_rng(0)
    truth = accounting.epsilon(cost(SAMPLED), DELTA, "zero_out_one", tight=True)
    bounds = np.array([bound(sampled(1.2, rng)) for _ in range(AUDITS)])
    assert not above((bounds > truth).sum(), 0.05)
    assert np.median(bounds) > 0.8 * truth


@pytest.mark.thorough
def test_less_noise_than_declared_is_noticed():
    """The same test rejects bounds on noise that is smaller by a quarter than it says."""
    rng = np.random.default_rng(1)
    truth = accounting.epsilon(cost(SAMPLED), DELTA, "zero_out_one", tight=True)
    bounds = np.array([bound(sampled(0.9, rng)) for _ in range(AUDITS)])
    assert above((bounds > truth).sum(), 0.05)


@pytest.mark.parametrize(("alarms", "misses"), [(0.3, 0.3), (0.05, 0.45), (0.5, 0.001)])
def test_the_bound_on_errors_holds_for_unequal_rates(alarms, misses):
    """All pairs together, though the two kinds err at different rates."""
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(AUDITS):
        scores = Scores(
            np.where(rng.random(300) < alarms, 1.0, -1.0),
            np.where(rng.random(300) < misses, -1.0, 1.0),
        )
        missed += error_bound(scores) < (alarms + misses) / 2.0
    assert not above(missed, 0.05)


@pytest.mark.parametrize("width", [1, 2, 9])
def test_noise_of_gamma_length_is_as_far_from_its_shift_as_drawn(width):
    """100,000 draws of each: five standard errors of a difference of shares are .008 at most."""
    rng, count = np.random.default_rng(3), 100_000
    mechanism = GammaSphere(2.0, 3.0, 1)
    direction = rng.normal(size=(count, width))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = direction * rng.gamma(width, mechanism.scale, (count, 1))
    wrong = float((noise[:, 0] > 1.0).mean())  # nearer to the other end, which is 2 away
    found = family.gamma_advantage(mechanism, width)
    assert abs((1.0 - 2.0 * wrong) - found) < 0.008


def test_the_exact_advantage_gives_back_epsilon():
    """Laplace noise alone: 1 - e^(-eps/2) at eps = 1; a step of the search is 1.1 %."""
    once = (Release(Laplace(1.0, 1.0)),)
    wrong = 0.5 * math.exp(-0.5)
    found = family.epsilon(once, "replace_one", 0.0, wrong + 1e-4)
    assert 0.97 < found <= 1.0
    assert family.epsilon(once, "replace_one", 0.0, 0.5) == 0.0
    assert family.epsilon(once, "replace_one", 0.0, 0.0) > 7.0


@pytest.mark.parametrize(
    "releases",
    [
        (Release(Exposed("why")), *SAMPLED),
        (Release(GammaSphere(1.0, 1.0, 3, ratio=0.5)),),
        (Release(GammaSphere(1.0, 1.0, 3)), Release(Laplace(1.0, 1.0))),
    ],
    ids=["exposed", "objective", "mixed"],
)
def test_where_no_curve_is_known_there_is_no_such_bound(releases):
    assert family.advantage(releases, "replace_one", 3) is None
