r"""A scaled survival table in discrete time, sorted so that risk sets are ranges of rows.

Covariates that vary in time hold in an interval as they are at its beginning. A sum over the
intervals of one of a person's episodes is the sum up to its end less the sum up to its start, so
a person is a few rows of the same kind as any record, some of which count as -1.
"""

import functools
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from datasets.base import Episodes, Floats, Integers, SurvivalTable
from engine.papers.survival.likelihood.scale import scaled
from engine.papers.survival.price.sensitivity import basis


@dataclass(frozen=True, eq=False)
class Owners:
    """Whose each of m rows is, where a person has several.

    Attributes:
        person: Record in 0..n-1, shape (m,).
        sign: 1 for a sum up to an episode's end, -1 for one up to its start, shape (m,).
        last: Row of each person's end, shape (n,).
    """

    person: Tensor
    sign: Tensor
    last: Tensor


@dataclass(frozen=True, eq=False)
class Design:
    r"""The discrete-time model of a table, rows sorted by interval; m = n unless there are owners.

    Attributes:
        A: Spline basis of the baseline, shape (q, e); its first column is 1.
        x: Scaled covariates, shape (m, p), float64.
        interval: t_i in 1..q, ascending, shape (m,).
        event: 1 for an event, 0 for a censored duration, shape (m,).
        squares: Upper triangle of x_i x_i^T, shape (m, p(p+1)/2).
        order: Position of each row in the table, shape (m,).
        owners: Whose each row is; None where each is a record of its own.
        copies: How many equal records each row stands for, shape (m,); None for one each.
    """

    A: Tensor
    x: Tensor
    interval: Tensor
    event: Tensor
    squares: Tensor
    order: Tensor
    owners: Owners | None = None
    copies: Tensor | None = None

    @property
    def records(self) -> int:
        """Number of records n."""
        if self.copies is not None:
            return int(self.copies.sum())
        return self.rows if self.owners is None else len(self.owners.last)

    @property
    def rows(self) -> int:
        """Number of rows m."""
        return len(self.interval)

    @property
    def ends(self) -> Tensor:
        """The interval in which each record ends, shape (n,)."""
        return self.interval if self.owners is None else self.interval[self.owners.last]

    @property
    def happened(self) -> Tensor:
        """1 for each record that ends with its event, shape (n,)."""
        return self.event if self.owners is None else self.event[self.owners.last]

    def signed(self, values: Tensor) -> Tensor:
        """Sums of the rows (..., m) as they count."""
        if self.copies is not None:
            return values * self.copies
        return values if self.owners is None else values * self.owners.sign

    def counted(self, cells: Tensor, size: int) -> Tensor:
        """How often each of so many cells is named, for cells of each record (n, ...), (size,)."""
        if self.copies is None:
            return torch.bincount(cells.flatten(), minlength=size)
        weights = self.copies.view(-1, *[1] * (cells.dim() - 1)).expand(cells.shape).flatten()
        return torch.bincount(cells.flatten(), weights, minlength=size)

    def by_record(self, values: Tensor) -> Tensor:
        """Values of the rows (R, m, ...) added up for each record, (R, n, ...)."""
        if self.owners is None:
            return values
        totals = values.new_zeros(len(values), self.records, *values.shape[2:])
        return totals.index_add(1, self.owners.person, values)

    @property
    def intervals(self) -> int:
        """Number of intervals q."""
        return len(self.A)

    @property
    def knots(self) -> int:
        """Number of knots e."""
        return self.A.shape[1]

    @property
    def dimension(self) -> int:
        """Number of parameters d = e + p."""
        return self.A.shape[1] + self.x.shape[1]


def discretise(time: Floats, intervals: int) -> Integers:
    r"""t_i = clip(\lceil q T_i \rceil, 1, q), shape (n,)."""
    return np.clip(boundary(time, intervals), 1, intervals).astype(np.int64)


