"""What the cards of both studies have alike."""

from engine.papers.dbn.price import (
    RELATION,
    Descending,
    gradient_noise,
    gradient_releases,
    reference_releases,
)
from engine.privacy.guarantee import Guarantee
from engine.promise import Words, promise, words


def reference(unit: str) -> Guarantee:
    """The card of a method without noise."""
    made = reference_releases(None, 0)
    return promise(made, RELATION, unit, claimed=None, **words(__package__, "reference"))


def gradient(spec: Descending, n: int, unit: str, said: Words) -> Guarantee:
    """The card of DP-SGD."""
    made = gradient_releases(spec, n)
    return promise(made, RELATION, unit, claimed=spec.epsilon, delta=spec.delta, **said)


def multiplier(spec: Descending, n: int) -> float:
    """What every step's noise is, in units of C."""
    return gradient_noise(spec, n).multiplier
