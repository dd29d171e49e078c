r"""The noise of the oracle. No torch, and no data.

One sum of gradients clipped to length C, of which one record that is replaced changes 2C, would be
(\epsilon, \delta)-private by itself. Where it is taken, its metric and C come from the raw records.
"""

import functools

from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, exposed

WHY = (
    "For comparison only: optimum, curvature and clipping bound are taken from the raw records. "
    "Only the last sum gets noise, the least that (ε, δ) allows."
)


@functools.lru_cache(maxsize=4096)
def _single(epsilon: float, delta: float) -> Gaussian:
    from engine.privacy.gaussian import multiplier

    return Gaussian(2.0, multiplier(epsilon, delta))


def single(spec: SurvivalSpec) -> Gaussian:
    """The noise of one sum of clipped gradients that spends the whole budget, for C = 1."""
    return _single(spec.epsilon, spec.delta)


def oracle_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """Where the sum is taken is not private."""
    return exposed(WHY)
