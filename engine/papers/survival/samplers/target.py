r"""The sanitised posterior of Algorithm 3: \pi(f) \propto exp(\kappa U(f)), \kappa = \epsilon/(2v).

log \pi(f) = -\kappa \sum_i v tanh(\ell(f; d_i)/v) - \frac12 \kappa\sigma \|f\|^2 up to a constant.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datasets.base import SurvivalTable
from engine.papers.survival.evaluation.evaluate import fit, optimum
from engine.papers.survival.likelihood.logit import derivatives
from engine.papers.survival.likelihood.lookup import losses, together
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.price.sampler import loss_bound, sanitised
from engine.papers.survival.spec import SurvivalSpec

CLIMB = 12
"""Newton steps to the mode where the link is not the logit."""
NUDGE = 1e-4
FLAT = 1e-6
"""Least curvature that a Newton step divides by."""
UNBOUNDED = 1e12
"""A bound on one record's loss that bends nothing."""


@dataclass(frozen=True, eq=False)
class Target:
    r"""The sanitised posteriors of R settings over the same records.

    Attributes:
        design: The records.
        link: "logit", "cloglog" or "probit".
        heat: \kappa, shape (R,).
        bound: v, shape (R,).
        precision: Of the normal prior, \kappa\sigma; the same in all R settings.
    """

    design: Design
    link: str
    heat: Tensor
    bound: Tensor
    precision: float

    def log_density(self, f: Tensor) -> Tensor:
        r"""The logarithm of \pi at several points for each setting.

        Args:
            f: Shape (R, m, d).

        Returns:
            Shape (R, m).
        """
        rows, count, d = f.shape
        heat, bound = (v.repeat_interleave(count) for v in (self.heat, self.bound))
        parts = [
            self._part(some, k, v)
            for some, k, v in zip(
                *(torch.split(t, together(self.design)) for t in (f.reshape(-1, d), heat, bound)),
                strict=True,
            )
        ]
        return torch.cat(parts).view(rows, count)

    def _part(self, f: Tensor, heat: Tensor, bound: Tensor) -> Tensor:
        costs = losses(self.design, f, self.link)
        total = bound * torch.tanh(costs / bound[:, None]).sum(1)
        return -heat * total - 0.5 * self.precision * f.square().sum(1)

    def slope(self, f: Tensor) -> Tensor:
        r"""The gradient of log \pi, shape (R, m, d), for f of that shape."""
        with torch.enable_grad():
            point = f.detach().clone().requires_grad_(True)
            (gradient,) = torch.autograd.grad(self.log_density(point).sum(), point)
        return gradient


def target(table: SurvivalTable, specs: Sequence[SurvivalSpec], device: str = "cpu") -> Target:
    """The targets of several settings that share grid and link."""
    model = design(table, specs[0].intervals, specs[0].knots, device)
    n = model.records
    heat = model.A.new_tensor([sanitised(spec, n).temperature for spec in specs])
    bound = model.A.new_tensor([loss_bound(spec, n) for spec in specs])
    return Target(model, specs[0].link, heat, bound, specs[0].prior)


def laplace(
    table: SurvivalTable, specs: Sequence[SurvivalSpec], device: str = "cpu"
) -> tuple[Tensor, Tensor]:
    """The mode of each setting's target and the covariance of its normal approximation.

    For the logit link the sanitiser is taken for the identity, which it is near the mode.

    Returns:
        Modes, shape (R, d), and covariances, shape (R, d, d).
    """
    aim = target(table, specs, device)
    ridge = aim.precision / (aim.heat * aim.design.records)
    grid = (specs[0].intervals, specs[0].knots)
    mode = torch.cat([fit(table, *grid, float(r), "newton", device).f for r in ridge])
    if specs[0].link != "logit":
        return climb(aim, 0.4 * mode if specs[0].link == "probit" else mode)
    identity = torch.eye(mode.shape[1]).to(mode)
    weight = (aim.heat * aim.design.records)[:, None, None]
    precision = weight * derivatives(aim.design, mode).hessian + aim.precision * identity
    return mode, torch.linalg.inv(precision)


def climb(aim: Target, start: Tensor) -> tuple[Tensor, Tensor]:
    """Newton with differenced Hessians to the modes, from start (R, d); modes and covariances."""
    f = start.clone()
    for _ in range(CLIMB):
        gradient, precision = aim.slope(f[:, None])[:, 0], curvature(aim, f)
        step = torch.linalg.solve(precision, gradient)
        size = step.norm(dim=1, keepdim=True)
        tries = torch.stack([f + 0.5**k * step for k in range(5)] + [f], dim=1)
        chosen = aim.log_density(tries).argmax(1)
        f = tries[torch.arange(len(f)), chosen]
        if float(size.max()) < 1e-4 or bool((chosen == 5).all()):
            break
    return f, torch.linalg.inv(curvature(aim, f))


def curvature(aim: Target, f: Tensor) -> Tensor:
    r"""-\nabla^2 log \pi by central differences, made positive definite, shape (R, d, d)."""
    d = f.shape[1]
    steps = NUDGE * torch.cat([torch.eye(d), -torch.eye(d)]).to(f)
    slopes = aim.slope(f[:, None] + steps)
    hessian = (slopes[:, d:] - slopes[:, :d]) / (2.0 * NUDGE)
    values, vectors = torch.linalg.eigh(0.5 * (hessian + hessian.transpose(1, 2)))
    values = values.clamp_min(
        max(aim.precision, FLAT)
    )  # the prior's own, where the sanitiser bends the other way
    matrix: Tensor = vectors @ torch.diag_embed(values) @ vectors.transpose(1, 2)
    return matrix


@functools.lru_cache(maxsize=16)
def optimum_of(table: SurvivalTable, intervals: int, knots: int, link: str) -> Tensor:
    """The maximum-likelihood estimate under any link, shape (d,)."""
    logit = optimum(table, intervals, knots)
    if link == "logit":
        return logit
    one = logit.new_ones(1)
    aim = Target(design(table, intervals, knots), link, one, UNBOUNDED * one, precision=0.0)
    return climb(aim, (0.4 if link == "probit" else 1.0) * logit[None])[0][0]
