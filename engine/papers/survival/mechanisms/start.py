r"""Where private gradient descent starts and how it measures length, from two noisy releases.

A coarse table of times and outcomes gives the baseline \alpha at \beta = 0 with its curvature, and
the number of events; the second moments of the covariates give the curvature in \beta, which is
about (events/n) \sum_i x_i x_i^T. Without either, one scale for all directions would have to serve
parameters whose standard errors differ a hundredfold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from engine.papers.survival.likelihood.problem import Design
from engine.papers.survival.price.descent import Plan
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release

CELLS = 12
"""Intervals of the coarse table."""
LEVEL, FIRM = -4.0, 0.01
"""Prior mean of the first baseline parameter, and the prior's precision in the baseline's fit."""
NEWTON = 40
LONGEST = 3.0
"""Steps of the baseline's fit, and the longest of them."""
FLOOR = 1.0
"""Least second moment, in units of the noise that a direction of the matrix has."""
FEWEST = 10.0
"""Events that are taken to be there at least, so that noise cannot make them negative."""


@dataclass(frozen=True, eq=False)
class Start:
    """What R replicas know before their first gradient; all of it released.

    Attributes:
        f: Parameters, shape (R, d).
        curvature: Estimated Hessian of the summed loss, shape (R, d, d).
        events: Estimated number of events, shape (R,).
    """

    f: Tensor
    curvature: Tensor
    events: Tensor


class Ends(NamedTuple):
    """What the noisy table of times and outcomes says.

    Attributes:
        alpha: The baseline's parameters, shape (R, e).
        bend: The Hessian there, shape (R, e, e).
        events: Estimated number of events, shape (R,).
        stay: Chance of not being censored in each interval, shape (R, q).
    """

    alpha: Tensor
    bend: Tensor
    events: Tensor
    stay: Tensor


def ends(design: Design, plans: Sequence[Plan], rng: Generator) -> Ends:
    """Releases the coarse counts and fits the baseline without covariates to them."""
    happened, leaving = coarse_counts(design, [plan.counts for plan in plans], rng)
    risk = design.records - leaving.cumsum(1) + leaving
    stay = (1.0 - (leaving - happened) / risk.clamp_min(1.0)).clamp(0.0, 1.0)
    fitted = baseline(design.A, happened, risk)
    return Ends(*fitted, happened.sum(1).clamp_min(FEWEST), stay)


def start(design: Design, plans: Sequence[Plan], rng: Generator) -> Start:
    """Releases counts and second moments and works out the rest from them."""
    e, d = design.knots, design.dimension
    alpha, bend, events, _ = ends(design, plans, rng)
    curvature = alpha.new_zeros(len(plans), d, d)
    curvature[:, :e, :e] = bend
    each = (events / design.records)[:, None, None]
    curvature[:, e:, e:] = second_moments(design, plans, rng) * each
    f = torch.cat([alpha, alpha.new_zeros(len(plans), d - e)], dim=1)
    return Start(f, curvature, events)


def coarse_counts(
    design: Design, noises: Sequence[Gaussian], rng: Generator
) -> tuple[Tensor, Tensor]:
    """Noisy events and noisy ends of any kind, spread evenly over intervals, shape (R, q) each."""
    q, n = design.intervals, design.records
    cells = min(CELLS, q)
    place = torch.arange(q, device=design.A.device) * cells // q
    cell = place[design.ends - 1] + cells * (design.happened > 0)
    counts = design.counted(cell, 2 * cells).to(design.A)
    noisy = release(counts.expand(len(noises), -1), noises, rng)
    noisy = noisy.clamp_min(0.0)
    noisy = noisy * (n / noisy.sum(1, keepdim=True).clamp_min(1.0))  # n is public
    width = torch.bincount(place, minlength=cells).to(design.A)
    even = (noisy.view(-1, 2, cells) / width)[:, :, place]
    return even[:, 1], even.sum(1)


def baseline(A: Tensor, happened: Tensor, risk: Tensor) -> tuple[Tensor, Tensor]:
    """The logit baseline of events (R, q) among those at risk (R, q), by damped Newton steps.

    Returns:
        Its parameters, shape (R, e), and the Hessian there, shape (R, e, e).
    """
    centre = torch.zeros_like(A[0])
    centre[0] = LEVEL
    alpha = centre.expand(len(risk), -1)
    identity = torch.eye(A.shape[1]).to(A)
    for _ in range(NEWTON):
        h = torch.sigmoid(alpha @ A.T)
        slope = (risk * h - happened) @ A + FIRM * (alpha - centre)
        bend = A.T @ ((risk * h * (1.0 - h))[:, :, None] * A)
        step = torch.linalg.solve(bend + FIRM * identity, slope)
        alpha = alpha - step * (LONGEST / step.norm(dim=1, keepdim=True)).clamp(max=1.0)
    h = torch.sigmoid(alpha @ A.T)
    return alpha, A.T @ ((risk * h * (1.0 - h))[:, :, None] * A)


def second_moments(design: Design, plans: Sequence[Plan], rng: Generator) -> Tensor:
    r"""Noisy \sum_i x_i x_i^T, its eigenvalues raised to the noise's own size, shape (R, p, p).

    Where covariates vary in time, a person's x x^T is averaged over the person's intervals.
    """
    p, noises = design.x.shape[1], [one.moments for one in plans]
    total = design.x.T @ (share(design)[:, None] * design.x)
    matrix = symmetric(total[None], noises, rng)
    size = total.new_tensor([one.scale for one in noises]) * (p / 2.0) ** 0.5
    values, vectors = torch.linalg.eigh(matrix)
    values = torch.maximum(values, FLOOR * size[:, None])
    moments: Tensor = vectors @ torch.diag_embed(values) @ vectors.transpose(1, 2)
    return moments


def symmetric(
    total: Tensor, noises: Sequence[Gaussian], rng: Generator, bound: float = 1.0
) -> Tensor:
    r"""A release of symmetric matrices (R or 1, p, p), shape (R, p, p).

    The upper triangle is released with off-diagonal entries times \sqrt2, so that its Euclidean
    norm is the matrix's Frobenius norm; the noise is that of a sensitivity times `bound`.
    """
    p, count = total.shape[1], len(noises)
    first, second = torch.triu_indices(p, p, device=total.device)
    unit = torch.where(first == second, 1.0, 2.0**0.5).to(total) / bound
    upper = release(total[:, first, second].expand(count, -1), noises, rng, unit)
    matrix = upper.new_zeros(count, p, p)
    matrix[:, first, second] = upper
    matrix[:, second, first] = upper
    return matrix


def share(design: Design) -> Tensor:
    """What each row counts in its record's average over time, shape (m,); 1 for a record's only."""
    if design.owners is None:
        return design.signed(torch.ones_like(design.event))
    return design.owners.sign * design.interval / design.ends[design.owners.person]
