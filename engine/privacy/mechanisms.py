r"""Mechanisms: sensitivity and budget in, noise scale and price out. No torch here.

Noise and price come from the same object, so that they cannot disagree. Random draws are
`engine.privacy.noise`; how often a run uses a mechanism is `engine.privacy.releases`; what an
event costs under composition is `engine.privacy.accounting`.
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

    >>> count = Laplace(sensitivity=1.0, epsilon=0.5)
    >>> count.scale
    2.0
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

    >>> Gaussian(sensitivity=2.0, multiplier=3.0).scale
    6.0
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
        ratio: Where the vector goes into an objective that is then minimised, the largest log
            ratio of the two Jacobian determinants (Chaudhuri et al. 2011, Theorem 9), in nats.

    Guarantees:
        (\varepsilon + ratio)-DP: the density ratio at any output is at most
        exp(\varepsilon \|v - v'\|_2 / \Delta), by the triangle inequality, times exp(ratio).
    """

    sensitivity: float
    epsilon: float
    dimension: int
    ratio: float = 0.0

    @property
    def scale(self) -> float:
        """Scale of the norm's Gamma distribution; the mean norm is `dimension` times this."""
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> "DpEvent":
        """What one release costs."""
        from engine.privacy.pure import PureDp

        return PureDp(self.epsilon + self.ratio)


@dataclass(frozen=True)
class GaussianObjective:
    r"""Adds a Gaussian linear term to an objective that is then minimised.

    Attributes:
        sensitivity: Largest change \Delta of the objective's gradient in L2 norm, at any point.
        multiplier: Standard deviation of each coordinate of the term over `sensitivity`.
        freedom: Dimensions in which one pair of records can change the gradient.
        ratio: Largest log ratio of the two Jacobian determinants, in nats.

    Guarantees:
        (\varepsilon, \delta)-DP as `engine.privacy.objective` derives.
    """

    sensitivity: float
    multiplier: float
    freedom: int
    ratio: float = 0.0

    @property
    def scale(self) -> float:
        """Standard deviation of each coordinate."""
        return self.sensitivity * self.multiplier

    @property
    def event(self) -> "DpEvent":
        """What one minimisation costs."""
        from engine.privacy.objective import ObjectiveDp

        return ObjectiveDp(self.multiplier, self.freedom, self.ratio)


@dataclass(frozen=True)
class Exponential:
    r"""One draw of density proportional to exp(\varepsilon U / (2\Delta)); it adds no noise.

    Attributes:
        sensitivity: Largest change \Delta of the utility U at any point between neighbours.
        epsilon: Budget of one draw, in nats.

    Guarantees:
        \varepsilon-DP: U and the normalising constant each change the density by a factor of at
        most exp(\varepsilon / 2) (McSherry and Talwar 2007, Theorem 6).
    """

    sensitivity: float
    epsilon: float

    @property
    def temperature(self) -> float:
        r"""\varepsilon / (2\Delta): what the utility is multiplied by."""
        return self.epsilon / (2.0 * self.sensitivity)

    @property
    def event(self) -> "DpEvent":
        """What one draw costs."""
        from engine.privacy.pure import PureDp

        return PureDp(self.epsilon)


@dataclass(frozen=True)
class Exposed:
    """Something computed from the records that leaves with no proved bound: no price.

    Attributes:
        why: One sentence: what is released, and why no noise covers it.
    """

    why: str

    @property
    def event(self) -> "DpEvent":
        """What no finite budget pays for."""
        from dp_accounting import NonPrivateDpEvent

        return NonPrivateDpEvent()


Noise: TypeAlias = Laplace | Gaussian | GammaSphere | GaussianObjective
"""Mechanisms that add noise, which `engine.privacy.noise` draws."""
Mechanism: TypeAlias = Noise | Exponential | Exposed
"""What a release can be."""
