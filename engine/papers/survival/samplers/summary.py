"""What a sampler shows and leaves behind: averages over its draws, and how well it mixed."""

import dataclasses

import numpy as np
import torch
from torch import Tensor

from datasets.base import Floats, SurvivalTable
from engine.core.gauges import Column, measuring
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import brier, cox, utility
from engine.papers.survival.evaluation.scored import scored
from engine.papers.survival.likelihood.links import LINKS
from engine.papers.survival.likelihood.scale import scaled
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.samplers.diagnostics import mixing
from engine.papers.survival.samplers.target import optimum_of
from engine.papers.survival.spec import Corrected, Sampled, SurvivalSpec

KEPT = 1000
"""Draws of a replica that its arrays keep."""


Mixing = tuple[Floats, Floats]
"""R-hat and effective sample size of each parameter, shape (R, d) each."""


def mixed(draws: Tensor) -> Mixing:
    """How well draws (R, chains, m, d) mix; NaN where it is not needed."""
    if not measuring():
        nothing = np.full((len(draws), draws.shape[-1]), np.nan)
        return nothing, nothing
    return mixing(draws.cpu().numpy())


def packed(mixing: Mixing | None) -> Arrays:
    """As arrays, none where nothing is known yet."""
    return {} if mixing is None else dict(zip(("r_hat", "ess"), mixing, strict=True))


def unpacked(arrays: Arrays) -> Mixing | None:
    """What `packed` was given."""
    if "r_hat" not in arrays:
        return None
    return np.asarray(arrays["r_hat"], np.float64), np.asarray(arrays["ess"], np.float64)


def measure(
    table: SurvivalTable, spec: SurvivalSpec, draws: Tensor, known: Mixing | None = None
) -> Sampled:
    """The release is the first chain's last draw; the errors are averages over all draws.

    Args:
        table: The records.
        spec: What all replicas share.
        draws: Shape (R, chains, m, d).
        known: How well they mix, if that was worked out a little earlier: it takes longest.
    """
    if not measuring():
        nothing = np.full(len(draws), np.nan)
        return Sampled(*[nothing] * len(dataclasses.fields(Sampled)))
    best = optimum_of(table, spec.intervals, spec.knots, spec.link)
    pool = draws.flatten(1, 2).cpu()
    spread = pool.var(1, unbiased=False).sum(1).sqrt() / pool.mean(1).norm(dim=1).clamp_min(1e-300)
    release = utility(table, spec, draws[:, 0, -1], spread.numpy())
    e, reference = spec.knots, torch.tensor(cox(table).beta)
    r_hat, ess = mixed(draws) if known is None else known
    fields = {f.name: getattr(release, f.name) for f in dataclasses.fields(release)}
    fields |= {
        "mre": _relative(pool, best),
        "mre_beta": _relative(pool[:, :, e:], best[e:]),
        "cox_error": _relative(pool[:, :, e:], reference),
    }
    if spec.link != "logit":
        fields |= brier_of(table, spec, draws[:, 0, -1].cpu())
    return Sampled(**fields, r_hat=r_hat.max(1), ess=ess.min(1))


def brier_of(table: SurvivalTable, spec: SurvivalSpec, f: Tensor) -> dict[str, Column]:
    """Both columns of the integrated Brier score of parameters (R, d) under the spec's link."""
    e, q = spec.knots, spec.intervals
    sample = scored(table, q)
    weight = torch.tensor(np.clip(q * sample.times - np.arange(q)[:, None], 0.0, 1.0))
    last = max(1, int(np.ceil(q * sample.times[-1])))
    a, c = f[:, :e] @ torch.tensor(basis(q, e)).T, f[:, e:] @ sample.x.T
    held = sample.by_interval(q, last)
    index = None if held is None else torch.tensor(held)
    rows = []
    for ai, ci in zip(a, c, strict=True):
        eta = (ci[:, None] if index is None else ci[index]) + ai[:last]
        curves = (-LINKS[spec.link].survived(eta)[0] @ weight[:last]).exp()
        rows.append(brier(sample, curves[None]))
    score, error = (np.concatenate(columns) for columns in zip(*rows, strict=True))
    return {"brier": score, "brier_error": error}


def corrected(
    table: SurvivalTable,
    spec: SurvivalSpec,
    draws: Tensor,
    acceptance: Column,
    apart: Column,
    known: Mixing,
) -> Corrected:
    """As `measure`, with the acceptance rate (R,) and the estimated distance (R,)."""
    gauges = measure(table, spec, draws, known)
    fields = {f.name: getattr(gauges, f.name) for f in dataclasses.fields(gauges)}
    return Corrected(**fields, acceptance=acceptance, apart=apart)


def _relative(draws: Tensor, truth: Tensor) -> Column:
    """Mean relative error over draws (R, m, k), shape (R,): Equation 9."""
    ratio: Column = ((draws - truth).norm(dim=2).mean(1) / truth.norm().clamp_min(1e-300)).numpy()
    return ratio


def sampled(table: SurvivalTable, draws: Tensor, known: Mixing | None) -> Arrays:
    """The arrays of a sampler.

    Returns:
        `coefficients` (R, d), the release; `noise` (R, d), the standard deviation of the draws;
        `draws` (R, at most 1000, d), evenly thinned, in single precision; `r_hat` and `ess` (R, d);
        the data's scale.
    """
    pool = draws.flatten(1, 2).cpu()
    some = np.unique(np.linspace(0, pool.shape[1] - 1, KEPT).astype(int))
    r_hat, ess = mixed(draws) if known is None else known
    return {
        "coefficients": draws[:, 0, -1].cpu().numpy(),
        "noise": pool.std(1).numpy(),
        "draws": pool[:, some].float().numpy(),
        "r_hat": r_hat,
        "ess": ess,
        **products.scale(scaled(table), len(draws)),
    }
