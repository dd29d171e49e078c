r"""Guarantees of different kinds in one measure: \mu, the best attacker's advantage, or ε at one δ.

A pure ε and an (ε, δ) do not lie on one axis: the first holds at every δ. These measures do. They
come from the whole curve δ(ε) of what is released, which a card states one point of.
"""

import functools
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.base import Card
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Relation
from engine.privacy.releases import Release, cost

Floats = NDArray[np.float64]
LABELS = {
    "mu": "μ of Gaussian noise",
    "advantage": "Advantage of the best attacker",
    "epsilon": "ε at the same δ",
}
"""What may stand on an axis that cards of different kinds share."""
LEAST = 1e-10
r"""\mu holds for all rates of false alarms above this: accountants cut off what is rarer."""
FINE = 8_000
"""Rates from there to 1/2: both errors play the same part, so half of all rates are enough."""
WIDEST, POINTS, SPARSE = 64.0, 400, 40
"""The largest ε that is looked at, and how many from 0 to where the curve has fallen; fewer of
noise inside an objective, of which each takes long. With fewer the measures are rounded up more."""


@dataclass(frozen=True)
class Common:
    r"""One guarantee in measures that all guarantees have.

    Attributes:
        mu: The least \mu whose Gaussian noise allows every test that this allows, from `LEAST` on.
        advantage: How far the rates of right and of wrong guesses can lie apart.
        epsilon: At the `delta` that was asked for, in nats.
        delta: See `epsilon`.
    """

    mu: float
    advantage: float
    epsilon: float
    delta: float


def common(entry: Entry[Spec], spec: Spec, data: Card, delta: float) -> Common:
    """A method's guarantee at a setting, for one row of the data set.

    Measures are infinite, and the advantage 1, where nothing is proved. Those of sampled noise take
    seconds; what pages open with ships (`engine.privacy.answers`).

    Raises:
        UnansweredError: They would have to be worked out within `answers.at_once`.
    """
    card = entry.guarantee(spec, data.records, data.record)
    if card.epsilon_proved is None:
        return Common(math.inf, 1.0, math.inf, delta)
    return measured(entry.releases(spec, data.records), card.relation, delta)


def measured(releases: Sequence[Release], relation: Relation, delta: float) -> Common:
    """The same of releases of which something finite is proved; errors as `common`."""
    from engine.privacy.answers import answer

    event = cost(releases)
    found = functools.cache(lambda: _measured(event, relation, delta))

    def told(name: str) -> float:
        code = hashlib.sha256(f"{name}|{event!r}|{delta!r}|{relation}".encode()).hexdigest()[:16]
        return answer(code, lambda: float(getattr(found(), name)))

    return Common(told("mu"), told("advantage"), told("epsilon"), delta)


def _measured(event: Any, relation: Relation, delta: float) -> Common:
    """All measures of an event, by its accountant."""
    from scipy.special import ndtr

    from engine.privacy import accounting, curves
    from engine.privacy.objective import objective_delta

    mu = curves.mu(event)
    if mu is None:
        ends = WIDEST * 2.0 ** np.arange(-10.0, 1.0)
        fallen = curves.deltas(event, ends, relation) < LEAST
        count = POINTS if objective_delta(event, 0.0) is None else SPARSE
        at = np.linspace(0.0, ends[fallen.argmax()] if fallen.any() else WIDEST, count)
        mu = mu_of_curve(at, curves.deltas(event, at, relation))
    # two bounds: of noise inside an objective, the first says nothing at ε = 0
    advantage = float(curves.deltas(event, np.zeros(1), relation)[0])
    advantage = min(advantage, 2.0 * float(ndtr(mu / 2.0)) - 1.0 + LEAST)
    return Common(mu, advantage, accounting.epsilon(event, delta, relation, tight=True), delta)


def mu_of_curve(epsilons: Floats, deltas: Floats, least: float = LEAST) -> float:
    r"""The least \mu at which Gaussian noise allows every test that a curve allows.

    A test with so many false alarms \alpha hits at most \delta + e^\varepsilon \alpha and at most
    1 - e^{-\varepsilon} (1 - \delta - \alpha). Of Gaussian noise its hits are at most
    \Phi(\Phi^{-1}(\alpha) + \mu) (Dong, Roth and Su 2022). The answer is the largest \mu over all
    \alpha (Gomez et al. 2025). Between two \alpha the hits are at most those of the second, so \mu
    is rounded up. Infinite where a test hits always.

    Args:
        epsilons: Where the curve is known, at least 0, shape (m,).
        deltas: There, shape (m,).
        least: The smallest rate of false alarms that is looked at.
    """
    from scipy.special import ndtri

    alarms = np.geomspace(least, 0.5, FINE)
    grown, left = np.exp(epsilons)[:, None], 1.0 - deltas[:, None]
    steep, flat = deltas[:, None] + grown * alarms, 1.0 - (left - alarms) / grown
    hits = np.minimum(steep, flat).min(0).clip(0.0, 1.0)
    return max(0.0, float((ndtri(hits[1:]) - ndtri(alarms[:-1])).max()))
