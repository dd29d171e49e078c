r"""Simulated strokes of a pen, and the directions in which their scattering varies.

A classifier on scattering features learns faster where no direction outweighs the others, but
which ones do is known from images alone. Images of random lines, arcs and curves stand in for
them: they are drawn from a fixed seed and show nobody's handwriting. Their mean and their first
DIRECTIONS principal axes are computed once, and features are taken along these axes, each divided
by \sqrt{\lambda_i + FLOOR}, \lambda_i its variance among the strokes.

Guarantees:
    Mean and axes are made of strokes alone. So for the constants below the features are a fixed
    function of one record by itself: neighbouring tables stay neighbours, and nothing is spent.
    Rows have length 1 at most. Two of the constants, DIRECTIONS and FLOOR, were chosen by looking
    at scanned digits that were held out of the training part. On these data sets that choice is
    not priced, as the card says of all settings.
"""

import functools
import math

import torch
from torch import Generator, Tensor

from engine.training.features import wavelets
from engine.training.scattering import scattering
from engine.training.threads import single_thread
from engine.training.upright import upright

DRAWN, SEED = 4000, 28
"""Images that are drawn, and the seed of the drawing."""
DIRECTIONS = 500
"""Axes that are kept: they hold 98 % of what varies in scanned digits."""
FLOOR = 3e-3
"""Variance, of features of length 1, below which an axis counts no more than others."""
POINTS, SLAB, RECORDS = 12, 16, 1000
"""Points on a stroke; images drawn and records looked at together, so that they stay in cache."""
SAFE = 1.0 - 1e-6
"""Rows are this long: rounding makes none longer than 1."""


def sketched(x: Tensor, side: tuple[int, int]) -> Tensor:
    """Scattering features along the axes of simulated strokes.

    Args:
        x: Images as rows with values in [0, 1], shape (N, height * width).
        side: Height and width, of 16 pixels at least.

    Returns:
        Shape (N, DIRECTIONS), rows of length 1.
    """
    mean, axes = (part.to(x.device) for part in basis(side))
    parts = [(unit(scattering(part, side)) - mean) @ axes for part in torch.split(x, RECORDS)]
    return unit(torch.cat(parts))


def unit_wavelets(x: Tensor, side: tuple[int, int]) -> Tensor:
    """Wavelet features as rows of length 1, for images of less than 16 pixels a side."""
    return unit(wavelets(x, side))


def upright_sketched(x: Tensor, side: tuple[int, int]) -> Tensor:
    """`sketched` of upright images."""
    return sketched(upright(x, side), side)


def upright_wavelets(x: Tensor, side: tuple[int, int]) -> Tensor:
    """`unit_wavelets` of upright images."""
    return unit_wavelets(upright(x, side), side)


def unit(x: Tensor) -> Tensor:
    """Rows scaled to a length just below 1; a row of zeros stays one."""
    rows: Tensor = x * (SAFE / x.norm(dim=1, keepdim=True).clamp(min=1e-12))
    return rows


