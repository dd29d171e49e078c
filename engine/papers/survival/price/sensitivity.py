r"""How far one record can move the objective, and the noise that hides it. No torch here.

Everything follows from the public grid: q intervals, e knots, n records, p covariates.
Throughout, \|x_i\| \le 1, neighbours differ in one record, and the spline has rows A_s. Where
covariates vary in time a record is a person with the whole path x_i^s, all of which is replaced,
and \|x_i^s\| \le 1 in every interval.

*Gradient of one record* (Lemma 4.2). \nabla\ell_i = \sum_s g_i^s [A_s; x_i^s] with g = h before
interval t_i, h - \delta_i in it and 0 after it, h in (0, 1). The paper bounds the norm of the
difference of two records interval by interval, by t. It is tighter to add up the intervals along
one direction at a time: the norm is the largest \langle u, \nabla\ell_i - \nabla\ell_j\rangle over
unit vectors u = (v, w). Along u, interval s adds g_i (a + b_i) - g_j (a + b_j), where a = A_s v,
and b_i, b_j are covariates along w, so |b| \le |w|. Its largest value, over all g and b:

* g_i and g_j lie in [0, 1]: (a + b_i)^+ + (-a - b_j)^+ \le |w| + \max(|w|, |a|);
* both have their event in s, so g_i and g_j lie in [-1, 0]: the same with the signs turned;
* one of them is no longer there: |a| + |w|, which is less;
* one has its event and the other survives: g_i in [-1, 0] and g_j in [0, 1] give 2|a| + 2|w|. This
  is so in one interval at most: the other record's own event comes when the first has gone.

With A's row norms a_1 \ge a_2 \ge ..., |A_s v| \le \|A_s\| |v|, and k intervals where |a| is the
larger, the sum is at most (2q - k) |w| + (2 a_1 + a_2 + ... + a_{k+1}) |v|, and over unit vectors

t^* = \max_{0 \le k < q} \sqrt{(2q - k)^2 + (2 a_1 + a_2 + ... + a_{k+1})^2}.

Where k = 0 is the largest, as for every q \ge 10 and e \le 20, two persons whose covariates vary in
time come as near to t^* as one likes; with fixed covariates two records are 2q apart.

No case uses that the covariates of two intervals are the same. So t^* holds for any two paths; so
do the Lipschitz constant, the trace below, and, since a sum of losses of single intervals is never
negative, the sanitised loss's range [0, v).

*Hessian of one record*: at most H' = \frac14 \sum_s [A_s; x^s][A_s; x^s]^T, of trace
\frac14 \sum_s (\|A_s\|^2 + 1). Without the changed record the curvature A_0 is still at least m I,
m = n(\Lambda + \Delta), and det(A_0 + H')/det(A_0 + H) \le det(I + A_0^{-1} H').
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import GammaSphere, Gaussian, GaussianObjective

Floats = NDArray[np.float64]

TOLERANCE = 1e-10
r"""Largest \tau = \|\nabla J\| at which a solution is released; part of the sensitivity."""
FINISH = 1e-3
r"""Share of \varepsilon that hides the optimiser's last step in rigorous objective perturbation."""


@functools.lru_cache(maxsize=64)
def basis(intervals: int, knots: int) -> Floats:
    r"""Natural cubic spline of the baseline at the interval ends s/q (Section 3.1).

    Args:
        intervals: q.
        knots: e, equally spaced on [0, 1].

    Returns:
        A, shape (q, e), read-only: columns 1, t and d_i(t) - d_{e-1}(t).
    """
    t = np.arange(1, intervals + 1) / intervals
    k = np.linspace(0.0, 1.0, knots)
    d = [
        (np.maximum(t - k[j], 0.0) ** 3 - np.maximum(t - 1.0, 0.0) ** 3) / (1.0 - k[j])
        for j in range(knots - 1)
    ]
    A = np.stack([np.ones(intervals), t, *(d[j] - d[-1] for j in range(knots - 2))], axis=1)
    A.setflags(write=False)
    return A


def squares(intervals: int, knots: int) -> Floats:
    r"""\|A_s\|^2 of every interval, shape (q,)."""
    rows: Floats = (basis(intervals, knots) ** 2).sum(axis=1)
    return rows


@functools.lru_cache(maxsize=256)
def gradient_bound(intervals: int, knots: int, calibration: str) -> float:
    r"""Largest \|\nabla\ell(f; d) - \nabla\ell(f; d')\| over f and any two records.

    Args:
        intervals: q.
        knots: e.
        calibration: "paper" for t of Lemma 4.2 as printed, "rigorous" for the tighter t^*.

    Returns:
        469.8 as printed and 400.0 tightened, for e = 3 and q = 200; 27.2 and 20.3 for q = 10.
    """
    a = squares(intervals, knots)
    if calibration == "paper":
        return float(np.sqrt(4.0 + a).sum() + np.sqrt(4.0 * a + 4.0).max())
    norms = np.sort(np.sqrt(a))[::-1]
    along = norms[0] + np.cumsum(norms)
    return float(np.hypot(2.0 * intervals - np.arange(intervals), along).max())


def printed_determinant(intervals: int, knots: int, strength: float) -> float:
    r"""2 \sum_s log(1 + \frac14 \sqrt{\|A_s\|^2 + 1} / m): Algorithm 2, line 2, as printed.

    The eigenvalue of \frac14 x x^T is \frac14 \|x\|^2, not \frac14 \|x\|: compare `determinant`.

    Args:
        intervals: q.
        knots: e.
        strength: m = n(\Lambda + \Delta).
    """
    root = np.sqrt(squares(intervals, knots) + 1.0)
    return float(2.0 * np.log1p(0.25 * root / strength).sum())


