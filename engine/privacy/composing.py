r"""What several releases from the same records cost together, by three ways of adding up. No torch.

Guarantees:
    basic: \varepsilon and \delta add up (Dwork and Roth 2014, Theorem B.1). It also holds where the
    price of a later release depends on what an earlier one showed (Rogers et al. 2016).

    advanced: (\varepsilon, \delta) implies \delta-approximate zero-concentrated privacy with
    \rho = \varepsilon^2/2 (Bun and Steinke 2016, Proposition 3.3 and Section 8), and \rho adds up:
    \tfrac12 \sum\varepsilon_i^2 + \sqrt{2 \ln(1/\delta') \sum\varepsilon_i^2} at \delta' +
    \sum\delta_i. Under a limit that was set before, prices may depend on earlier results, if
    \delta' and a bound on \sum\delta_i were fixed with it (Whitehouse, Ramdas, Rogers and Wu
    2023): `engine.runs.ledger` gives each of them half of the limit's \delta.

    accountant: releases whose Rényi curve is known add up their curves, and where all of them are
    Gaussian they have the exact curve of one (Dong, Roth and Su 2022, Corollary 2). The others'
    (\varepsilon, \delta) are added to that: outside an event of their \delta each adds at most
    \varepsilon to the loss (Kairouz, Oh and Viswanath 2015, Theorem 3.4), and the loss of the rest
    has the same bound whatever was seen before. Under a limit one order is used, which follows from
    the limit alone, since curves of one order may be chosen as one goes (Feldman and Zrnic 2021).

    A price that was found ex post (`engine.privacy.expost`) adds up as it is. Under a limit,
    advanced composition then takes one order too (`engine.runs.ledger`), since what such prices
    leave for the others is not known beforehand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Way = Literal["basic", "advanced", "accountant"]
WAYS: tuple[Way, ...] = ("basic", "advanced", "accountant")
NAMES: dict[Way, str] = {
    "basic": "basic composition",
    "advanced": "advanced composition",
    "accountant": "composition of Rényi curves",
}
"""What each way is called in a sentence."""


@dataclass(frozen=True)
class PricedPart:
    r"""The price of one release.

    Attributes:
        epsilon: In nats.
        delta: The additive term of (ε, δ)-privacy.
        curve: \rho at each order of `engine.privacy.selection.ORDERED`; empty where it is unknown.
        precision: 1/s^2 of Gaussian releases alone; 0 for others.
        fixed: Whether its price was known before it was made, which ex-post prices are not.
    """

    epsilon: float
    delta: float
    curve: tuple[float, ...] = ()
    precision: float = 0.0
    fixed: bool = True


def together(
    parts: Sequence[PricedPart], delta: float, way: Way, order: int | None = None
) -> float:
    r"""\varepsilon of all parts at a \delta, in nats; infinite where this way says nothing.

    Args:
        parts: Of one relation.
        delta: Of all together.
        way: How they are added up.
        order: Index of the one Rényi order that is used; None for the best way there is.
    """
    if way == "basic":
        lost = math.fsum(part.delta for part in parts)
        return math.fsum(part.epsilon for part in parts) if lost <= delta else math.inf
    if way == "advanced":
        apart = [part for part in parts if not part.fixed]
        rest = delta - math.fsum(part.delta for part in parts)
        squares = math.fsum(part.epsilon**2 for part in parts if part.fixed)
        if rest <= 0.0:
            return math.inf
        more = 0.5 * squares + math.sqrt(2.0 * math.log(1.0 / rest) * squares)
    else:
        apart = [part for part in parts if not part.curve]
        rest = delta - math.fsum(part.delta for part in apart)
        curved = [part for part in parts if part.curve]
        if rest < 0.0 or (curved and rest == 0.0):
            return math.inf
        more = _curved(curved, rest, order) if curved else 0.0
    return math.fsum(part.epsilon for part in apart) + more


def _curved(parts: Sequence[PricedPart], delta: float, order: int | None) -> float:
    """What parts with curves cost together."""
    from engine.privacy import gaussian  # takes a second to load
    from engine.privacy.selection import ORDERED

    if order is None and all(part.precision for part in parts):
        return gaussian.epsilon(math.fsum(part.precision for part in parts), delta)
    orders = np.array(ORDERED)
    curve = np.sum([part.curve for part in parts], axis=0)
    bounds = curve + np.log1p(-1.0 / orders) - np.log(orders * delta) / (orders - 1.0)
    return float(max(0.0, np.min(bounds) if order is None else bounds[order]))


def order(epsilon: float, delta: float) -> int:
    r"""The index of the Rényi order that lets most Gaussian noise through under a limit.

    \lambda - 1 = \sqrt{\ln(1/\delta)/\rho} with \rho + 2\sqrt{\rho\ln(1/\delta)} = \varepsilon.
    """
    from engine.privacy.selection import ORDERED

    log = math.log(1.0 / delta)
    root = math.sqrt(log + epsilon) - math.sqrt(log)
    wanted = 1.0 + math.sqrt(log) / root
    return int(np.abs(np.log(np.array(ORDERED) / wanted)).argmin())
