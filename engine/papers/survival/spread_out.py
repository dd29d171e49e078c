r"""Where the columns lie and how they vary, from noisy histograms and second moments.

Public bounds may be far wider than a column is spread, and its middle far from theirs. Then raw
second moments drown in noise, and a coefficient is hard to tell from the baseline's level. So a
histogram of each column comes first; its centres and spreads scale the second moments.
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

FINEST, COARSEST = 64, 4
"""Bins of a column's histogram, at most and at least; a power of two between them."""
CLEAR = 3.0
"""Counts below this many deviations of their noise are taken for none."""
WIDE = 2.0
"""Standardised rows are cut at WIDE p in squared length; it is p on average."""


def start(design: Design, plans: Sequence[Plan], rng: Generator) -> Start:
    """Releases counts, histograms and second moments and works out the rest from them."""
    n, e, d = design.records, design.knots, design.dimension
    happened, leaving = coarse_counts(design, [plan.counts for plan in plans], rng)
    events = happened.sum(1).clamp_min(FEWEST)
    alpha, bend = baseline(design.A, happened, n - leaving.cumsum(1) + leaving)
    centre, spread = columns(design, plans, rng)
    inner = moments(design, centre, spread, plans, rng) * (events / n)[:, None, None]
    whole = alpha.new_zeros(len(plans), d, d)
    whole[:, :e, :e] = bend
    whole[:, e:, e:] = inner
    move = torch.eye(d).to(alpha).repeat(len(plans), 1, 1)
    move[:, 0, e:] = centre  # the level at the centre
    move[:, range(e, d), range(e, d)] = spread
    f = torch.cat([alpha, alpha.new_zeros(len(plans), d - e)], dim=1)
    return Start(f, move.transpose(1, 2) @ whole @ move, events)


def columns(design: Design, plans: Sequence[Plan], rng: Generator) -> tuple[Tensor, Tensor]:
    r"""Centre and spread of each column, shape (R, p) each.

    Guarantees:
        A record adds 1 to one bin of each of p columns (spread over bins by time, where its
        covariates vary), so replacing it moves the counts by at most \sqrt{2p}.
    """
    p, n = design.x.shape[1], design.records
    noises = [Gaussian(math.sqrt(2.0 * p), plan.columns.multiplier) for plan in plans]
    reach = 1.0 / math.sqrt(p)  # with public bounds a scaled column lies in [-1, 1]/sqrt p
    fine = n / (2.0 * CLEAR * min(one.scale for one in noises))
    bins = 2 ** int(min(max(math.log2(max(fine, 1.0)), math.log2(COARSEST)), math.log2(FINEST)))
    place = ((design.x / reach + 1.0) * 0.5 * bins).long().clamp(0, bins - 1)
    place = place + bins * torch.arange(p, device=place.device)
    weight = share(design)[:, None].expand(-1, p)
    counts = weight.new_zeros(p * bins).index_add_(0, place.flatten(), weight.flatten())
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
    design: Design, centre: Tensor, spread: Tensor, plans: Sequence[Plan], rng: Generator
) -> Tensor:
    r"""Noisy second moments of the standardised rows, shape (R, p, p), at least their noise.

    Guarantees:
        Each standardised row is cut to squared length B = WIDE p, so z z^T is semidefinite of
        trace at most B and \|z z^T - y y^T\|_F \le \sqrt2 B; averages over a person's time too.
    """
    p = design.x.shape[1]
    bound, total = WIDE * p, []
    for c, s in zip(centre, spread, strict=True):
        z = (design.x - c) / s
        size = z.square().sum(1)
        weight = share(design) * (bound / size.clamp_min(1e-300)).clamp(max=1.0)
        total.append(z.T @ (weight[:, None] * z))
    first, second = torch.triu_indices(p, p, device=centre.device)
    unit = torch.where(first == second, 1.0, 2.0**0.5).to(centre) / bound
    upper = torch.stack(total)[:, first, second]
    upper = release(upper, [plan.moments for plan in plans], rng, unit)
    matrix = upper.new_zeros(len(plans), p, p)
    matrix[:, first, second] = upper
    matrix[:, second, first] = upper
    floor = upper.new_tensor([plan.moments.scale for plan in plans]) * bound * math.sqrt(p / 2.0)
    values, vectors = torch.linalg.eigh(matrix)
    values = torch.maximum(values, floor.clamp(max=design.records)[:, None])
    known: Tensor = vectors @ torch.diag_embed(values) @ vectors.transpose(1, 2)
    return known


def share(design: Design) -> Tensor:
    """What each row counts in its record's average over time, shape (m,); 1 for a record's only."""
    if design.owners is None:
        return torch.ones_like(design.event)
    return design.owners.sign * design.interval / design.ends[design.owners.person]
