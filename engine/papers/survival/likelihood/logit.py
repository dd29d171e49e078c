r"""The likelihood of the logit model and its derivatives, for R replicas at once.

The (n, q) person-period table is never built. Record i contributes through sums over the
intervals s \le t_i of functions of \eta_is = a_s + c_i, a = A\alpha, c = X\beta. With
E = exp(-a) and F = exp(-c), the hazard is h_is = 1/(1 + E_s F_i): n + q exponentials and an outer
product. Records are sorted by t_i, so a block of neighbours needs only the intervals up to its
last t_i and a mask for the few beyond its first.

Since the first column of A is 1, a record's gradient is [v_i; v_i0 x_i] with
v_i = \sum_{s \le t_i} h_is A_s - \delta_i A_{t_i}. Derivatives of the whole need even less: sums
of h and of w = h(1 - h) over each record and over each interval, and \sum_s w_is A_s per record.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from engine.papers.survival.likelihood.problem import Design

BLOCK = 131_072
"""Elements (replica, record, interval) worked on together: a megabyte, so that a block
stays in a core's cache from one operation to the next."""
SAFE = 300.0
"""Largest |a| and |c| for which exp(-a) exp(-c) neither overflows nor vanishes."""
LINEAR = 40.0
"""Where log(1 + exp(x)) is x in double precision; torch's own threshold of 20 loses digits."""
FOLDS = 3
"""Halvings of the intervals before a logarithm is taken: products of eight terms."""


@dataclass(frozen=True)
class Derivatives:
    r"""Gradient and Hessian of \frac1n \sum_i \ell(f; d_i) for R replicas.

    Attributes:
        gradient: Shape (R, d).
        hessian: Shape (R, d, d).
    """

    gradient: Tensor
    hessian: Tensor


def predictors(design: Design, f: Tensor) -> tuple[Tensor, Tensor]:
    """Baseline a = A alpha, shape (R, q), and covariate part c = X beta, shape (R, n)."""
    return f[:, : design.knots] @ design.A.T, f[:, design.knots :] @ design.x.T


