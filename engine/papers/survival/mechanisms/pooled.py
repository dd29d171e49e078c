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
        firm: Precision of each row of M, in units of the noise, shape (R, d, d, d).
        noise: What the gradients' noise alone adds to b there, a variance, shape (R, d).
        shaken: What it adds to the right side of each row's equations, shape (R, d, d, d).
    """

    bend: Tensor
    level: Tensor
    variance: Tensor
    middle: Tensor
    firm: Tensor
    noise: Tensor
    shaken: Tensor


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
    known = torch.eye(points.shape[2]).to(points) / WRONG**2
    firm = _squares(weight, x) + known
    right = torch.einsum("rti,rtij->rij", weight * y, x) + known
    bend = torch.linalg.solve(firm, right[:, :, :, None])[:, :, :, 0]
    values, vectors = torch.linalg.eigh(0.5 * (bend + bend.transpose(1, 2)))
    bend = vectors @ torch.diag_embed(values.clamp_min(FLATTEST)) @ vectors.transpose(1, 2)
    noise, shaken = (share.square() * variance).sum(1), _squares(weight.square() * variance, x)
    level = mean - (bend * middle).sum(2)
    return Line(bend, level, 1.0 / whole, middle, firm, noise, shaken)


def _squares(weight: Tensor, x: Tensor) -> Tensor:
    """Weighted sums of x x^T over the points, for each coordinate, shape (R, d, d, d)."""
    return torch.einsum("rti,rtij,rtik->rijk", weight, x, x)


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


def error(
    line: Line, bend: Tensor, prior: Tensor, place: Tensor, lost: Tensor
) -> tuple[Tensor, Tensor]:
    """How far the crossing may be from the true one: by noise, and by what is known to move it.

    Noise makes the level unsure, and through the ridge regression the slope, which counts over the
    distance from the middle of the points. Two displacements are known: what clipping takes from
    the gradients, and how far the line's slope is from a better one over that distance.

    Args:
        line: The line.
        bend: Slope that is known better, shape (R, d, d).
        prior: Precision, shape (R, d, d).
        place: The crossing, shape (R, d).
        lost: What clipping takes, shape (R, d).

    Returns:
        The covariance that noise gives the crossing, shape (R, d, d), and by how much the rest
        moves it, shape (R, d).
    """
    far = place[:, None] - line.middle
    pull = torch.linalg.solve(line.firm, far[:, :, :, None])
    unsure = line.noise + (pull * (line.shaken @ pull)).sum((2, 3))
    moved = lost - ((line.bend - bend) * far).sum(2)
    left, share, _ = _normal(replace(line, bend=bend), prior)
    passed = torch.linalg.solve(left, bend * share[:, None])
    covariance: Tensor = (passed * unsure[:, None]) @ passed.transpose(1, 2)
    return covariance, (passed @ moved[:, :, None])[:, :, 0]


def _normal(line: Line, prior: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """M U M + v P, the weights U = v S^{-1}, and v, the mean variance, shape (R, 1)."""
    mean = line.variance.mean(1, keepdim=True)
    share = mean / line.variance
    left = line.bend @ (share[:, :, None] * line.bend) + mean[:, :, None] * prior
    return left, share, mean
