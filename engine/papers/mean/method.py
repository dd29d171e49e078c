"""The mean of a clipped column and its histogram, with and without noise."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Floats, SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.core.gauges import Column
from engine.method import Arrays
from engine.papers.mean import price
from engine.papers.mean.spec import Estimates, MeanSpec
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.noise import release
from engine.privacy.releases import Release

BINS = 20
"""Equal bins of the histogram, from 0 to the clipping bound."""


@dataclass(frozen=True, eq=False)
class State:
    """R answers.

    Attributes:
        raw: The values of the records used, shape (R, m).
        mean: The answer; empty before the only step, then shape (R,).
        counts: The histogram, shape (R, BINS), and without noise, in the same shape.
    """

    raw: Tensor
    mean: Tensor
    counts: tuple[Tensor, Tensor]


@final
@dataclass(frozen=True)
class Mean:
    """Clips, averages and counts once.

    Attributes:
        releases: What is drawn from, and priced; None without noise.

    Guarantees:
        Those of `price`: the noise is drawn from the mechanisms that are priced, and everything
        else that is published is computed from the noisy answers. Missing values are filled by a
        public value (`values`).
    """

    releases: Callable[[MeanSpec, int], tuple[Release, ...]] | None

    def init(self, batch: Batch[MeanSpec], data: Table, rng: Generator) -> State:
        """The values of each repetition's own records, drawn by its seed."""
        column = values(batch.spec, data)
        count = price.used(batch.spec, len(data))
        rows = [np.random.default_rng(seed).permutation(len(data))[:count] for seed in batch.seeds]
        empty = torch.empty(0)
        return State(torch.from_numpy(column[np.stack(rows)]).to(rng.device), empty, (empty, empty))

    def step(
        self, batch: Batch[MeanSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Estimates]:
        """Both releases, and what they are worth."""
        bound = torch.tensor(batch.column("bound"), device=rng.device)[:, None]
        clipped = state.raw.clamp(max=bound)
        unit = bound / (price.GRID * state.raw.shape[1])  # what a whole number is worth
        total, exact = parts(clipped, bound).sum(1, keepdim=True), counts(clipped, bound)
        mean = (total * unit)[:, 0]
        noisy, histogram = mean, exact
        if self.releases is not None:
            noisy = (release(total, self._noises(batch, data, 0), rng, unit) * unit)[:, 0]
            histogram = release(exact, self._noises(batch, data, 1), rng)
        deviation = self._deviation(batch, data)
        truth, bias = state.raw.mean(1), state.raw.mean(1) - mean
        wrong = (histogram - exact).abs().sum(1) / (2 * state.raw.shape[1])
        info = Estimates(
            error=(noisy - truth).abs().cpu().numpy(),
            bias=bias.cpu().numpy(),
            deviation=deviation,
            expected=np.hypot(bias.cpu().numpy(), deviation),
            clipped=(state.raw > bound).double().mean(1).cpu().numpy(),
            histogram_error=wrong.cpu().numpy(),
            mean=noisy.cpu().numpy(),
        )
        return replace(state, mean=noisy, counts=(histogram, exact)), info

    def products(self, batch: Batch[MeanSpec], data: Table, state: State) -> Arrays:
        """The mean, (R,), the histogram with and without noise, (R, BINS), and its bins' edges."""
        bound = batch.column("bound")[:, None]
        return {
            "mean": state.mean.cpu().numpy(),
            "histogram": state.counts[0].cpu().numpy(),
            "histogram_exact": state.counts[1].cpu().numpy(),
            "edges": np.linspace(0.0, 1.0, BINS + 1) * bound,
        }

    def _noises(self, batch: Batch[MeanSpec], data: Table, which: int) -> list[Laplace | Gaussian]:
        """The mechanism of one of the releases, for each replica."""
        assert self.releases is not None
        parts = [self.releases(spec, len(data))[which].mechanism for spec in batch.specs]
        return [part for part in parts if isinstance(part, Laplace | Gaussian)]

    def _deviation(self, batch: Batch[MeanSpec], data: Table) -> Column:
        """Standard deviation of the noise on the mean, shape (R,)."""
        if self.releases is None:
            return np.zeros(len(batch))
        noises = self._noises(batch, data, 0)
        return np.array([m.scale * (2.0**0.5 if isinstance(m, Laplace) else 1.0) for m in noises])


def values(spec: MeanSpec, data: Table) -> Floats:
    """The chosen column, shape (n,), in the unit of the card.

    Guarantees:
        A value is a function of its own record and of the card: one that is missing is filled by
        the public value that the card states, not by the mean of the others. So one record moves
        one value, whatever its own is.

    Raises:
        RequestError: A table without that column, with negative values in it, or with missing
            ones that nothing public stands for.
    """
    if not isinstance(data, SurvivalTable) or spec.column not in data.card.features:
        raise RequestError(
            f"dataset: expected a table with a column {spec.column!r}, got {data.card.name}"
        )
    at = data.card.features.index(spec.column)
    column = data.x[:, at]
    if data.missing is not None and data.missing[:, at].any():
        column = np.where(data.missing[:, at], _stands_for_missing(data, at), column)
    if (column < 0.0).any():
        raise RequestError(f"column: expected values of at least 0, got {column.min():g}")
    return column


def _stands_for_missing(data: SurvivalTable, at: int) -> float:
    """What the card states for a missing value of a column.

    Raises:
        RequestError: It states nothing.
    """
    bounds = data.card.bounds
    if bounds is None or not bounds.missing:
        raise RequestError(
            f"dataset: expected what stands for a missing value of {data.card.features[at]!r}, "
            f"got nothing in the card of {data.card.name}"
        )
    return bounds.missing[at]


def parts(clipped: Tensor, bound: Tensor) -> Tensor:
    """Values as whole numbers of parts of the bound, in double precision."""
    return (clipped / bound * price.GRID).round()


def counts(clipped: Tensor, bound: Tensor) -> Tensor:
    """Records per bin, shape (R, BINS); the last bin holds those at the bound."""
    bins = (clipped / bound * BINS).long().clamp(max=BINS - 1)
    empty = torch.zeros(len(clipped), BINS, dtype=torch.float64, device=clipped.device)
    return empty.scatter_add_(1, bins, torch.ones_like(clipped))


LAPLACE = Mean(price.laplace_releases)
GAUSSIAN = Mean(price.gaussian_releases)
EXACT = Mean(None)
