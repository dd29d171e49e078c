r"""How right a guess may be by a proof, and how much so many trainings can show at best.

The strongest statement of a card's releases is their whole trade-off curve: \mu where all are
Gaussian on all records, the privacy loss distribution where records are sampled. No test is right
more often than (1 + \delta(0))/2, whatever \varepsilon at the card's \delta would allow.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.audit import family
from engine.audit.bounds import Scores, error_bound, mu_of_errors
from engine.core.errors import BudgetError
from engine.privacy.guarantee import Guarantee, Relation
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost

Floats = NDArray[np.float64]
BY_CURVE = 0.96
"""Confidence of a bound through trade-off curves, where there is a bound by rates beside it."""
BY_RATES = 0.99
"""Confidence of that other bound: both hold together with 95 %.

The curve's bound is the larger one wherever a method is as declared, so it gets most of the risk.
"""


@dataclass(frozen=True)
class Allowed:
    """What a proof, or else a claim, allows a guess.

    Attributes:
        share: The largest share of right guesses.
        exact: Whether it comes from the trade-off curve, and not from (epsilon, delta) alone.
    """

    share: float
    exact: bool


def gaussian_mu(releases: tuple[Release, ...]) -> float | None:
    r"""\mu of Gaussian releases of all records, \sqrt{\sum_i 1/s_i^2}; None for any others."""
    precision = 0.0
    for release in releases:
        if not isinstance(release.mechanism, Gaussian) or release.rate < 1.0:
            return None
        precision += release.met() / release.mechanism.multiplier**2
    return math.sqrt(precision) if releases else None


def epsilon_of_mu(mu: float, delta: float) -> float:
    """The epsilon at `delta` of a mu-Gaussian mechanism (Dong, Roth and Su 2022)."""
    from engine.privacy import gaussian

    return gaussian.epsilon(mu**2, delta) if mu > 0.0 else 0.0


def bound(card: Guarantee) -> float | None:
    """The proved epsilon, or else the claimed one; None for none."""
    return card.epsilon_claimed if card.epsilon_proved is None else card.epsilon_proved


def allowed(card: Guarantee, releases: tuple[Release, ...], width: int = 0) -> Allowed | None:
    """The largest share of right guesses that the proof, or else the claim, allows; None for any.

    Args:
        card: What is claimed and proved.
        releases: What the method declares.
        width: Numbers in a release, where the curve of its noise depends on it.
    """
    at = bound(card)
    if at is None:
        return None
    point = (1.0 + card.delta * math.exp(-at)) / (1.0 + math.exp(-at))
    apart = _apart(card, releases, width)
    if apart is None or 0.5 * (1.0 + apart) >= point:
        return Allowed(point, exact=False)
    return Allowed(0.5 * (1.0 + apart), exact=True)


def _apart(card: Guarantee, releases: tuple[Release, ...], width: int) -> float | None:
    r"""\delta(0) of what is proved; None where nothing is, or no curve is known."""
    if card.epsilon_proved is None:
        return None
    return family.advantage(releases, card.relation, width)


def fewest_misses(
    alarms: Floats, card: Guarantee, releases: tuple[Release, ...], width: int = 0
) -> Floats:
    """The fewest misses at each share of false alarms that the proof, or else the claim, allows.

    The largest of all that is known: the line of (epsilon, delta), the trade-off curve of the
    releases, and the least sum of both errors. NaN where nothing is proved or claimed.
    """
    at = bound(card)
    if at is None:
        return np.full(len(alarms), np.nan)
    rest = 1.0 - card.delta - alarms
    steep = 1.0 - card.delta - math.exp(min(at, 700.0)) * alarms
    known = [np.zeros(len(alarms)), steep, math.exp(-at) * rest]
    apart = _apart(card, releases, width)
    if apart is not None:
        known.append(1.0 - apart - alarms)
    if card.epsilon_proved is not None:
        known += _curve(alarms, releases, card.relation)
    misses: Floats = np.max(known, axis=0)
    return misses


def _curve(alarms: Floats, releases: tuple[Release, ...], relation: Relation) -> list[Floats]:
    """The accountant's trade-off curve, if it knows one."""
    from engine.privacy import curves

    try:
        return [curves.misses(cost(releases), alarms, relation)]
    except BudgetError:
        return []


def mu_as_far(apart: float) -> float:
    r"""The \mu of Gaussian noise whose \delta(0) is `apart`."""
    return mu_of_errors(max(0.5 * (1.0 - apart), 1e-12))


def unsure(apart: float | None) -> float:
    r"""The log likelihood ratio beyond which a guess is sure, chosen before anything is seen.

    Half a standard deviation of the ratio under Gaussian noise with the same \delta(0): at a small
    \mu that costs 4 % of the advantage and halves its error. At most 1/2, because sure guesses are
    best where the two data sets are easily told apart. 0 where no curve is known.

    Args:
        apart: \delta(0) of what is declared.
    """
    return 0.0 if apart is None else 0.5 * min(mu_as_far(apart), 1.0)


def perfect(
    releases: tuple[Release, ...],
    relation: Relation,
    delta: float,
    trainings: int,
    width: int = 0,
) -> tuple[float | None, float] | None:
    r"""The bound by the noise's curve from so many perfect guesses, in half of all cases.

    The worst-case outputs are taken as those of Gaussian noise with the same \delta(0), whose
    quantiles stand for trainings. A bound by the two rates of one threshold may be larger.

    Args:
        releases: What the method declares.
        relation: Which data sets are neighbours.
        delta: At which epsilon is stated.
        trainings: With the witness, and as many without.
        width: Numbers in a release, where the curve of its noise depends on it.

    Returns:
        \mu, where all releases are Gaussian on all records, and epsilon; None where no curve is
        known.
    """
    from scipy.special import ndtri

    apart = family.advantage(releases, relation, width)
    if apart is None:
        return None
    mu = mu_as_far(apart)
    noise = mu * ndtri((np.arange(trainings) + 0.5) / trainings)
    noise = np.random.default_rng(0).permutation(noise)
    both = Scores(noise - 0.5 * mu**2, noise + 0.5 * mu**2)
    wrong = error_bound(both, BY_CURVE, unsure(apart))
    if gaussian_mu(releases) is None:
        return None, family.epsilon(releases, relation, delta, wrong, width)
    mu = mu_of_errors(wrong)
    return mu, epsilon_of_mu(mu, delta)