@functools.cache
def basis(side: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Mean (F,) of the strokes' features, and their axes (F, DIRECTIONS) divided as above.

    The axes are found by iterating on a random subspace (Halko, Martinsson and Tropp 2011), on one
    thread, so that their numbers do not depend on how many there are.
    """
    with torch.no_grad(), single_thread():
        rng = torch.Generator().manual_seed(SEED)
        x = unit(scattering(strokes(DRAWN, side, rng), side))
        mean = x.mean(0)
        x -= mean
        wide = min(DIRECTIONS + 50, *x.shape)
        span = torch.linalg.qr(x.T @ (x @ torch.randn(x.shape[1], wide, generator=rng)))[0]
        span = torch.linalg.qr(x.T @ (x @ span))[0]
        _, values, axes = torch.linalg.svd(x @ span, full_matrices=False)
        variances = values[:DIRECTIONS].square() / DRAWN
        return mean, span @ axes.T[:, :DIRECTIONS] / (variances + FLOOR).sqrt()


def strokes(count: int, side: tuple[int, int], rng: Generator) -> Tensor:
    """Images of one to three strokes in a square of 18 parts in 28, centred by mass.

    Returns:
        Shape (count, height * width), values in [0, 1].
    """
    paths = _placed(_paths(count, rng), rng) * (min(side) / 28.0)
    width = (0.7 + 1.1 * torch.rand(count, generator=rng)) * (min(side) / 28.0)
    slabs = zip(torch.split(paths, SLAB), torch.split(width, SLAB), strict=True)
    return torch.cat([_centred(_inked(path, wide, side)).flatten(1) for path, wide in slabs])


def _paths(count: int, rng: Generator) -> Tensor:
    """Three strokes in the unit square, (count, 3, POINTS, 2); absent ones stay at a point."""
    t = torch.linspace(0.0, 1.0, POINTS)
    made: list[Tensor] = []
    end: Tensor | None = None
    for chance in (1.0, 0.75, 0.35):
        knots = torch.rand(count, 4, 2, generator=rng)
        if end is not None:
            joined = torch.rand(count, 1, generator=rng) < 0.6
            knots[:, 0] = torch.where(joined, end, knots[:, 0])
        weights = torch.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])
        curve = torch.einsum("kt,nkd->ntd", weights, knots)
        line = knots[:, :1] + (knots[:, 3:] - knots[:, :1]) * t[None, :, None]
        kind = torch.rand(count, 1, 1, generator=rng)
        arc = _arc(knots[:, :1], t, rng)
        path = torch.where(kind < 0.3, line, torch.where(kind < 0.7, arc, curve))
        end = path[:, -1]
        there = torch.rand(count, 1, 1, generator=rng) < chance
        made.append(torch.where(there, path, made[0][:, :1] if made else path))
    return torch.stack(made, 1)


def _arc(start: Tensor, t: Tensor, rng: Generator) -> Tensor:
    """Part of an ellipse that begins at a point, (count, POINTS, 2)."""
    turn, sweep, side = torch.rand(3, len(start), 1, generator=rng)
    sign = torch.where(side < 0.5, 1.0, -1.0)
    angle = 2.0 * math.pi * turn + math.pi * (0.5 + 1.5 * sweep) * sign * t
    radii = 0.15 + 0.35 * torch.rand(len(start), 1, 2, generator=rng)
    arc = torch.stack([angle.cos(), angle.sin()], 2) * radii
    return arc - arc[:, :1] + start


def _placed(paths: Tensor, rng: Generator) -> Tensor:
    """Scaled to 18 pixels of 28 around the origin, narrower than high and slanted at random."""
    flat = paths.flatten(1, 2)
    low, high = flat.amin(1), flat.amax(1)
    scale = 18.0 / (high - low).amax(1).clamp(min=0.05)
    at = (paths - ((low + high) / 2.0)[:, None, None]) * scale[:, None, None, None]
    narrow, slant = torch.rand(2, len(paths), 1, 1, generator=rng)
    x = at[..., 0] * (0.6 + 0.4 * narrow) + 0.3 * (slant - 0.3) * at[..., 1]
    return torch.stack([x, at[..., 1]], -1)


def _inked(paths: Tensor, width: Tensor, side: tuple[int, int]) -> Tensor:
    """Pixels (n, height, width): white within so many pixels of a stroke, black beyond."""
    begin, end = paths[:, :, :-1].flatten(1, 2), paths[:, :, 1:].flatten(1, 2)
    along = end - begin
    rows, columns = (torch.arange(length) - (length - 1) / 2.0 for length in side)
    right = columns - begin[:, :, 0, None]  # (n, pieces, width)
    down = rows - begin[:, :, 1, None]
    square = along.square().sum(-1).clamp(min=1e-6)[..., None]
    across, upward = along[..., 0, None] * right / square, along[..., 1, None] * down / square
    share = (across[:, :, None] + upward[..., None]).clamp_(0.0, 1.0)
    x = right[:, :, None] - share * along[..., 0, None, None]
    y = down[..., None] - share * along[..., 1, None, None]
    distance = x.square_().add_(y.square_()).amin(1).sqrt()
    return (1.0 - (distance - width[:, None, None]) / 1.2).clamp(0.0, 1.0)


def _centred(images: Tensor) -> Tensor:
    """Moved by whole pixels so that the mass lies in the middle."""
    mass, where = images.sum((1, 2)).clamp(min=1e-6), []
    for axis in (1, 2):
        length = images.shape[axis]
        profile = images.sum(3 - axis)
        middle = (profile @ torch.arange(length).float()) / mass - (length - 1) / 2.0
        where.append((torch.arange(length) + middle.round().long()[:, None]) % length)
    n = torch.arange(len(images))[:, None, None]
    return images[n, where[0][:, :, None], where[1][:, None, :]]
