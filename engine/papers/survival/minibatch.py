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

DIGITS = 11.0
MOST = 96
"""Points beyond which the direct sums are as fast."""


@dataclass(frozen=True)
class Records:
    """Some records for each of R chains.

    Attributes:
        x: Covariates, shape (R, k, p).
        interval: t_i in 1..q, shape (R, k).
        event: Shape (R, k).
    """

    x: Tensor
    interval: Tensor
    event: Tensor


def pick(design: Design, rows: Tensor) -> Records:
    """The records at positions `rows`, shape (..., R, k)."""
    return Records(design.x[rows], design.interval[rows], design.event[rows])


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
    c = torch.einsum("rkp,rp->rk", records.x, f[:, e:])
    a = f[:, :e] @ A.T
    reach = c.abs().amax(1).clamp_min(1e-3)
    count = nodes_for(float(reach.max()))
    near = 0 < count <= MOST
    sums = _read(A, a, c, reach, records, law, count) if near else _direct(A, a, c, records, law)
    loss, slope = sums[:, :, 0], sums[:, :, 1:]
    eta = a.gather(1, records.interval - 1) + c
    (kept, kept_slope), (gone, gone_slope) = law.survived(eta), law.happened(eta)
    loss = loss + records.event * (gone - kept)
    slope = (
        slope + (records.event * (gone_slope - kept_slope))[:, :, None] * A[records.interval - 1]
    )
    squashed = torch.tanh(loss / bound[:, None])
    slope = (1.0 - squashed.square())[:, :, None] * slope
    beta = torch.einsum("rk,rkp->rp", slope[:, :, 0], records.x)
    mean = torch.cat([slope.sum(1), beta], dim=1) / c.shape[1]
    return bound * squashed.mean(1), mean


def _direct(A: Tensor, a: Tensor, c: Tensor, records: Records, law: Link) -> Tensor:
    r"""\sum_{s \le t_i} of -log(1 - h) and of its slope times A_s, shape (R, k, 1 + e)."""
    cost, slope = law.survived(a[:, None, :] + c[:, :, None])
    order = torch.arange(1, len(A) + 1, device=A.device)
    alive = order <= records.interval[:, :, None]
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
    at = reach[:, None] * nodes
    cost, slope = law.survived(a[:, :, None] + at[:, None, :])  # (R, q, G)
    parts = torch.cat([cost[:, :, None], slope[:, :, None] * A[:, :, None]], dim=2)
    sums = parts.cumsum(1)  # (R, q, 1 + e, G)
    rows = torch.arange(len(c), device=c.device)[:, None]
    mine = sums[rows, records.interval - 1]  # (R, k, 1 + e, G)
    angle = torch.acos((c / reach[:, None]).clamp(-1.0, 1.0))
    degrees = torch.arange(count, dtype=c.dtype, device=c.device)
    weight = torch.cos(angle[:, :, None] * degrees) @ transform
    return (mine * weight[:, :, None, :]).sum(3)


@functools.lru_cache(maxsize=256)
def _chebyshev(count: int, device: str) -> tuple[Tensor, Tensor]:
    """The nodes (G,) and the map (G, G) from cosines of the angle to the weights of the nodes."""
    angles = (torch.arange(count, dtype=torch.float64) + 0.5) * math.pi / count
    degrees = torch.arange(count, dtype=torch.float64)[:, None]
    transform = torch.cos(degrees * angles) * (2.0 / count)
    transform[0] /= 2.0
    return torch.cos(angles).to(device), transform.to(device)
