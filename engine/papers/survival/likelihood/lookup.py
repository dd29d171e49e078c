r"""The loss of every record by interpolation: for many parameter vectors, any link.

A record's loss depends on its covariates only through c_i = \beta^T x_i, and |c_i| \le \|\beta\|
because \|x_i\| \le 1. For each parameter vector the costs of surviving to all ends t are
tabulated on a grid of c over that public range, and read off by a cubic Hermite polynomial: G q
evaluations of the link in place of n q. With a spacing below `SPACING` the error of one loss is
about 1e-5.

The grid reaches as far as the largest of the parameter vectors that are evaluated together. So the
interpolated loss is a function of one record, of f, and of the other vectors of the same call, and
of no other record. It is never negative, so that a clip or a sanitiser bounds it as it bounds the
exact one. Where the same f is evaluated beside others, it differs by the error above:
`price.sampler.sanitised` says what that means for the sampler's proof.
"""

import math

import torch
from torch import Tensor

from engine.papers.survival.likelihood.links import LINKS
from engine.papers.survival.likelihood.problem import Design

SPACING = 0.25
FEWEST, MOST = 8, 128
"""Grid points: enough for a cubic, and a bound on the time that far-off proposals take."""
TOGETHER = 262_144
"""Elements (replica, record) that are worked on together: two megabytes a tensor."""


def losses(design: Design, f: Tensor, link: str = "logit") -> Tensor:
    r"""\ell(f; d_i) of every record, shape (R, n), as `likelihood.logit.losses`.

    Args:
        design: The records.
        f: Parameters, shape (R, d).
        link: "logit", "cloglog" or "probit".
    """
    return torch.cat([_losses(design, part, link) for part in torch.split(f, together(design))])


def together(design: Design) -> int:
    """Parameter vectors that are evaluated together."""
    return max(1, TOGETHER // design.rows)


def _losses(design: Design, f: Tensor, link: str) -> Tensor:
    law, e, q = LINKS[link], design.knots, design.intervals
    a, c = f[:, :e] @ design.A.T, f[:, e:] @ design.x.T
    value, slope, low, spacing = _table(a, f[:, e:].detach(), link)
    place = (c - low[:, None]) / spacing[:, None]
    cell = place.detach().floor().clamp(0, value.shape[1] - 2)
    u = place - cell
    index = cell.long() * q + (design.interval - 1)
    value, slope = value.flatten(1), slope.flatten(1) * spacing[:, None]
    left, right = value.gather(1, index), value.gather(1, index + q)
    start, end, rise = slope.gather(1, index), slope.gather(1, index + q), right - left
    square = 3.0 * rise - 2.0 * start - end + u * (start + end - 2.0 * rise)
    survived = left + u * (start + u * square)
    some = design.event.nonzero()[:, 0]
    last = a[:, design.interval[some] - 1] + c[:, some]
    # a cubic may dip below zero where the loss is flat; no loss is, and the sanitiser counts on it
    total = design.signed(survived).index_add(1, some, law.switched(last)[0])
    return design.by_record(total).clamp_min(0.0)


def _table(a: Tensor, beta: Tensor, link: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What it costs to survive to the end of each interval, and its slope, (R, G, q); the grid.

    Args:
        a: Baseline, shape (R, q).
        beta: Coefficients, shape (R, p).
        link: As `losses`.
    """
    reach = beta.norm(dim=1).clamp_min(1e-3)
    count = min(MOST, max(FEWEST, math.ceil(2.0 * float(reach.max()) / SPACING) + 1))
    unit = torch.linspace(-1.0, 1.0, count, dtype=a.dtype, device=a.device)
    eta = a[:, None] + (reach[:, None] * unit)[:, :, None]
    survived, slope = LINKS[link].survived(eta)
    return survived.cumsum(2), slope.cumsum(2), -reach, 2.0 * reach / (count - 1)
