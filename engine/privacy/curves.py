r"""The whole of what a guarantee says: \delta for every \varepsilon, and the trade-off of a test.

A card states one point (\varepsilon, \delta). The same releases satisfy a whole curve of them
(Balle, Barthe and Gaboardi 2018), and equivalently no test that tells two neighbours apart has
fewer misses than `misses` at a rate of false alarms (Dong, Roth and Su 2022). Curves come from
dp-accounting's privacy loss distribution, which rounds pessimistically, in closed form where all
releases are Gaussian without sampling, and from randomised response where nothing but a pure
\varepsilon is known, which is the worst case.
"""

import math
from typing import TypeAlias

import numpy as np
from dp_accounting import DpEvent, UnsupportedEventError
from dp_accounting.pld import PLDAccountant
from numpy.typing import NDArray
from scipy.stats import norm

from engine.core.errors import BudgetError
from engine.privacy import gaussian
from engine.privacy.accounting import interval, neighbours
from engine.privacy.guarantee import Relation
from engine.privacy.objective import objective_delta
from engine.privacy.pure import pure

Floats: TypeAlias = NDArray[np.float64]

COARSE = 1e-3
"""How finely the privacy loss is divided where only small losses matter, in nats."""
EPSILONS = np.concatenate([np.linspace(0.0, 2.0, 81), np.linspace(2.1, 20.0, 180)])
"""Where the curve is taken for a trade-off: every one of its points is a valid bound."""
SPARSE = EPSILONS[::5]
"""The same for perturbed objectives, whose points are integrals that take 20 ms each."""


def mu(event: DpEvent) -> float | None:
    r"""\mu of Gaussian differential privacy where it is exact, else None.

    Releases with noise multipliers s_i that read all records are together exactly as private as
    one with \mu = (\sum_i 1/s_i^2)^{1/2} (Dong et al. 2022, Corollary 2).
    """
    precision = gaussian.precision(event)
    return None if precision is None or math.isinf(precision) else math.sqrt(precision)


def deltas(event: DpEvent, epsilons: Floats, relation: Relation) -> Floats:
    r"""The smallest \delta that is proved at each \varepsilon.

    Args:
        event: What was released.
        epsilons: In nats, at least 0, shape (m,).
        relation: Which data sets are neighbours.

    Returns:
        Shape (m,), falling.

    Raises:
        BudgetError: Nothing finite is proved of this event.
    """
    epsilons = np.asarray(epsilons, np.float64)
    exact = mu(event)
    if exact is not None:
        return _gaussian(exact, epsilons)
    perturbed = [objective_delta(event, float(at)) for at in epsilons]
    if not any(delta is None for delta in perturbed):
        return np.array(perturbed, np.float64)
    known = pure(event)
    bound = _worst(known, epsilons) if math.isfinite(known) else np.ones_like(epsilons)
    try:
        ledger = PLDAccountant(neighbours(relation), interval(known)).compose(event)
        return np.minimum(bound, [float(ledger.get_delta(at)) for at in epsilons])
    except UnsupportedEventError:
        if math.isinf(known):
            raise BudgetError("expected an event of which something finite is proved") from None
        return bound


def advantage(event: DpEvent, relation: Relation) -> float:
    r"""\delta at \varepsilon = 0: the total variation distance, in [0, 1].

    It is the total variation distance between the outputs of two neighbours, from a coarser grid
    than `deltas` has: at no loss the grid matters least, and it rounds up.

    Raises:
        BudgetError: Nothing is known of this event.
    """
    exact = mu(event)
    if exact is not None:
        return float(_gaussian(exact, np.zeros(1))[0])
    known = pure(event)
    try:
        ledger = PLDAccountant(neighbours(relation), max(COARSE, interval(known))).compose(event)
        return float(ledger.get_delta(0.0))
    except UnsupportedEventError:
        raise BudgetError("expected an event whose privacy loss is known") from None


def misses(event: DpEvent, alarms: Floats, relation: Relation) -> Floats:
    r"""The lowest miss rate of any test with these false-alarm rates.

    Args:
        event: What was released.
        alarms: Rates of false alarms in [0, 1], shape (m,).
        relation: Which data sets are neighbours.

    Returns:
        The best that is proved, shape (m,): \Phi(\Phi^{-1}(1 - \alpha) - \mu) where \mu is exact,
        else the largest max(1 - \delta - e^\varepsilon \alpha, e^{-\varepsilon}(1 - \delta -
        \alpha)) over the curve (Dong et al. 2022, Proposition 2.5). A coin misses 1 - \alpha.
    """
    alarms = np.asarray(alarms, np.float64)
    exact = mu(event)
    if exact is not None:
        return np.asarray(norm.cdf(norm.ppf(1.0 - alarms) - exact), np.float64)
    at = EPSILONS if objective_delta(event, 0.0) is None else SPARSE
    left = 1.0 - deltas(event, at, relation)[:, None]
    grown = np.exp(at)[:, None]
    share: Floats = np.maximum(left - grown * alarms, (left - alarms) / grown).max(axis=0)
    return share.clip(0.0, 1.0)


def _gaussian(at: float, epsilons: Floats) -> Floats:
    """Balle and Wang (2018), Theorem 8."""
    if at == 0.0:
        return np.zeros_like(epsilons)
    first, second = at / 2.0 - epsilons / at, -at / 2.0 - epsilons / at
    delta: Floats = norm.cdf(first) - np.exp(epsilons + norm.logcdf(second))
    return delta.clip(0.0, 1.0)


def _worst(known: float, epsilons: Floats) -> Floats:
    """Of randomised response with that pure epsilon (Kairouz, Oh and Viswanath 2015)."""
    delta: Floats = -np.expm1(np.minimum(epsilons - known, 0.0)) / (1.0 + np.exp(-known))
    return delta
