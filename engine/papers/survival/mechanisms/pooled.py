r"""All noisy gradients of a run, read as one linear function of the parameters.

Near the optimum a gradient is linear in the parameters. In a metric in which the estimated
curvature is 1, gradient t at p_t is M p_t + b plus noise of variance s_{ti}^2 in coordinate i. A
metric from noisy sums is wrong in the directions that matter most, so M is estimated too: a ridge
regression towards 1 of all gradients so far. It is a secant method (Broyden 1965) that knows how
noisy its gradients are. It costs nothing: gradients, points and variances are released already.
"""

from dataclasses import dataclass, replace

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
        told: What the gradients tell of each row of M, as a precision, shape (R, d, d, d).
    """

    bend: Tensor
    level: Tensor
    variance: Tensor
    middle: Tensor
    told: Tensor


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
    told = torch.einsum("rti,rtij,rtik->rijk", weight, x, x)
    right = torch.einsum("rti,rtij->rij", weight * y, x) + firm
    bend = torch.linalg.solve(told + firm, right[:, :, :, None])[:, :, :, 0]
    values, vectors = torch.linalg.eigh(0.5 * (bend + bend.transpose(1, 2)))
    bend = vectors @ torch.diag_embed(values.clamp_min(FLATTEST)) @ vectors.transpose(1, 2)
    return Line(bend, mean - (bend * middle).sum(2), 1.0 / whole, middle, told)


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


def error(line: Line, bend: Tensor, prior: Tensor, place: Tensor, lost: Tensor) -> Tensor:
    r"""Mean squared error of the crossing, shape (R, d, d): of noise, and of what moves it.

    Noise makes the level unsure, and through the ridge regression the slope, which counts over the
    distance from the middle of the points. Two displacements are known: what clipping takes from
    the gradients, and how far the line's slope is from a better one over that distance. They count
    by their squares: an interval that is as wide as the bias is added in quadrature holds the
    truth about as often as it says while the bias is below its deviation (Cochran 1977, 1.8).

    Args:
        line: The line.
        bend: Slope that is known better, shape (R, d, d).
        prior: Precision, shape (R, d, d).
        place: The crossing, shape (R, d).
        lost: What clipping takes, shape (R, d).
    """
    far = place[:, None] - line.middle
    moved = lost - ((line.bend - bend) * far).sum(2)
    firm = line.told + torch.eye(far.shape[2]).to(far) / WRONG**2
    pull = torch.linalg.solve(firm, far[:, :, :, None])
    slope = (pull * (line.told @ pull)).sum((2, 3))
    left, share, _ = _normal(replace(line, bend=bend), prior)
    passed = torch.linalg.solve(left, bend * share[:, None])
    inner = torch.diag_embed(line.variance + slope) + moved[:, :, None] * moved[:, None]
    covariance: Tensor = passed @ inner @ passed.transpose(1, 2)
    return covariance


def _normal(line: Line, prior: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """M U M + v P, the weights U = v S^{-1}, and v, the mean variance, shape (R, 1)."""
    mean = line.variance.mean(1, keepdim=True)
    share = mean / line.variance
    left = line.bend @ (share[:, :, None] * line.bend) + mean[:, :, None] * prior
    return left, share, mean
