"""Private descent on sampled batches (Abadi et al. 2016): its releases, and its smallest noise."""

from functools import lru_cache

from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost


def batches(noise: Gaussian, rate: float, count: int) -> Release:
    """The noisy sums of clipped gradients of a whole run.

    Args:
        noise: The noise of one sum; its sensitivity is the clipping bound.
        rate: Chance of each record to be in a batch.
        count: Steps of the run.
    """
    return Release(noise, times=count, rate=rate, what="sum of clipped gradients")


@lru_cache(maxsize=1024)
def multiplier(epsilon: float, delta: float, relation: Relation, rate: float, count: int) -> float:
    """The smallest noise multiplier that Rényi accounting finds for a whole run."""
    from engine.privacy import accounting  # takes a second to load

    return accounting.calibrate(
        lambda sigma: cost((batches(Gaussian(1.0, sigma), rate, count),)),
        epsilon,
        delta,
        relation,
        tight=False,
    )
