"""What each method costs: a number of steps, an event, a mechanism. No torch, and no data."""

from engine.papers.pcdbn.releases import RELATION, releases
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.privacy import descent
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, exposed

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
    steps = psgd_steps(spec, n)
    return Gaussian(
        spec.clip,
        descent.multiplier(spec.epsilon, spec.delta, RELATION, spec.sample_rate, steps),
    )


def psgd_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """So many batches, each drawn by a coin per record."""
    return (descent.batches(gradient_noise(spec, n), spec.sample_rate, psgd_steps(spec, n)),)


def layer_budgets(spec: PcdbnSpec) -> tuple[float, float, float]:
    """Budgets of both convolution layers and of the softmax layer, as the text would split ε."""
    each = spec.epsilon * spec.layer_share / 2.0
    return each, each, spec.epsilon * (1.0 - spec.layer_share)
