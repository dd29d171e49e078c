"""The maximum-likelihood fit: what private descent, which has no ridge, comes to without noise."""

from typing import final

import torch
from torch import Generator

from datasets.base import Table
from engine.core.batch import Batch
from engine.papers.survival.evaluation.evaluate import fit
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.references.fitted import NonPrivate, State
from engine.papers.survival.spec import SurvivalSpec


@final
class Unregularised(NonPrivate):
    r"""The minimiser of J at \Lambda = 0.

    Guarantees:
        None.
    """

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Fits the log-likelihood alone."""
        table, where = survival(data, batch.spec), str(rng.device)
        fits = [fit(table, s.intervals, s.knots, 0.0, "newton", where) for s in batch.specs]
        return State(torch.cat([s.f for s in fits]), torch.cat([s.tau for s in fits]))


METHOD = Unregularised()
