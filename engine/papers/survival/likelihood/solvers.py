r"""Minimises J(f) + \langle b, f\rangle/n + \frac\Delta2\|f\|^2 for R replicas at once."""

from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np
import torch
from scipy import optimize
from torch import Tensor

from datasets.base import Floats
from engine.papers.survival.likelihood.logit import Derivatives, derivatives, losses, mean_gradient
from engine.papers.survival.likelihood.problem import Design
from engine.papers.survival.price.sensitivity import TOLERANCE
from engine.training.threads import single_thread

TOGETHER = 32
"""Replicas that Newton solves at once; with more of them blocks hold too few records."""
MOST_STEPS = 200
COARSE = 1e-6
"""Gradient at which BFGS stops: about the root of the digits that a loss has."""
SMALLEST_STEP = 1e-10
FLAT = 1e-13
"""Share of the Hessian's trace that is added before it is inverted, so that a direction in which
the objective is flat stays where it is; it moves no minimum."""


@dataclass(frozen=True)
class Solution:
    r"""Where R minimisations ended.

    Attributes:
        f: Parameters, shape (R, d).
        tau: \|\nabla J\| there, shape (R,); above the solver's tolerance if it failed.
        steps: Evaluations of the derivatives by Newton, shape (R,).
    """

    f: Tensor
    tau: Tensor
    steps: Tensor


@single_thread()
def minimise(
    design: Design,
    ridge: Tensor,
    linear: Tensor,
    solver: str = "newton",
) -> Solution:
    r"""Minimises \frac1n\sum_i\ell(f; d_i) + \frac{\rho}2\|f\|^2 + \langle g, f\rangle per replica.

    Args:
        design: The records.
        ridge: \rho = \Lambda + \Delta, shape (R,).
        linear: g = b/n, shape (R, d).
        solver: "newton" for all replicas at once; "bfgs" for the paper's choice one by one, and
            Newton for the last digits, which differences of the loss do not resolve.
    """
    if len(ridge) > TOGETHER:
        parts = zip(torch.split(ridge, TOGETHER), torch.split(linear, TOGETHER), strict=True)
        groups = [minimise(design, *part, solver) for part in parts]
        return Solution(*map(torch.cat, zip(*map(astuple, groups), strict=True)))
    start = constant_hazard(design).expand(len(ridge), -1)
    if solver == "bfgs":
        start = _bfgs(design, ridge, linear, start)
    solution = _newton(lambda rows, f: _penalised(design, ridge[rows], linear[rows], f), start)
    for row in ((solution.tau > TOLERANCE) & (ridge > 0)).nonzero()[:, 0].tolist():
        _rescue(design, ridge[row : row + 1], linear[row : row + 1], solution, row)
    return solution


def constant_hazard(design: Design) -> Tensor:
    """The parameters of least norm with beta = 0 and the same hazard in every interval, (d,)."""
    periods, events = (float(design.signed(v).sum()) for v in (design.interval, design.event))
    level = np.log((events + 0.5) / (periods - events + 0.5))
    f = design.A.new_zeros(design.dimension)
    f[: design.knots] = torch.linalg.pinv(design.A) @ design.A.new_full((design.intervals,), level)
    return f


def _penalised(design: Design, ridge: Tensor, linear: Tensor, f: Tensor) -> Derivatives:
    """Derivatives of the whole objective."""
    mean = derivatives(design, f)
    identity = torch.eye(f.shape[1], dtype=f.dtype, device=f.device)
    gradient = mean.gradient + ridge[:, None] * f + linear
    return Derivatives(gradient, mean.hessian + ridge[:, None, None] * identity)


def _direction(at: Derivatives) -> Tensor:
    """The Newton step of each replica, shape (R, d); zero where there is none."""
    size = at.hessian.diagonal(dim1=1, dim2=2).sum(1)
    identity = torch.eye(at.gradient.shape[1], dtype=size.dtype, device=size.device)
    damped = at.hessian + (FLAT * size + 1e-300)[:, None, None] * identity
    step, _ = torch.linalg.solve_ex(damped, -at.gradient[:, :, None])
    return torch.nan_to_num(step[:, :, 0], nan=0.0, posinf=0.0, neginf=0.0)


