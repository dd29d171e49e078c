"""A private log-rank test of two groups: noise on the counts that the statistic comes from."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.method import Arrays
from engine.papers.survival.compared import Compared, GroupedSpec
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.mechanisms.curve import cells
from engine.papers.survival.price.compared import significance
from engine.papers.survival.price.curve import counts
from engine.privacy.noise import release
from engine.training.threads import single_thread


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """What is released of R replicas, NaN at first.

    Attributes:
        noisy: Counts by group, shape (R, 2, 2q + 1): of censored records and of events in each
            interval, and of people who reach the horizon.
    """

    noisy: Tensor


@final
class PrivateLogRank:
    r"""One noisy table of counts, and the test that follows from it.

    Guarantees:
        `price.compared`: a record adds 1 to one cell, so the sensitivity is \sqrt2. The mechanism
        of `price.curve.counts` gives both the scale and the price.
    """

    def init(self, batch: Batch[GroupedSpec], data: Table, rng: Generator) -> NoisyTable:
        """Nothing is released yet.

        Raises:
            RequestError: The table has no such covariate, or covariates that vary in time.
        """
        table, column = _bounded(data, batch.spec), batch.spec.group
        if column > table.x.shape[1]:
            raise RequestError(
                f"group: expected the number of a covariate, 1 to {table.x.shape[1]}, got {column}"
            )
        if table.episodes is not None:
            raise RequestError(
                "dataset: expected covariates that are fixed in time, got some that vary: a group "
                "that is known later says who lived until then"
            )
        shape = (len(batch), 2, 2 * batch.spec.intervals + 1)
        return NoisyTable(torch.full(shape, torch.nan, dtype=torch.float64).to(rng.device))

    @single_thread()
    def step(
        self, batch: Batch[GroupedSpec], data: Table, state: NoisyTable, rng: Generator
    ) -> tuple[NoisyTable, Compared]:
        """Releases the counts and tests."""
        spec, table = batch.spec, _bounded(data, batch.spec)
        exact = counted(table, spec.intervals, spec.group - 1).to(rng.device)
        noises = [counts(one) for one in batch.specs]
        noisy = release(exact.flatten().expand(len(batch), -1), noises, rng)
        noisy = noisy.view(-1, *exact.shape)
        found = self._tested(noisy, [one.scale for one in noises], len(table))
        plain, _ = significance(exact[None].cpu().numpy(), 0.0, len(table))
        score, p = found
        return NoisyTable(noisy), Compared(
            p_value=p, statistic=score, statistic_gap=np.abs(score - plain)
        )

    def products(self, batch: Batch[GroupedSpec], data: Table, state: NoisyTable) -> Arrays:
        """`log_rank_counts` (R, 2, 2q + 1), and `log_rank` and `p_value` (R,) from them."""
        scales = [counts(one).scale for one in batch.specs]
        records = len(_bounded(data, batch.spec))
        score, p = self._tested(state.noisy, scales, records)
        return {"log_rank_counts": state.noisy.cpu().numpy(), "log_rank": score, "p_value": p}

    def _tested(
        self, noisy: Tensor, scales: list[float], records: int
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = noisy.cpu().numpy()
        pairs = [
            significance(row[None], scale, records) for row, scale in zip(rows, scales, strict=True)
        ]
        score, p = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return score, p


def _bounded(data: Table, spec: GroupedSpec) -> SurvivalTable:
    """The records, scaled by public bounds, whichever ranges the paper's other methods take."""
    return survival(data, replace(spec, calibration="rigorous"))


def counted(table: SurvivalTable, intervals: int, column: int) -> Tensor:
    """Exact counts by group, shape (2, 2q + 1).

    A scaled covariate is 0 in the middle of its public range.
    """
    size = 2 * intervals + 1
    second = scaled(table).x[:, column] > 0.0
    exact = np.bincount(cells(table, intervals) + size * second, minlength=2 * size)
    return torch.tensor(exact, dtype=torch.float64).view(2, size)


METHOD = PrivateLogRank()
