"""Pure epsilon-privacy: the event that dp-accounting lacks, and its composition.

dp-accounting 0.6.0 answers infinity for a Laplace release at delta = 0, so the
sums that need no accountant are done here.
"""

import math

import attr
from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    LaplaceDpEvent,
    NoOpDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)


@attr.frozen
class PureDp(DpEvent):  # type: ignore[misc]  # dp-accounting ships no types
    """A release that is epsilon-private outright, e.g. the exponential mechanism."""

    epsilon: float


def pure(event: DpEvent) -> float:
    """The epsilon of `event` at delta = 0, in nats.

    Basic composition adds (Dwork et al. 2006); a Poisson sample at rate q costs
    log(1 + q(exp(epsilon) - 1)) under add-or-remove-one (Li et al. 2012, Theorem 1).
    Infinity for an event that has no pure guarantee.
    """
    match event:
        case NoOpDpEvent():
            return 0.0
        case PureDp(epsilon=cost):
            return float(cost)
        case LaplaceDpEvent(noise_multiplier=scale):
            return float(1.0 / scale) if scale > 0 else math.inf
        case SelfComposedDpEvent(event=part, count=times):
            return float(times) * pure(part)
        case ComposedDpEvent(events=parts):
            return math.fsum(map(pure, parts))
        case PoissonSampledDpEvent(sampling_probability=q, event=part):
            return _amplified(q, pure(part))
        case _:
            return math.inf


def _amplified(q: float, epsilon: float) -> float:
    """log(1 + q(exp(epsilon) - 1)), without overflow."""
    if epsilon > 700.0:
        return epsilon + math.log(q) if q > 0 else 0.0
    return math.log1p(q * math.expm1(epsilon))
