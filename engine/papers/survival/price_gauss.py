r"""Output and objective perturbation with Gaussian noise, at (\varepsilon, \delta). No torch.

Both have the paper's sensitivities with proof (`sensitivity`) and Gaussian in place of
Gamma-length noise, so that all methods can be compared at one \delta.
"""

import functools
from dataclasses import dataclass

from engine.papers.survival.price import COMPARISON, RELEASED, proved, scaling
from engine.papers.survival.sensitivity import (
    FINISH,
    TOLERANCE,
    determinant,
    gradient_bound,
    smallest_extra,
)
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import GammaSphere, Gaussian, GaussianObjective
from engine.privacy.releases import Release, cost

LENGTHS = (
    "The length of Gaussian noise grows with the square root of the number of parameters, that of "
    "the paper's pure-ε noise with the number itself, so Gaussian noise is shorter only where "
    "there are many columns. It is shown so that all methods can be compared at one δ."
)
PLAIN = (
    "This is (ε, δ)-privacy, weaker than the pure ε of the published method: the bound may fail "
)


def output_gaussian(spec: SurvivalSpec, n: int, dimension: int) -> Gaussian:
    r"""The noise of output perturbation, which is also its price.

    Guarantees:
        The minimiser moves by at most t^*/(n\Lambda) and the optimiser stops within \tau/\Lambda
        of it, as in `sensitivity.output_noise`: sensitivity (t^* + 2n\tau)/(n\Lambda). The
        multiplier is the exact one of (\varepsilon, \delta) (Balle and Wang 2018).

    Args:
        spec: The setting of one replica.
        n: Records.
        dimension: d; the noise of a coordinate does not depend on it.
    """
    from engine.privacy.gaussian import multiplier

    bound = gradient_bound(spec.intervals, spec.knots, "rigorous")
    sensitivity = (bound + 2.0 * n * TOLERANCE) / (n * spec.regularisation)
    return Gaussian(sensitivity, multiplier(spec.epsilon, spec.delta))


@dataclass(frozen=True)
class GaussianPlan:
    r"""The perturbed objective J(f) + \langle b, f\rangle/n + \frac\Delta2\|f\|^2.

    Attributes:
        extra: \Delta, added to the regularisation where \Lambda alone is too weak.
        noise: The mechanism that draws b.
        finish: Noise added to the minimiser because the optimiser stops short of it.
    """

    extra: float
    noise: GaussianObjective
    finish: GammaSphere


@functools.lru_cache(maxsize=4096)
def objective_gaussian(spec: SurvivalSpec, n: int, dimension: int) -> GaussianPlan:
    r"""The noise of objective perturbation, and its price.

    Guarantees:
        `engine.privacy.objective` with \Delta = t^* (`sensitivity`), r = \sum_s log(1 +
        \frac14(\|A_s\|^2 + 1)/m) (`sensitivity.determinant`), and k = e + 1: a record's gradient
        is [v; v_0 x] with v of e numbers, so the gradients of two records with covariates x and y
        lie, wherever they are taken, in the span of [1, 0, ..., 0; x], [1, 0, ..., 0; y] and the
        e - 1 other baseline directions. That needs covariates that are fixed in time. As in
        approximate minima perturbation (Iyengar et al. 2019, Algorithm 1), noise for twice the
        distance \tau/(\Lambda + \Delta) at which the optimiser stops hides the rest, for a share
        `FINISH` of \varepsilon.

    Args:
        spec: The setting of one replica.
        n: Records.
        dimension: d = e + p, for the last noise alone.
    """
    from engine.privacy.objective import objective_multiplier

    q, e, budget = spec.intervals, spec.knots, spec.epsilon * (1.0 - FINISH)

    def price(extra: float) -> float:
        return determinant(q, e, n * (spec.regularisation + extra), None)

    extra = smallest_extra(price, budget / 2.0)
    ratio = price(extra)
    noise = GaussianObjective(
        gradient_bound(q, e, "rigorous"),
        objective_multiplier(budget, spec.delta, e + 1, ratio),
        e + 1,
        ratio,
    )
    strength = spec.regularisation + extra
    finish = GammaSphere(2.0 * TOLERANCE / strength, spec.epsilon * FINISH, dimension)
    return GaussianPlan(extra, noise, finish)


def output_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One draw of output perturbation."""
    return (Release(output_gaussian(spec, n, 1), what="the minimiser"),)


def objective_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One solution of objective perturbation and the noise that hides where it stops."""
    plan = objective_gaussian(spec, n, 1)
    return (
        Release(plan.noise, what="the minimiser of the perturbed objective"),
        Release(plan.finish, what="where the optimiser stops"),
    )


def output_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of output perturbation."""
    return _card(
        spec, output_releases(spec, n), unit,
        "Output perturbation: Gaussian noise on the minimiser",
        "exact curve of one Gaussian release (Balle and Wang 2018)",
        "The sensitivity is the published method's with proof: 2τ/Λ is added because the optimiser "
        "stops at ‖∇J‖ ≤ τ. A fit that does not reach it is not released.",
        "Beyond the paper, which adds Gamma-length noise.",
    )  # fmt: skip


def objective_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of objective perturbation."""
    k = spec.knots + 1
    return _card(
        spec, objective_releases(spec, n), unit,
        "Objective perturbation: a Gaussian linear term in the objective",
        "ratio of densities, chi distribution; ratio of Jacobian determinants",
        f"Two records change the gradient in {k} dimensions at most, so the bound has {k} degrees "
        "of freedom instead of all of them. It holds for covariates that are fixed in time.",
        "Beyond the paper: Kifer et al. (2012); Redberg et al. (2023) for models with one "
        "direction; Iyengar et al. (2019) for optimisers that stop early.",
    )  # fmt: skip


def _card(
    spec: SurvivalSpec, releases: tuple[Release, ...], unit: str, mechanism: str, accountant: str,
    why: str, claim: str,
) -> Guarantee:  # fmt: skip
    """What the two cards share."""
    from engine.privacy import accounting

    return Guarantee(
        mechanism=mechanism,
        status=proved(spec),
        epsilon_claimed=None,
        epsilon_proved=accounting.epsilon(cost(releases), spec.delta, "replace_one"),
        delta=spec.delta,
        relation="replace_one",
        unit=unit,
        accountant=accountant,
        released=RELEASED,
        reasons=(
            f"{PLAIN}with probability at most δ = {spec.delta:g}.",
            why,
            LENGTHS,
            scaling(spec),
            COMPARISON,
        ),
        claim=claim,
    )