def blocks(design: Design, replicas: int) -> tuple["Block", ...]:
    """Ranges of records that are worked on together by so many replicas."""
    return _blocks(design, 1 << max(0, (BLOCK // replicas).bit_length() - 1))


@dataclass(frozen=True, eq=False)
class Block:
    """A range of B records and the intervals that they need.

    Attributes:
        rows: The range.
        common: Intervals that all of them have.
        beyond: Which of the next ones, up to the last that any of them has, lie beyond each
            record's end, shape (B, k).
    """

    rows: slice
    common: int
    beyond: Tensor

    @property
    def intervals(self) -> int:
        """Intervals S that any of the records has."""
        return self.common + self.beyond.shape[1]


@functools.lru_cache(maxsize=64)
def _blocks(design: Design, size: int) -> tuple[Block, ...]:
    """Blocks of at most `size` pairs of a record and an interval, but of one record at least."""
    ends, start, blocks = design.interval.cpu().numpy(), 0, []
    while start < len(ends):
        some = ends[start : start + size]
        pairs = np.arange(1, len(some) + 1) * some  # ascending, as the ends are
        count = max(1, int(np.searchsorted(pairs, size, side="right")))
        rows, common, last = slice(start, start + count), int(some[0]), int(some[count - 1])
        later = torch.arange(common + 1, last + 1, device=design.interval.device)
        blocks.append(Block(rows, common, later > design.interval[rows, None]))
        start += count
    return tuple(blocks)


def hazards(design: Design, f: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """The hazard of each record in each of its intervals, 0 beyond its end.

    Yields:
        The range of B records, their hazards, shape (R, B, S), and a spare tensor of that shape
        with nothing in it. Both are overwritten by the next block, so use them up.
    """
    a, c = predictors(design, f)
    safe = _moderate(a, c)
    left, right = (torch.exp(-c), torch.exp(-a)) if safe else (c, a)
    both = [f.new_empty(0), f.new_empty(0)]  # kept, since new memory costs more than the work
    for block in blocks(design, len(f)):
        records, intervals = left[:, block.rows, None], right[:, None, : block.intervals]
        h, spare = (_view(space, records, intervals) for space in both)
        if safe:
            torch.mul(records, intervals, out=h).add_(1.0).reciprocal_()
        else:
            torch.add(records, intervals, out=h).sigmoid_()
        _cut(h, block)
        yield block.rows, h, spare


def _view(space: Tensor, records: Tensor, intervals: Tensor) -> Tensor:
    """A tensor of shape (R, B, S) in `space`, which grows where it is too small."""
    shape = (len(records), records.shape[1], intervals.shape[2])
    if space.numel() < math.prod(shape):
        space.resize_(math.prod(shape))
    return space[: math.prod(shape)].view(shape)


def _cut(values: Tensor, block: Block) -> None:
    """Sets values (R, B, S) to zero beyond each record's end."""
    if block.beyond.shape[1]:
        values[:, :, block.common :].masked_fill_(block.beyond, 0.0)


def derivatives(design: Design, f: Tensor) -> Derivatives:
    """Gradient and Hessian of the mean loss at f, shape (R, d)."""
    e, (replicas, d) = design.knots, f.shape
    by_record = f.new_empty(e + 1, replicas, design.rows)  # of h, then of w A_1, ..., w A_e
    by_interval = f.new_zeros(2, replicas, design.intervals)  # of h and of w
    for rows, h, square in hazards(design, f):
        span = h.shape[2]
        by_record[0, :, rows] = h.sum(2)
        by_interval[0, :, :span] += _over(design, rows, h)
        w = h.sub_(torch.mul(h, h, out=square))
        by_record[1, :, rows] = w.sum(2)
        by_interval[1, :, :span] += _over(design, rows, w)
        for j in range(1, e):  # a product with a thin matrix takes longer than these
            by_record[j + 1, :, rows] = w @ design.A[:span, j].contiguous()
    by_record = design.signed(by_record)
    hessian = f.new_empty(replicas, d, d)
    hessian[:, :e, :e] = design.A.T @ (by_interval[1, :, :, None] * design.A)
    cross = (by_record[1:].reshape(e * replicas, -1) @ design.x).view(e, replicas, -1)
    hessian[:, :e, e:] = cross.transpose(0, 1)
    hessian[:, e:, :e] = cross.permute(1, 2, 0)
    upper = torch.triu_indices(d - e, d - e, device=f.device) + e
    hessian[:, upper[0], upper[1]] = by_record[1] @ design.squares
    hessian[:, upper[1], upper[0]] = hessian[:, upper[0], upper[1]]
    return Derivatives(_gradient(design, by_interval[0], by_record[0]), hessian / design.records)


def mean_gradient(design: Design, f: Tensor) -> Tensor:
    r"""\frac1n\sum_i\nabla\ell(f; d_i), shape (R, d)."""
    by_record = f.new_empty(len(f), design.rows)
    by_interval = f.new_zeros(len(f), design.intervals)
    for rows, h, _ in hazards(design, f):
        by_record[:, rows] = h.sum(2)
        by_interval[:, : h.shape[2]] += _over(design, rows, h)
    return _gradient(design, by_interval, design.signed(by_record))


def _over(design: Design, rows: slice, values: Tensor) -> Tensor:
    """The sum of values (R, B, S) over a range of rows as they count, shape (R, S)."""
    if design.copies is not None:
        return design.copies[rows] @ values
    return values.sum(1) if design.owners is None else design.owners.sign[rows] @ values


def _gradient(design: Design, by_interval: Tensor, by_record: Tensor) -> Tensor:
    """The mean gradient from the sums of h over each interval (R, q) and each row (R, m)."""
    event = design.signed(design.event)
    counts = torch.bincount(design.interval - 1, event, minlength=design.intervals)
    alpha, beta = (by_interval - counts) @ design.A, (by_record - event) @ design.x
    return torch.cat([alpha, beta], dim=1) / design.records


def record_gradients(design: Design, f: Tensor) -> Tensor:
    r"""The part v_i of each row's gradient [v_i; v_i0 x_i], shape (R, m, e).

    Its squared norm is \|v_i\|^2 + v_i0^2 \|x_i\|^2. Rows are in the design's order; a record's
    gradient is the sum over its rows.
    """
    v = f.new_empty(len(f), design.rows, design.knots)
    for rows, h, _ in hazards(design, f):
        v[:, rows, 0] = h.sum(2)
        for j in range(1, design.knots):
            v[:, rows, j] = h @ design.A[: h.shape[2], j].contiguous()
    if design.owners is not None:
        v *= design.owners.sign[:, None]
    return v.sub_(design.event[:, None] * design.A[design.interval - 1])


def losses(design: Design, f: Tensor) -> Tensor:
    r"""\ell(f; d_i) of each record, shape (R, n); in the order of rows if there are no owners.

    log(1 + exp(\eta)) is summed as the logarithm of products of eight: an eighth of the logarithms.
    """
    a, c = predictors(design, f)
    total = a.new_empty(len(f), design.rows)
    safe = 2**FOLDS * float(a.amax() + c.amax()) < SAFE and _moderate(a, c)
    left, right = (torch.exp(c), torch.exp(a)) if safe else (c, a)
    space = f.new_empty(0)
    for block in blocks(design, len(f)):
        records, intervals = left[:, block.rows, None], right[:, None, : block.intervals]
        part = _view(space, records, intervals)
        if safe:
            torch.mul(records, intervals, out=part)
        else:
            part = softplus(torch.add(records, intervals, out=part), 1.0, LINEAR)
        _cut(part, block)
        total[:, block.rows] = _log_products(part) if safe else part.sum(2)
    events = design.event * (a[:, design.interval - 1] + c)
    return design.by_record(design.signed(total).sub_(events))


def log_one_plus(a: Tensor, c: Tensor) -> Tensor:
    """The log of 1 + exp(a + c) for a (R, S) and c (R, B), shape (R, B, S)."""
    if _moderate(a, c):
        return (torch.exp(c)[:, :, None] * torch.exp(a)[:, None, :]).log1p_()
    return softplus(c[:, :, None] + a[:, None, :], 1.0, LINEAR)


def _log_products(part: Tensor) -> Tensor:
    """The sum of log(1 + part) over the last axis, of which `part` is used up."""
    part.add_(1.0)
    for _ in range(FOLDS):
        half = part.shape[2] // 2
        part[:, :, :half].mul_(part[:, :, part.shape[2] - half :])
        part = part[:, :, : part.shape[2] - half]
    return part.log().sum(2)


def _moderate(a: Tensor, c: Tensor) -> bool:
    """Whether exp(a) exp(c) neither overflows nor vanishes on the way."""
    return max(float(a.abs().amax()), float(c.abs().amax())) < SAFE
