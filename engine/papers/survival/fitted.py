"""How well fitted coefficients describe the raw records, for an export. Nothing here is private."""

import numpy as np
import torch

from datasets.base import Table
from engine.method import Arrays
from engine.papers.survival.likelihood import losses
from engine.papers.survival.problem import design
from engine.papers.survival.scale import survival
from engine.papers.survival.spec import SurvivalSpec


def scores(spec: SurvivalSpec, data: Table, arrays: Arrays) -> Arrays:
    """The log-likelihood of all records under the logit link, shape (R,), in nats.

    NaN where a replica diverged; nothing where a run keeps no coefficients or has another link.

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: What the run kept: `coefficients` (R, d).
    """
    if "coefficients" not in arrays or spec.link != "logit":
        return {}
    model = design(survival(data, spec), spec.intervals, spec.knots)
    f = torch.from_numpy(np.asarray(arrays["coefficients"], np.float64))
    sums = [-float(losses(model, row[None]).sum()) for row in f]
    return {"log_likelihood": np.array(sums)}
