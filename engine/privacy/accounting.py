"""What a composition of private releases costs at one δ, and how much noise a budget needs.

Pure events add up in `engine.privacy.pure`; Gaussian releases of all records and noise inside an
objective have formulas (`gaussian`, `objective`); everything else is dp-accounting's. Answers are
cached by the event's text, since a slider asks for the same few again and again. Whole curves are
asked for in `engine.privacy.curves`, what choosing costs in `engine.privacy.selection`.
"""

import functools
import hashlib
import itertools
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version

import numpy as np
from dp_accounting import (
    DpEvent,
    NeighboringRelation,
    UnsupportedEventError,
)
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from scipy.optimize import brentq

from engine.core.errors import BudgetError
from engine.privacy import gaussian
from engine.privacy.answers import answer
from engine.privacy.guarantee import Relation
from engine.privacy.objective import objective_epsilon
from engine.privacy.pure import pure
from engine.privacy.searched import searched

_RELATIONS = {
    "replace_one": NeighboringRelation.REPLACE_ONE,
    "add_or_remove_one": NeighboringRelation.ADD_OR_REMOVE_ONE,
    "zero_out_one": NeighboringRelation.ADD_OR_REMOVE_ONE,  # sums differ by the same term
}
ORDERS: tuple[tuple[float, ...], ...] = (
    (*(1.0 + i / 4.0 for i in range(1, 8)), *range(3, 17)),
    tuple(range(17, 65)),
    tuple(2**i for i in range(7, 13)),
)
"""Rényi orders: few fractional ones, which cost a series each where records are sampled.

The later groups take most of the time, and hold the best order of small budgets only."""
FINEST = 1e-4
"""The finest division of the privacy loss, in nats: the accountant's own."""
LARGEST = 700.0
"""More nats the PLD accountant cannot tell, because e^epsilon is no number any more."""
GRID = 20_000
"""In so many parts a large privacy loss is divided."""

logging.getLogger("absl").setLevel(logging.ERROR)
"""dp-accounting tells of each order whose series it leaves out; the bound holds without it."""


def epsilon(event: DpEvent, delta: float, relation: Relation, *, tight: bool = False) -> float:
    """The smallest epsilon at `delta` that an accountant proves, in nats.

    Args:
        event: What was released.
        delta: The additive term of (ε, δ)-privacy; 0 asks for pure privacy.
        relation: Which data sets are neighbours.
        tight: Whether to ask the PLD accountant, which takes up to a second, before the
            Rényi accountant, which takes milliseconds and answers more.

    Returns:
        Infinity if the event is not private.

    Raises:
        BudgetError: No accountant knows this kind of event under this relation.
    """
    return _epsilon(_Key(event), delta, relation, tight)


class _Key:
    """An event that hashes by its text: dp-accounting's compositions hold lists."""

    def __init__(self, event: DpEvent) -> None:
        self.event, self.text = event, repr(event)

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.text == other.text


@functools.lru_cache(maxsize=4096)
def _epsilon(key: _Key, delta: float, relation: Relation, tight: bool) -> float:
    precision = gaussian.precision(key.event)
    if delta > 0 and precision is not None:
        return gaussian.epsilon(precision, delta)
    perturbed = objective_epsilon(key.event, delta) if delta > 0 else None
    if perturbed is not None:
        return perturbed
    code = _code(key, delta, relation, tight)
    if delta == 0:
        return _answer(key, delta, relation, tight)
    return answer(code, lambda: _answer(key, delta, relation, tight))


def _answer(key: _Key, delta: float, relation: Relation, tight: bool) -> float:
    known, bounded = pure(key.event), False
    if delta == 0:
        return known
    adjacent = neighbours(relation)
    with suppress(UnsupportedEventError):
        known, bounded = min(known, _renyi(key.event, delta, adjacent)), True
    if tight and not (bounded and known == 0.0):
        # a loss too large for a number is infinite, which is no less than it is
        with suppress(UnsupportedEventError), np.errstate(over="ignore"):
            ledger = PLDAccountant(adjacent, interval(known)).compose(key.event)
            known, bounded = min(known, float(ledger.get_epsilon(delta))), True
    if not bounded and math.isinf(known):
        raise BudgetError(f"expected an event that an accountant knows, got {key.text}")
    return known


