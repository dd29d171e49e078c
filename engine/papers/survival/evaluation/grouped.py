"""What a private Cox regression is worth: the measures of the grouped model. None is private."""

from dataclasses import replace

import numpy as np
from torch import Tensor

from datasets.base import SurvivalTable
from engine.core.gauges import Column, measuring
from engine.papers.survival.evaluation.evaluate import relative, utility
from engine.papers.survival.samplers.summary import brier_of
from engine.papers.survival.samplers.target import optimum_of
from engine.papers.survival.spec import SurvivalSpec, Utility

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
    scores = {"brier": np.full(len(f), np.nan), "brier_error": np.full(len(f), np.nan)}
    fine = f.isfinite().all(1)
    if bool(fine.any()):
        for name, column in brier_of(table, spec.replace(link=LINK), f[fine]).items():
            scores[name][fine.numpy()] = column
    return replace(
        known,
        mre=relative(f, best),
        mre_beta=relative(f[:, e:], best[e:]),
        **scores,
    )
