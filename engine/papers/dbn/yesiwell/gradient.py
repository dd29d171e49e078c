r"""Logistic regression, or a network with one hidden layer, by DP-SGD (Abadi et al. 2016).

The plain rival of today: a user's own window and nothing of friends, so the unit's data are one
record's alone.

Guarantees:
    A record is all W windows of a user, or one window, by the unit of protection. Its loss is
    the mean over its windows; its gradient is clipped to C in L2 norm, so that a batch's sum has
    sensitivity C when a record is added or removed. Records take part by a coin each, and
    `price.gradient_noise` gives both the noise and the price. Friendships are not used, so they
    are protected too.
"""

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.dbn.price import gradient_noise, gradient_steps
from engine.papers.dbn.yesiwell import measure, repetitions
from engine.papers.dbn.yesiwell.repetitions import Repetition, seeds
from engine.papers.dbn.yesiwell.spec import Behaviour, YesiwellSpec
from engine.papers.dbn.yesiwell.windows import Part, panel, sample
from engine.privacy.noise import release
from engine.training.ghost import SAFE
from engine.training.sampling import packed, poisson
from engine.training.steady import steady


@dataclass(frozen=True, eq=False)
class Group(Repetition):
    """The replicas of one repetition.

    Attributes:
        x: Records' windows with a one for the bias, shape (n, w, d).
        y: Their labels, shape (n, w).
        kept: Which windows are trained on, shape (n, w), as 0 and 1.
        weight: All parameters of each replica in a row, shape (E, k).
        ratio: Noise over signal of the latest step, shape (E,).
    """

    x: Tensor
    y: Tensor
    kept: Tensor
    weight: Tensor
    ratio: Tensor


State: TypeAlias = repetitions.State[Group]


def inputs(part: Part) -> Tensor:
    """Windows as rows with a one for the bias, shape (m, d + 1)."""
    flat = part.v.flatten(1)
    return torch.cat([flat, torch.ones_like(flat[:, :1])], 1)


def scores(weight: Tensor, x: Tensor, hidden: int) -> tuple[Tensor, Tensor]:
    """Log odds and states of the hidden units, for (E, k) and x (E, b, d) or (b, d)."""
    if not hidden:
        return (x @ weight[..., None])[..., 0], x.new_zeros(0)
    lower, upper = _parts(weight, x.shape[-1], hidden)
    h = torch.tanh(x @ lower.mT)
    return (h @ upper[..., None])[..., 0], h


def _parts(weight: Tensor, inputs_: int, hidden: int) -> tuple[Tensor, Tensor]:
    lower, upper = weight[:, : inputs_ * hidden], weight[:, inputs_ * hidden :]
    return lower.view(len(weight), hidden, inputs_), upper


@steady
def record_gradients(weight: Tensor, x: Tensor, y: Tensor, kept: Tensor, hidden: int) -> Tensor:
    """Each record's gradient of its mean loss, shape (E, b, k), for x (E, b, w, d)."""
    replicas, b, w, d = x.shape
    z, h = scores(weight, x.flatten(1, 2), hidden)
    share = kept / kept.sum(2, keepdim=True).clamp(min=1.0)
    signal = (torch.sigmoid(z).view(replicas, b, w) - y) * share
    if not hidden:
        return torch.einsum("ebw,ebwd->ebd", signal, x)
    h = h.view(replicas, b, w, hidden)
    _, upper = _parts(weight, d, hidden)
    back = signal[..., None] * upper[:, None, None] * (1.0 - h.square())
    lower = torch.einsum("ebwh,ebwd->ebhd", back, x).flatten(2)
    return torch.cat([lower, torch.einsum("ebw,ebwh->ebh", signal, h)], 2)


def clipped(gradients: Tensor, present: Tensor, clip: Tensor) -> Tensor:
    """The sum of clipped gradients of the records that take part, shape (E, k)."""
    norms = torch.linalg.vector_norm(gradients, dim=2)
    share = present * (clip[:, None] * SAFE / norms.clamp(min=1e-30)).clamp(max=1.0)
    share = torch.where(norms.isfinite(), share, 0.0)
    return torch.einsum("eb,ebk->ek", share, gradients.nan_to_num(0.0, 0.0, 0.0))


