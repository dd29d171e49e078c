r"""What the private mean releases, and how noisy. No torch here.

Guarantees:
    Values are clipped to [0, B], and m records are used, a public number. Replacing one record
    changes the sum of clipped values by at most B, and so the mean by at most B/m. It moves one
    record from one bin of the histogram to another, so the counts change by at most 2 in L1 norm
    and by at most \sqrt 2 in L2 norm (Dwork, McSherry, Nissim and Smith 2006, Section 3).
    Which records are used is drawn without looking at them, so that is public too. A missing value
    counts as a public one, which the data set's card states, so that no other record moves it.
    A clipped value counts as the nearest of GRID equal parts of B, so the sum of them is a whole
    number that one record moves by at most GRID. Sums and counts are exact in double precision.
"""

import math

from engine.papers.mean.spec import MeanSpec
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release, exposed

RELATION: Relation = "replace_one"
GRID = 2**20
"""Parts of the clipping bound: values are rounded to half a millionth of it."""
LAPLACE_MOVES, GAUSSIAN_MOVES = (GRID, 2), (GRID**2, 2)
"""How far one record moves the sum of the parts, and the counts (`Entry.whole`)."""


def one(spec: MeanSpec, n: int) -> int:
    """One step: the answer is computed once."""
    return 1


def used(spec: MeanSpec, n: int) -> int:
    """How many of n records are used."""
    return min(spec.records, n)


def laplace_releases(spec: MeanSpec, n: int) -> tuple[Release, ...]:
    """The mean and the histogram, which share the budget by its sum."""
    mean = Laplace(spec.bound / used(spec, n), (1.0 - spec.share) * spec.epsilon)
    return _releases(mean, Laplace(2.0, spec.share * spec.epsilon))


def gaussian_releases(spec: MeanSpec, n: int) -> tuple[Release, ...]:
    r"""The mean and the histogram, which share 1/\sigma^2 of one release of the whole budget."""
    whole = multiplier(spec)
    mean = Gaussian(spec.bound / used(spec, n), whole / math.sqrt(1.0 - spec.share))
    return _releases(mean, Gaussian(math.sqrt(2.0), whole / math.sqrt(spec.share)))


def _releases(mean: Laplace | Gaussian, counts: Laplace | Gaussian) -> tuple[Release, ...]:
    return Release(mean, what="mean"), Release(counts, what="histogram")


def exact_releases(spec: MeanSpec, n: int) -> tuple[Release, ...]:
    """What the method without noise releases."""
    return exposed("The exact mean and the exact histogram are published.")


def multiplier(spec: MeanSpec) -> float:
    r"""Standard deviation of Gaussian noise over the sensitivity, for the whole budget.

    As printed \sqrt{2\ln(1.25/\delta)}/\varepsilon (Dwork and Roth 2014, Theorem A.1), which is
    stated for \varepsilon < 1; with proof the least that the exact curve allows.
    """
    if spec.calibration == "paper":
        return math.sqrt(2.0 * math.log(1.25 / spec.delta)) / spec.epsilon
    from engine.privacy import gaussian

    return gaussian.multiplier(spec.epsilon, spec.delta)
