r"""Sanitised exponential mechanism (Algorithm 3), sampled by Metropolis-corrected chains.

With 6 to 11 parameters an independence proposal close to the target does: all proposals of a
block are drawn and evaluated in one batch, and the accept-or-reject test then runs over them.
Where the proposal is too thin a chain would stay for long, so every second draw is preceded by a
step of a random walk: both kernels leave the target as it is, and so does their alternation.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.price.sampler import exact_steps
from engine.papers.survival.samplers.proposal import Proposal, proposals
from engine.papers.survival.samplers.summary import (
    Mixing,
    corrected,
    mixed,
    packed,
    sampled,
    unpacked,
)
from engine.papers.survival.samplers.target import Target, target
from engine.papers.survival.spec import Corrected, SurvivalSpec
from engine.training.threads import single_thread

CHAINS = 4
LOCAL = 2
"""Draws for each step of the random walk."""
STRIDE = 2.0
r"""Its length in units of the proposal's spread over \sqrt d; 2.4 is best for normal targets
(Roberts, Gelman and Gilks 1997), a little less for heavier tails."""


PACKED = ("place", "weight", "draws", "accepted", "largest", "total")
"""What a state keeps: the rest follows from the data."""
SMALLEST = 1e-16
"""A distance below this is not told from none in double precision."""


@dataclass(frozen=True, eq=False)
class State:
    r"""What R x 4 chains have reached.

    Attributes:
        aim: The target of each replica.
        proposal: The fixed proposal of each replica.
        mode: Mode of the target, shape (R, d).
        covariance: Of the normal approximation at the mode, shape (R, d, d).
        place: Where the chains are, shape (R, 4, d).
        weight: log(target/proposal) there, shape (R, 4).
        draws: What they have visited, shape (R, 4, m, d).
        accepted: Accepted proposals of each replica, shape (R,).
        largest: Largest log(target/proposal) that was seen, shape (R,).
        total: Logarithm of the sum of target/proposal over all proposals, shape (R,).
        taken: Engine steps so far.
        mixing: R-hat and effective sample size at the last look.
    """

    aim: Target
    proposal: Proposal
    mode: Tensor
    covariance: Tensor
    place: Tensor
    weight: Tensor
    draws: Tensor
    accepted: Tensor
    largest: Tensor
    total: Tensor
    taken: int = 0
    mixing: Mixing | None = None


class ExactSampler:
    r"""Metropolis-Hastings on the sanitised posterior.

    Guarantees:
        The target is \varepsilon-private (`price.sampler.sanitised`); the release is the first
        chain's last draw, whose distribution is the target's in the limit, up to the error of
        interpolated losses.
    """

    @single_thread()
    def init(self, batch: Batch[SurvivalSpec], data: Table, rng: Generator) -> State:
        """Fits a proposal for each distinct setting and starts every chain from a draw of it."""
        table, where = survival(data, batch.spec), str(rng.device)
        known = proposals(table, batch.specs, where)
        aim = target(table, batch.specs, where)
        place, weight = _start(aim, known.proposal, rng)
        empty = place[:, :, None][:, :, :0]
        none = weight.new_zeros(len(batch))
        return State(
            aim=aim,
            proposal=known.proposal,
            mode=known.mode,
            covariance=known.covariance,
            place=place,
            weight=weight,
            draws=empty,
            accepted=none,
            largest=weight.amax(1),
            total=none - torch.inf,
        )

    def step(
        self, batch: Batch[SurvivalSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Corrected | None]:
        """Advances every chain by a share of its draws."""
        total = exact_steps(batch.spec, len(data))
        ends = np.linspace(0, batch.spec.samples, total + 1).round().astype(int)
        state = advance(state, int(ends[state.taken + 1] - ends[state.taken]), rng)
        count, last = state.draws.shape[2], state.taken == total
        if count < 8 or not (last or state.taken % max(1, len(batch) // 8) == 0):
            return state, None
        rate = (state.accepted / (CHAINS * count)).cpu().numpy()
        known, apart = mixed(state.draws), distance(state).cpu().numpy()
        table = survival(data, batch.spec)
        info = corrected(table, batch.spec, state.draws, rate, apart, known)
        return replace(state, mixing=known), info

    def pack(self, state: State) -> Arrays:
        """All but the target and its proposal, which follow from the data."""
        return {
            **{name: getattr(state, name).cpu().numpy() for name in PACKED},
            "taken": np.array(state.taken),
            **packed(state.mixing),
        }

    def unpack(
        self, batch: Batch[SurvivalSpec], data: Table, arrays: Arrays, rng: Generator
    ) -> State:
        """The state that was packed; the proposal is fitted again, by a generator of its own."""
        first = self.init(batch, data, rng)
        kept: dict[str, Any] = {name: first.place.new_tensor(arrays[name]) for name in PACKED}
        return replace(first, **kept, taken=int(arrays["taken"]), mixing=unpacked(arrays))

    def products(self, batch: Batch[SurvivalSpec], data: Table, state: State) -> Arrays:
        """As `summary.sampled`, with the normal approximation and the acceptance rate.

        Returns:
            Besides: `mode` and `laplace`, its standard deviations, (R, d); `acceptance` and
            `apart`, the estimated distance from the target, (R,).
        """
        rate = state.accepted / (CHAINS * state.draws.shape[2])
        return {
            **sampled(survival(data, batch.spec), state.draws, state.mixing),
            "mode": state.mode.cpu().numpy(),
            "laplace": state.covariance.diagonal(dim1=1, dim2=2).sqrt().cpu().numpy(),
            "acceptance": rate.cpu().numpy(),
            "apart": distance(state).cpu().numpy(),
        }


def _start(aim: Target, mine: Proposal, rng: Generator) -> tuple[Tensor, Tensor]:
    """A place for each chain, resampled from some proposals by their weight: (R, 4, d), (R, 4)."""
    f = mine.draw(8 * CHAINS, rng)
    weight = torch.nan_to_num(aim.log_density(f) - mine.log_density(f), nan=-torch.inf)
    chosen = torch.multinomial(torch.softmax(weight, dim=1), CHAINS, generator=rng)
    place = f.gather(1, chosen[:, :, None].expand(-1, -1, f.shape[2]))
    return place, weight.gather(1, chosen)


@single_thread()
def advance(state: State, count: int, rng: Generator) -> State:
    """Proposes `count` times for every chain and accepts or rejects one after another."""
    rows, chains, d = state.place.shape
    f = state.proposal.draw(chains * count, rng)
    odds = torch.nan_to_num(_weight(state, f), nan=-torch.inf).view(rows, chains, count)
    f = f.view(rows, chains, count, d)
    chance = torch.rand(rows, chains, count, generator=rng, dtype=f.dtype, device=rng.device)
    log_chance, visited = chance.clamp_min(1e-300).log(), []
    place, weight, accepted = state.place, state.weight, state.accepted
    largest = torch.maximum(state.largest, odds.amax((1, 2)))
    for k in range(count):
        if k % LOCAL == LOCAL - 1:
            place, weight = _walk(state, place, weight, rng)
            largest = torch.maximum(largest, weight.amax(1))
        moves = log_chance[:, :, k] < odds[:, :, k] - weight
        place = torch.where(moves[..., None], f[:, :, k], place)
        weight = torch.where(moves, odds[:, :, k], weight)
        accepted = accepted + moves.sum(1)
        visited.append(place)
    return replace(
        state,
        place=place,
        weight=weight,
        draws=torch.cat([state.draws, torch.stack(visited, dim=2)], dim=2),
        accepted=accepted,
        largest=largest,
        total=torch.logaddexp(state.total, odds.flatten(1).logsumexp(1)),
        taken=state.taken + 1,
    )


def distance(state: State) -> Tensor:
    r"""An estimate of how far one chain is from its target, in total variation, shape (R,).

    Independence steps come nearer by a factor of at least 1 - 1/w a step, w = \sup \pi/q of the
    normalised densities (Mengersen and Tweedie 1996, Theorem 2.1), and that rate is their spectral
    gap (Liu 1996); steps of the random walk in between take nothing back. So m of them come within
    (1 - 1/w)^m, which the true distance may be far below. Here w is the largest ratio that was seen
    over the mean ratio of the proposals: an estimate on this data set, since a larger ratio may not
    have been seen. It may be above the true distance or below it, and is no bound.
    """
    proposed = CHAINS * state.draws.shape[2]
    w = (state.largest - state.total + math.log(max(proposed, 1))).exp().clamp_min(1.0)
    return ((1.0 - 1.0 / w) ** state.draws.shape[2]).clamp_min(SMALLEST)


def _weight(state: State, f: Tensor) -> Tensor:
    """log(target/proposal) of points (R, m, d), shape (R, m)."""
    return state.aim.log_density(f) - state.proposal.log_density(f)


def _walk(state: State, place: Tensor, weight: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """One Metropolis step of a random walk from each place (R, 4, d): place and weight after it."""
    z = torch.randn(place.shape, generator=rng, dtype=place.dtype, device=rng.device)
    root = state.proposal.root[:, 0]  # of the fitted component
    new = place + STRIDE / place.shape[2] ** 0.5 * (z @ root.transpose(1, 2))
    q, before = state.proposal.log_density(new), state.proposal.log_density(place)
    density = torch.nan_to_num(state.aim.log_density(new), nan=-torch.inf)
    chance = torch.rand(weight.shape, generator=rng, dtype=place.dtype, device=rng.device)
    moves = chance.clamp_min(1e-300).log() < density - (weight + before)
    return torch.where(moves[..., None], new, place), torch.where(moves, density - q, weight)


METHOD = ExactSampler()
