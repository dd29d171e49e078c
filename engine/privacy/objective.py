r"""What Gaussian noise in an objective costs: the event that dp-accounting lacks.

The release minimises J(f) + \langle b, f\rangle with b ~ N(0, \sigma^2 I) and J strictly convex.
Each data set names the b that led to a release f: b under D and b' = b + u(f) under D', where u
is what the record changes of the gradient at f, \|u\| \le \Delta, and lies in a subspace V of k
dimensions that the two records alone determine. So the log density ratio at f is at most

    r + (\|b'\|^2 - \|b\|^2) / (2\sigma^2) \le r + \|P_V b\| \Delta/\sigma^2 + \Delta^2/(2\sigma^2),

r being the largest log ratio of the two Jacobian determinants. Under D, \|P_V b\|/\sigma is chi
distributed with k degrees of freedom. With m = \sigma/\Delta and L = r + \chi_k/m + 1/(2m^2),
\delta(\varepsilon) \le E (1 - e^{\varepsilon - L})_+, as 1 - e^{\varepsilon - L} grows with L.
Kifer et al. (2012) have k = d; for k = 1 this is the bound of Redberg et al. (2023, Theorem 3.1),
who use that a generalised linear model's gradients have one direction.
"""

import functools
import math

import attr
import numpy as np
from dp_accounting import ComposedDpEvent, DpEvent
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import chi

from engine.privacy.answers import answer
from engine.privacy.pure import pure

SAFE = 1e-6
"""Share by which a root is rounded to the private side: far more than the quadrature's error."""


@attr.frozen
class ObjectiveDp(DpEvent):  # type: ignore[misc]  # dp-accounting ships no types
    """Minimising an objective with a Gaussian linear term.

    Attributes:
        multiplier: m, deviation of the term over the largest change of the gradient.
        freedom: k, dimensions in which one pair of records can change the gradient.
        ratio: r, largest log ratio of the Jacobian determinants, in nats.
    """

    multiplier: float
    freedom: int
    ratio: float


def excess(event: ObjectiveDp, epsilon: float) -> float:
    r"""The bound on \delta at \varepsilon."""
    m = event.multiplier
    start = max(0.0, m * (epsilon - event.ratio - 0.5 / m**2))
    shift = event.ratio + 0.5 / m**2 - epsilon
    law = chi(event.freedom)
    end = max(start, math.sqrt(event.freedom)) + 40.0  # nothing is left beyond

    def inside(x: float) -> float:
        return -math.expm1(-max(0.0, shift + x / m)) * float(np.exp(law.logpdf(x)))

    middle = min(end, max(start, math.sqrt(event.freedom)) + 4.0)
    parts = [(start, middle), (middle, end)]
    return math.fsum(
        quad(inside, *part, epsabs=1e-300, epsrel=1e-9, limit=200)[0] for part in parts
    )


@functools.lru_cache(maxsize=4096)
def _epsilon(event: ObjectiveDp, delta: float) -> float:
    return answer(f"objective|epsilon|{event!r}|{delta!r}", lambda: _root(event, delta))


def _root(event: ObjectiveDp, delta: float) -> float:
    """Where the curve comes down to delta, rounded up."""
    high = event.ratio + 0.5 / event.multiplier**2 + 1.0
    while excess(event, high) > delta:
        high = 2.0 * high
    if excess(event, 0.0) <= delta:
        return 0.0
    return float(brentq(lambda e: excess(event, e) - delta, 0.0, high, xtol=1e-12)) * (1.0 + SAFE)


def _parted(event: DpEvent) -> tuple[ObjectiveDp, float] | None:
    """One such release and the pure epsilon of all others beside it; None of other events."""
    match event:
        case ObjectiveDp():
            return event, 0.0
        case ComposedDpEvent(events=parts):
            own = [part for part in parts if isinstance(part, ObjectiveDp)]
            rest = math.fsum(pure(part) for part in parts if not isinstance(part, ObjectiveDp))
            if len(own) == 1 and math.isfinite(rest):
                return own[0], rest
    return None


def objective_epsilon(event: DpEvent, delta: float) -> float | None:
    """The epsilon of one such release, and of others beside it that are pure; None of others."""
    parted = _parted(event)
    return None if parted is None else _epsilon(parted[0], delta) + parted[1]


def objective_delta(event: DpEvent, epsilon: float) -> float | None:
    r"""The \delta of the same at \varepsilon; 1 where the others alone cost more."""
    parted = _parted(event)
    if parted is None:
        return None
    left = epsilon - parted[1]
    return 1.0 if left < 0.0 else min(1.0, excess(parted[0], left) * (1.0 + SAFE))


@functools.lru_cache(maxsize=4096)
def objective_multiplier(target: float, delta: float, freedom: int, ratio: float) -> float:
    """The smallest m that costs at most `target` at `delta`, rounded up; `ratio` is below it."""

    def over(log_multiplier: float) -> float:
        made = ObjectiveDp(math.exp(log_multiplier), freedom, ratio)
        return math.log(max(excess(made, target * (1.0 - 2.0 * SAFE)), 1e-300) / delta)

    def work() -> float:
        return math.exp(float(brentq(over, -12.0, 25.0, xtol=1e-9)) + 1e-8)

    return answer(f"objective|multiplier|{target!r}|{delta!r}|{freedom}|{ratio!r}", work)
