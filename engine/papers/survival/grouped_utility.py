"""What a private Cox regression is worth: the measures of the grouped model. None is private."""

from dataclasses import replace

import numpy as np
from torch import Tensor

from datasets.base import SurvivalTable
from engine.core.gauges import Column, measuring
from engine.papers.survival.evaluate import relative, utility
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.papers.survival.summary import brier_of
from engine.papers.survival.target import optimum_of

LINK = "cloglog"
"""The link whose coefficients are Cox's."""


def grouped_utility(
    table: SurvivalTable, spec: SurvivalSpec, f: Tensor, noise_to_signal: Column
) -> Utility:
    """All gauges of parameters f, shape (R, d); errors are against the same model's optimum."""
    known = utility(table, spec, f, noise_to_signal)
    if not measuring():
        return known
    f, e = f.cpu(), spec.knots
    best = optimum_of(table, spec.intervals, e, LINK)
    brier = np.full(len(f), np.nan)
    fine = f.isfinite().all(1)
    if bool(fine.any()):
        brier[fine.numpy()] = brier_of(table, spec.replace(link=LINK), f[fine])
    return replace(
        known,
        mre=relative(f, best),
        mre_beta=relative(f[:, e:], best[e:]),
        brier=brier,
    )
