"""How well fitted coefficients describe the raw records, for an export. Nothing here is private."""

import numpy as np
import torch
from torch import Tensor

from datasets.base import Table
from engine.method import Arrays
from engine.papers.survival.likelihood.links import LINKS
from engine.papers.survival.likelihood.logit import losses
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec

ROWS = 8_192
"""Rows of the design whose intervals are worked out together."""


def scores(spec: SurvivalSpec, data: Table, arrays: Arrays) -> Arrays:
    """`log_likelihood` (R,) of all records in nats, and each record's `risk` (R, n).

    The risk is the covariates' part of the model; there is none where covariates vary in time. NaN
    where a replica diverged; nothing where a run keeps no coefficients.

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: What the run kept: `coefficients` (R, d).
    """
    if "coefficients" not in arrays:
        return {}
    records = survival(data, spec)
    model = design(records, spec.intervals, spec.knots)
    f = torch.from_numpy(np.asarray(arrays["coefficients"], np.float64))
    sums = [-_total(model, row[None], spec.link) for row in f]
    told = {"log_likelihood": np.array(sums)}
    if records.episodes is not None:
        return told
    x = torch.from_numpy(scaled(records).x)
    return told | {"risk": (f[:, spec.knots :] @ x.T).numpy()}


def _total(model: Design, f: Tensor, link: str) -> float:
    """The loss of all records under one model (1, d), exactly."""
    if link == "logit":
        return float(losses(model, f).sum())
    law, e, total = LINKS[link], model.knots, 0.0
    baseline, risk = (f[:, :e] @ model.A.T)[0], (f[:, e:] @ model.x.T)[0]
    for rows in torch.split(torch.arange(model.rows), ROWS):
        eta, end = baseline + risk[rows, None], model.interval[rows, None] - 1
        cost = law.survived(eta)[0].cumsum(1).gather(1, end)[:, 0]
        last = law.switched(eta.gather(1, end))[0][:, 0]
        sign = 1.0 if model.owners is None else model.owners.sign[rows]
        total += float((sign * cost + model.event[rows] * last).sum())
    return total
