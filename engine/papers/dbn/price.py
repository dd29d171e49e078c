"""What both studies release alike, and what it costs. No torch, and no data."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Protocol

from engine.privacy import descent
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import BEFORE, Release, exposed

RELATION: Final[Relation] = "zero_out_one"


class Descending(Protocol):
    """A spec with the fields of private gradient descent."""

    @property
    def epsilon(self) -> float: ...  # noqa: D102
    @property
    def delta(self) -> float: ...  # noqa: D102
    @property
    def clip(self) -> float: ...  # noqa: D102
    @property
    def sample_rate(self) -> float: ...  # noqa: D102
    @property
    def sgd_epochs(self) -> int: ...  # noqa: D102


def once(named: Mapping[str, Gaussian | Laplace]) -> tuple[Release, ...]:
    """Releases that are made once, before the first step, from what each is in words."""
    return tuple(Release(noise, first=BEFORE, what=what) for what, noise in named.items())


@lru_cache(maxsize=1024)
def whole(epsilon: float, delta: float) -> float:
    """The noise multiplier of a single Gaussian release that would spend the whole budget."""
    from dp_accounting import GaussianDpEvent

    from engine.privacy import accounting

    return accounting.calibrate(GaussianDpEvent, epsilon, delta, RELATION, tight=False)


def gradient_steps(spec: Descending, n: int) -> int:
    """Steps T = E / q."""
    return max(1, round(spec.sgd_epochs / spec.sample_rate))


def gradient_noise(spec: Descending, n: int) -> Gaussian:
    """The noise of DP-SGD on a batch's sum of gradients clipped to C."""
    plan = (spec.sample_rate, gradient_steps(spec, n))
    return Gaussian(spec.clip, descent.multiplier(spec.epsilon, spec.delta, RELATION, *plan))


def gradient_releases(spec: Descending, n: int) -> tuple[Release, ...]:
    """One noisy sum in each step, of records drawn by a coin each."""
    return (descent.batches(gradient_noise(spec, n), spec.sample_rate, gradient_steps(spec, n)),)


def reference_releases(spec: object, n: int) -> tuple[Release, ...]:
    """What a method without noise releases."""
    return exposed("The network is trained on the raw records, without noise.")


def layer_budgets(epsilon: float, share: float, layers: int) -> tuple[float, float]:
    """Budgets of each lower layer and of the output layer, as the text would split ε."""
    return epsilon * share / layers, epsilon * (1.0 - share)


def functional(features: int) -> float:
    """Sensitivity in L1 of one class's quadratic over features in [0, 1] (equation 19)."""
    return features + features**2 / 4.0
