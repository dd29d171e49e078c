"""Randomised response: private by its ratio, unbiased, and its intervals hold planted effects."""

import math
from random import Random

import numpy as np
import pytest

from engine.core.errors import RequestError
from engine.service.responses import RandomisedResponse


@pytest.mark.parametrize("options", [2, 3, 8])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 5.0])
def test_two_truths_differ_by_the_budget_and_by_no_less(options: int, epsilon: float):
    how = RandomisedResponse(options, epsilon)
    assert how.honest + (options - 1) * how.lucky == pytest.approx(1.0)
    assert math.log(how.honest / how.lucky) == pytest.approx(epsilon)


def test_reports_are_drawn_as_the_mechanism_states():
    """n reports: each count within five standard errors of its probability."""
    how, rng, n = RandomisedResponse(3, 1.0), Random(1), 60_000
    for truth in range(3):
        counts = np.bincount([how.report(truth, rng) for _ in range(n)], minlength=3) / n
        for option in range(3):
            chance = how.honest if option == truth else how.lucky
            assert abs(counts[option] - chance) < 5 * math.sqrt(chance * (1 - chance) / n)


def classes(rng: np.random.Generator, how: RandomisedResponse, size: int, shares):
    """Reports of 4,000 classes whose groups know the answer with the given shares."""
    for first in rng.binomial(size, 0.5, 4_000):
        made = []
        for n, share in zip((first, size - first), shares, strict=True):
            right = how.lucky + share * (how.honest - how.lucky)
            wrong = (1 - right) / (how.options - 1)
            made.append(rng.multinomial(n, [right, *[wrong] * (how.options - 1)]))
        yield made


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
@pytest.mark.parametrize("effect", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("size", [30, 100, 300])
def test_planted_effects_are_held_by_95_in_100_intervals(size: int, effect: float, epsilon: float):
    """Of 4,000 classes a share of 95 % has a standard error of 0.34 points, and four are 1.4.

    The added answers make small classes safer, by up to 2 points.
    """
    how, rng = RandomisedResponse(3, epsilon), np.random.default_rng(size)
    found = [how.gap(a, b, 0) for a, b in classes(rng, how, size, (0.3, 0.3 + effect))]
    held = np.mean([one.low <= effect <= one.high for one in found])
    assert 0.95 - 0.014 <= held <= 0.95 + 0.02


def test_reports_that_are_taken_for_answers_miss_the_effect():
    """Without undoing the noise, the interval of the test above would not hold."""
    how, rng = RandomisedResponse(3, 1.0), np.random.default_rng(3)
    blind = RandomisedResponse(3, 50.0)
    found = [blind.gap(a, b, 0) for a, b in classes(rng, how, 300, (0.3, 0.7))]
    assert np.mean([one.low <= 0.4 <= one.high for one in found]) < 0.5


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_interval_of_one_share_holds_it(share: float):
    how, rng = RandomisedResponse(4, 2.0), np.random.default_rng(5)
    found = [how.share(a, 0) for a, _ in classes(rng, how, 120, (share, share)) if a.sum()]
    assert 0.93 <= np.mean([one.low <= share <= one.high for one in found]) <= 0.98
    assert np.mean([one.middle for one in found]) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("options", "epsilon"), [(1, 1.0), (3, 0.0), (3, math.inf)])
def test_what_is_no_mechanism_is_refused(options: int, epsilon: float):
    with pytest.raises(RequestError, match="expected 2 options and a positive"):
        RandomisedResponse(options, epsilon)


def test_nobody_has_no_share():
    with pytest.raises(RequestError, match="answers: expected one at least"):
        RandomisedResponse(3, 1.0).share([0, 0, 0], 1)
