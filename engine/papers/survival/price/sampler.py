"""What the two samplers of the sanitised posterior cost. No torch, and no data: only n."""

import math

from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import Exponential
from engine.privacy.releases import BEFORE, Release, exposed

TURNS = 100
"""Engine steps of a stochastic-gradient chain: points of its trace."""
BLOCKS = 10
"""Engine steps of the Metropolis-corrected chains."""
IMPROPER = (
    "The prior has precision 0. The bounded losses add up to less than n·v everywhere, so the "
    "target density does not vanish far out and its integral is infinite. It is not a "
    "distribution: nothing can be drawn from it, and nothing is proved."
)


def loss_bound(spec: SurvivalSpec, n: int) -> float:
    """v: the largest sanitised loss of one record; 2 log n where the spec says 0."""
    return spec.bound or 2.0 * math.log(max(n, 2))


def sanitised(spec: SurvivalSpec, n: int) -> Exponential:
    r"""The exponential mechanism of the sanitised losses, at temperature \varepsilon/(2v).

    Guarantees:
        Every sanitised loss is in [0, v), so replacing one record changes U by less than v at
        every f, and the density proportional to exp(\varepsilon U/(2v)) by a factor of at most
        exp(\varepsilon): one half for U, one for the normalising constant (McSherry and Talwar
        2007, Theorem 6; Theorem 5.1 of the paper). The link does not matter, nor does how exactly
        the loss is evaluated, as long as it is one function of one record and f.

        The chains' interpolated loss (`likelihood.lookup`) is that for given points that are
        evaluated together, and each such set of points is a target that the theorem holds for.
        From call to call the sets differ, and a loss with them by its error of about 1e-5, so the
        chains follow no single one of these targets. How far their draw is from the exact losses'
        target is a part of the \eta that the card leaves unknown.
    """
    return Exponential(loss_bound(spec, n), spec.epsilon)


def chain_steps(spec: SurvivalSpec, n: int) -> int:
    """Steps T of Algorithm 4: n to the epoch."""
    return max(1, round(spec.sampler_epochs * n))


def psgld_steps(spec: SurvivalSpec, n: int) -> int:
    """Engine steps: each advances the chains by a hundredth of their way."""
    return min(TURNS, chain_steps(spec, n))


def exact_steps(spec: SurvivalSpec, n: int) -> int:
    """Engine steps of the Metropolis-corrected chains."""
    return min(BLOCKS, max(1, spec.samples // 8))


def psgld_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """Nothing is proved of a finite chain of stochastic gradients."""
    return exposed("A finite chain of stochastic gradients is not an exact draw.")


def exact_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    r"""One draw of the exponential mechanism; without a prior there is none to draw from.

    Guarantees:
        The exponential mechanism needs a density with a finite integral (McSherry and Talwar 2007).
        At precision 0 the log density is above -\kappa n v on all of R^d, so its integral is
        infinite and the theorem says nothing.
    """
    if not spec.prior:
        return exposed(IMPROPER)
    return (Release(sanitised(spec, n), first=BEFORE, what="one draw of the parameters"),)


def burned(spec: SurvivalSpec, total: int) -> int:
    """Steps of a chain of so many that are left out: the burn-in, but at most half of all."""
    return min(spec.burn_in, total // 2)