def boundary(time: Floats, intervals: int) -> Floats:
    r"""\lceil q T \rceil of scaled times, as if T had not been rounded.

    27 weeks of 52 in 52 intervals are 27.000000000000004 in double precision, and would be put
    into interval 28. The product is off by at most two roundings; where it is that near to a
    whole number, that number is meant: a time of whole days cannot come so near by itself while
    the longest has less than 10^12 of them.
    """
    product = intervals * time
    whole = np.round(product)
    meant = np.abs(product - whole) <= 4.0 * np.finfo(np.float64).eps * product
    interval: Floats = np.where(meant, whole, np.ceil(product))
    return interval


@functools.lru_cache(maxsize=16)
def design(table: SurvivalTable, intervals: int, knots: int, device: str = "cpu") -> Design:
    """The model of a table with q intervals and e knots; kept per table and grid."""
    records = scaled(table)
    interval, spline = discretise(records.time, intervals), basis(intervals, knots)
    if records.episodes is None:
        made = arrange(records.x, interval, records.event, spline, device)
        return merged(made) if table.alike else made
    return arrange_path(records.episodes, interval, records.event, spline, device)


def arrange(
    x: Floats, interval: Integers, event: Floats, spline: Floats, device: str = "cpu"
) -> Design:
    r"""The design of scaled records.

    Args:
        x: Covariates of row norm at most 1, shape (n, p).
        interval: t_i in 1..q, shape (n,).
        event: 1 for an event, 0 for a censored duration, shape (n,).
        spline: A, shape (q, e).
        device: Where the tensors live.
    """
    put = functools.partial(torch.tensor, device=device)
    order = np.argsort(interval, kind="stable")
    x, (first, second) = x[order], np.triu_indices(x.shape[1])
    return Design(
        A=put(spline),
        x=put(x),
        interval=put(interval[order]),
        event=put(event[order]),
        squares=put(x[:, first] * x[:, second]),
        order=put(order),
    )


def merged(design: Design) -> Design:
    """The same design with equal rows once each: sums are those of all, up to rounding."""
    columns = torch.cat([design.interval[:, None].to(design.x), design.event[:, None], design.x], 1)
    # sorted by the columns from left to right, so by interval
    _, first, copies = np.unique(
        columns.cpu().numpy(), axis=0, return_index=True, return_counts=True
    )
    rows = torch.from_numpy(first).to(design.order)
    kept = {n: getattr(design, n)[rows] for n in ("x", "interval", "event", "squares", "order")}
    return replace(design, **kept, copies=torch.from_numpy(copies).to(design.x))


def arrange_path(
    course: Episodes, interval: Integers, event: Floats, spline: Floats, device: str = "cpu"
) -> Design:
    r"""The design of persons whose covariates vary in time.

    An episode holds in the intervals that begin within it: from its entry \lceil q start \rceil,
    left out, to the next one's. One that begins and stops within an interval is never seen.

    Args:
        course: Scaled episodes of n persons; covariates of row norm at most 1.
        interval: t_i in 1..q of each person, shape (n,).
        event: 1 for an event, 0 for a censored duration, shape (n,).
        spline: A, shape (q, e).
        device: Where the tensors live.
    """
    person, end = course.person, interval[course.person]
    entry = np.minimum(boundary(course.start, len(spline)).astype(np.int64), end)
    following = np.append(person[1:] == person[:-1], False)
    leave = np.where(following, np.append(entry[1:], 0), end)
    seen, entered = leave > entry, (leave > entry) & (entry > 0)
    final = seen & (leave == end)
    whose = np.concatenate([person[seen], person[entered]])
    design = arrange(
        np.concatenate([course.x[seen], course.x[entered]]),
        np.concatenate([leave[seen], entry[entered]]),
        np.concatenate([(event[person] * final)[seen], np.zeros(int(entered.sum()))]),
        spline,
        device,
    )
    order = design.order.cpu().numpy()
    sign = np.where(np.arange(len(order)) < seen.sum(), 1.0, -1.0)[order]
    closing = np.append(final[seen], np.zeros(int(entered.sum()), bool))[order]
    last = np.zeros(len(interval), np.int64)
    last[whose[order][closing]] = np.flatnonzero(closing)
    put = functools.partial(torch.tensor, device=device)
    return replace(design, owners=Owners(put(whose[order]), put(sign), put(last)))
