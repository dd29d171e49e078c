r"""The loss of every record by interpolation: for many parameter vectors, any link.

A record's loss depends on its covariates only through c_i = \beta^T x_i, and |c_i| \le \|\beta\|
because \|x_i\| \le 1. For each parameter vector the losses of all ends t and both outcomes are
tabulated on a grid of c over that public range, and read off by a cubic Hermite polynomial: G q
evaluations of the link in place of n q. With a spacing below `SPACING` the error of one loss is
about 1e-5.

The interpolated loss is a function of one record and f alone, and so is everything that is made
of it: a clip or a sanitiser bounds it as it bounds the exact one, and no proof notices.
"""

import math

import torch
from torch import Tensor

from engine.papers.survival.links import LINKS
from engine.papers.survival.problem import Design

SPACING = 0.25
FEWEST, MOST = 8, 128
"""Grid points: enough for a cubic, and a bound on the time that far-off proposals take."""
TOGETHER = 262_144
"""Elements (replica, record) that are worked on together: two megabytes a tensor."""


def losses(design: Design, f: Tensor, link: str = "logit") -> Tensor:
    r"""\ell(f; d_i) of every record, shape (R, n), in the design's order.

    Args:
        design: The records.
        f: Parameters, shape (R, d).
        link: "logit", "cloglog" or "probit".
    """
    return torch.cat([_losses(design, part, link) for part in torch.split(f, together(design))])


def together(design: Design) -> int:
    """Parameter vectors that are evaluated together."""
    return max(1, TOGETHER // design.records)


def _losses(design: Design, f: Tensor, link: str) -> Tensor:
    value, slope, low, spacing = _table(design, f, link)
    c = f[:, design.knots :] @ design.x.T
    place = (c - low[:, None]) / spacing[:, None]
    cell = place.detach().floor().clamp(0, value.shape[1] - 2)
    u = place - cell
    wide = 2 * design.intervals
    index = cell.long() * wide + _column(design)
    value, slope = value.flatten(1), slope.flatten(1)
    left, right = value.gather(1, index), value.gather(1, index + wide)
    rise = right - left
    start = slope.gather(1, index) * spacing[:, None]
    end = slope.gather(1, index + wide) * spacing[:, None]
    return left + u * (
        start + u * (3.0 * rise - 2.0 * start - end + u * (start + end - 2.0 * rise))
    )


def _column(design: Design) -> Tensor:
    """Where each record's end and outcome stand in the table, shape (n,)."""
    return design.interval - 1 + design.intervals * (design.event > 0)


def _table(design: Design, f: Tensor, link: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Losses (R, G, 2q) of a censored and of an observed end, their slopes, and the grid."""
    law, e = LINKS[link], design.knots
    reach = f[:, e:].detach().norm(dim=1).clamp_min(1e-3)
    count = min(MOST, max(FEWEST, math.ceil(2.0 * float(reach.max()) / SPACING) + 1))
    unit = torch.linspace(-1.0, 1.0, count, dtype=f.dtype, device=f.device)
    eta = (f[:, None, :e] @ design.A.T) + (reach[:, None] * unit)[:, :, None]
    survived, slope = law.survived(eta)
    happened, its_slope = law.happened(eta)
    value, slopes = survived.cumsum(2), slope.cumsum(2)
    value = torch.cat([value, value + (happened - survived)], dim=2)
    slopes = torch.cat([slopes, slopes + (its_slope - slope)], dim=2)
    return value, slopes, -reach, 2.0 * reach / (count - 1)