def _renyi(event: DpEvent, delta: float, adjacent: NeighboringRelation) -> float:
    r"""The smallest epsilon that a Rényi order of `ORDERS` proves.

    Order \alpha proves \varepsilon = \rho_\alpha + \log(1 - 1/\alpha) -
    \log(\alpha\delta)/(\alpha - 1) (Canonne, Kamath and Steinke 2020, Proposition 12), and
    \rho_\alpha does not fall with \alpha: a group of orders is left out where \rho of the order
    before it is too large for any of them. Whichever are asked, each proves its bound.
    """
    best = math.inf
    for orders, later in itertools.pairwise((*ORDERS, ())):
        last = orders[-1]
        ledger = RdpAccountant(orders, adjacent).compose(event)
        best = min(best, float(ledger.get_epsilon(delta)))
        if not later or best == 0.0 or later[-1] * delta > 1.0:
            continue
        top = float(RdpAccountant((last,), adjacent).compose(event).get_epsilon(delta))
        rho = top - math.log1p(-1 / last) + math.log(last * delta) / (last - 1)
        if math.isfinite(rho) and rho + math.log1p(-1 / later[0]) >= best:
            break
    return best


def _code(key: _Key, delta: float, relation: Relation, tight: bool) -> str:
    """Names a question to the accountants, their version and grid included."""
    priced = "add_or_remove_one" if relation == "zero_out_one" else relation
    asked = f"{key.text}|{delta!r}|{priced}|{tight}"
    text = f"{version('dp-accounting')}|{FINEST}|{GRID}|{asked}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def neighbours(relation: Relation) -> NeighboringRelation:
    """The accountants' name of a relation."""
    return _RELATIONS[relation]


def interval(bound: float) -> float:
    """How finely the PLD accountant divides the privacy loss, from a looser bound on epsilon.

    A fixed grid of the usual 1e-4 grows with the loss and takes minutes at epsilon = 1000. The
    accountant rounds pessimistically, so any grid gives a bound; of 20,000 intervals it is less
    than a thousandth above that of the finest (tests/engine/test_accounting.py).
    """
    return max(FINEST, bound / GRID) if math.isfinite(bound) else FINEST


@searched
def calibrate(
    make: Callable[[float], DpEvent],
    target: float,
    delta: float,
    relation: Relation,
    *,
    tight: bool = True,
    bracket: tuple[float, float] = (1e-2, 1e6),
) -> float:
    """The smallest noise multiplier whose event costs at most `target` at `delta`.

    Args:
        make: From a noise multiplier to the whole event it would cause.
        target: Budget, in nats.
        delta: The additive term of (ε, δ)-privacy.
        relation: Which data sets are neighbours.
        tight: Whether the PLD accountant decides, up to `LARGEST`; RDP alone is faster and larger.
        bracket: Multipliers between which to look.

    Returns:
        A multiplier on the private side of the root: its own price never exceeds `target`.

    Raises:
        BudgetError: Even the largest multiplier of the bracket costs more than `target`.
    """
    if tight and target > LARGEST:
        with suppress(BudgetError):
            return calibrate(make, LARGEST, delta, relation, bracket=bracket)
        tight = False

    def excess(log_multiplier: float) -> float:
        price = epsilon(make(math.exp(log_multiplier)), delta, relation, tight=tight)
        return math.log(max(min(price, 1e300), 1e-300) / target)

    low, high = map(math.log, bracket)
    stride = 1.0
    if tight:
        # Small multipliers cost the tight accountant seconds: begin where the quick one ends.
        with suppress(BudgetError):
            near = calibrate(make, target, delta, relation, tight=False, bracket=bracket)
            high, stride = min(high, math.log(near) + 0.01), 0.1
    if excess(high) > 0:
        raise BudgetError(f"expected a budget that some noise meets, got epsilon = {target:g}")
    close = 5e-4 if tight else 1e-6  # the tight accountant is slow, the noise hardly larger
    return math.exp(_root(excess, low, high, stride, close))


def _root(
    excess: Callable[[float], float], low: float, high: float, stride: float, close: float
) -> float:
    """Where a falling function that is negative at `high` changes its sign, or `low`.

    Looks from `high` downwards in growing strides; the answer is off by at most `close`, and
    never on the positive side.
    """
    while high - stride > low and excess(high - stride) <= 0:
        high, stride = high - stride, 2.0 * stride
    low = max(low, high - stride)
    if excess(low) <= 0:
        return low
    root = float(brentq(excess, low, high, xtol=close))
    while excess(root) > 0:  # step to the private side
        root += close
    return root
