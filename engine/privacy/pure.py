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

from engine.privacy.guarantee import Relation


@attr.frozen
class PureDp(DpEvent):  # type: ignore[misc]  # dp-accounting ships no types
    """A release that is epsilon-private outright, e.g. the exponential mechanism."""

    epsilon: float


def pure(event: DpEvent, relation: Relation) -> float:
    """The epsilon of `event` at delta = 0, in nats.

    Basic composition adds (Dwork et al. 2006); a Poisson sample at rate q costs
    log(1 + q(exp(epsilon) - 1)) where a record is added, removed or left out (Li et al. 2012,
    Theorem 1). Infinity for an event that has no pure guarantee. A sample has none where a record
    is replaced: the new one may be drawn where the old one is not, and then it moves the answer by
    all that it adds itself, which no release states.
    """
    match event:
        case NoOpDpEvent():
            return 0.0
        case PureDp(epsilon=cost):
            return float(cost)
        case LaplaceDpEvent(noise_multiplier=scale):
            return float(1.0 / scale) if scale > 0 else math.inf
        case SelfComposedDpEvent(event=part, count=times):
            return float(times) * pure(part, relation)
        case ComposedDpEvent(events=parts):
            return math.fsum(pure(part, relation) for part in parts)
        case PoissonSampledDpEvent(sampling_probability=q, event=part):
            whole = pure(part, relation)
            return math.inf if relation == "replace_one" and 0.0 < q < 1.0 else _amplified(q, whole)
        case _:
            return math.inf


def _amplified(q: float, epsilon: float) -> float:
    """log(1 + q(exp(epsilon) - 1)), without overflow."""
    if epsilon > 700.0:
        return epsilon + math.log(q) if q > 0 else 0.0
    return math.log1p(q * math.expm1(epsilon))
