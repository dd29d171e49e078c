r"""Sanitised losses and gradients of small random batches of records, for R chains at once.

A record's sum over its intervals depends on its covariates only through c = \beta^T x, and is
analytic in it within a strip of half-width b (`links.Link.strip`). So the sums of all ends are
worked out at a few Chebyshev points of c in place of every record, and read off by the polynomial
through them. On an interval of half-width r the error of G points falls as exp(-G asinh(b/r))
(Trefethen 2013, Theorem 8.2): G is chosen so that it is about exp(-`DIGITS`). The few records
further than `REACH` from their chain's mean are summed directly.

The derivative by the baseline never gathers its e columns for each record: the weights of the
records are scattered back over ends and points, and summed against the slopes there.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.papers.survival.likelihood.links import LINKS, Link
from engine.papers.survival.likelihood.problem import Design

DIGITS = 9.0
"""An error of about 1e-4: a batch of 200 records estimates its gradient two hundred times worse."""
REACH = 3.0
"""r: wider needs more points, narrower leaves more records to be summed directly."""


@dataclass(frozen=True)
class Records:
    r"""Some records for each of R chains.

    A record has `each` rows next to each other: 1, or more where covariates vary in time.

    Attributes:
        x: Covariates, shape (..., R, k each, p).
        place: Where each row reads its sum: \delta R q + r q + t - 1 for chain r, shape
            (..., R, k each).
        sign: How each row counts, shape (..., R, k each): 1, -1, or 0 for one too many; None
            where each is 1.
        each: Rows of a record.
    """

    x: Tensor
    place: Tensor
    sign: Tensor | None = None
    each: int = 1

    def __getitem__(self, step: int) -> "Records":
        """Those of one of several steps."""
        sign = None if self.sign is None else self.sign[step]
        return Records(self.x[step], self.place[step], sign, self.each)

    def gather(self, values: Tensor) -> Tensor:
        """Values of the rows (R, k each) added up for each record, (R, k)."""
        if self.sign is None:
            return values
        return (values * self.sign).view(len(values), -1, self.each).sum(2)

    def spread(self, weight: Tensor) -> Tensor:
        """Weights of the records (R, k) as weights of their rows, (R, k each)."""
        if self.sign is None:
            return weight
        return weight.repeat_interleave(self.each, dim=1) * self.sign


@dataclass(frozen=True)
class Sums:
    r"""What the intervals of each record add up to.

    Attributes:
        cost: The loss, shape (R, k).
        slope: Its derivative by c, shape (R, k).
        back: From the weights of the records, shape (R, k), to the derivative of their weighted
            sum by the baseline a, shape (R, q).
    """

    cost: Tensor
    slope: Tensor
    back: Callable[[Tensor], Tensor]


def pick(design: Design, rows: Tensor) -> Records:
    """The records `rows`, each in 0..n-1, shape (..., R, k), in single precision."""
    sign, each = None, 1
    if design.owners is not None:
        members, counts = _members(design)
        each = members.shape[1]
        rows, sign = (v[rows].flatten(-2) for v in (members, counts))
    chains, flat = rows.shape[-2], rows.flatten()
    single, places = _packed(design, chains)
    offset = design.intervals * torch.arange(chains, device=rows.device)[:, None]
    x = single.index_select(0, flat).view(*rows.shape, -1)
    return Records(x, places.index_select(0, flat).view(rows.shape) + offset, sign, each)


@functools.lru_cache(maxsize=8)
def _packed(design: Design, chains: int) -> tuple[Tensor, Tensor]:
    """Covariates in single precision, shape (m, p), and places for the first chain, shape (m,)."""
    happened = (design.event > 0).long() * (chains * design.intervals)
    return design.x.float(), design.interval - 1 + happened


@functools.lru_cache(maxsize=8)
def _members(design: Design) -> tuple[Tensor, Tensor]:
    """Each person's rows, and how they count, with zeros after the last, (n, each) both."""
    assert design.owners is not None  # the caller has looked
    person, sign = design.owners.person, design.owners.sign.float()
    order = torch.argsort(person, stable=True)
    counts = torch.bincount(person, minlength=design.records)
    nth = (
        torch.arange(len(person), device=person.device) - (counts.cumsum(0) - counts)[person[order]]
    )
    rows = person.new_zeros(design.records, int(counts.max()))
    signs = sign.new_zeros(rows.shape)
    rows[person[order], nth], signs[person[order], nth] = order, sign[order]
    return rows, signs


