r"""Sanitised losses and gradients of small random batches of records, for R chains at once.

A record's sum over its intervals depends on its covariates only through c = \beta^T x, and is
analytic in it within a strip of half-width \pi. So the sums of all ends are worked out at a few
Chebyshev points of c in place of every record, and read off by the polynomial through them. On
[-r, r] the error of G points falls as exp(-G asinh(\pi/r)) (Trefethen 2013, Theorem 8.2): G is
chosen so that it is about exp(-`DIGITS`). Chains that have strayed too far take the direct way.
"""

import functools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.papers.survival.links import LINKS, Link
from engine.papers.survival.problem import Design

DIGITS = 8.0
"""An error of 3e-4: a batch of 200 records estimates its gradient two hundred times worse."""
MOST = 96
"""Points beyond which the direct sums are as fast."""


@dataclass(frozen=True)
class Records:
    """Some records for each of R chains.

    Attributes:
        x: Covariates, shape (..., R, k, p).
        end: t_i - 1, shape (..., R, k).
        event: Shape (..., R, k).
        basis: A_{t_i}, shape (..., R, k, e).
    """

    x: Tensor
    end: Tensor
    event: Tensor
    basis: Tensor

    def __getitem__(self, step: int) -> "Records":
        """Those of one of several steps."""
        return Records(self.x[step], self.end[step], self.event[step], self.basis[step])


def pick(design: Design, rows: Tensor) -> Records:
    """The records at positions `rows`, shape (..., R, k), in single precision."""
    p, whole = design.x.shape[1], _packed(design).index_select(0, rows.flatten())
    whole = whole.view(*rows.shape, -1)
    x, event, basis = whole[..., :p], whole[..., p], whole[..., p + 1 :]
    return Records(x.contiguous(), design.interval[rows] - 1, event.contiguous(), basis)


@functools.lru_cache(maxsize=8)
def _packed(design: Design) -> Tensor:
    """All that a record needs in one row, so that a random batch is read once, (n, p + 1 + e)."""
    parts = [design.x, design.event[:, None], design.A[design.interval - 1]]
    return torch.cat(parts, dim=1).float()


def sanitised_gradient(
    A: Tensor, f: Tensor, records: Records, bound: Tensor, link: str
) -> tuple[Tensor, Tensor]:
    r"""Mean over the records of C_v(\ell) and of its gradient.

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
    A, f, bound = (
        A.float(),
        f.float(),
        bound.float(),
    )  # as good for a random batch, in half the time
    c = (records.x @ f[:, e:, None])[:, :, 0]
    a = f[:, :e] @ A.T
    reach = c.abs().amax(1).clamp_min(1e-3)
    count = nodes_for(float(reach.max()))
    near = 0 < count <= MOST
    sums = _read(A, a, c, reach, records, law, count) if near else _direct(A, a, c, records, law)
    more, steeper = law.switched(a.gather(1, records.end) + c)
    loss = sums[:, :, 0] + records.event * more
    slope = sums[:, :, 1:] + (records.event * steeper)[:, :, None] * records.basis
    squashed = torch.tanh(loss / bound[:, None])
    slope = (1.0 - squashed.square())[:, :, None] * slope
    beta = slope[:, None, :, 0] @ records.x
    mean = torch.cat([slope.sum(1), beta[:, 0]], dim=1) / c.shape[1]
    return (bound * squashed.mean(1)).double(), mean.double()


def _direct(A: Tensor, a: Tensor, c: Tensor, records: Records, law: Link) -> Tensor:
    r"""\sum_{s \le t_i} of -log(1 - h) and of its slope times A_s, shape (R, k, 1 + e)."""
    cost, slope = law.survived(a[:, None, :] + c[:, :, None])
    order = torch.arange(len(A), device=A.device)
    alive = order <= records.end[:, :, None]
    cost, slope = cost.masked_fill(~alive, 0.0), slope.masked_fill(~alive, 0.0)
    return torch.cat([cost.sum(2, keepdim=True), slope @ A], dim=2)


def nodes_for(reach: float) -> int:
    """Chebyshev points that [-reach, reach] needs; 0 if it is not finite."""
    if not math.isfinite(reach) or reach > math.pi * MOST:
        return 0
    return max(6, math.ceil(DIGITS / math.asinh(math.pi / reach)))


def _read(
    A: Tensor, a: Tensor, c: Tensor, reach: Tensor, records: Records, law: Link, count: int
) -> Tensor:
    """The same by interpolation between Chebyshev points of [-reach, reach]."""
    nodes, transform = _chebyshev(count, str(A.device))
    (rows, q), e = a.shape, A.shape[1]
    cost, slope = law.survived(a[:, :, None] + (reach[:, None] * nodes)[:, None, :])  # (R, q, G)
    parts = cost.new_empty(rows, q, 1 + e, count)
    parts[:, :, 0], parts[:, :, 1] = cost, slope  # A_1 = 1
    torch.mul(slope[:, :, None], A[:, 1:, None], out=parts[:, :, 2:])
    sums = parts.cumsum(1).view(rows * q, -1)
    place = records.end + q * torch.arange(rows, device=A.device)[:, None]
    mine = sums.index_select(0, place.flatten()).view(*place.shape, 1 + e, count)
    angle = torch.acos((c / reach[:, None]).clamp(-1.0, 1.0))
    degrees = torch.arange(count, dtype=c.dtype, device=c.device)
    weight = torch.cos(angle[:, :, None] * degrees) @ transform
    return mine.mul_(weight[:, :, None, :]).sum(3)


@functools.lru_cache(maxsize=256)
def _chebyshev(count: int, device: str) -> tuple[Tensor, Tensor]:
    """The nodes (G,) and the map (G, G) from cosines of the angle to the weights of the nodes."""
    angles = (torch.arange(count, dtype=torch.float64) + 0.5) * math.pi / count
    degrees = torch.arange(count, dtype=torch.float64)[:, None]
    transform = torch.cos(degrees * angles) * (2.0 / count)
    transform[0] /= 2.0
    return torch.cos(angles).float().to(device), transform.float().to(device)
