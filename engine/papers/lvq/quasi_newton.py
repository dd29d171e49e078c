"""The best that GLVQ and GMLVQ reach without privacy: limited-memory BFGS on all records."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.lvq import initial, measure, products
from engine.papers.lvq.descent import gather, length, training
from engine.papers.lvq.folds import Records
from engine.papers.lvq.model import Model, Sample, cost, norms, pairs, sums
from engine.papers.lvq.spec import LvqSpec, Utility

ITERATIONS = 300
WIDE = 128
"""Above this many features float32 is used: the solver's own tolerance is coarser by then."""


@dataclass(frozen=True, eq=False)
class State:
    """R replicas, each at its optimum or at its start: parameters and centre (R, d)."""

    model: Model
    centre: Tensor


@final
@dataclass(frozen=True)
class QuasiNewton:
    """Minimises the mean cost of each replica's training fold, one replica after another.

    Attributes:
        matrix: Whether a relevance matrix is trained (GMLVQ). The cost does not depend on its
            norm, which is fixed at the end.
    """

    matrix: bool

    def init(self, batch: Batch[LvqSpec], data: Table, rng: Generator) -> State:
        """Class means and the identity."""
        found = gather(batch, data, rng)
        rows, sizes = training(batch, data, rng)
        starts = [
            initial.exact(found.x[part], found.y[part], found.classes, spec, rng)
            for spec, part in zip(batch.specs, _unpadded(rows, sizes), strict=True)
        ]
        d = found.x.shape[1]
        omega = torch.eye(d, device=rng.device).repeat(len(batch), 1, 1) if self.matrix else None
        classes = initial.labels(found.classes, batch.spec.prototypes).to(rng.device)
        model = Model(torch.stack([start.w for start in starts]), classes, omega)
        return State(model, torch.stack([start.centre for start in starts]))

    def step(
        self, batch: Batch[LvqSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """The whole minimisation."""
        found = gather(batch, data, rng)
        rows, sizes = training(batch, data, rng)
        solved, looks = [], []
        for r, part in enumerate(_unpadded(rows, sizes)):
            one = _take(state.model, r)
            sample = _sample(found, part, state.centre[r], _precision(one))
            best = solve(one, sample)
            norm = length(batch.spec, found.x.shape[1])
            solved.append(_normal(best, norm))
            looks.append(_look(solved[-1], sample))
        model = _joined(solved, state.model)
        parts = [
            measure.utility(
                batch.take([r]), data, found, _take(model, r), state.centre[r : r + 1], look, rng
            )
            for r, look in enumerate(looks)
        ]
        columns = {
            field: np.concatenate([getattr(part, field) for part in parts])
            for field in vars(parts[0])
        }
        return replace(state, model=model), type(parts[0])(**columns)

    def products(self, batch: Batch[LvqSpec], data: Table, state: State) -> Arrays:
        """See `engine.papers.lvq.products`."""
        return products.arrays(batch, data, state.model, state.centre)


def solve(start: Model, sample: Sample, iterations: int = ITERATIONS) -> Model:
    """The minimum of the mean cost near `start` (one replica), by L-BFGS (Liu and Nocedal 1989)."""
    parts = [start.w] if start.omega is None else [start.w, start.omega]
    shapes = [part.shape for part in parts]
    splits = [part.numel() for part in parts]

    def build(values: NDArray[np.float64]) -> Model:
        flat = torch.from_numpy(values).to(sample.x.device, sample.x.dtype)
        blocks = [b.view(s) for b, s in zip(torch.split(flat, splits), shapes, strict=True)]
        return replace(start, w=blocks[0], omega=blocks[1] if len(blocks) > 1 else None)

    def value(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The mean cost and its slope, both at all parameters in a row."""
        model = build(values)
        found = pairs(model, sample)
        slope = sums(model, sample, found, sample.present, sample.present)
        flat = [block.reshape(-1) for block in slope if block is not None]
        gradient = torch.cat(flat).double().cpu().numpy() / float(sample.present.sum())
        return float(cost(found, sample.present)), gradient

    first = torch.cat([part.reshape(-1) for part in parts]).double().cpu().numpy()
    options = {"maxiter": iterations, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-7}
    best = minimize(value, first, jac=True, method="L-BFGS-B", options=options)
    return build(best.x)


def _look(model: Model, sample: Sample) -> measure.Look:
    """The records at the optimum, where nothing is clipped."""
    found = pairs(model, sample)
    present = sample.present
    slope = sums(model, sample, found, present, present)
    sizes = norms(model, sample, found)
    return measure.Look(sample, found, sizes, (present, present), slope, ())


def _sample(found: Records, rows: Tensor, centre: Tensor, dtype: torch.dtype) -> Sample:
    x = (found.x[rows] - centre).to(dtype)[None]
    square = x.square().sum(2)
    return Sample(x, square, found.y[rows][None], torch.ones_like(square))


def _precision(model: Model) -> torch.dtype:
    return torch.float32 if model.w.shape[2] > WIDE else torch.float64


def _unpadded(rows: Tensor, sizes: Tensor) -> list[Tensor]:
    return [row[: int(size)] for row, size in zip(rows, sizes, strict=True)]


def _take(model: Model, r: int) -> Model:
    omega = None if model.omega is None else model.omega[r : r + 1]
    return Model(model.w[r : r + 1], model.labels, omega)


def _normal(model: Model, norm: float) -> Model:
    if model.omega is None:
        return model
    return replace(model, omega=model.omega * (norm / model.omega.norm()))


def _joined(solved: list[Model], like: Model) -> Model:
    """The replicas again as one model, in the precision of the state."""
    w = torch.cat([model.w for model in solved]).to(like.w.dtype)
    blocks = [model.omega for model in solved if model.omega is not None]
    return replace(like, w=w, omega=torch.cat(blocks).to(w.dtype) if blocks else None)


GLVQ_BFGS = QuasiNewton(matrix=False)
GMLVQ_BFGS = QuasiNewton(matrix=True)