def determinant(intervals: int, knots: int, strength: float, dimension: int | None) -> float:
    r"""Largest log ratio of the two Jacobian determinants of objective perturbation.

    log det(I + A_0^{-1} H') is at most \sum_s log(1 + \lambda_s), since det(I + P + Q) \le
    det(I + P) det(I + Q) for semidefinite P and Q, with \lambda_s = \frac14(\|A_s\|^2 + 1)/m; and,
    by the inequality of the means, at most d log(1 + \sum_s \lambda_s / d).

    Args:
        intervals: q.
        knots: e.
        strength: m = n(\Lambda + \Delta).
        dimension: d = e + p; None leaves the second bound out.
    """
    part = 0.25 * (squares(intervals, knots) + 1.0) / strength
    terms = float(np.log1p(part).sum())
    if dimension is None:
        return terms
    return min(terms, dimension * math.log1p(float(part.sum()) / dimension))


def output_noise(spec: SurvivalSpec, n: int, dimension: int) -> GammaSphere:
    r"""The noise of output perturbation (Algorithm 1), which is also its price.

    Guarantees:
        J is \Lambda-strongly convex, so its minimiser moves by at most t^*/(n\Lambda)
        (Chaudhuri et al. 2011, Lemma 1) and the optimiser stops within \tau/\Lambda of it: the
        sensitivity is (t^* + 2n\tau)/(n\Lambda). The printed scale t/(n\Lambda\varepsilon) is
        larger than this needs, so it proves a smaller \varepsilon than requested.

    Args:
        spec: The setting of one replica.
        n: Records.
        dimension: d = e + p.
    """
    size = n * spec.regularisation
    bound = gradient_bound(spec.intervals, spec.knots, "rigorous")
    sensitivity = (bound + 2.0 * n * TOLERANCE) / size
    if spec.calibration == "rigorous":
        return GammaSphere(sensitivity, spec.epsilon, dimension)
    scale = gradient_bound(spec.intervals, spec.knots, "paper") / (size * spec.epsilon)
    return GammaSphere(sensitivity, sensitivity / scale, dimension)


@dataclass(frozen=True)
class Objective:
    r"""The perturbed objective J(f) + \langle b, f\rangle/n + \frac\Delta2\|f\|^2 (Algorithm 2).

    Attributes:
        extra: \Delta, added to the regularisation where \Lambda alone is too weak.
        epsilon: \varepsilon', what is left for the noise once the determinants are paid.
        noise: The mechanism that draws b; its epsilon is what this b costs, and its ratio what
            the determinants cost, proved, whatever is printed.
        finish: Noise added to the minimiser because the optimiser stops short of it; None as
            printed.
    """

    extra: float
    epsilon: float
    noise: GammaSphere
    finish: GammaSphere | None

    @property
    def parts(self) -> tuple[float, ...]:
        r"""What adds up to the proved \varepsilon, in nats."""
        finish = () if self.finish is None else (self.finish.epsilon,)
        return (self.noise.ratio, self.noise.epsilon, *finish)


@functools.lru_cache(maxsize=4096)
def objective_noise(spec: SurvivalSpec, n: int, dimension: int) -> Objective:
    r"""The noise of objective perturbation, and its price.

    Guarantees:
        The density of the minimiser is that of b times a Jacobian determinant (Theorem 4.4).
        The first changes by at most exp(\varepsilon_b) with \varepsilon_b = t^*/scale, the second
        by exp(`determinant`). Rigorous: the optimiser stops within \tau/(\Lambda + \Delta) of the
        minimiser, and Gamma noise of that sensitivity, twice, hides the difference for a share
        `FINISH` of \varepsilon (after Iyengar et al. 2019, Algorithm 1). As printed: the same sum
        at the printed scale, given an exact minimiser.

    Args:
        spec: The setting of one replica.
        n: Records.
        dimension: d = e + p.
    """
    printed, q, e = spec.calibration == "paper", spec.intervals, spec.knots
    budget = spec.epsilon if printed else spec.epsilon * (1.0 - FINISH)

    def price(extra: float) -> float:
        strength = n * (spec.regularisation + extra)
        if printed:
            return printed_determinant(q, e, strength)
        return determinant(q, e, strength, dimension)

    extra = smallest_extra(price, budget / 2.0)
    left = budget - price(extra) if extra == 0.0 else budget / 2.0
    bound = gradient_bound(q, e, "rigorous")
    scale = gradient_bound(q, e, spec.calibration) / left
    strength = spec.regularisation + extra
    ratio = determinant(q, e, n * strength, None if printed else dimension)
    finish = GammaSphere(2.0 * TOLERANCE / strength, spec.epsilon * FINISH, dimension)
    noise = GammaSphere(bound, bound / scale, dimension, ratio)
    return Objective(extra, left, noise, None if printed else finish)


def smallest_extra(price: Callable[[float], float], half: float) -> float:
    r"""The smallest \Delta at which the determinants cost at most `half`; by bisection.

    Returns:
        0 where \Lambda is enough; otherwise a value on the private side of the root.
    """
    if price(0.0) <= half:
        return 0.0
    low, high = 0.0, 1e-12
    while price(high) > half:
        low, high = high, 4.0 * high
    for _ in range(60):  # 60 halvings leave nothing between the two
        middle = 0.5 * (low + high)
        low, high = (middle, high) if price(middle) > half else (low, middle)
    return high


def deviation(mechanism: GammaSphere | Gaussian | GaussianObjective) -> float:
    r"""Standard deviation of one coordinate: scale \sqrt{d + 1} where the norm is Gamma's."""
    if isinstance(mechanism, GammaSphere):
        return mechanism.scale * math.sqrt(mechanism.dimension + 1.0)
    return mechanism.scale
