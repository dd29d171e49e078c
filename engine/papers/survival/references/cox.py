r"""Cox regression (lifelines): the reference that the paper's Table 3 compares with."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Floats, SurvivalTable, Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import brier, concordance, cox, optimum, relative
from engine.papers.survival.evaluation.products import repeated
from engine.papers.survival.evaluation.scored import Evaluation, evaluation, scored
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec, Utility


@dataclass(frozen=True)
class State:
    """Coefficients of R equal replicas, shape (R, p): Cox regression has no seed."""

    beta: Tensor


class CoxRegression:
    r"""The partial-likelihood estimate with Breslow's baseline.

    Cox regression has no spline: its error over all parameters takes \alpha as that of f*.

    Guarantees:
        None.
    """

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Fits once."""
        beta = torch.tensor(cox(survival(data, batch.spec)).beta)
        return State(beta.expand(len(batch), -1))

    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility]:
        """Scores the fit like any other."""
        table, e, rows = survival(data, batch.spec), batch.spec.knots, len(batch)
        best, sample = optimum(table, batch.spec.intervals, e), evaluation(table)
        whole = torch.cat([best[:e].expand(rows, -1), state.beta], dim=1)
        score = state.beta[:1] @ sample.x.T
        many = scored(table, batch.spec.intervals)
        errors = brier(many, torch.tensor(survival_of(table, many))[None])
        return state, Utility(
            mre=relative(whole, best),
            mre_beta=relative(state.beta, best[e:]),
            concordance=np.repeat(concordance(sample, score), rows),
            brier=np.repeat(errors[0], rows),
            brier_error=np.repeat(errors[1], rows),
            cox_error=np.zeros(rows),
            noise_to_signal=np.zeros(rows),
        )

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """`cox` and `cox_errors` (R, p), and the scale of the data."""
        table = survival(data, batch.spec)
        return {
            "cox": state.beta.numpy(),
            "cox_errors": repeated(cox(table).error, len(batch)),
            **products.scale(scaled(table), len(batch)),
        }


def survival_of(table: SurvivalTable, sample: Evaluation) -> Floats:
    r"""S(t|x) of the sample at its times, shape (m, TIMES).

    The baseline of lifelines is that of a record whose covariates are the mean \bar x of all
    rows, so a row's risk is \exp(\beta (x - \bar x)).
    """
    fitted, records = cox(table), scaled(table)
    mean = (records.x if records.episodes is None else records.episodes.x).mean(0)
    risk = np.exp((sample.x.numpy() - mean) @ fitted.beta)
    index = np.searchsorted(fitted.time, sample.times, side="right") - 1
    held = sample.before(fitted.time)
    if held is None:
        total = risk[:, None] * fitted.cumulative
    else:
        total = (risk[held] * np.diff(fitted.cumulative, prepend=0.0)).cumsum(axis=1)
    survival: Floats = np.exp(-np.where(index >= 0, total[:, index.clip(0)], 0.0))
    return survival


METHOD = CoxRegression()
