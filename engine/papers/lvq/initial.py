r"""The first prototypes and the first metric: class means, exact or private."""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.papers.lvq import price
from engine.papers.lvq.price import StartNoise
from engine.papers.lvq.spec import LvqSpec
from engine.training.ghost import SAFE
from engine.training.least_squares import noisy, released
from engine.training.steady import steady

JITTER = 0.05
"""Distance between the first prototypes of one class, as a part of the largest norm of a record."""

RIDGE = 1.0
"""Of the metric without noise, as a multiple of the mean variance within classes.

Of 0.0001 to 1 the best on digits, Segment and MNIST: steps that are not clipped leave a metric with
less for good.
"""


@dataclass(frozen=True, eq=False)
class Start:
    """Where one replica begins.

    Attributes:
        centre: What is subtracted from every record, shape (d,).
        w: Prototypes of the centred and whitened records, shape (p, d).
        basis: Whitening matrix P, symmetric, of norm sqrt(d), shape (d, d); None without one.
    """

    centre: Tensor
    w: Tensor
    basis: Tensor | None


def labels(classes: int, prototypes: int) -> Tensor:
    """Class of each prototype: those of one class lie together, shape (classes * prototypes,)."""
    return torch.arange(classes).repeat_interleave(prototypes)


def exact(
    x: Tensor, y: Tensor, classes: int, spec: LvqSpec, rng: Generator, whiten: bool = False
) -> Start:
    """Class means, and with `whiten` a metric, without noise, for the references.

    The start of `private` with nothing clipped, and with `RIDGE` in place of a ridge as large as
    the noise. A class without records starts at the centre.
    """
    centre = x.mean(0)
    z = x - centre
    counts, sums = totals(z, y, classes)
    means = sums / counts.clamp(min=1)[:, None]
    if not whiten:
        return Start(centre, _several(z, y, means, spec, rng), None)
    within = z.mT @ z / len(z) - (means * (counts / len(z))[:, None]).mT @ means
    basis = whitening(within, RIDGE * float(within.trace()) / len(within))
    return Start(centre, _several(z, y, means, spec, rng, basis=basis) @ basis, basis)


def private(
    x: Tensor,
    y: Tensor,
    classes: int,
    spec: LvqSpec,
    matrix: bool,
    rng: Generator,
    places: int | None = None,
) -> Start:
    """Class means, and for GMLVQ a metric, from private releases.

    Guarantees:
        Everything is computed from the releases of `price.start_noise`, whose docstring derives the
        sensitivities; what follows them is post-processing.

    Args:
        x: Scaled training records, shape (n, d).
        y: Classes, shape (n,).
        classes: Number of classes.
        spec: The setting of this replica.
        matrix: Whether a metric is trained.
        rng: Source of the noise.
        places: Number of records that is public, where some are left out; n for None.
    """
    count = len(x) if places is None else places
    made = price.start_noise(spec, matrix, x.shape[1])
    if made.centre is None:
        return Start(x.new_zeros(x.shape[1]), _printed(x, y, classes, spec, made, rng), None)
    centre = noisy(x.sum(0), made.centre, rng) / count
    z = clipped(x - centre, made.sums.sensitivity)
    counts, sums = totals(z, y, classes)
    counts = noisy(counts, made.counts, rng).clamp(min=1.0)
    means = noisy(sums, made.sums, rng) / counts[:, None]
    if made.moment is None:
        return Start(centre, _several(z, y, means, spec, rng, made), None)
    moment = released(z.mT @ z, made.moment, rng) / count
    weights = counts / counts.sum()
    within = moment - (means * weights[:, None]).mT @ means
    basis = whitening(within, spec.ridge * made.moment.scale * math.sqrt(2 * z.shape[1]) / count)
    return Start(centre, _several(z, y, means, spec, rng, made, basis) @ basis, basis)


