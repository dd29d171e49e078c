"""What the two samplers of the sanitised posterior cost. No torch, and no data: only n."""

import math

from engine.papers.survival.price import COMPARISON, RELEASED, scaling
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Exponential
from engine.privacy.releases import BEFORE, Release, exposed

TURNS = 100
"""Engine steps of a stochastic-gradient chain: points of its trace."""
BLOCKS = 10
"""Engine steps of the Metropolis-corrected chains."""
CLAIM = "Theorem 5.1: Algorithm 3 is ε-differentially private."
ONE = (
    "ε pays for one draw: the error is averaged over the draws of a chain, as in the paper, but "
    "releasing m of them costs m·ε."
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
        the loss is evaluated, as long as it is a function of one record and f.
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
    """One draw of the exponential mechanism, whatever the number of steps."""
    return (Release(sanitised(spec, n), first=BEFORE, what="one draw of the parameters"),)


def psgld_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of Algorithm 4."""
    return Guarantee(
        mechanism="Sanitised exponential mechanism, sampled by stochastic-gradient Langevin steps",
        status="heuristic",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=None,
        delta=0.0,
        failure="unknown: nothing is proved of a finite chain",
        relation="replace_one",
        unit=unit,
        sampling=f"{spec.minibatch} records a step, drawn with replacement",
        released=RELEASED,
        reasons=(
            "Theorem 5.1 needs an exact draw. No bound is known on how far a finite chain of "
            "stochastic gradients is from one.",
            *_drift(spec),
            *_short(spec, n),
            ONE,
            scaling(spec),
            COMPARISON,
        ),
        claim=CLAIM,
    )


def _drift(spec: SurvivalSpec) -> tuple[str, ...]:
    """What Algorithm 4 as printed targets, or what was mended.

    The square of the density is the mechanism at twice the temperature, so 2ε bounds an exact draw
    of it; of a finite chain nothing is proved either way.
    """
    if spec.calibration == "paper":
        return (
            "The printed drift ε_t·G·n·ḡ with noise N(0, ε_t·G) samples the square of the density: "
            f"for an exact draw from that, the proof gives 2ε = {2.0 * spec.epsilon:g}, not ε.",
            "The printed step size t^−0.51 has no scale. At scale 1 the first step is about 10·n "
            "in every coordinate, and the chain does not return.",
        )
    return (
        "Half the printed drift is used, which samples the density itself (Li et al. 2016), with a "
        "bias-corrected V, a start at (−3, 0, …) and a step scale, which the paper does not give.",
        "As in the paper, the preconditioner's dependence on f is neglected, so a bias remains.",
    )


def burned(spec: SurvivalSpec, total: int) -> int:
    """Steps of a chain of so many that are left out: the burn-in, but at most half of all."""
    return min(spec.burn_in, total // 2)


def _short(spec: SurvivalSpec, n: int) -> tuple[str, ...]:
    """Says where the chain is too short for the burn-in that was asked for."""
    total = chain_steps(spec, n)
    left_out = burned(spec, total)
    if left_out == spec.burn_in:
        return ()
    return (
        f"The burn-in of {spec.burn_in:,} steps is longer than half of the chain: only the first "
        f"{left_out:,} of its {total:,} steps are left out. Draw for more epochs.",
    )


def exact_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of Algorithm 3, sampled by Metropolis-corrected chains."""
    return Guarantee(
        mechanism="Sanitised exponential mechanism, sampled by Metropolis-corrected chains",
        status="proved_under_assumption",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=spec.epsilon,
        delta=0.0,
        relation="replace_one",
        unit=unit,
        accountant="pure ε, one draw of the exponential mechanism",
        failure=f"unknown: (1 + e^ε)·η = {1.0 + math.exp(min(spec.epsilon, 700.0)):.3g}·η, where "
        "η is how far the chain is from its target",
        released=RELEASED,
        reasons=(
            "Assumption: the draw has exactly the target's distribution. If a finite chain is "
            "within total variation η of it on every data set, the release is "
            "(ε, (1 + e^ε)·η)-private. η is unknown. R̂ near 1, a large effective sample size and a "
            "small estimated distance from the target make a small η plausible but do not prove "
            "it: they are computed on one data set, and the proof needs every one.",
            ONE,
            f"v = {loss_bound(spec, n):.4g} bounds the loss of a record. The number of records is "
            "public: replacing a record does not change it.",
            scaling(spec),
            COMPARISON,
        ),
        claim=CLAIM,
    )
