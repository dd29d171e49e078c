r"""What each method releases, with how much noise, in how many steps. No torch, and no data.

With proof every release is a sum over records of an array whose L2 norm is at most 1, so each has
sensitivity 1 when a record is added or removed. Gaussian releases with multipliers s_i
compose, adaptively too, to one with 1/s^2 = \sum 1/s_i^2; the budget is split in 1/s^2.

A polynomial of degree L needs moments up to order L + 1. The second are released in full, and so
are the fourth where no others are needed (L = 3). Otherwise all beyond the second are released
along a few directions Q, the strongest of the noisy second moments, which cost nothing more:
since Q's rows are orthonormal, \|Qv\| \le \|v\|, and \sum_j \|(Qv_j)^{\otimes r}\| \le
\sum_j \|v_j\|^r = 1 for every order r.
"""

from dataclasses import dataclass

from engine.papers.dbn import price
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, exposed
from engine.training.polynomials import coefficients

ENOUGH = 750.0
"""Records over the multiplier at which a moment is exact enough: less noise would move
nothing that can be seen, so what is left goes to the classifier. It also lets replicas
with large budgets share one feature pass."""
CROWD = 0.89
"""Noise of A over its mean eigenvalue at which the rule for d stops adding features."""
WHOLE = (4,)
"""Orders whose moments are released in full: of 5 x 5 patches a symmetric matrix of 325 x 325,
52,975 numbers. Others would be too many: the eighth moments have 10,518,300."""
SKETCH = 6
"""Directions along which other moments are released: 1,287 numbers for the eighth."""
NAMES = {3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth"}
"""What the orders are called."""
ZERO = 1e-9
"""Coefficients below are rounding."""


@dataclass(frozen=True)
class Releases:
    """The Gaussian releases of one run, each of sensitivity 1.

    Attributes:
        patches: Second moments of the patches.
        higher: Moments of the patches of each of `orders`.
        orders: The orders beyond the second that the energy has, none for L = 1.
        maps: Second moments of the first layer's patches.
        mean: Sum of the second layer's features.
        channels: Second moments between channels.
        positions: Second moments between positions.
        matrix: The sum of p p'.
        vector: The sum of p y'.
    """

    patches: Gaussian
    higher: Gaussian
    orders: tuple[int, ...]
    maps: Gaussian
    mean: Gaussian
    channels: Gaussian
    positions: Gaussian
    matrix: Gaussian
    vector: Gaussian

    @property
    def whole(self) -> bool:
        """Whether fourth moments are released in full: where the energy has no others."""
        return self.orders == WHOLE

    @property
    def moments(self) -> tuple[Gaussian, ...]:
        """Those before the classifier."""
        first = (self.patches, *(self.higher for _ in self.orders))
        return (*first, self.maps, self.mean, self.channels, self.positions)

    @property
    def listed(self) -> tuple[Release, ...]:
        """All of them, made once, before the first step."""
        along = "" if self.whole else f", along {SKETCH} directions"
        higher = {
            f"{NAMES[o]} moments of the image patches{along}": self.higher for o in self.orders
        }
        return price.once(
            {
                "second moments of the image patches": self.patches,
                **higher,
                "second moments of the first layer's patches": self.maps,
                "sum of the second layer's features": self.mean,
                "second moments between channels": self.channels,
                "second moments between positions": self.positions,
                "Σpp' of the features": self.matrix,
                "Σpy' of features and classes": self.vector,
            }
        )


def orders(spec: PcdbnSpec) -> tuple[int, ...]:
    r"""The orders beyond the second of the moments that the energy of a filter has.

    Order l + 1 belongs to \alpha_l X^l; a coefficient that is zero needs no moments.

    Raises:
        SpecError: A polynomial of that degree is not printed.
    """
    alpha = coefficients(spec.polynomial, spec.degree, spec.activation)
    return tuple(n + 1 for n in range(2, len(alpha)) if abs(alpha[n]) > ZERO)


def releases(spec: PcdbnSpec, n: int) -> Releases:
    """The releases whose composition costs `spec.epsilon` at `spec.delta`."""
    whole = price.whole(spec.epsilon, spec.delta)
    higher = orders(spec)
    count = 5 + len(higher)
    each = max(whole * (count / spec.moment_share) ** 0.5, n / ENOUGH)
    head = (whole**-2 - count * each**-2) ** -0.5
    moment = Gaussian(1.0, each)
    return Releases(
        patches=moment,
        higher=moment,
        orders=higher,
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


def network_steps(spec: PcdbnSpec, n: int) -> int:
    """One step per epoch: pre-training of two layers, then the layers above."""
    return 2 * spec.pretraining + spec.epochs


def pcdbn_steps(spec: PcdbnSpec, n: int) -> int:
    """One step for the closed form; one per epoch otherwise."""
    if spec.calibration != "rigorous":
        return network_steps(spec, n)
    return spec.epochs if spec.solver == "descent" else 1


def printed_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """What the text's and the published program's noise leaves open: all."""
    return exposed("Filters and weights follow raw records; the noise covers some coefficients.")


def pcdbn_releases(spec: PcdbnSpec, n: int) -> tuple[Release, ...]:
    """The moments and the quadratic, whatever the number of epochs."""
    return releases(spec, n).listed if spec.calibration == "rigorous" else printed_releases(spec, n)
