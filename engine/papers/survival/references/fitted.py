r"""The discrete-time model fitted to the raw records: a reference, never a release."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable, Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import cox, fit, optimum, utility
from engine.papers.survival.evaluation.products import repeated
from engine.papers.survival.likelihood.logit import derivatives
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec, Utility

CURVE = 200
"""Points of the Kaplan-Meier curve."""


@dataclass(frozen=True)
class State:
    r"""The minimisers of R replicas.

    Attributes:
        f: Shape (R, d).
        tau: \|\nabla J\| there, shape (R,).
    """

    f: Tensor
    tau: Tensor


class NonPrivate:
    r"""The minimiser of J at each replica's \Lambda.

    Guarantees:
        None.
    """

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Fits J once for each regularisation of the batch."""
        table, where = survival(data, batch.spec), str(rng.device)
        fits = [
            fit(table, s.intervals, s.knots, s.regularisation, s.solver, where) for s in batch.specs
        ]
        return State(torch.cat([s.f for s in fits]), torch.cat([s.tau for s in fits]))

    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility]:
        """Scores the fits."""
        return state, utility(survival(data, batch.spec), batch.spec, state.f, np.zeros(len(batch)))

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """The fits, and what a page draws beside the private ones.

        Returns:
            Besides `coefficients` (R, d), `tau` (R,) and the scale: `optimum` (R, d), the
            unregularised f*; `errors` (R, d), its standard errors; `cox` and `cox_errors`
            (R, p); `km_time` (R, 200), in the table's unit, and `km_survival` (R, 200).
        """
        table, rows = survival(data, batch.spec), len(batch)
        best = optimum(table, batch.spec.intervals, batch.spec.knots)
        reference, (time, curve) = cox(table), kaplan_meier(table)
        arrays = {
            "optimum": best.numpy(),
            "errors": _errors(table, batch.spec, best),
            "cox": reference.beta,
            "cox_errors": reference.error,
            "km_time": time,
            "km_survival": curve,
        }
        return {
            "coefficients": state.f.cpu().numpy(),
            "tau": state.tau.cpu().numpy(),
            **products.scale(scaled(table), rows),
            **{name: repeated(values, rows) for name, values in arrays.items()},
        }


def _errors(table: SurvivalTable, spec: SurvivalSpec, best: Tensor) -> np.ndarray:
    """Standard errors of f*: roots of the diagonal of the inverse information, shape (d,)."""
    information = derivatives(design(table, spec.intervals, spec.knots), best[None]).hessian[0]
    covariance = torch.linalg.pinv(information, hermitian=True) / len(table)
    errors: np.ndarray = covariance.diagonal().clamp_min(0.0).sqrt().numpy()
    return errors


def kaplan_meier(table: SurvivalTable) -> tuple[np.ndarray, np.ndarray]:
    """The product-limit estimate (lifelines) at evenly spaced times: time and survival, (200,)."""
    from lifelines import KaplanMeierFitter

    time = np.linspace(0.0, float(table.time.max()), CURVE)
    fitted = KaplanMeierFitter().fit(table.time, table.event)
    return time, fitted.survival_function_at_times(time).to_numpy(float)


METHOD = NonPrivate()
