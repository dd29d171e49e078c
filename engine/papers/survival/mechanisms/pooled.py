r"""All noisy gradients of a run, read as one linear function of the parameters.

Near the optimum a gradient is linear in the parameters. In a metric in which the estimated
curvature is 1, gradient t at p_t is M p_t + b plus noise of variance s_{ti}^2 in coordinate i. A
metric from noisy sums is wrong in the directions that matter most, so M is estimated too: a ridge
regression towards 1 of all gradients so far. It is a secant method (Broyden 1965) that knows how
noisy its gradients are. It costs nothing: gradients, points and variances are released already.
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
        variance: Of the noise that is left in b at the points' mean, shape (R, d).
        middle: That mean, for each coordinate of the gradient, shape (R, d, d).
        firm: Precision of each row of M, in units of the noise, shape (R, d, d, d).
    """

    bend: Tensor
    level: Tensor
    variance: Tensor
    middle: Tensor
    firm: Tensor


def fitted(points: Tensor, slopes: Tensor, variance: Tensor) -> Line:
    """The line through noisy gradients; each coordinate of the gradient is a regression.

    Args:
        points: Where they were taken, shape (R, t, d), the present place last.
        slopes: The gradients, shape (R, t, d).
        variance: Of their noise, shape (R, t, d).
    """
    away = (points - points[:, -1:]).norm(dim=2)
    weight = 1.0 / (variance + (CURVED * away).square()[:, :, None])
    whole = weight.sum(1)
    share = weight / whole[:, None]
    middle, mean = share.transpose(1, 2) @ points, (share * slopes).sum(1)
    x, y = points[:, :, None] - middle[:, None], slopes - mean[:, None]
    firm = torch.eye(points.shape[2]).to(points) / WRONG**2
    left = torch.einsum("rti,rtij,rtik->rijk", weight, x, x) + firm
    right = torch.einsum("rti,rtij->rij", weight * y, x) + firm
    bend = torch.linalg.solve(left, right[:, :, :, None])[:, :, :, 0]
    values, vectors = torch.linalg.eigh(0.5 * (bend + bend.transpose(1, 2)))
    bend = vectors @ torch.diag_embed(values.clamp_min(FLATTEST)) @ vectors.transpose(1, 2)
    return Line(bend, mean - (bend * middle).sum(2), 1.0 / whole, middle, left)


def crossing(line: Line, prior: Tensor) -> Tensor:
    r"""Where the line is most likely to be zero, shape (R, d).

    The mode of a normal prior around zero with precision `prior`, shape (R, d, d), and M p + b = 0
    up to noise of covariance S: (M S^{-1} M + P) p = -M S^{-1} b.
    """
    left, share, _ = _normal(line, prior)
    right = line.bend @ (share * line.level)[:, :, None]
    place: Tensor = -torch.linalg.solve(left, right)[:, :, 0]
    return place


def spread(line: Line, prior: Tensor) -> Tensor:
    """Root of the covariance that the noise gives the crossing, shape (R, d, d).

    To first order, for points around the crossing: what is unsure of M is left out.
    """
    left, share, mean = _normal(line, prior)
    right = line.bend * share.sqrt()[:, None]
    root: Tensor = torch.linalg.solve(left, right) * mean.sqrt()[:, :, None]
    return root


def error(line: Line, prior: Tensor, place: Tensor) -> Tensor:
    """Covariance of what noise does to the crossing, shape (R, d, d).

    Two things make the level b unsure there, and the crossing passes both on: the noise, and the
    slope, which is known up to the inverse of `firm`, over the distance from the middle of the
    points to the crossing.
    """
    left, share, _ = _normal(line, prior)
    passed = torch.linalg.solve(left, line.bend * share[:, None])
    far = (place[:, None] - line.middle)[:, :, :, None]
    slope = (far * torch.linalg.solve(line.firm, far)).sum((2, 3))
    inner = torch.diag_embed(line.variance + slope)
    covariance: Tensor = passed @ inner @ passed.transpose(1, 2)
    return covariance


def _normal(line: Line, prior: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """M U M + v P, the weights U = v S^{-1}, and v, the mean variance, shape (R, 1)."""
    mean = line.variance.mean(1, keepdim=True)
    share = mean / line.variance
    left = line.bend @ (share[:, :, None] * line.bend) + mean[:, :, None] * prior
    return left, share, mean
