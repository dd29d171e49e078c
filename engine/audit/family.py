r"""What an attack proves of noise of a known kind: bounds through its own trade-off curves.

The releases of a method say more than (\varepsilon, \delta): whatever test is used, false alarms
and misses add up to at least 1 - \delta(0), where \delta(0) is the total variation between what the
two neighbours release. It is known for every amount of noise, also where records are sampled, from
the privacy loss distribution. So the errors that were counted say how much noise there is at most,
among multiples of the method's own noise, and that much noise has a known \varepsilon at every
\delta. This is the audit by trade-off functions of Nasr et al. (2023), with the method's own family
of mechanisms in place of the Gaussian one. It needs hundreds of trainings where the ratio of two
rates at a small \delta needs many thousands.
"""

import math
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from engine.core.errors import BudgetError
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import (
    Exponential,
    Exposed,
    GammaSphere,
    Gaussian,
    GaussianObjective,
    Mechanism,
)
from engine.privacy.releases import Release, cost

Releases: TypeAlias = tuple[Release, ...]
FINE = 64
"""Amounts of noise are tried in steps of 2^(1/64), or about 1 %."""
MORE, LESS = 8 * FINE, -3 * FINE
"""Up to 256 times the noise of the method, and down to an eighth of it."""


def epsilon(
    releases: Releases, relation: Relation, delta: float, wrong: float, width: int = 0
) -> float:
    r"""The largest \varepsilon at `delta` that noise of this kind must have, from so many errors.

    Args:
        releases: What the method declares.
        relation: Which data sets are neighbours.
        delta: At which \varepsilon is stated.
        wrong: At least the mean of false alarms and misses, of equal numbers of trainings.
        width: Numbers in a release; needed for noise of Gamma length alone.
    """
    shown = 1.0 - 2.0 * wrong
    if shown <= 0.0 or _at(releases, relation, MORE, width) > shown:
        return 0.0
    low, high = LESS, MORE  # noise 2^(high / FINE) shows no more than was seen
    if _at(releases, relation, 0, width) > shown:
        low = 0
    elif _at(releases, relation, LESS, width) <= shown:
        high = LESS
    else:
        high = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if _at(releases, relation, middle, width) <= shown else (middle, high)
        )
    return _epsilon(releases, relation, high, delta)


def advantage(releases: Releases, relation: Relation, width: int = 0) -> float | None:
    r"""\delta(0) of the releases as declared, from above; None where it is not known."""
    return _advantage(releases, relation, 0, width)


def _at(releases: Releases, relation: Relation, place: int, width: int) -> float:
    advantage = _advantage(releases, relation, place, width)
    assert advantage is not None  # the kind of noise is the same at every place
    return advantage


@lru_cache(maxsize=4096)
def _advantage(releases: Releases, relation: Relation, place: int, width: int) -> float | None:
    r"""\delta(0) with 2^(place / FINE) times the noise; None where it is not known."""
    from engine.privacy import curves

    noisier = _noisier(releases, place)
    if noisier is None:
        return None
    kinds = [release.mechanism for release in noisier]
    if any(isinstance(kind, GammaSphere) for kind in kinds):
        return gamma_advantage(kinds[0], width) if len(kinds) == 1 and width else None
    # where all records take part, the sensitivity is the relation's own: any relation says the same
    whole = all(release.rate >= 1.0 for release in noisier)
    try:
        return curves.advantage(cost(noisier), "add_or_remove_one" if whole else relation)
    except BudgetError:
        return None


@lru_cache(maxsize=4096)
def _epsilon(releases: Releases, relation: Relation, place: int, delta: float) -> float:
    from engine.privacy import accounting

    noisier = _noisier(releases, place)
    assert noisier is not None
    return accounting.epsilon(cost(noisier), delta, relation, tight=True)


def _noisier(releases: Releases, place: int) -> Releases | None:
    """The releases with 2^(place / FINE) times the noise; None where one of them adds none."""
    by = 2.0 ** (place / FINE)
    if any(isinstance(one.mechanism, Exposed | Exponential) for one in releases):
        return None
    return tuple(replace(one, mechanism=_scaled(one.mechanism, by)) for one in releases)


def _scaled(mechanism: Mechanism, by: float) -> Mechanism:
    if isinstance(mechanism, Gaussian | GaussianObjective):
        return replace(mechanism, multiplier=mechanism.multiplier * by)
    assert not isinstance(mechanism, Exposed)
    return replace(mechanism, epsilon=mechanism.epsilon / by)


def gamma_advantage(mechanism: Mechanism, width: int) -> float | None:
    r"""The total variation between noise of Gamma length and its shift by the sensitivity.

    The nearer end is the likelier one, so a guess is wrong where the noise reaches half of the
    sensitivity \Delta towards the other end: P(r \cos\theta > \Delta/2) for a length r of
    Gamma(d, s) and a uniform direction, whose cosine squared is Beta(1/2, (d - 1)/2).

    Args:
        mechanism: Its scale is s; None is returned for other kinds, and where it is used inside an
            objective.
        width: d.
    """
    from scipy import integrate, special, stats

    if not isinstance(mechanism, GammaSphere) or mechanism.ratio:
        return None
    length, half = stats.gamma(width, scale=1.0 / mechanism.epsilon), 0.5
    if width == 1:
        return float(1.0 - length.sf(half))

    def beyond(r: float) -> float:
        cap = special.betainc((width - 1) / 2.0, 0.5, 1.0 - min(1.0, (half / r)) ** 2)
        return float(0.5 * cap * length.pdf(r))

    end = float(length.isf(1e-12))
    wrong = integrate.quad(beyond, half, end, limit=200)[0] if end > half else 0.0
    return max(0.0, 1.0 - 2.0 * wrong) if math.isfinite(wrong) else None
