"""What each method costs: a number of steps, an event, a mechanism. No torch, and no data."""

from functools import lru_cache
from typing import TYPE_CHECKING

from engine.papers.pcdbn.releases import RELATION, releases
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.privacy.mechanisms import Gaussian

if TYPE_CHECKING:
    from dp_accounting import DpEvent

CLASSES = 10


def network_steps(spec: PcdbnSpec, n: int) -> int:
    """One step per epoch: pre-training of two layers, then the layers above."""
    return 2 * spec.pretraining + spec.epochs


def pcdbn_steps(spec: PcdbnSpec, n: int) -> int:
    """One step for the closed form; one per epoch otherwise."""
    if spec.calibration != "rigorous":
        return network_steps(spec, n)
    return spec.epochs if spec.solver == "descent" else 1


def psgd_steps(spec: PcdbnSpec, n: int) -> int:
    """Steps T = E / q."""
    return max(1, round(spec.sgd_epochs / spec.sample_rate))


def unbounded(spec: PcdbnSpec, n: int, steps: int) -> "DpEvent":
    """The cost of what nothing bounds: no noise, or noise in the wrong place."""
    from dp_accounting import NonPrivateDpEvent

    return NonPrivateDpEvent()


def pcdbn_cost(spec: PcdbnSpec, n: int, steps: int) -> "DpEvent":
    """The cost of the moments and the quadratic, whatever the number of epochs."""
    if spec.calibration != "rigorous":
        return unbounded(spec, n, steps)
    return releases(spec, n).event


def gradient_noise(spec: PcdbnSpec, n: int) -> Gaussian:
    """The noise of pSGD on a lot's sum of gradients clipped to C."""
    return Gaussian(
        spec.clip, _multiplier(spec.epsilon, spec.delta, spec.sample_rate, psgd_steps(spec, n))
    )


def psgd_cost(spec: PcdbnSpec, n: int, steps: int) -> "DpEvent":
    """The cost of so many lots, each drawn by a coin per record."""
    return _lots(gradient_noise(spec, n).multiplier, spec.sample_rate, steps)


def _lots(multiplier: float, rate: float, count: int) -> "DpEvent":
    from dp_accounting import PoissonSampledDpEvent, SelfComposedDpEvent

    one = PoissonSampledDpEvent(rate, Gaussian(1.0, multiplier).event)
    return SelfComposedDpEvent(one, count)


@lru_cache(maxsize=1024)
def _multiplier(epsilon: float, delta: float, rate: float, count: int) -> float:
    """The smallest noise multiplier that Rényi accounting finds for the whole run."""
    from engine.privacy import accounting

    return accounting.calibrate(
        lambda s: _lots(s, rate, count), epsilon, delta, RELATION, tight=False
    )


def layer_budgets(spec: PcdbnSpec) -> tuple[float, float, float]:
    """Budgets of both convolution layers and of the softmax layer, as the text would split ε."""
    each = spec.epsilon * spec.layer_share / 2.0
    return each, each, spec.epsilon * (1.0 - spec.layer_share)
