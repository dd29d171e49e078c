r"""Worst cases of the survival methods: two persons whom a private fit must not tell apart.

Everybody but one has average covariates and the event at once, so the baseline is high: with
hazards near 1 the gradient of a person who survives is near the largest there is, and there is
little curvature but the regularisation's. The witness survives to the horizon with every covariate
at its upper bound; in the other data set with every covariate at its lower bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from datasets.base import SurvivalTable, Table
from engine.audit.witness import Pair, Witness, own_seeds, survival_limits
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.survival.likelihood.logit import derivatives, mean_gradient
from engine.papers.survival.likelihood.lookup import losses
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.price.perturbation import GaussianPlan, objective_gaussian
from engine.papers.survival.price.sampler import loss_bound
from engine.papers.survival.price.sensitivity import Objective, objective_noise
from engine.papers.survival.spec import SurvivalSpec

WORDS = (
    "a person who survives to the horizon with every covariate at its upper bound, or at its lower "
    "bound in the other data set; everybody else has middling covariates and the event at once"
)


IMPLIED = "noise that the answer implies"
DRAWN = "loss of the drawn model on the record"
HAZARD = 3.0
"""Cumulative hazard at the horizon where events come at a constant hazard."""

SWING = 0.02
"""How far other covariates lie from the middle, in shares of the way to the bounds.

