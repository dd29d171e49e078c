"""Bounds that are shown while trainings come in hold at every moment, whenever somebody stops."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from engine.audit.bounds import Scores, mean_bound, mean_bound_so_far, right_guesses
from engine.audit.report import audit, so_far
from engine.audit.runner import Collected, Setting
from engine.audit.tally import LIKELIHOOD
from engine.catalog import catalog
from tests.audit import small, toys

ATTACKS, PAIRS, LOOKS, MISS = 1000, 200, 8, 0.05


def ideal(mu: float, seed: int, count: int = PAIRS) -> Scores:
    """Log likelihood ratios of a Gaussian release at mu; pairs share their noise."""
    noise = mu * np.random.default_rng(seed).normal(size=count)
    return Scores(noise - mu**2 / 2.0, noise + mu**2 / 2.0)


def crossings(bound, mu: float) -> int:
    """Of ideal attacks that are stopped at the first crossing, how many cross the truth."""
    truth, crossed = norm.cdf(mu / 2.0), 0
    for seed in range(ATTACKS):
        right = right_guesses(ideal(mu, seed), 0.0)
        ends = range(PAIRS // LOOKS, PAIRS + 1, PAIRS // LOOKS)
        crossed += any(bound(right[:end]) > truth for end in ends)
    return crossed


@pytest.mark.parametrize("mu", [pytest.param(0.5, marks=pytest.mark.slow), 2.0])
@pytest.mark.thorough
def test_an_attack_that_stops_at_the_first_crossing_is_seldom_wrong(mu):
    assert crossings(lambda seen: mean_bound_so_far(seen, MISS, PAIRS), mu) <= MISS * ATTACKS


def test_a_bound_for_one_look_is_wrong_more_often_when_somebody_looks_on():
    """So the test above can fail: by the normal approximation one look is wrong in 5 %."""

    def once(seen):
        return seen.mean() - norm.ppf(1.0 - MISS) * seen.std(ddof=1) / np.sqrt(len(seen))

    assert crossings(once, 2.0) > binom.ppf(0.999, ATTACKS, MISS)


@pytest.mark.parametrize("seed", range(5))
def test_the_last_bound_is_no_less_than_that_for_one_look(seed):
    right = right_guesses(ideal(1.0, seed), 0.3)
    at_end = mean_bound_so_far(right, MISS, len(right))
    assert at_end >= mean_bound(right, MISS) - 1e-9
    assert at_end < right.mean()


def test_what_is_shown_never_falls():
    right = right_guesses(ideal(1.0, 0), 0.0)
    shown = [mean_bound_so_far(right[:end], MISS, PAIRS) for end in range(10, PAIRS + 1, 10)]
    assert shown == sorted(shown)
    assert shown[0] < shown[-1]


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_an_ideal_attack_shows_less_than_is_proved_at_every_moment(kind):
    spec, data = toys.SumSpec(kind=kind, epsilon=4.0), toys.table()
    setting, card = Setting.of(toys.ENTRY, spec, data), toys.guarantee(spec, len(data), "a person")
    *_, (final, attacked) = audit(toys.ENTRY, spec, data, 200)
    shown = []
    for end in range(20, 201, 20):
        some = {
            name: Scores(one.without[:end], one.present[:end])
            for name, one in attacked.scores.items()
        }
        epsilon, mu = so_far(card, setting, Collected(some, 1.0), 200)
        assert epsilon <= card.epsilon_proved
        assert (mu > 0.0) is (kind == "gaussian" and epsilon > 0.0)
        shown.append(epsilon)
    assert shown == sorted(shown)
    assert shown[-1] > 0.0
    assert shown[-1] >= final.epsilon_attacked - 1e-9 or not final.by_curve


def test_trainings_that_are_no_pairs_show_nothing_before_the_end():
    paper = catalog()["pcdbn"]
    entry, spec = paper.entry("pcdbn"), small.spec(paper, calibration="paper")
    setting = Setting.of(entry, spec, small.table(paper))
    scores = Collected({"loss": ideal(1.0, 0)}, float("nan"))
    assert LIKELIHOOD not in scores.scores
    card = entry.guarantee(spec, 120, "an image")
    assert so_far(card, setting, scores, PAIRS) is None
