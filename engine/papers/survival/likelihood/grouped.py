r"""Gradients of the grouped proportional-hazards model, for R replicas at once.

With h = 1 - exp(-e^\eta) the coefficients are those of Cox's model whatever the intervals are
(Prentice and Gloeckler 1978): surviving an interval costs e^{a_s + c_i}, which is what the
cumulative hazard grows by in it. Sums over a record's intervals are therefore e^{c_i} times sums
of e^{a_s} that do not depend on the record. Only the interval of an event is different: there the
slope is -r/(e^r - 1), r = e^\eta.
"""

import torch
from torch import Tensor

from engine.papers.survival.likelihood.logit import predictors
from engine.papers.survival.likelihood.problem import Design

LOWEST, HIGHEST = -60.0, 15.0
"""Baseline and covariate part are cut here, each: r stays below e^30."""


def _rates(design: Design, f: Tensor) -> tuple[Tensor, Tensor]:
    """e^a, shape (R, q), and e^c, shape (R, m)."""
    a, c = predictors(design, f)
    return a.clamp(LOWEST, HIGHEST).exp(), c.clamp(LOWEST, HIGHEST).exp()


def _upto(design: Design, base: Tensor, values: Tensor) -> Tensor:
    """Sums over each row's intervals of e^a times values (R or 1, q, k), shape (R, m, k)."""
    return (base[:, :, None] * values).cumsum(1)[:, design.interval - 1]


def _last(design: Design, base: Tensor, own: Tensor) -> Tensor:
    """R in the interval in which each row ends, shape (R, m)."""
    return base[:, design.interval - 1] * own


def gradients(design: Design, f: Tensor) -> Tensor:
    """The part v_i of each row's gradient [v_i; v_i0 x_i], shape (R, m, e)."""
    base, own = _rates(design, f)
    v = own[:, :, None] * _upto(design, base, design.A[None])
    if design.owners is not None:
        v = v * design.owners.sign[:, None]
    rate = _last(design, base, own)
    less = rate / torch.expm1(rate).clamp_min(1e-300) + rate
    return v - (design.event * less)[:, :, None] * design.A[design.interval - 1]
