"""What Figures 3 and 4 draw of chains: densities of coefficients, and errors by epoch."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from engine.core.spec import Value
from engine.method import Arrays
from engine.papers.survival.evaluation.curves import Scale
from engine.runs.results import Results

Trace = tuple[NDArray[np.float64], NDArray[np.float64] | None]
"""Positions and values, shape (n,) each; no values where there are none yet."""
KNOTS = 3
POINTS = 41
"""Points of a density."""


def density(coefficient: int, chain: int, results: Sequence[Results]) -> Trace:
    """A kernel estimate (normal kernel, Silverman's rule) of a covariate's coefficient.

    Args:
        coefficient: Which covariate, from 1.
        chain: Whose draws, among the results.
        results: Of chains, the corrected sampler's last: the axis is around its mode.
    """
    arrays, column = _on_one_scale([one.arrays() for one in results]), KNOTS + coefficient - 1
    axis = _axis(arrays[-1], column)
    if "draws" not in arrays[chain]:
        return axis, None
    values = arrays[chain]["draws"][0, :, column]
    values = values[np.isfinite(values)]
    width = 1.06 * values.std() * max(len(values), 1) ** -0.2 if len(values) else 0.0
    width = max(width, 0.25 * (axis[1] - axis[0]))
    kernel = np.exp(-0.5 * ((axis[:, None] - values) / width) ** 2)
    return axis, kernel.sum(1) / (max(len(values), 1) * width * math.sqrt(2.0 * math.pi))


def normal(coefficient: int, results: Sequence[Results]) -> Trace:
    """The Laplace approximation's density of a covariate's coefficient, on the same axis."""
    last = _on_one_scale([one.arrays() for one in results])[-1]
    column = KNOTS + coefficient - 1
    axis = _axis(last, column)
    if "mode" not in last:
        return axis, None
    law = NormalDist(float(last["mode"][0, column]), float(last["laplace"][0, column]))
    return axis, np.array([law.pdf(float(x)) for x in axis])


def _on_one_scale(every: Sequence[Arrays]) -> list[dict[str, NDArray[np.generic]]]:
    """Coefficients of every run on the scale of the first that has one: per unit times scale."""
    scales = [Scale.read(arrays, 0) if "span" in arrays else None for arrays in every]
    units = [scale.span * scale.norm for scale in scales if scale is not None]
    moved = []
    for arrays, scale in zip(every, scales, strict=True):
        own = {key: np.asarray(values) for key, values in arrays.items()}
        for key in ("draws", "mode", "laplace"):
            if scale is not None and key in arrays:
                values = own[key].astype(np.float64)
                values[..., KNOTS:] *= units[0] / (scale.span * scale.norm)
                own[key] = values
        moved.append(own)
    return moved


def _axis(arrays: Mapping[str, NDArray[np.generic]], column: int) -> NDArray[np.float64]:
    """Four standard deviations around the mode; around zero while nothing is known."""
    if "mode" not in arrays:
        return np.linspace(-4.0, 4.0, POINTS)
    mode, spread = float(arrays["mode"][0, column]), float(arrays["laplace"][0, column])
    return np.linspace(mode - 4.0 * spread, mode + 4.0 * spread, POINTS)


def course(results: Sequence[Results], **at: Value) -> Trace:
    """Mean error of chains by epoch."""
    (one,) = results
    arrays, rows = one.arrays(), one.rows(**at)
    if "trace" not in arrays:
        return np.linspace(0.1, 1, 10), None
    values = np.asarray(arrays["trace"])[rows].mean(0)
    return np.asarray(arrays["epochs"])[rows][0], values if np.isfinite(values).any() else None


def level(results: Sequence[Results], **at: Value) -> Trace:
    """Mean error of a sampler, the first, from the first to the last epoch of another's chains."""
    sampler, other = results
    arrays, ends = other.arrays(), np.array([0.1, 1.0])
    if "epochs" in arrays:
        ends = np.asarray(arrays["epochs"])[other.rows(**at)][0, [0, -1]]
    value = sampler.mean("mre", **at)
    return ends, np.full(2, value) if math.isfinite(value) else None
