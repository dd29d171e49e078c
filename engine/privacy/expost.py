r"""What a search at rising accuracy has cost, told once it has stopped. No torch here.

A value is released with much noise, then with less and less, until somebody who sees these releases
is content. The guarantee is ex post: the \varepsilon that holds is a function of what was released
(Ligett, Neel, Roth, Waggoner and Wu 2017, Definition 2.1; Whitehouse, Ramdas, Wu and Rogers 2022,
Definition 2.3). It is the price of the last release, not the sum of all.

Guarantees:
    Refining. Let p_k = 1/t_k be the precision of the noise at level k. Releasing the value v with
    fresh noise of precision p_k - p_{k-1}, and publishing at each level the mean of all releases so
    far, weighted by precision, gives Y_k = v + B_k with Var B_k = t_k and Cov(B_j, B_k) = t_k for
    j < k: the Brownian mechanism at the times t_k (Whitehouse et al. 2022, Section 3), since a
    Brownian motion at the times t_j > t_k has that covariance. So all that leaves are independent
    Gaussian releases, each of a sensitivity that is known, and every later level is chosen after
    earlier ones were seen.

    Loss. Let release i change by d_i \le \Delta_i between neighbours, and have deviation \sigma_i;
    d_i may depend on earlier releases. Its privacy loss is d_i^2/2\sigma_i^2 + d_i Z_i/\sigma_i
    with Z_i standard normal given the past. Summed up to level k that is V_k/2 + W(V_k) for a
    Brownian motion W, at V_k = \sum d_i^2/\sigma_i^2 \le s_k, where s_k = \sum 1/m_i^2 over noise
    multipliers m_i is known beforehand. So the loss L_k exceeds \varepsilon at most as often as
    V/2 + W(V) reaches it anywhere up to s_k, which is `crossing` (Borodin and Salminen 2002, Part
    II, 2.1.1.4).

    Stopping. With `crossing`(s_k, \varepsilon_k) \le \delta/K at each of K levels, the loss is
    above \varepsilon_k at any level k with probability \delta at most, by the union bound: also at
    the level N where the search stops, however that depends on what was released. So P(L_N >
    \varepsilon_N) \le \delta, for each two neighbours. Before the search the same says that it is
    (\varepsilon_K, \delta)-private.

    Sums. Other releases from the same records, each (\varepsilon, \delta)-private, may come before,
    between or after: outside an event of probability \delta each adds at most \varepsilon to the
    loss (Kairouz, Oh and Viswanath 2015, Theorem 3.4, simulates them by randomised response), so
    \varepsilon_N and \delta add up with theirs.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from engine.core.errors import BudgetError


def crossing(precision: float, at: float) -> float:
    r"""The chance that the privacy loss reaches `at` on the way to a precision.

    \Phi((s/2 - \varepsilon)/\sqrt s) + e^\varepsilon \Phi(-(s/2 + \varepsilon)/\sqrt s) with s the
    precision: it rises with s and falls with \varepsilon.

    Args:
        precision: \sum 1/m_i^2 over the multipliers of all releases so far, at least 0.
        at: \varepsilon, in nats, at least 0.
    """
    if precision == 0.0:
        return float(at == 0.0)
    root = math.sqrt(precision)
    direct = log_ndtr((precision / 2.0 - at) / root)
    turned = at + log_ndtr(-(precision / 2.0 + at) / root)
    return math.exp(min(0.0, float(np.logaddexp(direct, turned))))


def epsilon(precision: float, fails: float) -> float:
    r"""The smallest \varepsilon that is reached with a chance of `fails` at most, in nats.

    Args:
        precision: As for `crossing`.
        fails: In (0, 1).
    """
    if precision == 0.0:
        return 0.0
    high = precision / 2.0 + math.sqrt(2.0 * precision * math.log(1.0 / fails))  # Doob

    def excess(at: float) -> float:
        return _log(crossing(precision, at)) - math.log(fails)

    found = float(brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-12))
    while excess(found) > 0.0:
        found += 1e-10 * max(1.0, found)
    return found


def precision(target: float, fails: float) -> float:
    r"""The largest precision whose \varepsilon is at most `target`.

    Raises:
        BudgetError: The target is not a positive number.
    """
    if not 0.0 < target < math.inf:
        raise BudgetError(f"epsilon: expected a positive number, got {target:g}")

    def excess(log: float) -> float:
        return _log(crossing(math.exp(log), target)) - math.log(fails)

    low = 2.0 * math.log(target) - math.log(2.0 * math.log(1.0 / fails) + target) - 40.0
    found = float(brentq(excess, low, math.log(2.0 * target + 2.0), xtol=1e-12))
    while excess(found) > 0.0:
        found -= 1e-10
    return math.exp(found)


def _log(chance: float) -> float:
    return math.log(max(chance, 1e-300))
