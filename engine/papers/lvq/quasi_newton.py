"""The best that GLVQ and GMLVQ reach without privacy: limited-memory BFGS on all records."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.lvq import initial, measure, products
from engine.papers.lvq.descent import gather, length, training
from engine.papers.lvq.folds import Records
from engine.papers.lvq.model import Model, Sample, norms, pairs, sums
from engine.papers.lvq.optimum import MatrixOptimum, Optimum
from engine.papers.lvq.smooth import soft_cost, whitened
from engine.papers.lvq.spec import LvqSpec, Utility
from engine.training.threads import single_thread

ITERATIONS = 1_000
SLOPE = 1e-5
"""Converged means that no entry of the soft cost's gradient is larger."""
STAGES = ((0.1, 1e-3), (0.01, 1e-4), (0.001, SLOPE))
"""Temperatures of the soft cost and the gradient at which each ends: the first are only on the way.

On digits and Segment the last is less than 1e-4 above the cost itself."""


@dataclass(frozen=True, eq=False)
class State:
    """R replicas, each at its optimum or at its start: parameters and centre (R, d)."""

    model: Model
    centre: Tensor


class Solved(NamedTuple):
    """Where a minimisation ended.

    Attributes:
        model: The parameters, in double precision.
        slope: The largest entry of the gradient there.
    """

    model: Model
    slope: float


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
        with single_thread():
            return self._start(batch, gather(batch, data, rng), *training(batch, data, rng), rng)

    def _start(
        self,
        batch: Batch[LvqSpec],
        all_records: Records,
        rows: Tensor,
        sizes: Tensor,
        rng: Generator,
    ) -> State:
        starts = [
            initial.exact(all_records.x[part], all_records.y[part], all_records.classes, spec, rng)
            for spec, part in zip(batch.specs, _unpadded(rows, sizes), strict=True)
        ]
        d = all_records.x.shape[1]
        omega = torch.eye(d, device=rng.device).repeat(len(batch), 1, 1) if self.matrix else None
        classes = initial.labels(all_records.classes, batch.spec.prototypes).to(rng.device)
        model = Model(torch.stack([start.w for start in starts]), classes, omega)
        return State(model, torch.stack([start.centre for start in starts]))

    def step(
        self, batch: Batch[LvqSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        """The whole minimisation."""
        with single_thread():  # so that no number depends on how many there are
            return self._solved(batch, data, gather(batch, data, rng), state, rng)

    def _solved(
        self, batch: Batch[LvqSpec], data: Table, all_records: Records, state: State, rng: Generator
    ) -> tuple[State, Utility | None]:
        rows, sizes = training(batch, data, rng)
        solved, looks, slopes = [], [], []
        for r, part in enumerate(_unpadded(rows, sizes)):
            sample = _sample(all_records, part, state.centre[r])
            best = solve(_doubled(_take(state.model, r)), sample)
            norm = length(batch.spec, all_records.x.shape[1])
            solved.append(_normal(best.model, norm))
            slopes.append(best.slope)
            looks.append(_look(solved[-1], sample))
        model = _joined(solved, state.model)
        parts = [
            measure.utility(
                batch.take([r]),
                data,
                all_records,
                _take(model, r),
                state.centre[r : r + 1],
                look,
                rng,
            )
            for r, look in enumerate(looks)
        ]
        columns = {
            field: np.concatenate([getattr(part, field) for part in parts])
            for field in vars(parts[0])
        }
        converged = (np.array(slopes) <= SLOPE).astype(np.float64)
        info = MatrixOptimum if self.matrix else Optimum
        return replace(state, model=model), info(**columns, converged=converged)

    def products(self, batch: Batch[LvqSpec], data: Table, state: State) -> Arrays:
        """See `engine.papers.lvq.products`."""
        return products.arrays(batch, data, state.model, state.centre)


def solve(start: Model, sample: Sample, iterations: int = ITERATIONS) -> Solved:
    """A minimum of the mean cost near `start` (one replica), by L-BFGS (Liu and Nocedal 1989).

    In double precision: in single precision the line search fails long before the gradient
    vanishes, and where it fails depends on the order in which threads add up. The cost is
    smoothed (`engine.papers.lvq.smooth`), since the gradient does not vanish at the minima of
    the cost itself, and GMLVQ's is solved in coordinates in which all directions vary alike, which
    takes a hundred iterations where thousands do not suffice otherwise.

    Args:
        start: Where to begin, in double precision; a matrix is the identity.
        sample: The records of one replica, in double precision.
        iterations: At most so many at each temperature.
    """
    if start.omega is None:
        return _staged(start, sample, iterations)
    coordinates = whitened(sample.x[0])
    best = _staged(coordinates.into(start), coordinates.records(sample), iterations)
    return best._replace(model=coordinates.back(best.model))


def _staged(start: Model, sample: Sample, iterations: int) -> Solved:
    """The minima of ever less smoothed costs, each from the one before."""
    best = Solved(start, math.inf)
    for temperature, slope in STAGES:
        best = _minimised(best.model, sample, temperature, slope, iterations)
    return best


def _minimised(
    start: Model, sample: Sample, temperature: float, slope: float, iterations: int
) -> Solved:
    """The minimum of the soft cost at one temperature."""
    parts = [start.w] if start.omega is None else [start.w, start.omega]
    shapes = [part.shape for part in parts]
    splits = [part.numel() for part in parts]

    def build(values: NDArray[np.float64]) -> Model:
        flat = torch.from_numpy(values).to(sample.x.device, sample.x.dtype)
        blocks = [b.view(s) for b, s in zip(torch.split(flat, splits), shapes, strict=True)]
        return replace(start, w=blocks[0], omega=blocks[1] if len(blocks) > 1 else None)

    def value(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The soft cost and its gradient at all parameters in a row."""
        here = soft_cost(build(values), sample, temperature)
        flat = [block.reshape(-1) for block in here[1:] if block is not None]
        return here.cost, torch.cat(flat).cpu().numpy()

    first = torch.cat([part.reshape(-1) for part in parts]).double().cpu().numpy()
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": 0.0}
    with ThreadpoolController().select(internal_api="openblas").limit(limits=1):  # the solver's
        best = minimize(
            value, first, jac=True, method="L-BFGS-B", options=options | {"gtol": slope}
        )
    return Solved(build(best.x), float(np.abs(best.jac).max()))


def _look(model: Model, sample: Sample) -> measure.Look:
    """The records at the optimum, where nothing is clipped."""
    nearest = pairs(model, sample)
    present = sample.present
    slope = sums(model, sample, nearest, present, present)
    sizes = norms(model, sample, nearest)
    return measure.Look(sample, nearest, sizes, (present, present), slope, ())


def _sample(all_records: Records, rows: Tensor, centre: Tensor) -> Sample:
    x = (all_records.x[rows] - centre).double()[None]
    square = x.square().sum(2)
    return Sample(x, square, all_records.y[rows][None], torch.ones_like(square))


def _unpadded(rows: Tensor, sizes: Tensor) -> list[Tensor]:
    return [row[: int(size)] for row, size in zip(rows, sizes, strict=True)]


def _take(model: Model, r: int) -> Model:
    omega = None if model.omega is None else model.omega[r : r + 1]
    return Model(model.w[r : r + 1], model.labels, omega)


def _doubled(model: Model) -> Model:
    omega = None if model.omega is None else model.omega.double()
    return replace(model, w=model.w.double(), omega=omega)


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
