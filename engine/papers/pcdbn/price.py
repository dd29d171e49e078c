"""What each method costs: a number of steps, an event, a mechanism. No torch, and no data."""

from functools import lru_cache

from engine.papers.pcdbn.releases import RELATION, releases
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost, exposed

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


def reference_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """What a method without noise releases."""
    return exposed("The network is trained on the raw records, without noise.")


def printed_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """What the text's and the published program's noise leaves open: all."""
    return exposed("Filters and weights follow raw records; the noise covers some coefficients.")


def pcdbn_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """The moments and the quadratic, whatever the number of epochs."""
    return releases(spec, n).listed if spec.calibration == "rigorous" else printed_releases(spec, n)


def gradient_noise(spec: PcdbnSpec, n: int) -> Gaussian:
    """The noise of pSGD on a batch's sum of gradients clipped to C."""
    return Gaussian(
        spec.clip, _multiplier(spec.epsilon, spec.delta, spec.sample_rate, psgd_steps(spec, n))
    )


def psgd_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """So many batches, each drawn by a coin per record."""
    return (_batches(gradient_noise(spec, n), spec.sample_rate, psgd_steps(spec, n)),)


def _batches(noise: Gaussian, rate: float, count: int) -> Release:
    return Release(noise, times=count, rate=rate, what="sum of clipped gradients")


@lru_cache(maxsize=1024)
def _multiplier(epsilon: float, delta: float, rate: float, count: int) -> float:
    """The smallest noise multiplier that Rényi accounting finds for the whole run."""
    from engine.privacy import accounting

    return accounting.calibrate(
        lambda s: cost((_batches(Gaussian(1.0, s), rate, count),)),
        epsilon,
        delta,
        RELATION,
        tight=False,
    )


def layer_budgets(spec: PcdbnSpec) -> tuple[float, float, float]:
    """Budgets of both convolution layers and of the softmax layer, as the text would split ε."""
    each = spec.epsilon * spec.layer_share / 2.0
    return each, each, spec.epsilon * (1.0 - spec.layer_share)
