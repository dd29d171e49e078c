"""What a step shows: the error on the held-out fold, clipping and the shape of the metric."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import Column
from engine.papers.lvq.folds import Records, fold
from engine.papers.lvq.model import Model, Norms, Pairs, Sample, Sums, cost, right
from engine.papers.lvq.spec import LvqSpec, MatrixUtility, Utility
from engine.privacy.mechanisms import Gaussian
from engine.training.steady import steady

PERTURBATION = math.sqrt(0.025)
"""Standard deviation of the noise on each element of Omega in the perturbation study."""
BLOCK = 4_096
"""Records whose scores are computed together."""


@dataclass(frozen=True, eq=False)
class Look:
    """One step seen from outside.

    Attributes:
        sample: The records of the step.
        pairs: The prototypes that they touch.
        norms: Norms of their gradients.
        weights: What the gradients were multiplied by.
        sums: The clipped sums before noise.
        noises: The mechanism of each replica; empty without privacy.
    """

    sample: Sample
    pairs: Pairs
    norms: Norms
    weights: tuple[Tensor, Tensor | None]
    sums: Sums
    noises: tuple[Gaussian, ...]


def utility(
    batch: Batch[LvqSpec],
    data: Table,
    all_records: Records,
    model: Model,
    centre: Tensor,
    look: Look,
    rng: Generator,
) -> Utility:
    """The gauges of R replicas.

    Args:
        batch: The settings.
        data: The records, for their folds.
        all_records: The same, scaled.
        model: What would be released now.
        centre: Subtracted from every record, shape (R, d).
        look: The step that led here.
        rng: Source of the perturbation.
    """
    sizes = look.norms
    zero = np.zeros(len(batch))
    omega = whole(model)
    models = [model] if omega is None else [model, perturbed(model, omega, rng)]
    error = errors(batch, data, all_records, models, centre)
    plain = Utility(
        error=error[0],
        cost=_array(cost(look.pairs, look.sample.present)),
        clipped=_share(look.weights[0], look.sample),
        gradient=_median(sizes.w, look.sample),
        noise=_noise_to_signal(look) if look.noises else zero,
        outside=zero + all_records.outside,
    )
    if omega is None or sizes.omega is None:
        return plain
    weight = look.weights[1]
    return MatrixUtility(
        **asdict(plain),
        clipped_omega=zero if weight is None else _share(weight, look.sample),
        gradient_omega=_median(sizes.omega, look.sample),
        rank=effective_rank(omega),
        perturbed=error[1],
    )


def whole(model: Model) -> Tensor | None:
    """Omega on records that are not whitened, A P, shape (R, d, d); None for GLVQ."""
    if model.omega is None or model.basis is None:
        return model.omega
    return model.omega @ model.basis


def perturbed(model: Model, omega: Tensor, rng: Generator) -> Model:
    """The model with noise on each element of `whole(model)`, whose norm is first made sqrt(d)."""
    d = omega.shape[1]
    norm = torch.linalg.matrix_norm(omega, keepdim=True) / math.sqrt(d)
    noise = torch.randn(omega.shape, generator=rng, dtype=omega.dtype, device=omega.device)
    points = unwhitened(model)
    return Model(points, model.labels, omega / norm + PERTURBATION * noise)


@steady
def unwhitened(model: Model) -> Tensor:
    """Prototypes as centred records, P^(-1) w, shape (R, p, d)."""
    if model.basis is None:
        return model.w
    solved: Tensor = torch.linalg.solve(model.basis, model.w.mT)
    return solved.mT


def errors(
    batch: Batch[LvqSpec],
    data: Table,
    all_records: Records,
    models: Sequence[Model],
    centre: Tensor,
) -> list[Column]:
    """Share of the held-out records put into a wrong class, (R,) per model; NaN if diverged.

    All models and replicas read the records once, in blocks that a cache holds.
    """
    count, p = models[0].w.shape[:2]
    lines = [_scores(model, centre) for model in models]
    offset = torch.cat([line[0] for line in lines]).flatten()[:, None]
    slope = torch.cat([line[1] for line in lines]).flatten(0, 1)
    place, sane = [], torch.ones(len(models) * count, dtype=torch.bool, device=slope.device)
    for block in torch.split(all_records.x, BLOCK):
        scores = torch.addmm(offset, slope, block.mT, alpha=-2.0).view(-1, p, len(block))
        best = scores.min(1)
        # a sum that is no number tells of any score that is none
        sane &= scores.sum(1).isfinite().all(1)
        place.append(best.indices)
    wrong = models[0].labels[torch.cat(place, 1)] != all_records.y
    shares = np.empty(len(wrong))
    for r in range(len(wrong)):
        rows = torch.from_numpy(fold(data, batch.seeds[r % count])[1]).to(centre.device)
        shares[r] = float(wrong[r, rows].float().mean()) if bool(sane[r]) else math.nan
    return list(shares.reshape(len(models), count))


def _scores(model: Model, centre: Tensor) -> tuple[Tensor, Tensor]:
    r"""Offsets a (R, p) and slopes b (R, p, d) such that a - 2 x^T b orders prototypes by distance.

    \|z - zw\|² is \|zw\|² - 2 x^T P^T A^T zw up to what x alone decides, so records need no
    matrix product with Omega.
    """
    zw = right(model.w, model.omega)
    back = zw if model.omega is None else zw @ model.omega
    back = back if model.basis is None else back @ model.basis
    return zw.square().sum(2) + 2 * (back @ centre[..., None])[..., 0], back


@steady
def effective_rank(omega: Tensor) -> Column:
    """(tr Λ)² / tr Λ² of Λ = Ω^T Ω, shape (R,)."""
    gram = omega @ omega.mT
    trace = gram.diagonal(dim1=1, dim2=2).sum(1)
    return _array(trace.square() / gram.square().sum((1, 2)))


def _share(weights: Tensor, sample: Sample) -> Column:
    """Share of the present records whose factor is below 1."""
    cut = ((weights < 1.0) & (sample.present > 0)).to(weights.dtype).sum(1)
    return _array(cut / sample.present.sum(1).clamp(min=1))


def _median(sizes: Tensor, sample: Sample) -> Column:
    """Median over the present records, shape (R,); 0 where there are none."""
    shown = sizes.masked_fill(sample.present == 0, torch.nan).nanmedian(1).values
    return _array(torch.where(sample.present.sum(1) > 0, shown, torch.zeros_like(shown)))


@steady
def _noise_to_signal(look: Look) -> Column:
    """Root mean square length of the noise over the length of the clipped sums, shape (R,)."""
    size, length = look.sums.w[0].numel(), look.sums.w.square().sum((1, 2))
    if look.sums.omega is not None:
        size += look.sums.omega[0].numel()
        length = length + look.sums.omega.square().sum((1, 2))
    noise = np.array([mechanism.scale for mechanism in look.noises]) * math.sqrt(size)
    return noise / np.maximum(_array(length.sqrt()), 1e-30)


def _array(column: Tensor) -> Column:
    return column.double().cpu().numpy()
