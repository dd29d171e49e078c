r"""What private relevance learning releases and what that costs. No torch here.

The first prototypes spend `share` of the budget, the gradient steps the rest. Noise is drawn
from the mechanisms made here, and the price is composed of their events.
"""

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from engine.papers.lvq.spec import LvqSpec
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import BEFORE, Release, cost, exposed

if TYPE_CHECKING:
    from dp_accounting import DpEvent

RELATION: Relation = "zero_out_one"
VECTOR_PARTS = {"centre": 0.1, "counts": 0.05, "sums": 0.85}
MATRIX_PARTS = {"centre": 0.1, "counts": 0.05, "sums": 0.4, "moment": 0.45}
"""How the tight initialisation divides its squared signal-to-noise among its releases."""
ROUNDS = 2
"""How often the records of a class are assigned again to the nearest of its several prototypes."""
BARE = "The class sums get noise for sensitivity 1, but one record changes them by up to d."
PRICED = (
    "epsilon",
    "delta",
    "share",
    "sample_rate",
    "epochs",
    "initialisation",
    "prototypes",
)
"""The fields on which a step's noise depends."""
STARTS = {
    "counts": "class counts",
    "sums": "class sums",
    "centre": "sum of all records",
    "moment": "second moments",
}
"""What the initialisation releases, in words."""
GROUPS = {"counts": "counts of groups within classes", "sums": "sums of groups within classes"}
"""What each round releases of several prototypes in a class."""


class StartNoise(NamedTuple):
    """What the initialisation adds noise with; None where it does not release that."""

    counts: Laplace | Gaussian
    sums: Laplace | Gaussian
    centre: Gaussian | None = None
    moment: Gaussian | None = None


def steps(spec: LvqSpec, n: int) -> int:
    """T = E/q, at least one."""
    return max(1, round(spec.epochs / spec.sample_rate))


def whitened(spec: LvqSpec) -> bool:
    """Whether the metric starts from a released covariance."""
    return spec.metric == "covariance" and spec.initialisation == "tight"


def scale(spec: LvqSpec, d: int) -> float:
    """The public factor on features in [-1, 1]: 1, or 1/sqrt(d) so that no norm exceeds 1."""
    return 1.0 if spec.scaling == "box" else 1.0 / math.sqrt(d)


def rounds(spec: LvqSpec) -> int:
    """How often groups within classes are released; as printed, a class has one prototype."""
    return ROUNDS if spec.prototypes > 1 and spec.initialisation == "tight" else 0


def start_noise(spec: LvqSpec, matrix: bool, d: int) -> StartNoise:
    r"""The mechanisms of the initialisation on scaled records x with |x_i| <= s = `scale`.

    Guarantees:
        As printed: one record changes one class count by 1 and one class sum by at most ds in L1
        norm; each gets epsilon_1/2 and Laplace noise (Brinkrolf et al. 2018, Section 3).
        `sensitivity_1` divides the second scale by d, so that the sums spend d epsilon_1/2.
        Tight: `centre` is the sum of x, at most s sqrt(d) long. The others are released together
        from z = x - centre, clipped at norm b = B s sqrt(d): the class count (changed by 1), the
        class sum (by at most b) and zz^T (by at most b² in Frobenius norm, in orthonormal
        coordinates of symmetric matrices). Divided by their noise, a record's joint change has
        squared norm at most sum_i f_i / sigma_0² = 1/sigma_0², so everything together costs one
        Gaussian release of multiplier sigma_0 (independent Gaussians compose so exactly).
        With equal noise on sums and counts this is the joint sensitivity sqrt(b² + 1).
        Several prototypes in a class: `rounds` times, each record joins the nearest prototype of
        its class, and the groups' counts and sums are released. The prototypes follow from earlier
        releases, and a record is in one group, so it changes one count by 1 and one sum by at most
        b, as it does with classes. Each of these 1 + `rounds` releases gets the same part of f,
        so the squared norm and the price stay (adaptive composition of Gaussians, Dong et al.
        2022, Corollary 3.3).
    """
    s = scale(spec, d)
    if spec.initialisation != "tight":
        budget = spec.share * spec.epsilon / 2.0
        width = d * s if spec.initialisation == "paper" else s
        return StartNoise(Laplace(1.0, budget), Laplace(width, budget))
    parts, sigma = _parts(spec, matrix), first_multiplier(spec)
    longest = s * math.sqrt(d)
    b = spec.bound * longest
    sizes = {"centre": longest, "counts": 1.0, "sums": b, "moment": b * b}
    times = {name: 1 + rounds(spec) for name in GROUPS}
    made = {
        name: Gaussian(sizes[name], sigma * math.sqrt(times.get(name, 1) / f))
        for name, f in parts.items()
    }
    return StartNoise(**made)


