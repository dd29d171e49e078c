r"""All noisy gradients of a run, read as one linear function of the parameters.

Near the optimum a gradient is linear in the parameters. In a metric in which the estimated
curvature is 1, gradient t at p_t is M p_t + b plus noise of variance s_t^2. A metric from noisy
sums is wrong in the directions that matter most, so M is estimated too: a ridge regression towards
1 of all gradients so far. It is a secant method (Broyden 1965) that knows how noisy its gradients
are. It costs nothing: gradients, points and variances are released already.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

WRONG = 0.3
"""Standard deviation of what is wrong in each entry of the metric, in the prior of M."""
CURVED = 0.2
"""Error of a gradient, as a share of its point's distance: gradients are not quite linear."""
FLATTEST = 0.05
"""Least eigenvalue of M."""


@dataclass(frozen=True, eq=False)
class Line:
    """Gradients as a linear function of R replicas' parameters, in the metric.

    Attributes:
        bend: M, shape (R, d, d).
        level: b, shape (R, d).
        variance: Of the noise that is left in b at the points' mean, shape (R,).
    """

    bend: Tensor
    level: Tensor
    variance: Tensor


def fitted(points: Tensor, slopes: Tensor, variance: Tensor) -> Line:
    """The line through noisy gradients.

    Args:
        points: Where they were taken, shape (R, t, d), the present place last.
        slopes: The gradients, shape (R, t, d).
        variance: Of their noise, shape (R, t).
    """
    away = (points - points[:, -1:]).norm(dim=2)
    weight = 1.0 / (variance + (CURVED * away).square())
    whole = weight.sum(1)
    share = (weight / whole[:, None])[:, :, None]
    middle, mean = (share * points).sum(1), (share * slopes).sum(1)
    x, y = points - middle[:, None], slopes - mean[:, None]
    firm = torch.eye(points.shape[2]).to(points) / WRONG**2
    left = torch.einsum("rt,rti,rtj->rij", weight, x, x) + firm
    right = torch.einsum("rt,rti,rtj->rij", weight, x, y) + firm
    bend = torch.linalg.solve(left, right)
    values, vectors = torch.linalg.eigh(0.5 * (bend + bend.transpose(1, 2)))
    bend = vectors @ torch.diag_embed(values.clamp_min(FLATTEST)) @ vectors.transpose(1, 2)
    return Line(bend, mean - (bend @ middle[:, :, None])[:, :, 0], 1.0 / whole)


def crossing(line: Line, prior: Tensor) -> Tensor:
    r"""Where the line is most likely to be zero, shape (R, d).

    The mode of a normal prior around zero with precision `prior`, shape (R, d, d), and M p + b = 0
    up to noise: (M^2 + s^2 P) p = -M b.
    """
    left = line.bend @ line.bend + line.variance[:, None, None] * prior
    place: Tensor = torch.linalg.solve(left, -(line.bend @ line.level[:, :, None]))[:, :, 0]
    return place


def spread(line: Line, prior: Tensor) -> Tensor:
    """Root of the covariance that the noise gives the crossing, shape (R, d, d).

    To first order, for points around the crossing: what is unsure of M is left out.
    """
    left = line.bend @ line.bend + line.variance[:, None, None] * prior
    root: Tensor = torch.linalg.solve(left, line.bend) * line.variance.sqrt()[:, None, None]
    return root
