"""How well fitted coefficients describe the raw records, for an export. Nothing here is private."""

import numpy as np
import torch

from datasets.base import Table
from engine.method import Arrays
from engine.papers.survival.likelihood import losses
from engine.papers.survival.problem import design
from engine.papers.survival.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec


def scores(spec: SurvivalSpec, data: Table, arrays: Arrays) -> Arrays:
    """`log_likelihood` (R,) of all records in nats, and each record's `risk` (R, n).

    The risk is the covariates' part of the model; there is none where covariates vary in time. NaN
    where a replica diverged; nothing where a run keeps no coefficients or has another link.

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: What the run kept: `coefficients` (R, d).
    """
    if "coefficients" not in arrays or spec.link != "logit":
        return {}
    records = survival(data, spec)
    model = design(records, spec.intervals, spec.knots)
    f = torch.from_numpy(np.asarray(arrays["coefficients"], np.float64))
    sums = [-float(losses(model, row[None]).sum()) for row in f]
    told = {"log_likelihood": np.array(sums)}
    if records.episodes is not None:
        return told
    x = torch.from_numpy(scaled(records).x)
    return told | {"risk": (f[:, spec.knots :] @ x.T).numpy()}
