r"""What the rigorous calibration releases, and with how much noise. No torch, no data.

Every release is a sum over records of an array whose L2 norm is at most 1, so each has
sensitivity 1 when a record is added or removed. Gaussian releases with multipliers s_i
compose, adaptively too, to one with 1/s^2 = \sum 1/s_i^2; the budget is split in 1/s^2.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final

from engine.core.errors import SpecError
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import BEFORE, Release

RELATION: Final[Relation] = "zero_out_one"
DEGREES = (1, 3)
"""Degrees whose energy is even in the filter: second, and second and fourth moments."""
ENOUGH = 750.0
"""Records over the multiplier at which a moment is exact enough: less noise would move
nothing that can be seen, so what is left goes to the classifier. It also lets replicas
with large budgets share one feature pass."""
CROWD = 0.89
"""Noise of A over its mean eigenvalue at which the rule for d stops adding features."""
WHAT = {
    "patches": "second moments of the image patches",
    "quartic": "fourth moments of the image patches",
    "maps": "second moments of the first layer's patches",
    "mean": "sum of the second layer's features",
    "channels": "second moments between channels",
    "positions": "second moments between positions",
    "matrix": "Σpp' of the features",
    "vector": "Σpy' of features and classes",
}
"""What each release is, in words."""


@dataclass(frozen=True)
class Releases:
    """The Gaussian releases of one run, each of sensitivity 1.

    Attributes:
        patches: Second moments of the patches.
        quartic: Fourth moments of the patches; None for L = 1.
        maps: Second moments of the first layer's patches.
        mean: Sum of the second layer's features.
        channels: Second moments between channels.
        positions: Second moments between positions.
        matrix: The sum of p p'.
        vector: The sum of p y'.
    """

    patches: Gaussian
    quartic: Gaussian | None
    maps: Gaussian
    mean: Gaussian
    channels: Gaussian
    positions: Gaussian
    matrix: Gaussian
    vector: Gaussian

    @property
    def moments(self) -> tuple[Gaussian, ...]:
        """Those before the classifier."""
        first = (self.patches, *((self.quartic,) if self.quartic else ()))
        return (*first, self.maps, self.mean, self.channels, self.positions)

    @property
    def listed(self) -> tuple[Release, ...]:
        """All of them, made once, before the first step."""
        return tuple(
            Release(part, first=BEFORE, what=WHAT[name])
            for name, part in vars(self).items()
            if part is not None
        )


@lru_cache(maxsize=1024)
def multiplier(epsilon: float, delta: float) -> float:
    """The noise of a single release that would spend the whole budget."""
    from dp_accounting import GaussianDpEvent

    from engine.privacy import accounting

    return accounting.calibrate(GaussianDpEvent, epsilon, delta, RELATION, tight=False)


def releases(spec: PcdbnSpec, n: int) -> Releases:
    """The releases whose composition costs `spec.epsilon` at `spec.delta`.

    Raises:
        SpecError: A degree whose moments are not released.
    """
    if spec.degree not in DEGREES:
        order = spec.degree + 1
        numbers = comb(spec.filter_size**2 + order - 1, order)
        raise SpecError(
            "degree",
            f"expected 1 or 3 in the rigorous calibration, since degree {spec.degree} needs "
            f"moments up to order {order}, the last with {numbers:,} numbers, got {spec.degree}",
        )
    whole = multiplier(spec.epsilon, spec.delta)
    count = 5 + (spec.degree == 3)
    each = max(whole * (count / spec.moment_share) ** 0.5, n / ENOUGH)
    head = (whole**-2 - count * each**-2) ** -0.5
    moment = Gaussian(1.0, each)
    return Releases(
        patches=moment,
        quartic=moment if spec.degree == 3 else None,
        maps=moment,
        mean=moment,
        channels=moment,
        positions=moment,
        matrix=Gaussian(1.0, head * spec.matrix_share**-0.5),
        vector=Gaussian(1.0, head * (1.0 - spec.matrix_share) ** -0.5),
    )


def dimensions(spec: PcdbnSpec, n: int, most: int) -> int:
    r"""How many features the classifier gets; at most the `most` that there are.

    The noise on A has operator norm about s \sqrt{2d}, while its mean eigenvalue is n/d:
    d^{3/2} = n / (0.89 s) keeps one in proportion to the other.
    """
    if spec.dimensions:
        return min(spec.dimensions, most)
    rule = (n / (CROWD * releases(spec, n).matrix.multiplier)) ** (2.0 / 3.0)
    return max(min(int(rule), most, 600), min(2, most))