class Gradient:
    """One step is one batch of records, drawn by a coin each."""

    def init(self, batch: Batch[YesiwellSpec], data: Table, rng: Generator) -> State:
        """Weights of zero, or small random ones below; equal for equal seeds."""
        spec, groups = batch.spec, []
        for seed, rows in seeds(batch).items():
            windows = sample(data, spec, seed, str(rng.device))
            each = spec.windows if spec.unit != "window" else 1
            x = inputs(windows.whole)
            size = x.shape[1]
            weight = torch.zeros(len(rows), size)
            if spec.hidden:
                source = torch.Generator().manual_seed(seed)
                lower = torch.randn(size * spec.hidden, generator=source) * size**-0.5
                upper = torch.randn(spec.hidden, generator=source) * spec.hidden**-0.5
                weight = torch.cat([lower, upper]).expand(len(rows), -1).clone()
            groups.append(
                Group(
                    rows,
                    windows,
                    x.view(-1, each, size),
                    windows.whole.y.view(-1, each).float(),
                    windows.kept.view(-1, each).float(),
                    weight.to(rng.device),
                    torch.zeros(len(rows)),
                )
            )
        return State(tuple(groups), 0)

    def step(
        self, batch: Batch[YesiwellSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Behaviour | None]:
        """Clips, adds noise and descends."""
        gone = panel(data, batch.spec).left_out
        groups = tuple(_step(batch, group, len(data), rng, gone) for group in state.groups)
        state = State(groups, state.taken + 1)
        if not measure.due(state.taken, gradient_steps(batch.spec, len(data))):
            return state, None
        return state, measure.gauges(self.scored(batch, state))

    def products(self, batch: Batch[YesiwellSpec], data: Table, state: State) -> Arrays:
        """Weights, calibration, accuracy by number of friends, predictions on the network."""
        arrays = measure.products(self.scored(batch, state), panel(data, batch.spec))
        weights = {
            row: weight
            for group in state.groups
            for row, weight in zip(group.rows, group.weight, strict=True)
        }
        return {**arrays, "weights_output": measure.rows(weights)}

    def scored(self, batch: Batch[YesiwellSpec], state: State) -> measure.Scored:
        """The replicas' test scores."""
        hidden = batch.spec.hidden
        return measure.Scored.of(
            (group, scores(group.weight, inputs(group.windows.test), hidden)[0], group.ratio)
            for group in state.groups
        )


def _step(
    batch: Batch[YesiwellSpec], group: Group, n: int, rng: Generator, gone: tuple[int, ...]
) -> Group:
    """One noisy step of a repetition's replicas, on the users who are not left out."""
    spec, specs = batch.spec, [batch.specs[row] for row in group.rows]
    index, present = poisson(len(specs), len(group.x), spec.sample_rate, rng)
    if gone and spec.unit != "window":
        left = torch.isin(index, torch.tensor(gone, device=index.device))
        index, present = packed(index, present.bool() & ~left, present.dtype)
    noises = [gradient_noise(one, n) for one in specs]
    clip = torch.tensor([noise.sensitivity for noise in noises], device=rng.device)
    gradients = record_gradients(
        group.weight, group.x[index], group.y[index], group.kept[index], spec.hidden
    )
    total = clipped(gradients, present, clip).double()
    noisy = release(total, noises, rng)
    scale = torch.tensor([one.scale for one in noises], device=rng.device).double()
    ratio = scale * math.sqrt(total.shape[1]) / total.norm(dim=1).clamp(min=1e-12)
    expected = spec.sample_rate * len(group.x)
    moved = group.weight.double() - spec.gradient_rate * noisy / expected
    return replace(group, weight=moved.float(), ratio=ratio)


METHOD = Gradient()
