r"""Gradient descent on GLVQ and GMLVQ for R replicas, with or without privacy."""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import measuring
from engine.method import Arrays
from engine.papers.lvq import initial, measure, price, products
from engine.papers.lvq.folds import Records, fold, records
from engine.papers.lvq.model import (
    Model,
    Norms,
    Pairs,
    Sample,
    Sums,
    factors,
    norms,
    pairs,
    right,
    sums,
)
from engine.papers.lvq.spec import LvqSpec, Utility
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release, release_together
from engine.training.sampling import by_gaps, packed

LOOKS = 20
"""How often a run measures."""
BLOCK = 4_096
"""Records of a replica that are whitened together when only their norms are kept."""
TOGETHER = 2**20
"""Numbers that are whitened together, at most, where a replica has no more."""


@dataclass(frozen=True, eq=False)
class State:
    """R replicas in training.

    Attributes:
        step: Steps taken.
        model: The current parameters.
        total: Sum of the parameters over the averaged steps; None before the first.
        averaged: How many steps are in `total`.
        centre: Subtracted from every record, shape (R, d).
        rows: Training rows, padded by row 0, shape (R, n).
        square: Squared norms of the centred and whitened training records, shape (R, n).
        sizes: Training records, shape (R,).
        counts: The same on the processor, which needs them to draw batches.
        noises: The mechanism of a step of each replica; empty without privacy.
    """

    step: int
    model: Model
    total: Model | None
    averaged: int
    centre: Tensor
    rows: Tensor
    square: Tensor
    sizes: Tensor
    counts: Tensor
    noises: tuple[Gaussian, ...]


