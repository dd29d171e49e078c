r"""Guarantees of different kinds in one measure: \mu, the best attacker's advantage, or ε at one δ.

A pure ε and an (ε, δ) do not lie on one axis: the first holds at every δ. These measures do. They
come from the whole curve δ(ε) of what is released, which a card states one point of.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasets.base import Card
from engine.core.spec import Spec
from engine.method import Entry

Floats = NDArray[np.float64]
LABELS = {
    "mu": "μ of Gaussian noise that is at most as private",
    "advantage": "Advantage of the best attacker",
    "epsilon": "ε at the same δ",
}
"""What may stand on an axis that cards of different kinds share."""
LEAST = 1e-10
r"""\mu holds for all rates of false alarms above this: accountants cut off what is rarer."""
FINE = 8_000
"""Rates from there to 1/2: both errors play the same part, so half of all rates are enough."""
WIDEST, POINTS = 64.0, 400
"""The largest ε that is looked at, and how many from 0 to where the curve has fallen."""


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

    Measures are infinite, and the advantage 1, where nothing is proved.
    """
    from engine.privacy import accounting, curves
    from engine.privacy.releases import cost

    event = cost(entry.releases(spec, data.records))
    relation = entry.guarantee(spec, data.records, data.record).relation
    mu = curves.mu(event)
    if mu is None:
        ends = WIDEST * 2.0 ** np.arange(-10.0, 1.0)
        fallen = curves.deltas(event, ends, relation) < LEAST
        at = np.linspace(0.0, ends[fallen.argmax()] if fallen.any() else WIDEST, POINTS)
        mu = mu_of_curve(at, curves.deltas(event, at, relation))
    advantage = float(curves.deltas(event, np.zeros(1), relation)[0])
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