def sanitised_gradient(
    A: Tensor, f: Tensor, records: Records, bound: Tensor, link: str
) -> tuple[Tensor, Tensor]:
    r"""Mean over the records of C_v(\ell) and of its gradient.

    Single precision is as good for a random batch, in half the time.

    Args:
        A: Spline basis, shape (q, e).
        f: Parameters, shape (R, d).
        records: k records for each chain.
        bound: v, shape (R,).
        link: "logit", "cloglog" or "probit".

    Returns:
        Shapes (R,) and (R, d).
    """
    law, e = LINKS[link], A.shape[1]
    A, f, bound = A.float(), f.float(), bound.float()
    a, c = f[:, :e] @ A.T, (records.x @ f[:, e:, None])[:, :, 0]
    sums = summed(a, c, records.place, law)
    squashed = torch.tanh(records.gather(sums.cost) / bound[:, None])
    weight = records.spread(1.0 - squashed.square())
    alpha = sums.back(weight) @ A
    beta = (weight * sums.slope)[:, None] @ records.x
    mean = torch.cat([alpha, beta[:, 0]], dim=1) / squashed.shape[1]
    return (bound * squashed.mean(1)).double(), mean.double()


def nodes_for(strip: float) -> int:
    """Chebyshev points that the interval needs."""
    return math.ceil(DIGITS / math.asinh(strip / REACH))


def summed(a: Tensor, c: Tensor, place: Tensor, law: Link) -> Sums:
    """The sums of every record; points come first and records last, so that memory runs on.

    Args:
        a: Baseline, shape (R, q).
        c: Covariate part, shape (R, k).
        place: As `Records.place`, shape (R, k).
        law: The link.
    """
    (nodes, transform), (chains, q) = _chebyshev(nodes_for(law.strip), str(a.device)), a.shape
    count, place = len(nodes), place.flatten()
    middle = c.mean(1, keepdim=True)
    u = ((c - middle) / REACH).flatten()
    far = (~(u.abs() <= 1.0)).nonzero()[:, 0]  # with those that are not finite
    weight = (transform @ _polynomials(u, count)).index_fill_(1, far, 0.0)
    eta = (a + middle) + (REACH * nodes)[:, None, None]  # (G, R, q)
    (cost, slope), (more, steeper) = law.survived(eta), law.switched(eta)
    table = eta.new_empty(2, count, 2, chains, q)  # costs and slopes of the censored, of the others
    for part, each, last in ((table[0], cost, more), (table[1], slope, steeper)):
        torch.cumsum(each, 2, out=part[:, 0])
        torch.add(part[:, 0], last, out=part[:, 1])
    rows = table.view(2 * count, -1).index_select(1, place).view(2, count, -1)
    sums = (rows * weight).sum(1)
    few_cost, few_slope = _direct(a, c.flatten()[far], place[far], law)
    sums[0, far], sums[1, far] = few_cost, few_slope.sum(1)

    def back(share: Tensor) -> Tensor:
        """What the sums' derivatives (R, k) give each chain's baseline, shape (R, q)."""
        pushed = eta.new_zeros(count, 2 * chains * q)
        pushed.scatter_add_(1, place.expand(count, -1), weight * share.flatten())
        ended, happened = pushed.view(count, 2, chains, q).unbind(1)
        alive = (ended + happened).flip(2).cumsum(2).flip(2)
        total = (alive * slope + happened * steeper).sum(0)
        return total.index_add_(0, place[far] // q % chains, share.flatten()[far, None] * few_slope)

    cost_of, slope_of = sums.view(2, *c.shape)
    return Sums(cost_of, slope_of, back)


def _direct(a: Tensor, c: Tensor, place: Tensor, law: Link) -> tuple[Tensor, Tensor]:
    """Costs of m records, shape (m,), and their slopes interval by interval, shape (m, q)."""
    chains, q = a.shape
    end, happened = (place % q)[:, None], (place >= chains * q)[:, None]
    eta = a.index_select(0, place // q % chains).add_(c[:, None])
    past = torch.arange(q, device=a.device) > end
    cost, slope = (values.masked_fill(past, 0.0) for values in law.survived(eta))
    more, steeper = (torch.where(happened, v, 0.0) for v in law.switched(eta.gather(1, end)))
    return cost.sum(1) + more[:, 0], slope.scatter_add_(1, end, steeper)


def _polynomials(u: Tensor, count: int) -> Tensor:
    """Chebyshev polynomials of degree 0 to count - 1 at u in [-1, 1], shape (count, len(u))."""
    values, twice = u.new_empty(count, len(u)), 2.0 * u
    values[0], values[1] = 1.0, u
    for j in range(2, count):
        torch.mul(twice, values[j - 1], out=values[j]).sub_(values[j - 2])
    return values


@functools.lru_cache(maxsize=256)
def _chebyshev(count: int, device: str) -> tuple[Tensor, Tensor]:
    """The nodes (G,) and the map (G, G) from polynomials at a point to the weights of the nodes."""
    angles = (torch.arange(count, dtype=torch.float64) + 0.5) * math.pi / count
    degrees = torch.arange(count, dtype=torch.float64)[:, None]
    transform = torch.cos(degrees * angles) * (2.0 / count)
    transform[0] /= 2.0
    return torch.cos(angles).float().to(device), transform.T.contiguous().float().to(device)
