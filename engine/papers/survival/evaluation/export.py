"""How well fitted coefficients describe the raw records. Nothing here is private by itself."""

import numpy as np
import torch
from torch import Tensor

from datasets.base import Floats, Table
from engine.method import Arrays
from engine.papers.survival.likelihood.links import LINKS
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec

ROWS = 8_192
"""Rows of the design whose intervals are worked out together."""
WORST = 10.0
"""Loss of a record, in nats, from which on it counts as described in no way."""


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
    sums = [-float(_each(model, row[None], spec.link).sum()) for row in f]
    told = {"log_likelihood": np.array(sums)}
    if records.episodes is not None:
        return told
    x = torch.from_numpy(scaled(records).x)
    return told | {"risk": (f[:, spec.knots :] @ x.T).numpy()}


def judged(spec: SurvivalSpec, data: Table, arrays: Arrays) -> Floats:
    r"""How likely the model makes each record: 1 - min(\ell_i, WORST)/WORST, shape (R, n).

    Guarantees:
        A record's number lies in [0, 1] and depends on that record and the coefficients alone.
        Their sum over the records changes by at most 1 where one is replaced.
    """
    model = design(survival(data, spec), spec.intervals, spec.knots)
    f = torch.from_numpy(np.asarray(arrays["coefficients"], np.float64))
    rows = [model.by_record(_each(model, row[None], spec.link)[None])[0] for row in f]
    lost = torch.stack(rows)
    times = 1.0 if model.copies is None else model.copies
    shares: Floats = (times * (1.0 - (lost / times / WORST).clamp(0.0, 1.0))).numpy()
    return shares


def _each(model: Design, f: Tensor, link: str) -> Tensor:
    """What each row adds to the loss under one model (1, d), shape (m,)."""
    law, e, parts = LINKS[link], model.knots, []
    baseline, risk = (f[:, :e] @ model.A.T)[0], (f[:, e:] @ model.x.T)[0]
    for rows in torch.split(torch.arange(model.rows), ROWS):
        eta, end = baseline + risk[rows, None], model.interval[rows, None] - 1
        cost = law.survived(eta)[0].cumsum(1).gather(1, end)[:, 0]
        last = law.switched(eta.gather(1, end))[0][:, 0]
        parts.append(cost + model.event[rows] * last)
    return model.signed(torch.cat(parts))