def _parts(spec: LvqSpec, matrix: bool) -> dict[str, float]:
    return MATRIX_PARTS if matrix and whitened(spec) else VECTOR_PARTS


def first_multiplier(spec: LvqSpec) -> float:
    """sigma_0: the tight initialisation alone would cost `share` of the budget at delta."""
    return _first(spec.share * spec.epsilon, spec.delta)


@lru_cache(maxsize=4096)
def _first(budget: float, delta: float) -> float:
    """The multiplier of one Gaussian release that spends the budget."""
    from engine.privacy.gaussian import multiplier

    return multiplier(budget, delta)


def start(spec: LvqSpec, matrix: bool) -> tuple[Release, ...]:
    """What is released before the first step; with sensitivity 1 see `guarantees.narrow` too."""
    if spec.initialisation == "sensitivity_1":
        return exposed(BARE)
    made = start_noise(spec, matrix, 1)._asdict()
    first = [(name, what) for name, what in STARTS.items() if made[name] is not None]
    again = [(name, what) for name, what in GROUPS.items()] * rounds(spec)
    return tuple(Release(made[name], first=BEFORE, what=what) for name, what in first + again)


def step_noise(spec: LvqSpec) -> Gaussian:
    """The mechanism of one step: sensitivity C, in both blocks taken as one vector."""
    return Gaussian(spec.clip, multiplier(spec))


def descent(spec: LvqSpec, noise: Gaussian) -> Release:
    """What the steps release: Poisson-sampled sums with this noise."""
    return Release(
        noise,
        times=steps(spec, 0),
        rate=spec.sample_rate,
        what="sum of clipped gradients",
    )


def releases(matrix: bool, spec: LvqSpec, n: int) -> tuple[Release, ...]:
    """Every release of GLVQ or, with a matrix, of GMLVQ; both cost the same."""
    return (*start(spec, matrix), descent(spec, step_noise(spec)))


def free(spec: LvqSpec, n: int) -> tuple[Release, ...]:
    """What the references release."""
    return exposed("Prototypes and metric are computed from the records, without noise.")


def printed_multiplier(spec: LvqSpec) -> float:
    r"""The paper's rule \sigma = 2q\sqrt{T\log(1/\delta)}/\varepsilon_2 (Section 3)."""
    second = (1.0 - spec.share) * spec.epsilon
    count = steps(spec, 0)
    return 2.0 * spec.sample_rate * math.sqrt(count * math.log(1.0 / spec.delta)) / second


def multiplier(spec: LvqSpec) -> float:
    """Noise of a step over its clipping bound."""
    if spec.calibration == "paper":
        return printed_multiplier(spec)
    return _calibrated(LvqSpec(**{name: getattr(spec, name) for name in PRICED}))


@lru_cache(maxsize=4096)
def _calibrated(spec: LvqSpec) -> float:
    """The smallest multiplier with which initialisation and steps together cost epsilon.

    With the initialisation of sensitivity 1 only the steps are calibrated: what is released before
    them spends more than its share, by the number of features.
    """
    from engine.privacy.accounting import calibrate

    count = steps(spec, 0)
    broken = spec.initialisation == "sensitivity_1"
    before = () if broken else start(spec, False)
    budget = spec.epsilon * (1.0 - spec.share if broken else 1.0)

    def make(sigma: float) -> "DpEvent":
        return cost((*before, descent(spec, Gaussian(spec.clip, sigma))))

    near = _expected(spec, count)
    return calibrate(make, budget, spec.delta, RELATION, bracket=(near / 8.0, near * 8.0))


def _expected(spec: LvqSpec, count: int) -> float:
    r"""Where to look: the multiplier at which the central limit meets the rest of the budget.

    The steps are nearly Gaussian with \mu = q\sqrt{T(e^{1/\sigma^2}-1)} (Bu et al. 2020); only
    the bracket depends on it, never the noise.
    """
    if spec.initialisation == "tight":
        whole, part = 1.0 / _first(spec.epsilon, spec.delta), 1.0 / first_multiplier(spec)
        mu = math.sqrt(whole**2 - part**2)
    else:
        mu = 1.0 / _first((1.0 - spec.share) * spec.epsilon, spec.delta)
    return 1.0 / math.sqrt(math.log1p((mu / spec.sample_rate) ** 2 / count))


def steps_epsilon(spec: LvqSpec) -> float:
    """What the steps alone cost at delta by the PLD accountant, in nats."""
    from engine.privacy.accounting import epsilon

    return epsilon(cost((descent(spec, step_noise(spec)),)), spec.delta, RELATION, tight=True)
