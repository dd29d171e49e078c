"""Independence proposals: mixtures of two multivariate t, fitted to each target by a pilot run."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable
from engine.papers.survival.samplers.target import Target, laplace, target
from engine.papers.survival.spec import SurvivalSpec

FREEDOM = 6
"""Degrees of freedom: heavier tails than the target's, so that no chain sticks far out."""
DEFENSIVE = 0.1
"""Share of the wide component."""
WIDER = 2.0
"""Variance of the wide component over that of the normal approximation."""
ROUNDS, PILOT = 3, 60
"""Pilot rounds and their draws per parameter."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """Two multivariate t for each of R targets: fitted, and wide.

    Attributes:
        centre: Shape (R, 2, d).
        root: Lower Cholesky roots of their scale matrices, shape (R, 2, d, d).
    """

    centre: Tensor
    root: Tensor

    def draw(self, count: int, rng: Generator) -> Tensor:
        """Independent draws for each target, shape (R, count, d)."""
        rows, _, d = self.centre.shape
        make = partial(torch.randn, generator=rng, dtype=self.centre.dtype, device=rng.device)
        z: Tensor = make(rows, count, d)
        chi: Tensor = make(rows, count, FREEDOM).square().mean(2, keepdim=True)
        chance = torch.rand(rows, count, 1, generator=rng, device=rng.device)
        second = chance < DEFENSIVE
        z = z / chi.sqrt()
        both = self.centre[:, None] + torch.einsum("rkij,rmj->rmki", self.root, z)
        return torch.where(second, both[:, :, 1], both[:, :, 0])

    def log_density(self, f: Tensor) -> Tensor:
        """Of points (R, m, d) up to a constant of each target, shape (R, m)."""
        d = f.shape[2]
        away = (f[:, None] - self.centre[:, :, None]).transpose(2, 3)
        solved = torch.linalg.solve_triangular(self.root, away, upper=False)
        square = solved.square().sum(2)  # (R, 2, m)
        volume = self.root.diagonal(dim1=2, dim2=3).log().sum(2)[:, :, None]
        log_t = -0.5 * (FREEDOM + d) * torch.log1p(square / FREEDOM) - volume
        share = log_t.new_tensor([math.log(1.0 - DEFENSIVE), math.log(DEFENSIVE)])
        return torch.logsumexp(log_t + share[:, None], dim=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The normal approximation of one target and a proposal fitted to it.

    Attributes:
        mode: Shape (1, d).
        covariance: Shape (1, d, d).
        proposal: For one target.
    """

    mode: Tensor
    covariance: Tensor
    proposal: Proposal


@functools.lru_cache(maxsize=128)
def fitted(
    table: SurvivalTable,
    epsilon: float,
    bound: float,
    prior: float,
    intervals: int,
    knots: int,
    link: str,
    device: str,
) -> Fitted:
    """The proposal of one setting; kept per table, with a generator of its own.

    The chains that use it come after, so their proposal is fixed and their target exact.
    """
    values: dict[str, float | str] = {
        "epsilon": epsilon,
        "bound": bound,
        "prior": prior,
        "link": link,
    }
    specs = (SurvivalSpec().replace(intervals=intervals, knots=knots, **values),)
    mode, covariance = laplace(table, specs, device)
    rng = torch.Generator(device).manual_seed(0)
    return Fitted(mode, covariance, _fit(target(table, specs, device), mode, covariance, rng))


def proposals(table: SurvivalTable, specs: Sequence[SurvivalSpec], device: str) -> Fitted:
    """Those of several settings in one."""
    each = [
        fitted(table, s.epsilon, s.bound, s.prior, s.intervals, s.knots, s.link, device)
        for s in specs
    ]
    whole = Proposal(
        torch.cat([one.proposal.centre for one in each]),
        torch.cat([one.proposal.root for one in each]),
    )
    mode, covariance = torch.cat([x.mode for x in each]), torch.cat([x.covariance for x in each])
    return Fitted(mode, covariance, whole)


def _fit(aim: Target, mode: Tensor, covariance: Tensor, rng: Generator) -> Proposal:
    """Starts at the normal approximation; fits mean and covariance by importance sampling."""
    wide = torch.linalg.cholesky(WIDER * covariance)
    centre, root = mode, torch.linalg.cholesky(covariance)
    for _ in range(ROUNDS):
        now = Proposal(torch.stack([centre, mode], 1), torch.stack([root, wide], 1))
        f = now.draw(PILOT * mode.shape[1], rng)
        weight = _weights(aim.log_density(f) - now.log_density(f), 5 * mode.shape[1])
        centre = torch.einsum("rm,rmd->rd", weight, f)
        away = f - centre[:, None]
        spread = torch.einsum("rm,rmd,rme->rde", weight, away, away) + 0.02 * covariance
        root = torch.linalg.cholesky(spread)
    return Proposal(torch.stack([centre, mode], 1), torch.stack([root, wide], 1))


def _weights(log_ratio: Tensor, least: int) -> Tensor:
    """Normalised importance weights, flattened until `least` draws' worth count, shape (R, m)."""
    log_ratio = torch.nan_to_num(log_ratio, nan=-math.inf)
    weight = torch.softmax(log_ratio, dim=1)
    for power in (0.7, 0.5, 0.35, 0.2, 0.1):
        few = 1.0 / weight.square().sum(1, keepdim=True) < least
        weight = torch.where(few, torch.softmax(power * log_ratio, dim=1), weight)
    return weight
