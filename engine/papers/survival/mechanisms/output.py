r"""Extended output perturbation (Algorithm 1): the regularised optimum plus noise.

The paper's noise has a Gamma-distributed length; Gaussian noise makes it (\varepsilon, \delta).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import SurvivalTable, Table
from engine.core.batch import Batch
from engine.core.gauges import Column
from engine.method import Arrays
from engine.papers.survival.evaluation import products
from engine.papers.survival.evaluation.evaluate import fit, utility
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.price.perturbation import output_gaussian
from engine.papers.survival.price.sensitivity import TOLERANCE, deviation, output_noise
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.privacy.mechanisms import GammaSphere, Gaussian
from engine.privacy.noise import release
from engine.training.threads import single_thread


@dataclass(frozen=True)
class State:
    r"""What R replicas have reached.

    Attributes:
        f: The minimiser of J at each replica's \Lambda, and from the first step on the release,
            shape (R, d); NaN where the optimiser missed its tolerance.
        tau: \|\nabla J\| at the minimiser, shape (R,).
        signal: \|f\| of the minimiser, shape (R,).
    """

    f: Tensor
    tau: Tensor
    signal: Tensor


@final
@dataclass(frozen=True)
class OutputPerturbation:
    """One fit per regularisation, one draw per replica.

    Attributes:
        noise: The mechanism of a spec, n records and d parameters.

    Guarantees:
        `sensitivity.output_noise` or `price.perturbation.output_gaussian`: the mechanism gives
        both the scale and the price. A fit that misses the tolerance that the sensitivity counts
        on is not released.
    """

    noise: Callable[[SurvivalSpec, int, int], GammaSphere | Gaussian]

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Fits J once for each regularisation of the batch."""
        table = survival(data, batch.spec)
        fits = [_fit(table, spec, str(rng.device)) for spec in batch.specs]
        f, tau = torch.cat([f for f, _ in fits]), torch.cat([tau for _, tau in fits])
        return State(torch.where((tau <= TOLERANCE)[:, None], f, torch.nan), tau, f.norm(dim=1))

    @single_thread()
    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Utility]:
        """Adds the noise and scores the result."""
        table, d = survival(data, batch.spec), state.f.shape[1]
        noises = [self.noise(spec, len(table), d) for spec in batch.specs]
        released = release(state.f, noises, rng)
        size = np.sqrt(d) * np.array([deviation(noise) for noise in noises])
        ratio = size / _positive(state.signal)
        return replace(state, f=released), utility(table, batch.spec, released, ratio)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """Coefficients, the standard deviation of their noise, and the scale of the data."""
        table, d = survival(data, batch.spec), state.f.shape[1]
        each = [deviation(self.noise(spec, len(table), d)) for spec in batch.specs]
        spread = np.outer(each, np.ones(d))
        return products.released(scaled(table), state.f, spread, state.tau)


def _fit(table: SurvivalTable, spec: SurvivalSpec, device: str) -> tuple[Tensor, Tensor]:
    fitted = fit(table, spec.intervals, spec.knots, spec.regularisation, spec.solver, device)
    return fitted.f, fitted.tau


def _positive(signal: Tensor) -> Column:
    """A norm to divide by."""
    norm: Column = signal.cpu().numpy().clip(1e-300)
    return norm


METHOD = OutputPerturbation(output_noise)
GAUSSIAN = OutputPerturbation(output_gaussian)
