r"""Where the columns lie, how they vary and what the events say of each: from noisy sums.

Public bounds may be far wider than a column is spread, and its middle far from theirs. Then raw
second moments drown in noise, and a coefficient is hard to tell from the baseline's level. So a
histogram of each column comes first; its centre and spread scale the information matrix.
"""

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from engine.papers.survival.price_newton import Plan
from engine.papers.survival.problem import Design
from engine.papers.survival.public_start import FEWEST, Start, baseline, coarse_counts
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release

BINS = 16
"""Bins of a column's histogram over its public bounds."""
CLEAR = 1.0
"""Counts below this many deviations of their noise are taken for none."""
WIDE = 4.0
"""Standardised rows are cut at WIDE d in squared length; it is d on average."""
FIRM, FLOOR = 1e-3, 0.3
"""What is added to the baseline's curvature, and the least eigenvalue, per event."""


def start(design: Design, plans: Sequence[Plan], rng: Generator) -> Start:
    """Releases counts, histograms and second moments and works out the rest from them."""
    n, e, d = design.records, design.knots, design.dimension
    happened, leaving = coarse_counts(design, [plan.counts for plan in plans], rng)
    events = happened.sum(1).clamp_min(FEWEST)
    alpha, bend = baseline(design.A, happened, n - leaving.cumsum(1) + leaving)
    centre, spread = columns(design, plans, rng)
    unit = torch.eye(d).to(alpha).repeat(len(plans), 1, 1)
    firm = bend + FIRM * events[:, None, None] * unit[:, :e, :e]
    unit[:, :e, :e] = torch.linalg.cholesky(firm / events[:, None, None]).transpose(1, 2)
    move = torch.eye(d).to(alpha).repeat(len(plans), 1, 1)
    move[:, 0, e:] = centre  # the level at the centre
    move.diagonal(dim1=1, dim2=2)[:, e:] = spread
    scale = unit @ move
    curvature = scale.transpose(1, 2) @ moments(design, scale, events, plans, rng) @ scale
    f = torch.cat([alpha, alpha.new_zeros(len(plans), d - e)], dim=1)
    return Start(f, curvature, events)


def columns(design: Design, plans: Sequence[Plan], rng: Generator) -> tuple[Tensor, Tensor]:
    r"""Centre and spread of each column among the events, shape (R, p) each.

    Guarantees:
        A record with an event adds 1 to one bin of each of p columns, with its covariates at that
        time, and another nothing: replacing it moves the counts by at most \sqrt{2p}.
    """
    p, n, bins = design.x.shape[1], design.records, BINS
    noises = [Gaussian(math.sqrt(2.0 * p), plan.columns.multiplier) for plan in plans]
    reach = 1.0 / math.sqrt(p)  # with public bounds a scaled column lies in [-1, 1]/sqrt p
    rows = design.x[design.event > 0]
    place = ((rows / reach + 1.0) * 0.5 * bins).long().clamp(0, bins - 1)
    place = place + bins * torch.arange(p, device=place.device)
    counts = torch.bincount(place.flatten(), minlength=p * bins).to(rows)
    noisy = release(counts.expand(len(plans), -1), noises, rng).view(len(plans), p, bins)
    least = CLEAR * noisy.new_tensor([one.scale for one in noises])[:, None, None]
    kept = torch.where(noisy > least, noisy, 0.0) + 1e-6 * n / bins
    kept = kept / kept.sum(2, keepdim=True)
    middle = reach * (2.0 * (torch.arange(bins).to(kept) + 0.5) / bins - 1.0)
    centre = (kept * middle).sum(2)
    width = 2.0 * reach / bins
    variance = (kept * (middle - centre[:, :, None]).square()).sum(2) + width**2 / 12.0
    return centre, variance.sqrt()


def moments(
    design: Design, scale: Tensor, events: Tensor, plans: Sequence[Plan], rng: Generator
) -> Tensor:
    r"""Noisy sum of u u^T over the events, u the standardised rows [A_t; x], shape (R, d, d).

    It is what the Hessian is on average where hazards are small and the parameters are right.
    Eigenvalues are drawn towards their number, as far as noise hides them.

    Guarantees:
        u is cut to squared length B = WIDE d, so a record adds a semidefinite matrix P of trace at
        most B, or none: \|P - Q\|_F^2 = \|P\|_F^2 + \|Q\|_F^2 - 2 tr(PQ) \le 2 B^2.
    """
    d = design.dimension
    rows = (design.event > 0).nonzero()[:, 0]
    whole = torch.cat([design.A[design.interval[rows] - 1], design.x[rows]], 1)
    back, bound, total = torch.linalg.inv(scale), WIDE * d, []
    for inverse in back:
        u = whole @ inverse
        weight = (bound / u.square().sum(1).clamp_min(1e-300)).clamp(max=1.0)
        total.append(u.T @ (weight[:, None] * u))
    first, second = torch.triu_indices(d, d, device=scale.device)
    unit = torch.where(first == second, 1.0, 2.0**0.5).to(scale) / bound
    upper = torch.stack(total)[:, first, second]
    upper = release(upper, [plan.moments for plan in plans], rng, unit)
    matrix = upper.new_zeros(len(plans), d, d)
    matrix[:, first, second] = upper
    matrix[:, second, first] = upper
    noise = upper.new_tensor([plan.moments.scale for plan in plans]) * bound / events
    hidden = d * noise.square()[:, None]
    values, vectors = torch.linalg.eigh(matrix / events[:, None, None])
    values = ((values + hidden) / (1.0 + hidden)).clamp_min(FLOOR) * events[:, None]
    known: Tensor = vectors @ torch.diag_embed(values) @ vectors.transpose(1, 2)
    return known
