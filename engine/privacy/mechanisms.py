r"""Mechanisms: sensitivity and budget in, noise scale and price out. No torch here.

Noise and price come from the same object, so that they cannot disagree. Random draws are
`engine.privacy.noise`; what an event costs under composition is `engine.privacy.accounting`.
The accountant is imported when a price is first asked for: it takes a second to load.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dp_accounting import DpEvent


@dataclass(frozen=True)
class Laplace:
    r"""Adds independent Laplace noise to each coordinate (Dwork et al. 2006).

    Attributes:
        sensitivity: Largest change of the value in L1 norm between neighbours.
        epsilon: Budget of one release, in nats.

    Guarantees:
        \varepsilon-DP: the density ratio at any output is at most
        exp(\|v - v'\|_1 / scale) = exp(\varepsilon).
    """

    sensitivity: float
    epsilon: float

    @property
    def scale(self) -> float:
        """Scale b of the density exp(-|x|/b)/(2b); its standard deviation is b times sqrt 2."""
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> "DpEvent":
        """What one release costs."""
        from dp_accounting import LaplaceDpEvent

        return LaplaceDpEvent(1.0 / self.epsilon)


@dataclass(frozen=True)
class Gaussian:
    r"""Adds independent Gaussian noise to each coordinate.

    Attributes:
        sensitivity: Largest change of the value in L2 norm between neighbours.
        multiplier: Standard deviation of the noise over `sensitivity`.

    Guarantees:
        (\varepsilon, \delta)-DP with \delta(\varepsilon) of Balle and Wang 2018,
        Theorem 8, at noise multiplier `multiplier`.
    """

    sensitivity: float
    multiplier: float

    @property
    def scale(self) -> float:
        """Standard deviation of each coordinate's noise."""
        return self.sensitivity * self.multiplier

    @property
    def event(self) -> "DpEvent":
        """What one release costs."""
        from dp_accounting import GaussianDpEvent

        return GaussianDpEvent(self.multiplier)


@dataclass(frozen=True)
class GammaSphere:
    r"""Adds a vector whose density is proportional to exp(-\varepsilon \|b\|_2 / \Delta).

    Its norm is Gamma(dimension, scale) and its direction is uniform on the sphere
    (Chaudhuri and Monteleoni 2008, Algorithm 1).

    Attributes:
        sensitivity: Largest change \Delta of the value in L2 norm between neighbours.
        epsilon: Budget of one release, in nats.
        dimension: Length d of the vector.

    Guarantees:
        \varepsilon-DP: the density ratio at any output is at most
        exp(\varepsilon \|v - v'\|_2 / \Delta), by the triangle inequality.
    """

    sensitivity: float
    epsilon: float
    dimension: int

    @property
    def scale(self) -> float:
        """Scale of the norm's Gamma distribution; the mean norm is `dimension` times this."""
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> "DpEvent":
        """What one release costs."""
        from engine.privacy.pure import PureDp

        return PureDp(self.epsilon)


Mechanism: TypeAlias = Laplace | Gaussian | GammaSphere
