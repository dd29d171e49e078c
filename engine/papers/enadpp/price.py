r"""What each method's steps release and what that costs. No torch here.

Noise scale and price come from the same mechanism object: what a step adds is the noise of
its release among `releases`, which are what is priced. Neighbours differ by adding or removing one
record, so that a batch's clipped sum has sensitivity C; the divisor |L| is a
constant. The paper itself replaces one record, where the sensitivity is 2C.
Where records are drawn in pairs, see `engine.training.sampling.pairs`: at most one
pair of a step holds a given record, so the same numbers hold. Shuffled batches are disjoint
within an epoch, so a record pays for one step of each epoch, in full: no gain from sampling is
proved for them, and the price of Poisson batches does not hold (Annamalai et al. 2024).

Where steps share noise, a step releases \sum_{j < b} c_j g_{t-j}, and batches are cut from one
order for all epochs, so that a record's steps are at least b apart: a record moves b releases by
\|c\| C in all, once in each epoch (`engine.privacy.toeplitz`). Each step's noise is that of
sensitivity \|c\| C, of which a single step sees C c_j at most, and an epoch costs one release.

Automatic and adaptive clipping keep a record's part in a step at C, with the count of short
gradients in it (`engine.papers.enadpp.clipping`): noise and price are those of one bound.
"""

import itertools
import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import Variant
from engine.privacy import toeplitz
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Exposed, Gaussian, Laplace
from engine.privacy.releases import BEFORE, Batches, Release, cost, exposed
from engine.training.split import trained

if TYPE_CHECKING:
    from dp_accounting import DpEvent

RELATION: Relation = "zero_out_one"
STAIRS = 10
"""APPDL's deviation falls in so many equal stairs, so that an accountant can price it."""

RATIOS = "The budget ratios are computed from the records and used without noise."


def steps(spec: EnadppSpec, n: int) -> int:
    """Steps T = E / q."""
    return max(1, round(spec.epochs / spec.sample_rate))


def plain_steps(spec: EnadppSpec, n: int) -> int:
    """Steps without privacy, whose batches are smaller."""
    return max(1, round(spec.epochs / plain_rate(spec, n)))


def plain_rate(spec: EnadppSpec, n: int) -> float:
    """Sampling rate without privacy."""
    return min(1.0, spec.plain_lot / trained(n))


def batch_size(spec: EnadppSpec, n: int, variant: Variant | None = None) -> float:
    """Expected batch size |L|, which divides every sum: q times the records trained on.

    Shuffled batches are 1/q to an epoch, rounded: a single one holds every record.
    """
    drawn = batches(spec, variant)
    return drawn.rate * trained(n) / drawn.parts


def batches(spec: EnadppSpec, variant: Variant | None = None) -> Batches:
    """How a private step draws its records; by coins or shuffled for most methods."""
    parts = max(1, round(1.0 / spec.sample_rate))
    if variant is not None and variant.correlated:
        return Batches(1.0, parts, kept=True)
    return Batches(spec.sample_rate) if spec.sampling == "poisson" else Batches(1.0, parts)


def bands(variant: Variant, spec: EnadppSpec) -> int:
    """b: steps that share noise; a record's steps are at least as far apart."""
    return min(spec.bands, batches(spec, variant).parts) if variant.correlated else 1


