r"""Gradients and Hessians of the grouped proportional-hazards model, for R replicas at once.

With h = 1 - exp(-e^\eta) the coefficients are those of Cox's model whatever the intervals are
(Prentice and Gloeckler 1978): surviving an interval costs e^{a_s + c_i}, which is what the
cumulative hazard grows by in it. Sums over a record's intervals are therefore e^{c_i} times sums
of e^{a_s} that do not depend on the record. Only the interval of an event is different: there the
slope is -u, u = r/(e^r - 1), r = e^\eta, and the curvature r (r e^r - (e^r - 1))/(e^r - 1)^2.
"""

import torch
from torch import Tensor

from engine.papers.survival.hessians import assembled
from engine.papers.survival.likelihood import predictors
from engine.papers.survival.problem import Design

LOWEST, HIGHEST = -60.0, 15.0
"""Baseline and covariate part are cut here, each: r stays below e^30."""
TINY = 1e-4
"""Below this r the curvature of an event is r/2 to single precision."""


def _rates(design: Design, f: Tensor) -> tuple[Tensor, Tensor]:
    """e^a, shape (R, q), and e^c, shape (R, m)."""
    a, c = predictors(design, f)
    return a.clamp(LOWEST, HIGHEST).exp(), c.clamp(LOWEST, HIGHEST).exp()


def _upto(design: Design, base: Tensor, values: Tensor) -> Tensor:
    """Sums over each row's intervals of e^a times values (R or 1, q, k), shape (R, m, k)."""
    return (base[:, :, None] * values).cumsum(1)[:, design.interval - 1]


def _last(design: Design, base: Tensor, own: Tensor) -> Tensor:
    """R in the interval in which each row ends, shape (R, m)."""
    return base[:, design.interval - 1] * own


def _bend(rate: Tensor) -> Tensor:
    """The curvature of an event's interval less that of a survived one."""
    gone = torch.expm1(rate)
    exact = rate * (rate * (gone + 1.0) - gone) / gone.square().clamp_min(1e-300)
    far = torch.where(rate > 300.0, 0.0, exact)
    return torch.where(rate < TINY, 0.5 * rate, far) - rate


def gradients(design: Design, f: Tensor) -> Tensor:
    """The part v_i of each row's gradient [v_i; v_i0 x_i], shape (R, m, e)."""
    base, own = _rates(design, f)
    v = own[:, :, None] * _upto(design, base, design.A[None])
    if design.owners is not None:
        v = v * design.owners.sign[:, None]
    rate = _last(design, base, own)
    less = rate / torch.expm1(rate).clamp_min(1e-300) + rate
    return v - (design.event * less)[:, :, None] * design.A[design.interval - 1]


def traces(design: Design, f: Tensor, metric: Tensor) -> Tensor:
    """The trace of a symmetric matrix (R, d, d) times each record's Hessian, shape (R, n)."""
    base, own = _rates(design, f)
    e, A = design.knots, design.A
    by_time = torch.einsum("qi,rij,qj->rq", A, metric[:, :e, :e], A)
    cross, inner = design.x @ metric[:, e:, :e], design.x @ metric[:, e:, e:]
    inner = (inner * design.x).sum(2)
    parts = torch.cat([by_time[:, :, None], A.expand(len(f), -1, -1)], 2)
    sums = own[:, :, None] * _upto(design, base, parts)
    total = sums[:, :, 0] + 2.0 * (sums[:, :, 1:] * cross).sum(2) + sums[:, :, 1] * inner
    total = design.signed(total)
    end = design.interval - 1
    alone = by_time[:, end] + 2.0 * (A[end] * cross).sum(2) + inner
    total = total + design.event * _bend(_last(design, base, own)) * alone
    return design.by_record(total).clamp_min(0.0)


def weighted(design: Design, f: Tensor, weight: Tensor) -> Tensor:
    """The sum of the records' Hessians times their weights (R, n), shape (R, d, d)."""
    base, own = _rates(design, f)
    signed = weight
    if design.owners is not None:
        weight = weight[:, design.owners.person]
        signed = weight * design.owners.sign
    end = design.interval - 1
    extra = weight * design.event * _bend(_last(design, base, own))
    ending = torch.zeros_like(base).index_add_(1, end, signed * own)
    by_interval = base * ending.flip(1).cumsum(1).flip(1)
    by_interval = by_interval.index_add(1, end, extra)
    by_record = (signed * own)[:, :, None] * _upto(design, base, design.A[None])
    by_record = by_record + extra[:, :, None] * design.A[end]
    return assembled(design, by_interval, by_record)
