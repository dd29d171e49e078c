r"""What output and objective perturbation release, and the methods without privacy. No torch.

Both perturbations have the paper's sensitivities (`sensitivity`). With Gaussian in place of
Gamma-length noise they are (\varepsilon, \delta)-private, so that all methods can be compared at
one \delta.
"""

import functools
from dataclasses import dataclass

from engine.papers.survival.price.sensitivity import (
    FINISH,
    TOLERANCE,
    determinant,
    gradient_bound,
    objective_noise,
    output_noise,
    smallest_extra,
)
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import GammaSphere, Gaussian, GaussianObjective
from engine.privacy.releases import Release, exposed

ANY = 1
r"""The dimension that releases are declared for, since an entry's price knows no data set.

Only the sum of a run's price is the same for every dimension. Noise is drawn for the d parameters
there are: its length is Gamma's with shape d, and with proof objective perturbation splits its
budget in another way, so that \varepsilon', the determinants' share, \Delta and the sensitivity of
the finish are not those that are declared.
"""


def one(spec: SurvivalSpec, n: int) -> int:
    """One step: the answer is a closed form or a solver's."""
    return 1


def nothing_private(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """What a reference method releases."""
    return exposed("The model is fitted to the raw records, without noise.")


def output_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One draw of output perturbation."""
    return (Release(output_noise(spec, n, ANY), what="the minimiser"),)


def objective_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One solution of objective perturbation: its noise with the determinants, and the finish.

    Declared for one parameter (`ANY`): with d of them the parts differ, and their sum does not.
    """
    plan = objective_noise(spec, n, ANY)
    start = Release(plan.noise, what="the minimiser of the perturbed objective")
    if plan.finish is None:
        return (start,)
    return (start, Release(plan.finish, what="where the optimiser stops"))


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


def output_gaussian_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One draw of output perturbation."""
    return (Release(output_gaussian(spec, n, ANY), what="the minimiser"),)


def objective_gaussian_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One solution of objective perturbation and the noise that hides where it stops."""
    plan = objective_gaussian(spec, n, ANY)
    return (
        Release(plan.noise, what="the minimiser of the perturbed objective"),
        Release(plan.finish, what="where the optimiser stops"),
    )