def stairs(spec: EnadppSpec, n: int) -> tuple[int, ...]:
    """The first step of each of APPDL's stairs, counted from zero."""
    total = steps(spec, n)
    return tuple(sorted({total * k // STAIRS for k in range(STAIRS)}))


def paper_epsilon(spec: EnadppSpec, n: int, reading: str) -> float:
    r"""What one batch really spends under a reading of the printed noise, replacing a record.

    The Laplace scale on the mean is b = 2 \gamma C / (|L|^2 \varepsilon) under A,
    2 \gamma C / (|L| \varepsilon) under B and 2 C / (|L| \varepsilon) under C, against
    a sensitivity of 2 C / |L|: the quotient is \varepsilon |L| / \gamma,
    \varepsilon / \gamma and \varepsilon.
    """
    factor = {
        "A": batch_size(spec, n) / spec.learning_rate,
        "B": 1.0 / spec.learning_rate,
        "C": 1.0,
    }
    return spec.epsilon * factor[reading]


def releases(variant: Variant, spec: EnadppSpec, n: int) -> tuple[Release, ...]:
    """Every release of a run: a noisy sum in each step, and what leaves beside it.

    The paper's calibration takes its ratios from the records in the clear, which no
    accountant can bound.
    """
    if not variant.private:
        return exposed("Nothing is clipped and no noise is added.")
    sums = _sums(variant, spec, n)
    if variant.whitens(spec.representation):
        return (Release(moments(spec), first=BEFORE, what="second moments of the features"), *sums)
    return (*exposed(RATIOS), *sums) if unaccounted(variant, spec) else sums


def moments(spec: EnadppSpec) -> Gaussian:
    r"""The noise on the second moments of the features, of which a record moves 1.

    Gaussian releases add up by 1/\sigma^2: this one has the share \beta of what the budget allows
    one release, 1/\sigma_1^2. The steps get what is left of the budget, by the accountant.
    """
    alone = _gaussian(spec.epsilon, spec.delta, Batches(1.0), 1)
    return Gaussian(1.0, alone / math.sqrt(spec.moment_share))


def _sums(variant: Variant, spec: EnadppSpec, n: int) -> tuple[Release, ...]:
    """The noisy sums of clipped gradients, stair by stair."""
    starts = stairs(spec, n) if variant.falling else (0,)
    return tuple(
        replace(
            _repeated(_noise(variant, spec, n, start), batches(spec, variant), end - start, start),
            what="sum of clipped gradients",
        )
        for start, end in itertools.pairwise((*starts, steps(spec, n)))
    )


def mechanism(
    variant: Variant, spec: EnadppSpec, n: int, step: int = 0
) -> Laplace | Gaussian | None:
    """What step number `step`, counted from zero, adds to the clipped sum; None adds nothing."""
    if not variant.private:
        return None
    starts = stairs(spec, n) if variant.falling else (0,)
    return _noise(variant, spec, n, max(start for start in starts if start <= step))


def _noise(variant: Variant, spec: EnadppSpec, n: int, start: int) -> Laplace | Gaussian:
    """The noise on the sums from step `start` on."""
    if variant.falling:
        return Gaussian(spec.clip, _first_stair(spec, n) * spec.sigma_decay**start)
    if unaccounted(variant, spec):
        # under add-or-remove-one the same noise spends half of what it does when replacing
        return Laplace(spec.clip_l1, paper_epsilon(spec, n, spec.noise_reading) / 2.0)
    if variant.correlated:
        reach = spec.clip * toeplitz.norm(bands(variant, spec), spec.momentum)
        return Gaussian(reach, _multiplier(variant, spec, n))
    if variant.ratios is None or spec.noise == "gaussian":
        return Gaussian(spec.clip, _multiplier(variant, spec, n))
    return Laplace(spec.clip_l1, 1.0 / _laplace(spec.epsilon, spec.delta, *_plan(spec, n)))


def unaccounted(variant: Variant, spec: EnadppSpec) -> bool:
    """Whether the budget ratios come from the records without being paid for."""
    return variant.ratios is not None and spec.calibration == "paper"


def noise_cost(variant: Variant, spec: EnadppSpec, n: int, count: int) -> "DpEvent":
    """What `count` noisy sums cost, were the budget ratios public."""
    return cost(
        [r for r in releases(variant, spec, n) if not isinstance(r.mechanism, Exposed)], count
    )


def _repeated(added: Laplace | Gaussian, drawn: Batches, count: int, start: int = 0) -> Release:
    """So many noisy sums of batches."""
    return Release(added, times=count, rate=drawn.rate, first=start, disjoint=drawn.parts)


def _plan(spec: EnadppSpec, n: int) -> tuple[Batches, int]:
    return batches(spec), steps(spec, n)


def _multiplier(variant: Variant, spec: EnadppSpec, n: int) -> float:
    """The noise multiplier of the steps, beside the moments where they are released."""
    plan = (spec.epsilon, spec.delta, batches(spec, variant), steps(spec, n))
    if not variant.whitens(spec.representation):
        return _gaussian(*plan)
    return _gaussian(*plan, moments(spec).multiplier)


@lru_cache(maxsize=4096)
def _gaussian(
    epsilon: float, delta: float, drawn: Batches, count: int, before: float = math.inf
) -> float:
    """The noise multiplier by PLD, beside one release of all records with multiplier `before`."""
    from engine.privacy import accounting

    def make(multiplier: float) -> "DpEvent":
        first = () if before == math.inf else (Release(Gaussian(1.0, before), first=BEFORE),)
        return cost((*first, _repeated(Gaussian(1.0, multiplier), drawn, count)))

    return accounting.calibrate(make, epsilon, delta, RELATION)


@lru_cache(maxsize=4096)
def _laplace(epsilon: float, delta: float, drawn: Batches, count: int) -> float:
    """The Laplace scale over the sensitivity, by PLD."""
    from engine.privacy import accounting

    def make(scale: float) -> "DpEvent":
        return cost((_repeated(Laplace(1.0, 1.0 / scale), drawn, count),))

    return accounting.calibrate(make, epsilon, delta, RELATION)


def _first_stair(spec: EnadppSpec, n: int) -> float:
    r"""APPDL's \sigma_0, by Renyi accounting of all stairs: PLD would take minutes."""
    budget = (spec.epsilon, spec.delta, batches(spec), spec.sigma_decay)
    return _stairs(*budget, stairs(spec, n), steps(spec, n))


@lru_cache(maxsize=4096)
def _stairs(
    epsilon: float,
    delta: float,
    drawn: Batches,
    decay: float,
    starts: tuple[int, ...],
    total: int,
) -> float:
    from engine.privacy import accounting

    ends = (*starts[1:], total)

    def flat(multiplier: float) -> "DpEvent":
        return cost((_repeated(Gaussian(1.0, multiplier), drawn, total),))

    def make(first: float) -> "DpEvent":
        """All stairs, the first of this deviation."""
        return cost(
            [
                _repeated(Gaussian(1.0, first * decay**start), drawn, end - start, start)
                for start, end in zip(starts, ends, strict=True)
            ]
        )

    # The stairs lie between two flat ones, whose price takes a tenth of the time. Below a
    # deviation of 1 the Renyi bound of a sample is rugged, and the even noise a loose guide.
    even = accounting.calibrate(flat, epsilon, delta, RELATION, tight=False)
    lowest = max(decay ** starts[-1], 1e-300)
    bracket = (0.99 * even, min(1e6, max(1.0, 1.01 * even) / lowest))
    return accounting.calibrate(make, epsilon, delta, RELATION, tight=False, bracket=bracket)
