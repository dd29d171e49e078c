"""What a proof allows a guess, and what so many trainings can show at best."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from engine.audit import family, limits
from engine.audit.bounds import Scores, error_bound, mu_of_errors
from engine.catalog import catalog
from engine.privacy.mechanisms import GammaSphere, Gaussian, Laplace
from engine.privacy.noise import draw
from engine.privacy.releases import Release
from tests.audit import toys

MU = 0.8
WHOLE = (Release(Gaussian(1.0, 1.0 / MU)),)
SAMPLED = (Release(Gaussian(1.0, 1.2), times=20, rate=0.25),)
ALARMS = np.linspace(0.0, 1.0, 21)


def card(**values):
    return toys.guarantee(toys.SumSpec(**values), 20, "a person")


def test_gaussian_noise_allows_what_its_mu_does():
    """The best test is right Phi(mu/2) of the time; (epsilon, delta) alone would allow more."""
    actual = limits.allowed(card(epsilon=4.0), WHOLE)
    assert actual == limits.Allowed(pytest.approx(norm.cdf(MU / 2.0)), exact=True)


def test_sampled_noise_allows_less_than_its_epsilon():
    actual = limits.allowed(card(epsilon=4.0), SAMPLED)
    assert actual.exact
    assert 0.5 < actual.share < 1.0 / (1.0 + np.exp(-4.0))


def test_laplace_noise_allows_half_its_total_variation():
    """1 - e^(-epsilon/2) apart: at epsilon = 1 right (2 - e^(-1/2))/2 = .697 and not .731."""
    pure = card(epsilon=1.0, kind="laplace")
    actual = limits.allowed(pure, (Release(Laplace(1.0, 1.0)),))
    assert actual.share == pytest.approx(1.0 - 0.5 * np.exp(-0.5), abs=1e-3)


def test_a_claim_without_a_proof_allows_what_its_epsilon_does():
    paper = catalog()["enadpp"]
    spec = paper.spec(calibration="paper", epsilon=1.0)
    entry = paper.entry("enadpp")
    claimed = entry.guarantee(spec, 1_797, "a record")
    actual = limits.allowed(claimed, entry.releases(spec, 1_797))
    assert actual == limits.Allowed(pytest.approx(0.731, abs=1e-3), exact=False)


def test_nothing_claimed_and_nothing_proved_allows_everything():
    assert limits.allowed(card(fault="bare"), WHOLE) is None
    assert np.isnan(limits.fewest_misses(ALARMS, card(fault="bare"), WHOLE)).all()


@pytest.mark.thorough
@pytest.mark.parametrize("releases", [WHOLE, SAMPLED], ids=["all records", "sampled"])
def test_the_curve_and_the_largest_share_agree(releases):
    """The least sum of both errors is twice the least error rate."""
    alarms = np.linspace(0.0, 1.0, 2001)
    misses = limits.fewest_misses(alarms, card(epsilon=4.0), releases)
    share = limits.allowed(card(epsilon=4.0), releases).share
    assert 1.0 - 0.5 * (alarms + misses).min() == pytest.approx(share, abs=2e-3)


def test_the_trade_off_of_gaussian_noise_is_its_own():
    misses = limits.fewest_misses(ALARMS, card(epsilon=4.0), WHOLE)
    assert misses[1:-1] == pytest.approx(norm.cdf(norm.ppf(1.0 - ALARMS[1:-1]) - MU))


def test_a_perfect_attack_is_the_best_test_on_the_worst_outputs():
    """Half of simulated perfect attacks on a Gaussian show more, and half show less."""
    mu, epsilon = limits.perfect(WHOLE, "add_or_remove_one", 1e-5, 500)
    rng, shown = np.random.default_rng(0), []
    for _ in range(200):
        noise = rng.normal(0.0, MU, 500)
        both = Scores(noise - MU**2 / 2.0, noise + MU**2 / 2.0)
        apart = 2.0 * norm.cdf(MU / 2.0) - 1.0
        shown.append(mu_of_errors(error_bound(both, limits.BY_CURVE, limits.unsure(apart))))
    assert 0.35 < np.mean(np.array(shown) > mu) < 0.65
    assert epsilon == pytest.approx(limits.epsilon_of_mu(mu, 1e-5))
    assert mu < MU


@pytest.mark.parametrize(
    ("kind", "width"),
    [(Laplace(1.0, 1.0), 1), (GammaSphere(1.0, 1.0, 1), 11)],
    ids=["Laplace", "Gamma"],
)
def test_other_noise_shows_about_as_much_as_gaussian_noise_that_is_as_far_apart(kind, width):
    """The median of 60 perfect attacks, each within .05; the search steps by .01."""
    releases, shown = (Release(kind),), []
    apart = family.advantage(releases, "replace_one", width)
    far = np.eye(width)[0]

    def ratio(y):
        return (np.linalg.norm(y, axis=1) - np.linalg.norm(y - far, axis=1)) / kind.scale

    for seed in range(60):
        drawn = draw([kind] * 1000, width, torch.Generator().manual_seed(seed)).numpy()
        wrong = error_bound(
            Scores(ratio(drawn), ratio(drawn + far)), limits.BY_CURVE, limits.unsure(apart)
        )
        shown.append(family.epsilon(releases, "replace_one", 0.0, wrong, width))
    _, epsilon = limits.perfect(releases, "replace_one", 0.0, 1000, width)
    assert epsilon == pytest.approx(np.median(shown), abs=0.04)


def test_a_guess_is_unsure_where_half_a_deviation_hides_it():
    assert limits.unsure(None) == 0.0
    assert limits.unsure(2.0 * norm.cdf(0.1) - 1.0) == pytest.approx(0.1)
    assert limits.unsure(1.0) == 0.5


@pytest.mark.thorough
def test_more_trainings_show_more_of_sampled_noise():
    few, many = (limits.perfect(SAMPLED, "zero_out_one", 1e-5, n)[1] for n in (200, 5_000))
    assert few < many
