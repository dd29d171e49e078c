r"""Extended objective perturbation (Algorithm 2): a random linear term in the objective."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import utility
from engine.papers.survival.likelihood.logit import derivatives, mean_gradient
from engine.papers.survival.likelihood.problem import Design, design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.likelihood.solvers import minimise
from engine.papers.survival.price.perturbation import GaussianPlan, objective_gaussian
from engine.papers.survival.price.sensitivity import (
    TOLERANCE,
    Objective,
    deviation,
    objective_noise,
)
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.privacy.noise import draw
from engine.training.threads import single_thread

Plan: TypeAlias = Objective | GaussianPlan
"""What perturbs one replica's objective."""


@dataclass(frozen=True)
class State:
    r"""What R replicas have reached.

    Attributes:
        f: The release, shape (R, d); NaN before the first step, and where the optimiser missed
            its tolerance.
        tau: \|\nabla\| of the perturbed objective where the optimiser stopped, shape (R,).
    """

    f: Tensor
    tau: Tensor


@final
@dataclass(frozen=True)
class ObjectivePerturbation:
    """One optimisation per replica, all of a chunk together.

    Attributes:
        plan: What perturbs the objective of a spec, n records and d parameters.
        fixed: Whether its proof needs covariates that are fixed in time.

    Guarantees:
        `sensitivity.objective_noise` or `price.perturbation.objective_gaussian`: their mechanisms
        give both the scales and the price. A solution that misses the tolerance that the price
        counts on is not released.
    """

    plan: Callable[[SurvivalSpec, int, int], Plan]
    fixed: bool = False

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Prepares the records; nothing is solved yet.

        Raises:
            RequestError: Covariates vary in time, where the proof needs them fixed.
        """
        model = _design(batch, data, str(rng.device))
        if self.fixed and model.owners is not None:
            raise RequestError(
                "dataset: expected covariates that are fixed in time, got some that vary"
            )
        nothing = model.A.new_full((len(batch), model.dimension), torch.nan)
        return State(nothing, nothing[:, 0])

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility]:
        """Draws the linear terms, minimises and scores the results."""
        table, model, d = (
            survival(data, batch.spec),
            _design(batch, data, str(rng.device)),
            state.f.shape[1],
        )
        plans = self._plans(batch, model)
        push = draw([plan.noise for plan in plans], d, rng) / model.records
        ridge = push.new_tensor(_ridges(batch, plans))
        answer = minimise(model, ridge, push, solver=batch.spec.solver)
        f = torch.where((answer.tau <= TOLERANCE)[:, None], answer.f, torch.nan)
        finish = [plan.finish for plan in plans if plan.finish is not None]
        # this hides where the solver stops, not f itself: there is no value that it bounds
        released = f + draw(finish, d, rng) if finish else f
        size = np.sqrt(d) * np.array([deviation(plan.noise) for plan in plans])
        ratio = size / model.records / _slope(model)
        return State(released, answer.tau), utility(table, batch.spec, released, ratio)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        r"""Coefficients, the standard deviation of their noise to first order, and the scale.

        To first order the minimiser moves by H^{-1} b/n, H the Hessian of the objective there.
        """
        model = _design(batch, data, str(state.f.device))
        plans = self._plans(batch, model)
        d = state.f.shape[1]
        with single_thread():  # else the last digits depend on how many threads there are
            hessian = derivatives(model, torch.nan_to_num(state.f)).hessian
            ridge = hessian.new_tensor(_ridges(batch, plans))
            inverse = torch.linalg.inv(hessian + ridge[:, None, None] * torch.eye(d).to(hessian))
        scale = np.array([deviation(plan.noise) for plan in plans]) / model.records
        noise = scale[:, None] * inverse.norm(dim=2).cpu().numpy()
        return products.released(scaled(survival(data, batch.spec)), state.f, noise, state.tau)

    def _plans(self, batch: Batch[SurvivalSpec], model: Design) -> list[Plan]:
        """What perturbs each replica."""
        return [self.plan(spec, model.records, model.dimension) for spec in batch.specs]


def _design(batch: Batch[SurvivalSpec], data: Table, device: str) -> Design:
    """The records of the batch on a device."""
    return design(survival(data, batch.spec), batch.spec.intervals, batch.spec.knots, device)


def _ridges(batch: Batch[SurvivalSpec], plans: list[Plan]) -> list[float]:
    r"""\Lambda + \Delta of each replica."""
    return [s.regularisation + p.extra for s, p in zip(batch.specs, plans, strict=True)]


def _slope(model: Design) -> float:
    """Norm of the objective's gradient at zero: the linear term that b/n is added to."""
    zero = model.A.new_zeros(1, model.dimension)
    return max(float(mean_gradient(model, zero).norm()), 1e-300)


METHOD = ObjectivePerturbation(objective_noise)
GAUSSIAN = ObjectivePerturbation(objective_gaussian, fixed=True)
