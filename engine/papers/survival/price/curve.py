r"""What a private Kaplan-Meier curve releases and costs. No torch, and no data: only the spec.

One table of counts: records by the interval in which they end and by whether they end with the
event, and those that reach the horizon without it. A record is in one cell, so replacing it
moves two cells by 1: L2 sensitivity \sqrt2. The curve follows from the noisy counts and the
public number of records.
"""

from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release


def counts(spec: SurvivalSpec) -> Gaussian:
    """The noise of every count.

    >>> round(counts(SurvivalSpec(epsilon=1.0)).scale, 2)  # sqrt 2 times 3.73
    5.28
    """
    from engine.privacy.gaussian import multiplier

    return Gaussian(2.0**0.5, multiplier(spec.epsilon, spec.delta))


def km_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One noisy table."""
    return (Release(counts(spec), what="counts by interval and outcome"),)
