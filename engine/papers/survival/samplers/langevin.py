r"""Sanitised exponential mechanism sampled by pSGLD (Algorithm 4).

Stochastic-gradient Langevin steps with a diagonal preconditioner; R chains, one per budget and
seed, advance together.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import Column
from engine.method import Arrays
from engine.papers.survival.evaluation.products import repeated
from engine.papers.survival.likelihood.minibatch import pick, sanitised_gradient
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.price.sampler import burned, chain_steps, psgld_steps
from engine.papers.survival.samplers.summary import (
    Mixing,
    measure,
    mixed,
    packed,
    sampled,
    unpacked,
)
from engine.papers.survival.samplers.target import Target, target
from engine.papers.survival.spec import Sampled, SurvivalSpec
from engine.training.threads import single_thread

START = -3.0
"""Where the first parameter starts in the rigorous variant: a hazard of about 5 % an interval."""
TRACE = 1000
"""Draws that a chain keeps, evenly spaced after its burn-in."""
LOOK = 25
"""Engine steps between two looks at how well the chains mix, which takes longest."""
AHEAD = 2_000_000
"""Elements of covariates that are drawn in advance."""


@dataclass(frozen=True, eq=False)
class State:
    r"""What R chains have reached.

    Attributes:
        aim: The target of each chain.
        f: Shape (R, d).
        V: Running mean of squared gradients, shape (R, d).
        draws: Kept draws after the burn-in, shape (R, m, d).
        time: Steps t of Algorithm 4 so far.
        taken: Engine steps so far.
        mixing: R-hat and effective sample size when they were last worked out.
        trace: Mean relative error after each engine step so far, shape (R,) each.
    """

    aim: Target
    f: Tensor
    V: Tensor
    draws: Tensor
    time: int = 0
    taken: int = 0
    mixing: Mixing | None = None
    trace: tuple[Column, ...] = ()


class LangevinSampler:
    r"""Algorithm 4 as printed, or with half its drift, an unbiased V and a start near the data.

    Langevin steps with drift \frac12 \epsilon_t G \nabla log \pi and noise N(0, \epsilon_t G) have
    \pi as their limit (Welling and Teh 2011; Li et al. 2016); the printed drift is twice that, so
    its limit is \pi^2. The records of a step are drawn with replacement, which leaves the mean
    gradient unbiased; the paper does not say how it draws them.

    Guarantees:
        None for a finite chain, as its card says (`[cards.psgld]` of `paper.toml`).
    """

    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """All chains start at zero (paper) or at a constant hazard (rigorous)."""
        aim = target(survival(data, batch.spec), batch.specs, str(rng.device))
        f = aim.heat.new_zeros(len(batch), aim.design.dimension)
        if batch.spec.calibration == "rigorous":
            f[:, 0] = START
        return State(aim, f, torch.zeros_like(f), f.new_zeros(len(f), 0, f.shape[1]))

    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Sampled | None]:
        """A hundredth of the chain, and what its draws so far come to."""
        spec, n = batch.spec, len(data)
        total, turns = chain_steps(spec, n), psgld_steps(spec, n)
        until = total * (state.taken + 1) // turns
        state = replace(advance(state, spec, until, total, rng), taken=state.taken + 1)
        draws = shown(state)
        if state.mixing is None or state.taken % LOOK == 0 or state.taken == turns:
            state = replace(state, mixing=mixed(draws))
        info = measure(survival(data, spec), spec, draws, state.mixing)
        return replace(state, trace=(*state.trace, info.mre)), info

    def pack(self, state: State) -> Arrays:
        """All but the target, which follows from the data."""
        tensors = {"f": state.f, "V": state.V, "draws": state.draws}
        return {
            **{name: tensor.cpu().numpy() for name, tensor in tensors.items()},
            "counts": np.array([state.time, state.taken]),
            "trace": np.array(state.trace),
            **packed(state.mixing),
        }

    def unpack(
        self, batch: Batch[SurvivalSpec], data: Table, arrays: Arrays, rng: Generator
    ) -> State:
        """The state that was packed."""
        first = self.init(batch, data, rng)
        f, V, draws = (first.f.new_tensor(arrays[name]) for name in ("f", "V", "draws"))
        time, taken = arrays["counts"].tolist()
        trace = tuple(np.asarray(arrays["trace"], np.float64))
        return State(first.aim, f, V, draws, time, taken, unpacked(arrays), trace)

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """As `summary.sampled`, with the course of the errors.

        Returns:
            Besides: `trace` and `epochs` (R, turns), the mean relative error of the draws so far
            and the epochs it took; `V` (R, d).
        """
        arrays = sampled(survival(data, batch.spec), shown(state), state.mixing)
        epochs = np.arange(1, state.taken + 1) / state.taken * batch.spec.sampler_epochs
        course = {"trace": np.stack(state.trace, 1), "epochs": repeated(epochs, len(batch))}
        return {**arrays, **course, "V": state.V.cpu().numpy()}


def shown(state: State) -> Tensor:
    """The kept draws and the present place as one chain for each replica, shape (R, 1, m, d).

    During the burn-in it is the present place alone, repeated as often as a diagnostic needs.
    """
    now = state.f[:, None]
    draws = state.draws if state.draws.shape[1] >= 8 else now.expand(-1, 8, -1)
    return torch.cat([draws, now], dim=1)[:, None]


@single_thread()
def advance(state: State, spec: SurvivalSpec, until: int, total: int, rng: Generator) -> State:
    """Runs the chains up to step `until` of `total`."""
    aim, f, V = state.aim, state.f, state.V
    design, (rows, d) = aim.design, f.shape
    n, first = design.records, burned(spec, total)
    every = max(1, (total - first) // TRACE)
    ahead = max(1, AHEAD // (rows * spec.minibatch * (d - design.knots)))
    kept, time = [], state.time
    while time < until:
        count = min(ahead, until - time)
        size = (count, rows, spec.minibatch)
        chosen = pick(design, torch.randint(n, size, generator=rng, device=rng.device))
        noise = torch.randn(count, rows, d, generator=rng, dtype=f.dtype, device=rng.device)
        for k in range(count):
            time += 1
            _, mean = sanitised_gradient(design.A, f, chosen[k], aim.bound, aim.link)
            gradient = spec.prior * f / n + aim.heat[:, None] * mean
            f, V = move(f, V, gradient, noise[k], time, n, spec)
            if time > first and (time - first) % every == 0:
                kept.append(f)
    draws = torch.stack(kept, dim=1) if kept else state.draws[:, :0]
    return replace(state, f=f, V=V, draws=torch.cat([state.draws, draws], dim=1), time=time)


def move(
    f: Tensor, V: Tensor, gradient: Tensor, noise: Tensor, time: int, n: int, spec: SurvivalSpec
) -> tuple[Tensor, Tensor]:
    r"""Lines 3 and 6 to 8 of Algorithm 4.

    Args:
        f: Shape (R, d).
        V: Shape (R, d).
        gradient: \bar g^t, shape (R, d).
        noise: Standard normal, shape (R, d).
        time: t, from 1.
        n: Records.
        spec: Calibration, and what the steps depend on.
    """
    size = spec.step_scale * time**-spec.step_decay
    V = spec.memory * V + (1.0 - spec.memory) * gradient.square()
    mended = spec.calibration == "rigorous"
    spread = (V / (1.0 - spec.memory**time) if mended else V).sqrt()
    G = 1.0 / (spec.damping + spread)
    drift = (0.5 if mended else 1.0) * size * n * G * gradient
    return f - drift + (size * G).sqrt() * noise, V


METHOD = LangevinSampler()
