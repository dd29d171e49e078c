"""The arrays that a run keeps, each with the replicas first; `curves` reads them without torch."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.method import Arrays
from engine.papers.survival.likelihood.scale import Scaled


def repeated(values: object, replicas: int) -> NDArray[np.float64]:
    """The same values for every replica, shape (R, ...)."""
    array = np.asarray(values, np.float64)
    return np.broadcast_to(array, (replicas, *array.shape)).copy()


def scale(records: Scaled, replicas: int) -> Arrays:
    """How covariates and time were scaled: `centre`, `span` (R, p) and `norm`, `horizon` (R,)."""
    return {
        "centre": repeated(records.centre, replicas),
        "span": repeated(records.span, replicas),
        "norm": repeated(records.norm, replicas),
        "horizon": repeated(records.horizon, replicas),
    }


def released(records: Scaled, f: Tensor, noise: NDArray[np.float64], tau: Tensor) -> Arrays:
    r"""What a private method leaves behind.

    Args:
        records: The scaled table.
        f: Released parameters [\alpha; \beta], shape (R, d).
        noise: Standard deviation of the noise in each of them, shape (R, d).
        tau: \|\nabla J\| where the optimiser stopped, shape (R,).
    """
    return {
        "coefficients": f.cpu().numpy(),
        "noise": noise,
        "tau": tau.cpu().numpy(),
        **scale(records, len(f)),
    }