@final
@dataclass(frozen=True)
class Descent:
    """Steps of gradient descent on Poisson samples of the training records.

    Attributes:
        matrix: Whether a relevance matrix is trained (GMLVQ).
        private: Whether gradients are clipped and noise is added.

    Guarantees:
        Privately, the initialisation releases what `price.start` lists, and each step the sum of
        clipped gradients over a Poisson sample at rate q, changed by one record by at most C in
        L2 norm (`model.factors`, from norms that `model.norms` never rounds down), plus Gaussian
        noise of standard deviation sigma C: the release `price.descent`. It is divided by qN, a
        public number. Normalising Omega, averaging and what is measured of the metric are
        post-processing.
    """

    matrix: bool
    private: bool

    def init(self, batch: Batch[LvqSpec], data: Table, rng: Generator) -> State:
        """The first prototypes and metric of each replica, on its own fold."""
        all_records = gather(batch, data, rng)
        rows, counts = training(batch, data, rng)
        starts = [
            self._start(spec, all_records, rows[r, : int(counts[r])], rng)
            for r, spec in enumerate(batch.specs)
        ]
        classes = initial.labels(all_records.classes, batch.spec.prototypes).to(rng.device)
        model = Model(
            torch.stack([start.w for start in starts]),
            classes,
            self._omega(batch, all_records) if self.matrix else None,
            _stacked([start.basis for start in starts]),
        )
        centre = torch.stack([start.centre for start in starts])
        noises = tuple(_noise(spec) for spec in batch.specs) if self.private else ()
        square = squares(all_records.x, rows, centre, model.basis)
        sizes = counts.to(rng.device)
        return State(0, model, None, 0, centre, rows, square, sizes, counts, noises)

    def _start(
        self, spec: LvqSpec, all_records: Records, rows: Tensor, rng: Generator
    ) -> initial.Start:
        n = len(rows)
        if all_records.left_out is not None:
            rows = rows[~all_records.left_out[rows]]
        x, y, k = all_records.x[rows], all_records.y[rows], all_records.classes
        if self.private:
            return initial.private(x, y, k, spec, self.matrix, rng, n)
        return initial.exact(x, y, k, spec, rng, self.matrix and price.whitened(spec))

    def _omega(self, batch: Batch[LvqSpec], all_records: Records) -> Tensor:
        """The identity times the public factor that makes its norm `length`."""
        d = all_records.x.shape[1]
        eye = torch.eye(d, device=all_records.x.device) * (length(batch.spec, d) / math.sqrt(d))
        return eye.repeat(len(batch), 1, 1)

    def step(
        self, batch: Batch[LvqSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """One step on a new sample, measured about twenty times in a run."""
        all_records = gather(batch, data, rng)
        sample = draw_sample(all_records, state, batch.spec.sample_rate, rng)
        nearest = pairs(state.model, sample)
        sizes, weights = self._weights(batch, state, sample, nearest)
        summed = sums(state.model, sample, nearest, *weights)
        noisy = _add(summed, state.noises, rng)
        after = _advance(batch, state, noisy)
        total = price.steps(batch.spec, len(data))
        if not measuring() or (after.step % max(1, total // LOOKS) and after.step != total):
            return after, None
        sizes = sizes or norms(state.model, sample, nearest)
        look = measure.Look(sample, nearest, sizes, weights, summed, state.noises)
        now = released(after)
        return after, measure.utility(batch, data, all_records, now, after.centre, look, rng)

    def _weights(
        self, batch: Batch[LvqSpec], state: State, sample: Sample, nearest: Pairs
    ) -> tuple[Norms | None, tuple[Tensor, Tensor | None]]:
        """Norms where they are needed, and what each record's gradient is multiplied by."""
        if not self.private:
            return None, (sample.present, sample.present if self.matrix else None)
        sizes = norms(state.model, sample, nearest)
        clip, split = (_column(batch, name, sample.x)[..., 0] for name in ("clip", "split"))
        first, second = factors(sizes, clip, split)
        return sizes, (
            first * sample.present,
            None if second is None else second * sample.present,
        )

    def products(self, batch: Batch[LvqSpec], data: Table, state: State) -> Arrays:
        """See `engine.papers.lvq.products`."""
        return products.arrays(batch, data, released(state), state.centre)


def gather(batch: Batch[LvqSpec], data: Table, rng: Generator) -> Records:
    """The records of a table, scaled by the public factor; they are scaled once and kept."""
    d = data.x.shape[1]
    return records(data, price.scale(batch.spec, d), str(rng.device))


def length(spec: LvqSpec, d: int) -> float:
    """The norm that Omega is kept at: 1, or sqrt(d) where it starts as the identity."""
    return 1.0 if spec.scaling == "box" else math.sqrt(d)


def training(batch: Batch[LvqSpec], data: Table, rng: Generator) -> tuple[Tensor, Tensor]:
    """Training rows (R, n), padded by row 0, and on the processor how many there are, (R,)."""
    parts = [fold(data, seed)[0] for seed in batch.seeds]
    sizes = np.array([len(part) for part in parts])
    rows = np.zeros((len(parts), sizes.max()), np.int64)
    for r, part in enumerate(parts):
        rows[r, : len(part)] = part
    return torch.from_numpy(rows).to(rng.device), torch.from_numpy(sizes)


def squares(x: Tensor, rows: Tensor, centre: Tensor, basis: Tensor | None) -> Tensor:
    """Squared norms of the centred, whitened records of each replica, shape (R, n).

    A few replicas at a time: the records of all would need more memory than all else here, and
    pages that a process touches first take longer than the arithmetic.
    """
    replicas, n = rows.shape
    norms = torch.empty(replicas, n, dtype=x.dtype, device=x.device)
    size = max(2, TOGETHER // max(1, n * x.shape[1]))  # products of one alone round otherwise
    for some in np.array_split(np.arange(replicas), max(1, replicas // size)):
        own = slice(int(some[0]), int(some[-1]) + 1)
        turn = None if basis is None else basis[own]
        for start in range(0, n, BLOCK):
            place = own, slice(start, start + BLOCK)
            norms[place] = right(x[rows[place]] - centre[own, None], turn).square().sum(2)
    return norms


def draw_sample(all_records: Records, state: State, rate: float, rng: Generator) -> Sample:
    """Each training record of each replica with chance `rate`, independently."""
    if rate >= 1.0:
        there = torch.arange(state.rows.shape[1], device=rng.device) < state.sizes[:, None]
        chosen, square = state.rows, state.square
    else:
        place, there = by_gaps(state.rows.shape[1], state.counts, rate, rng)
        chosen, square = state.rows.gather(1, place), state.square.gather(1, place)
    if all_records.left_out is not None:
        there = there & ~all_records.left_out[chosen]
        place, present = packed(
            torch.arange(there.shape[1]).expand(there.shape), there, there.dtype
        )
        chosen, square, there = chosen.gather(1, place), square.gather(1, place), present
    flat = all_records.x.index_select(0, chosen.flatten())
    x = flat.view(*chosen.shape, -1).sub_(state.centre[:, None])
    return Sample(x, square, all_records.y[chosen], there.to(square.dtype))


def _noise(spec: LvqSpec) -> Gaussian:
    """The mechanism of one step: the one that is priced."""
    return price.step_noise(spec)


def _add(sums: Sums, noises: tuple[Gaussian, ...], rng: Generator) -> Sums:
    """The sums with the noise of one Gaussian release of both blocks together."""
    if not noises:
        return sums
    if sums.omega is None:
        return Sums(release(sums.w, noises, rng), None)
    w, omega = release_together((sums.w, sums.omega), noises, rng)
    return Sums(w, omega)


def _advance(batch: Batch[LvqSpec], state: State, noisy: Sums) -> State:
    """The step along the noisy sums, and the running average of the last steps."""
    model, d = state.model, state.model.w.shape[2]
    whole = batch.spec.sample_rate * state.sizes.to(model.w.dtype)[:, None, None]
    far = _column(batch, "rate_w", model.w) * batch.spec.prototypes  # of fewer records each
    w = torch.addcmul(model.w, noisy.w, far / -whole)
    omega = model.omega
    if omega is not None and noisy.omega is not None:
        rate = _column(batch, "rate_omega", w) / -whole
        omega = torch.addcmul(omega, noisy.omega, rate)
        omega.mul_(length(batch.spec, d) / torch.linalg.matrix_norm(omega, keepdim=True))
    moved = replace(model, w=w, omega=omega)
    step = state.step + 1
    skipped = math.floor((1.0 - batch.spec.averaging) * price.steps(batch.spec, 0))
    if step <= skipped:
        return replace(state, step=step, model=moved)
    total = _total(state.total, moved)
    return replace(state, step=step, model=moved, total=total, averaged=state.averaged + 1)


def _total(before: Model | None, moved: Model) -> Model:
    """The sum of parameters with one more step in it, added in place from the second on."""
    if before is None:
        omega = None if moved.omega is None else moved.omega.clone()
        return replace(moved, w=moved.w.clone(), omega=omega)
    before.w.add_(moved.w)
    if before.omega is not None and moved.omega is not None:
        before.omega.add_(moved.omega)
    return before


def released(state: State) -> Model:
    """The mean of the averaged steps, or the current parameters before the first of them."""
    if state.total is None:
        return state.model
    omega = state.total.omega
    return replace(
        state.total,
        w=state.total.w / state.averaged,
        omega=None if omega is None else omega / state.averaged,
    )


def _column(batch: Batch[LvqSpec], field: str, like: Tensor) -> Tensor:
    """One field of every replica, shape (R, 1, 1)."""
    column = torch.from_numpy(batch.column(field)).to(like.device, like.dtype)
    return column[:, None, None]


def _stacked(parts: list[Tensor | None]) -> Tensor | None:
    """One tensor of all parts; None when there are none."""
    present = [part for part in parts if part is not None]
    return torch.stack(present) if present else None


GLVQ_DP = Descent(matrix=False, private=True)
GMLVQ_DP = Descent(matrix=True, private=True)
GLVQ_SGD = Descent(matrix=False, private=False)
GMLVQ_SGD = Descent(matrix=True, private=False)