def _newton(evaluate: Callable[[Tensor, Tensor], Derivatives], start: Tensor) -> Solution:
    """Damped Newton: each replica halves its step until its gradient shrinks enough.

    It drops out once the gradient is below the tolerance. The gradient of a convex function
    shrinks along the Newton direction for steps small enough, so no loss is ever evaluated.
    """
    f = start.clone()
    live = torch.arange(len(f), device=f.device)
    steps = torch.ones(len(f), dtype=torch.int64, device=f.device)
    at = evaluate(live, f)
    tau = at.gradient.norm(dim=1)
    direction, length = _direction(at), torch.ones_like(tau)
    for _ in range(MOST_STEPS):
        keep = (tau[live] > TOLERANCE) & (length > SMALLEST_STEP)
        live, direction, length = live[keep], direction[keep], length[keep]
        if not len(live):
            break
        trial = f[live] + length[:, None] * direction
        at = evaluate(live, trial)
        size = at.gradient.norm(dim=1)
        good = size <= (1.0 - 1e-4 * length) * tau[live]
        steps[live] += 1
        f[live[good]], tau[live[good]] = trial[good], size[good]
        direction = torch.where(good[:, None], _direction(at), direction)
        length = torch.where(good, torch.ones_like(length), 0.5 * length)
    return Solution(f, tau, steps)


def _rescue(design: Design, ridge: Tensor, linear: Tensor, solution: Solution, row: int) -> None:
    """Solves again, in place, what the damped steps could not: almost flat objectives.

    Where regularisation all but vanishes, the optimum lies so far out that the steps shrink to
    nothing. A trust region (scipy) finds its neighbourhood, Newton's steps its last digits.
    Without any regularisation there may be no optimum to find.
    """
    far = optimize.minimize(
        _objective(design, float(ridge), linear[0]),
        constant_hazard(design).cpu().numpy(),
        jac=True,
        hess=lambda f: (
            _penalised(design, ridge, linear, linear.new_tensor(f)[None]).hessian[0].cpu().numpy()
        ),
        method="trust-exact",
        options={"gtol": TOLERANCE, "max_trust_radius": 1e12, "maxiter": MOST_STEPS},
    )
    again = _newton(
        lambda _, f: _penalised(design, ridge, linear, f), linear.new_tensor(far.x)[None]
    )
    solution.steps[row] += int(far.njev) + int(again.steps[0])
    if float(again.tau[0]) < float(solution.tau[row]):
        solution.f[row], solution.tau[row] = again.f[0], again.tau[0]


def _bfgs(design: Design, ridge: Tensor, linear: Tensor, start: Tensor) -> Tensor:
    """Where the paper's optimiser ends, one replica after another, shape (R, d)."""
    f = start.clone()
    for row in range(len(f)):
        optimum = optimize.minimize(
            _objective(design, float(ridge[row]), linear[row]),
            start[row].cpu().numpy(),
            jac=True,
            method="BFGS",
            options={"gtol": COARSE, "norm": 2, "maxiter": 5_000},
        )
        f[row] = start.new_tensor(optimum.x)
    return f


def _objective(
    design: Design, ridge: float, linear: Tensor
) -> Callable[[Floats], tuple[float, Floats]]:
    """The objective of one replica with its gradient, as scipy asks for them."""

    def evaluate(point: Floats) -> tuple[float, Floats]:
        f = linear.new_tensor(point)
        penalty = 0.5 * ridge * f.dot(f) + linear.dot(f)
        value = float(losses(design, f[None]).mean() + penalty)
        slope: Floats = (mean_gradient(design, f[None])[0] + ridge * f + linear).cpu().numpy()
        return value, slope

    return evaluate
