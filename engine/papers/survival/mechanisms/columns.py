r"""Where the columns lie and how they vary together: from noisy sums.

Public bounds may be far wider than a column is spread, and its middle far from theirs. Then raw
second moments drown in noise, and a coefficient is hard to tell from the baseline's level. So a
histogram of each column comes first; its centre and spread scale the second moments. These are
of all records: there are many more of them than of events, so noise hides less of them, and the
curvature follows from them and from the baseline's, which the counts give.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.papers.survival.likelihood.problem import Design
from engine.papers.survival.mechanisms.cohort import Cohort, persons
from engine.papers.survival.mechanisms.start import (
    FEWEST,
    Start,
    ends,
    share,
    symmetric,
)
from engine.papers.survival.price.descent import Plan
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release

BINS = 16
"""Bins of a column's histogram over its public bounds."""
CLEAR = 1.0
"""Counts below this many deviations of their noise are taken for none."""
SEEN = 4.0
"""Deviations of a bin's noise at which the events' own centre and everybody's count the same."""
WIDE = 4.0
"""Standardised rows are cut at WIDE p in squared length; it is p on average."""
FIRM, FLOOR = 1e-5, 0.05
"""What is added to the baseline's curvature, per event, and the least eigenvalue of the rest."""


@dataclass(frozen=True, eq=False)
class Spread(Start):
    """A start that knows how much its events count.

    Attributes:
        information: What the events count in the curvature: less where hazards are high, (R,).
        cohort: Made-up persons that are like the records.
    """

    information: Tensor
    cohort: Cohort


def start(design: Design, plans: Sequence[Plan], rng: Generator) -> Spread:
    """Releases counts, histograms and second moments and works out the rest from them."""
    e, d = design.knots, design.dimension
    alpha, bend, events, stay = ends(design, plans, rng)
    information = bend[:, 0, 0].clamp_min(FEWEST)
    column = columns(design, plans, rng)
    one = torch.eye(d).to(alpha).repeat(len(plans), 1, 1)
    stiff = one.clone()
    stiff[:, :e, :e] = bend + FIRM * events[:, None, None] * one[:, :e, :e]
    alike = moments(design, column, plans, rng)
    stiff[:, e:, e:] = information[:, None, None] * alike
    move = one
    move[:, 0, e:] = column.events  # the level at the centre of the events
    move.diagonal(dim1=1, dim2=2)[:, e:] = column.spread
    f = torch.cat([alpha, alpha.new_zeros(len(plans), d - e)], dim=1)
    x = persons(column.shares, alike)
    v, weight = cut(x, column.centre[:, None], column.spread[:, None])
    size = (alike.diagonal(dim1=1, dim2=2) / (weight * v.square()).mean(1)).sqrt()
    made = Cohort(x, stay, events, size)
    return Spread(f, move.transpose(1, 2) @ stiff @ move, events, information, made)


@dataclass(frozen=True, eq=False)
class Columns:
    """Where each column lies, shape (R, p) each.

    Attributes:
        centre: Mean of all records.
        spread: Their standard deviation.
        events: Mean of the events, or of all records where noise hides it.
        shares: Of the records in each bin, shape (R, p, BINS).
    """

    centre: Tensor
    spread: Tensor
    events: Tensor
    shares: Tensor


def columns(design: Design, plans: Sequence[Plan], rng: Generator) -> Columns:
    r"""Centre and spread of each column.

    Guarantees:
        A record adds 1 to one bin of each of p columns, of the histogram of its outcome, with its
        covariates when it ends: replacing it moves the counts by at most \sqrt{2p}.
    """
    p, n = design.x.shape[1], design.records
    every = [plan.columns for plan in plans if plan.columns is not None]
    noises = [Gaussian(math.sqrt(2.0 * p), one.multiplier) for one in every]
    reach = 1.0 / math.sqrt(p)  # with public bounds a scaled column lies in [-1, 1]/sqrt p
    rows = design.x if design.owners is None else design.x[design.owners.last]
    place = ((rows / reach + 1.0) * 0.5 * BINS).long().clamp(0, BINS - 1)
    place = place + BINS * torch.arange(p, device=place.device)
    place = place + BINS * p * (design.happened > 0).long()[:, None]
    counts = design.counted(place, 2 * p * BINS).to(rows)
    noisy = release(counts.expand(len(plans), -1), noises, rng).view(len(plans), 2, p, BINS)
    scale = noisy.new_tensor([one.scale for one in noises])[:, None]
    centre, variance, shares = _located(noisy.sum(1), math.sqrt(2.0) * scale, reach, n)
    own, _, _ = _located(noisy[:, 1], scale, reach, n)
    clear = noisy[:, 1].sum(2).mean(1, keepdim=True).clamp_min(FEWEST) / (SEEN * scale)
    seen = clear.square() / (1.0 + clear.square())
    return Columns(centre, variance.sqrt(), seen * own + (1.0 - seen) * centre, shares)


def _located(counts: Tensor, noise: Tensor, reach: float, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and variance of noisy histograms over [-reach, reach], (R, p) each, and their shares.

    Args:
        counts: The histograms, shape (R, p, BINS).
        noise: Standard deviation of the noise of a bin, shape (R, 1).
        reach: Where they end.
        n: Records; a millionth of them is in every bin, so that none is empty.
    """
    kept = torch.where(counts > CLEAR * noise[:, :, None], counts, 0.0) + 1e-6 * n / BINS
    kept = kept / kept.sum(2, keepdim=True)
    middle = reach * (2.0 * (torch.arange(BINS).to(kept) + 0.5) / BINS - 1.0)
    centre = (kept * middle).sum(2)
    width = 2.0 * reach / BINS
    around = (middle - centre[:, :, None]).square()
    return centre, (kept * around).sum(2) + width**2 / 12.0, kept


def moments(design: Design, column: Columns, plans: Sequence[Plan], rng: Generator) -> Tensor:
    r"""Noisy mean of v v^T over all records, v the standardised covariates, shape (R, p, p).

    Eigenvalues are drawn towards 1, as far as noise hides them. Where covariates vary in time, a
    person's v v^T is averaged over the person's intervals.

    Guarantees:
        v is cut to squared length B = WIDE p, so a record adds a semidefinite matrix P of trace at
        most B: \|P - Q\|_F^2 = \|P\|_F^2 + \|Q\|_F^2 - 2 tr(PQ) \le 2 B^2.
    """
    p, n = design.x.shape[1], design.records
    bound, total, part = WIDE * p, [], share(design)[:, None]
    for centre, spread in zip(column.centre, column.spread, strict=True):
        v, weight = cut(design.x, centre, spread)
        total.append(v.T @ (part * weight * v))
    noises = [plan.moments for plan in plans]
    matrix = symmetric(torch.stack(total), noises, rng, bound)
    noise = matrix.new_tensor([one.scale for one in noises]) * bound / n
    hidden = p * noise.square()[:, None]
    values, vectors = torch.linalg.eigh(matrix / n)
    values = ((values + hidden) / (1.0 + hidden)).clamp_min(FLOOR)
    known: Tensor = vectors @ torch.diag_embed(values) @ vectors.transpose(1, 2)
    return known


def cut(x: Tensor, centre: Tensor, spread: Tensor) -> tuple[Tensor, Tensor]:
    """Standardised rows v, shape (..., p), and what cuts v v^T to WIDE p, shape (..., 1)."""
    v = (x - centre) / spread
    bound = WIDE * x.shape[-1]
    return v, (bound / v.square().sum(-1, keepdim=True).clamp_min(1e-300)).clamp(max=1.0)
