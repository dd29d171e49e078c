r"""A synthetic cohort that looks like the records as far as noisy sums tell, and its curvature.

The curvature at the optimum is that of records weighted by how often events are expected of them,
far from the moments of all records where covariates predict much. The histograms of the columns,
their correlations and the counts by time are released already, so persons can be drawn from them
(a Gaussian copula) and followed through the intervals at any parameters. That costs no budget.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

PERSONS = 512
"""Persons of a cohort, at quasi-random points."""
ENTRIES = 2_000_000
"""Persons times intervals times replicas that are followed at once."""
REACH = 20.0
"""Linear predictors are cut here."""

Bend = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class Cohort:
    """R cohorts, one for each replica.

    Attributes:
        x: Covariates, shape (R, m, p).
        stay: Share of those at risk who are not censored in each interval, shape (R, q).
        events: How many events there should be, shape (R,).
        size: Root of each column's second moment over the cohort's own, shape (R, p).
    """

    x: Tensor
    stay: Tensor
    events: Tensor
    size: Tensor

    def part(self, k: slice) -> "Cohort":
        """Some of the replicas."""
        return Cohort(self.x[k], self.stay[k], self.events[k], self.size[k])

    def resized(self) -> "Cohort":
        """The cohort with the second moments that were released.

        A histogram tells a column's spread to within a bin and, with noise in its empty bins, too
        large; the second moments know better. The steps go without: their gradients correct them.
        """
        centre = self.x.mean(1, keepdim=True)
        return replace(self, x=centre + self.size[:, None] * (self.x - centre))


def logit(eta: Tensor) -> tuple[Tensor, Tensor]:
    """Hazards, and what each interval at risk counts in the curvature."""
    h = torch.sigmoid(eta)
    return h, h * (1.0 - h)


def proportional(eta: Tensor) -> tuple[Tensor, Tensor]:
    r"""The same for h = 1 - e^{-r}, r = e^\eta: the expected r^2 e^{-r}/(1 - e^{-r})."""
    r = eta.exp()
    h = -torch.expm1(-r)
    return h, r * r * (-r).exp() / h.clamp_min(1e-300)


def persons(shares: Tensor, correlation: Tensor) -> Tensor:
    r"""Covariates with given histograms and correlations, shape (R, m, p).

    Args:
        shares: Of each bin of [-1, 1]/\sqrt p, shape (R, p, bins).
        correlation: Covariance of the standardised columns, shape (R, p, p).
    """
    p, bins = shares.shape[1:]
    z = torch.special.ndtri(even(p).to(shares))
    size = correlation.diagonal(dim1=1, dim2=2).rsqrt()
    root = torch.linalg.cholesky(size[:, :, None] * correlation * size[:, None])
    u = torch.special.ndtr(root @ z.T)
    upto = shares.cumsum(2)
    upto = upto / upto[:, :, -1:]
    place = torch.searchsorted(upto, u).clamp(max=bins - 1)
    before = (upto - shares).gather(2, place)
    inside = ((u - before) / shares.gather(2, place).clamp_min(1e-300)).clamp(0.0, 1.0)
    x: Tensor = (2.0 * (place + inside) / bins - 1.0) / math.sqrt(p)
    return x.transpose(1, 2)


def even(p: int) -> Tensor:
    r"""Points that fill (0, 1)^p evenly, shape (m, p).

    Multiples of powers of 1/g modulo 1, g^{p+1} = g + 1 (Roberts 2018).
    """
    g = 2.0
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (p + 1))
    steps = g ** -torch.arange(1.0, p + 1.0, dtype=torch.float64)
    points: Tensor = (0.5 + torch.arange(1.0, PERSONS + 1.0)[:, None].double() * steps) % 1.0
    return points


def curvature(cohort: Cohort, A: Tensor, f: Tensor, bend: Bend) -> Tensor:
    """Hessian of the summed loss at f (R, d), scaled to the number of events, (R, d, d).

    Args:
        cohort: The persons.
        A: The baseline's design, shape (q, e).
        f: Parameters.
        bend: Hazards and what they count, as `logit`.
    """
    at_once = max(1, ENTRIES // (cohort.x.shape[1] * len(A)))
    parts = [
        _curvature(cohort.part(k), A, f[k], bend)
        for k in (slice(i, i + at_once) for i in range(0, len(f), at_once))
    ]
    return torch.cat(parts)


def followed(
    cohort: Cohort, A: Tensor, f: Tensor, bend: Bend
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The cohort's persons in each interval at f, shape (R, m, q) each; arguments as `curvature`.

    Returns:
        Hazards, what they count in the curvature, how likely a person is still at risk, and how
        many records a person stands for, shape (R,).
    """
    e = A.shape[1]
    eta = (f[:, :e] @ A.T)[:, None] + cohort.x @ f[:, e:, None]
    h, weight = bend(eta.clamp(-REACH, REACH))
    kept = ((1.0 - h) * cohort.stay[:, None]).cumprod(2)
    risk = torch.cat([torch.ones_like(kept[:, :, :1]), kept[:, :, :-1]], 2)
    return h, weight, risk, cohort.events / (risk * h).sum((1, 2)).clamp_min(1e-300)


def _curvature(cohort: Cohort, A: Tensor, f: Tensor, bend: Bend) -> Tensor:
    _, weight, risk, scale = followed(cohort, A, f, bend)
    weight, x = risk * weight * scale[:, None, None], cohort.x
    over = weight @ A  # (R, m, e)
    level = torch.einsum("rms,si,sj->rij", weight, A, A)
    cross = over.transpose(1, 2) @ x
    own = x.transpose(1, 2) @ (weight.sum(2, keepdim=True) * x)
    upper, lower = torch.cat([level, cross], 2), torch.cat([cross.transpose(1, 2), own], 2)
    return torch.cat([upper, lower], 1)
