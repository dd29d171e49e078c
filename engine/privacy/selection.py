r"""What it costs to try several private methods and publish the best (Papernot and Steinke 2022).

Trying k methods and keeping the best is a release of its own: anyone who sees the winner learns
that it won. Where every try draws its method at random, the number K of tries is Poisson with mean
m and stays secret, and only the best is published, the whole costs hardly more than one try.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from dp_accounting import ComposedDpEvent, DpEvent, UnsupportedEventError
from dp_accounting.rdp import RdpAccountant
from scipy.optimize import brentq

from engine.core.errors import BudgetError
from engine.privacy import gaussian
from engine.privacy.accounting import ORDERS, neighbours
from engine.privacy.curves import Floats, deltas
from engine.privacy.guarantee import Relation
from engine.privacy.pure import pure

Event: TypeAlias = DpEvent
"""What a candidate releases, as the accountants know it."""
ORDERED = tuple(order for group in ORDERS for order in group)
"""Rényi orders that are tried."""
LEAST, SMALLEST = 0.02, 1e-3
"""Least share of the whole that a try may have, and the smallest ε that settings admit."""


@dataclass(frozen=True)
class Tries:
    """How often a method is drawn, run and scored.

    Attributes:
        mean: m, of the Poisson number of tries.
    """

    mean: float

    def none(self) -> float:
        """The chance that nothing is tried; then something that reads no record is published."""
        return math.exp(-self.mean)


def rdp(event: DpEvent, relation: Relation) -> Floats:
    r"""\rho_\lambda of an event at each of `ORDERED`; infinite where an order is not proved.

    Gaussian releases of all records have \lambda/(2 s^2), and a pure release the smaller of
    \varepsilon and \lambda\varepsilon^2/2 (Bun and Steinke 2016, Proposition 3.3). What is
    composed adds up.

    Raises:
        BudgetError: The accountant does not know the event.
    """
    orders = np.array(ORDERED)
    precision, known = gaussian.precision(event), pure(event)
    if precision is not None:
        gauss: Floats = 0.5 * precision * orders
        return gauss
    if math.isfinite(known):
        least: Floats = np.minimum(known, 0.5 * orders * known**2)
        return least
    if isinstance(event, ComposedDpEvent):
        total: Floats = np.sum([rdp(one, relation) for one in event.events], axis=0)
        return total
    try:
        ledger = RdpAccountant(ORDERED, neighbours(relation)).compose(event)
    except UnsupportedEventError:
        text = "selection: expected an event with a Rényi curve, got"
        raise BudgetError(f"{text} {event!r}") from None
    return np.asarray(ledger._rdp, np.float64)


def _fails(event: DpEvent, at: Floats, relation: Relation) -> Floats:
    """The δ of an event at each ε of `at`: by its own curve, or else by its Rényi curve."""
    try:
        return deltas(event, at, relation)
    except BudgetError:
        orders, curve = np.array(ORDERED)[:, None], rdp(event, relation)[:, None]
        log = (orders - 1.0) * (curve - at + np.log1p(-1.0 / orders)) - np.log(orders)
        fails: Floats = np.exp(np.minimum(log.min(axis=0), 0.0))
        return fails


def cost(candidates: Sequence[DpEvent], tries: Tries, delta: float, relation: Relation) -> float:
    r"""The \varepsilon of publishing the best of a Poisson number of tries, in nats.

    Guarantees:
        A try draws one of the candidates at random, publicly listed, runs it with its score, and
        gives both: a mixture whose index is part of the output, so that its \rho_\lambda and its
        \delta are at most the largest among the candidates. If e^{\hat\varepsilon} \le 1 +
        1/(\lambda - 1) and a try is (\hat\varepsilon, \hat\delta)-private and (\lambda, \rho)-Rényi
        private, the best of K tries, K Poisson with mean m, is Rényi private with \rho +
        m\hat\delta + \log(m)/(\lambda - 1) (Papernot and Steinke 2022, Theorem 6). The best order
        gives \varepsilon as for any Rényi curve (Canonne, Kamath and Steinke 2020, Proposition 12).

    Args:
        candidates: What one try of each costs, its score included.
        tries: How many tries.
        delta: The additive term of (ε, δ)-privacy, above 0.
        relation: Which data sets are neighbours.

    Raises:
        BudgetError: Nothing is known of a candidate.
    """
    orders, whole = np.array(ORDERED), curve(candidates, tries, relation)
    bounds = whole + np.log1p(-1.0 / orders) - np.log(orders * delta) / (orders - 1.0)
    return float(max(0.0, np.min(bounds)))


def curve(candidates: Sequence[DpEvent], tries: Tries, relation: Relation) -> Floats:
    r"""\rho of publishing the best at each order of `ORDERED`, as `cost` derives it.

    Raises:
        BudgetError: Nothing is known of a candidate.
    """
    orders = np.array(ORDERED)
    curves = np.max([rdp(event, relation) for event in candidates], axis=0)
    at = np.log1p(1.0 / (orders - 1.0))
    fails = np.max([_fails(event, at, relation) for event in candidates], axis=0)
    whole: Floats = curves + tries.mean * fails + max(0.0, math.log(tries.mean)) / (orders - 1.0)
    return whole


def calibrate(
    make: Callable[[float], Sequence[DpEvent]],
    tries: Tries,
    target: float,
    delta: float,
    relation: Relation,
) -> float:
    """The largest budget of a single try with which the whole costs at most `target`.

    Args:
        make: The candidates' events at a budget.
        tries: How many tries.
        target: ε of the whole, in nats.
        delta: Of the whole.
        relation: Which data sets are neighbours.

    Raises:
        BudgetError: Even `LEAST` of the target costs more.
    """

    def excess(budget: float) -> float:
        return cost(make(budget), tries, delta, relation) - target

    low, high = max(SMALLEST, LEAST * target), target
    if low >= high or excess(low) > 0.0:
        raise BudgetError(
            f"epsilon: expected enough for a choice among {tries.mean:g} tries, got {target:g}"
        )
    if excess(high) <= 0.0:
        return high
    found = float(brentq(excess, low, high, xtol=1e-4 * target))
    while excess(found) > 0.0:
        found *= 1.0 - 1e-4
    return found
