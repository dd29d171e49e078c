r"""Sums of the records' Hessians with a weight for each record, for R replicas at once.

A record's Hessian under the logit link is \sum_{s \le t_i} w_is [A_s; x_i][A_s; x_i]^T with
w = h(1 - h), so its trace in a metric G is \sum_s w_is (A_s^T G_aa A_s + 2 A_s^T G_ab x_i +
x_i^T G_bb x_i): linear in \sum_s w_is A_s^T G_aa A_s, \sum_s w_is A_s and \sum_s w_is. No matrix
of a single record is built.
"""

import torch
from torch import Tensor

from engine.papers.survival.likelihood import hazards
from engine.papers.survival.problem import Design


def traces(design: Design, f: Tensor, metric: Tensor) -> Tensor:
    """The trace of G times each record's Hessian, shape (R, n).

    Args:
        design: The records.
        f: Parameters, shape (R, d).
        metric: G, symmetric, shape (R, d, d).
    """
    e, A = design.knots, design.A
    own = torch.einsum("qi,rij,qj->rq", A, metric[:, :e, :e], A)
    cross, inner = metric[:, :e, e:] @ design.x.T, design.x @ metric[:, e:, e:]  # (R, e, m)
    total = f.new_empty(len(f), design.rows)
    for rows, h, square in hazards(design, f):
        span = h.shape[2]
        w = h.sub_(torch.mul(h, h, out=square))
        part = (w @ own[:, :span, None])[:, :, 0]
        part += w.sum(2) * (inner[:, rows] * design.x[rows]).sum(2)
        part += 2.0 * ((w @ A[:span]) * cross[:, :, rows].transpose(1, 2)).sum(2)
        total[:, rows] = part
    return design.by_record(design.signed(total)).clamp_min(0.0)


def weighted(design: Design, f: Tensor, weight: Tensor) -> Tensor:
    """The sum of the records' Hessians times their weights, shape (R, d, d).

    Args:
        design: The records.
        f: Parameters, shape (R, d).
        weight: Shape (R, n).
    """
    e, A = design.knots, design.A
    if design.owners is not None:
        weight = weight[:, design.owners.person] * design.owners.sign
    by_interval = f.new_zeros(len(f), design.intervals)
    by_record = f.new_empty(len(f), design.rows, e)
    for rows, h, square in hazards(design, f):
        span = h.shape[2]
        w = h.sub_(torch.mul(h, h, out=square)).mul_(weight[:, rows, None])
        by_interval[:, :span] += w.sum(1)
        by_record[:, rows] = w @ A[:span]
    return assembled(design, by_interval, by_record)


def assembled(design: Design, by_interval: Tensor, by_record: Tensor) -> Tensor:
    """A Hessian from sums of w over each interval (R, q) and of w A_s over each row (R, m, e)."""
    e, d = design.knots, design.dimension
    hessian = by_interval.new_empty(len(by_interval), d, d)
    hessian[:, :e, :e] = design.A.T @ (by_interval[:, :, None] * design.A)
    hessian[:, :e, e:] = by_record.transpose(1, 2) @ design.x
    hessian[:, e:, :e] = hessian[:, :e, e:].transpose(1, 2)
    hessian[:, e:, e:] = design.x.T @ (by_record[:, :, :1] * design.x)
    return hessian