Enough to keep noisy coefficients near zero, so that hazards stay ordinary; too little for others'
gradients to matter beside the witness's.
"""


class Released(Protocol):
    """A final state that holds the released parameters."""

    @property
    def f(self) -> Tensor:
        """Parameters, shape (R, d)."""


class Sampled(Protocol):
    """A final state that holds draws."""

    @property
    def draws(self) -> Tensor:
        """Shape (R, m, d), or (R, chains, m, d)."""


def mirrored(spec: SurvivalSpec, data: Table) -> Pair:
    """The pair at the size and the bounds of a table.

    Raises:
        RequestError: The table holds no durations.
    """
    if not isinstance(data, SurvivalTable):
        raise RequestError(f"dataset: expected durations, got the labels of {data.card.name}")
    return _mirrored(data)


@lru_cache(maxsize=4)
def _mirrored(data: SurvivalTable) -> Pair:
    low, high = survival_limits(data)
    horizon = float(data.time.max()) if data.card.bounds is None else data.card.bounds.horizon
    n = len(data)
    x, time = np.repeat(0.5 * (low + high)[None], n, 0), np.full(n, 1e-3 * horizon)
    event = np.ones(n, bool)
    time[0], event[0] = horizon, False
    card = replace(data.card, events=n - 1)
    tables = []
    for extreme in (low, high):
        own = x.copy()
        own[0] = extreme
        tables.append(SurvivalTable(card, own, time, event, alike=True))
    return Pair(tables[0], tables[1])


def slope(batch: Batch[SurvivalSpec], pair: Pair, state: Released) -> Tensor:
    """How far the released coefficients lie towards the witness, shape (R,)."""
    towards: Tensor = -state.f[:, batch.spec.knots :].sum(1)
    return towards


def implied(batch: Batch[SurvivalSpec], pair: Pair, state: Released) -> Tensor:
    r"""(\|b\| - \|b'\|)/scale of the linear terms that the release implies, shape (R,).

    The release minimises J(f) + \langle b, f\rangle/n + \frac\Delta2\|f\|^2, so each data set
    names the b that led to it; the density of b falls with exp(-\|b\|/scale). The determinants
    are left out: they are nearly the same for both.
    """
    sizes: list[Tensor] = []
    for table in (pair.without, pair.present):
        model = _design(batch.spec, table)
        plan = objective_noise(batch.spec, model.records, model.dimension)
        ridge = batch.spec.regularisation + plan.extra
        push = mean_gradient(model, torch.nan_to_num(state.f)) + ridge * state.f
        sizes.append(model.records * push.norm(dim=1) / plan.noise.scale)
    return sizes[0] - sizes[1]


def told_apart(spec: SurvivalSpec, data: Table) -> Pair:
    """The pair of `mirrored` with every row for itself, for methods that draw rows."""
    pair = mirrored(spec, data)
    assert isinstance(pair.without, SurvivalTable)
    assert isinstance(pair.present, SurvivalTable)
    return Pair(replace(pair.without, alike=False), replace(pair.present, alike=False))


def drawn(batch: Batch[SurvivalSpec], pair: Pair, state: Sampled) -> Tensor:
    """The log density ratio of one draw: what the witness's sanitised loss adds, shape (R,)."""
    spec = batch.spec
    chain = state.draws[:, 0] if state.draws.dim() == 4 else state.draws
    f = torch.nan_to_num(chain[:, -1])
    sanitised = []
    for table in (pair.without, pair.present):
        model = _design(spec, table)
        own = losses(model, f, spec.link)[:, (model.order == 0).nonzero()[0, 0]]
        bound = loss_bound(spec, model.records)
        sanitised.append(bound * torch.tanh(own / bound))
    return sanitised[0] - sanitised[1]


def implied_gaussian(batch: Batch[SurvivalSpec], pair: Pair, state: Released) -> Tensor:
    r"""(\|b\|^2 - \|b'\|^2)/(2\sigma^2) of the linear terms that a release implies, shape (R,)."""
    sizes: list[Tensor] = []
    for table in (pair.without, pair.present):
        model = _design(batch.spec, table)
        plan = objective_gaussian(batch.spec, model.records, model.dimension)
        ridge = batch.spec.regularisation + plan.extra
        push = mean_gradient(model, torch.nan_to_num(state.f)) + ridge * state.f
        sizes.append((model.records * push.norm(dim=1) / plan.noise.scale).square())
    return 0.5 * (sizes[0] - sizes[1])


def perturbing(
    plan: Callable[[SurvivalSpec, int, int], Objective | GaussianPlan],
    spec: SurvivalSpec,
    table: Table,
    state: Released,
    noises: Sequence[Tensor],
) -> tuple[Tensor, float]:
    """The linear term that makes the optimiser's answer a table's minimiser, (1, d).

    The answer is the release less the noise that hides where the optimiser stops. The objective is
    n times the mean one; the log determinant of its curvature at the answer goes with the term.
    """
    assert isinstance(table, SurvivalTable)
    model = _design(spec, table)
    f = state.f - torch.stack([*noises[1:], torch.zeros_like(state.f)]).sum(0)
    ridge = spec.regularisation + plan(spec, model.records, model.dimension).extra
    bent = derivatives(model, f).hessian[0] + ridge * torch.eye(model.dimension).to(f)
    slope = mean_gradient(model, f) + ridge * f
    return -model.records * slope, float(torch.logdet(model.records * bent))


def _design(spec: SurvivalSpec, table: Table) -> Design:
    return design(survival(table, spec), spec.intervals, spec.knots)


def outcomes(spec: SurvivalSpec, data: Table) -> Pair:
    """The witness, at a corner, has the event at once or survives to the horizon.

    Everybody else is nearly middling and has the event at times of a constant hazard, so that few
    reach the horizon: then an event at once comes as a surprise, and so does survival. Both
    gradients are longer than the clipping bound in every step and point opposite ways, since others
    say little of the covariates. The counts of outcomes differ in two cells. As printed, others
    have the event at once too, so that the witness alone sets the scale of time.
    """
    pair = mirrored(spec, data)
    assert isinstance(data, SurvivalTable)
    assert isinstance(pair.present, SurvivalTable)
    if spec.calibration == "paper":
        return _stretched(pair.present)
    n, horizon = len(data), float(pair.present.time[0])
    rank = (np.arange(n) + 0.5) / n
    time = np.minimum(-np.log1p(-rank) / HAZARD, 1.0) * horizon
    event = time < horizon
    low, high = survival_limits(data)
    x = pair.present.x + SWING * 0.5 * (high - low) * np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    x[0] = high
    tables = []
    for moment, happened in ((1e-3 * horizon, True), (horizon, False)):
        own, seen = time.copy(), event.copy()
        own[0], seen[0] = moment, happened
        card = replace(pair.present.card, events=int(seen.sum()))
        tables.append(replace(pair.present, card=card, x=x, time=own, event=seen))
    return Pair(tables[0], tables[1])


def _stretched(present: SurvivalTable) -> Pair:
    """All have the event at once but the witness, who survives to a horizon nobody else is near.

    Where the scale of time is the data's own, as printed, this witness alone sets it.
    """
    time, event = present.time.copy(), present.event.copy()
    time[0], event[0] = time[1], True
    return Pair(replace(present, time=time, event=event), present)


def dimension(spec: SurvivalSpec, pair: Pair) -> int:
    """Parameters of the model."""
    assert isinstance(pair.present, SurvivalTable)
    return _design(spec, pair.present).dimension


OUTPUT = Witness(
    words=WORDS,
    pair=mirrored,
    scores={"sum of the coefficients": slope},
    width=dimension,
)
"""For noise on the answer."""
OBJECTIVE = Witness(
    words=WORDS,
    pair=mirrored,
    scores={IMPLIED: implied, "sum of the coefficients": slope},
    ratio=IMPLIED,
    recorded=False,
    implied=partial(perturbing, objective_noise),
)
"""For noise in the objective, which no release shows by itself."""
SAMPLER = Witness(
    words=WORDS,
    pair=told_apart,
    scores={DRAWN: drawn},
    ratio=DRAWN,
    recorded=False,
    seeds=own_seeds,
)
"""For draws from a posterior."""
DESCENT = Witness(
    words="a person with every covariate at its upper bound who survives to the horizon, or has "
    "the event at once; others have nearly middling covariates",
    pair=outcomes,
    scores={"sum of the coefficients": slope},
)
"""For gradients clipped record by record."""
CURVE = Witness(
    words="a person who has the event at once, or survives to the horizon",
    pair=outcomes,
)
"""For counts of outcomes."""
GAUSSIAN_OBJECTIVE = Witness(
    words=WORDS,
    pair=mirrored,
    scores={IMPLIED: implied_gaussian, "sum of the coefficients": slope},
    ratio=IMPLIED,
    recorded=False,
    implied=partial(perturbing, objective_gaussian),
)
"""For Gaussian noise in the objective."""