def _printed(
    x: Tensor, y: Tensor, classes: int, spec: LvqSpec, made: StartNoise, rng: Generator
) -> Tensor:
    """The paper's Laplace means, clamped to the features' public bounds."""
    counts, sums = totals(x, y, classes)
    counts = noisy(counts, made.counts, rng).clamp(min=1.0)
    means = noisy(sums, made.sums, rng) / counts[:, None]
    side = price.scale(spec, x.shape[1])
    return _apart(means, spec, rng).clamp(-side, side)


@steady
def totals(x: Tensor, y: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Members (k,) and sum (k, d) of each class."""
    member = torch.nn.functional.one_hot(y, classes).to(x.dtype)
    return member.sum(0), member.mT @ x


def clipped(x: Tensor, bound: float) -> Tensor:
    """Rows pulled to a norm of at most `bound`, with room for rounding in single precision."""
    factor = (SAFE * bound / x.norm(dim=1).clamp(min=1e-30)).clamp(max=1.0)
    rows: Tensor = x * factor[:, None]
    return rows


@steady
def whitening(covariance: Tensor, ridge: float) -> Tensor:
    """(S + ridge I)^(-1/2) with S's negative eigenvalues at zero, scaled to norm sqrt(d)."""
    values, vectors = torch.linalg.eigh(covariance.double())
    root = (values.clamp(min=0.0) + ridge).rsqrt()
    basis = (vectors * root) @ vectors.mT
    scaled: Tensor = basis * (math.sqrt(len(basis)) / basis.norm())
    return scaled.to(covariance.dtype)


def _several(
    z: Tensor,
    y: Tensor,
    means: Tensor,
    spec: LvqSpec,
    rng: Generator,
    made: StartNoise | None = None,
    basis: Tensor | None = None,
) -> Tensor:
    """The prototypes of each class: its mean, or the means of groups of its records (Lloyd 1982).

    What lies within the noise is drawn back to where the group began, as by James and Stein.

    Guarantees:
        See `price.start_noise`: of the records it takes the groups' counts and sums with noise.

    Args:
        z: Centred and clipped records, shape (n, d).
        y: Classes, shape (n,).
        means: Class means, shape (k, d).
        spec: The setting of this replica.
        rng: Source of the noise and of the first, public steps apart.
        made: Noise of counts and sums; None for none.
        basis: Whitening in which the nearest is looked for; None for none.
    """
    first = w = _apart(means, spec, rng)
    if spec.prototypes == 1:
        return means
    own = labels(len(means), spec.prototypes).to(y.device)
    for _ in range(price.ROUNDS):
        counts, sums = totals(z, _nearest(z, y, w, own, basis), len(own))
        scale = 0.0
        if made is not None:
            counts, sums = noisy(counts, made.counts, rng), noisy(sums, made.sums, rng)
            scale = made.sums.scale
        moved = sums / counts.clamp(min=1.0)[:, None] - first
        noise = z.shape[1] * (scale / counts.clamp(min=1.0)).square()
        kept = (1.0 - noise / moved.square().sum(1).clamp(min=1e-30)).clamp(min=0.0)
        w = first + moved * (kept * (counts > 0))[:, None]
    return w


def _nearest(z: Tensor, y: Tensor, w: Tensor, own: Tensor, basis: Tensor | None) -> Tensor:
    """The nearest prototype of each record among those of its class, shape (n,)."""
    rows, points = (z, w) if basis is None else (z @ basis, w @ basis)
    apart = points.square().sum(1) - 2.0 * rows @ points.mT
    return apart.masked_fill_(own != y[:, None], torch.inf).argmin(1)


def _apart(means: Tensor, spec: LvqSpec, rng: Generator) -> Tensor:
    """Each mean as often as a class has prototypes, a public random step apart."""
    if spec.prototypes == 1:
        return means
    repeated = means.repeat_interleave(spec.prototypes, 0)
    steps = torch.randn(repeated.shape, generator=rng, dtype=means.dtype, device=means.device)
    longest = price.scale(spec, means.shape[1]) * math.sqrt(means.shape[1])
    moved: Tensor = repeated + JITTER * longest * steps / steps.norm(dim=1, keepdim=True)
    return moved
