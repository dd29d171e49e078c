"""A small Laplace method that keeps every promise, and variants that break one each.

It releases the mean of one bounded column. Replacing a record of n, all clipped to [-B, B], moves
the mean by at most 2B/n, so Laplace noise of scale 2B/(n epsilon) is epsilon-private.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Card, LabelledTable, Table
from engine.core.batch import Batch
from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Knob, Spec
from engine.core.vocabulary import Epsilon
from engine.method import Arrays, Entry, Paper
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Laplace
from engine.privacy.noise import draw, release
from engine.privacy.releases import Release


@dataclass(frozen=True, kw_only=True)
class MeanSpec(Spec):
    """A budget, a bound, and a knob of nobody's."""

    epsilon: Epsilon = 1.0
    bound: Annotated[float, Knob("Bound", "B", (0.1, 10.0), (0.1, 2.0))] = 0.5
    idle: Annotated[float, Knob("Idle", "z", (0.0, 9.0), (0.0, 1.0))] = 1.0


@dataclass(frozen=True)
class Mean(Info):
    """What is released."""

    mean: Annotated[Column, Gauge("Mean", "neither", released=True)]


def releases(spec: MeanSpec, n: int) -> tuple[Release, ...]:
    """One mean."""
    return (Release(Laplace(2.0 * spec.bound / n, spec.epsilon), what="the mean"),)


def half_releases(spec: MeanSpec, n: int) -> tuple[Release, ...]:
    """The mean, as if a record could only move from 0 to an end."""
    return (Release(Laplace(spec.bound / n, spec.epsilon), what="the mean"),)


def guarantee(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card."""
    return Guarantee(
        mechanism="Laplace noise on a mean",
        status="proved",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=spec.epsilon,
        delta=0.0,
        relation="replace_one",
        unit=unit,
        reasons=("Values are clipped, and the noise is the Laplace mechanism's.",),
    )


def cheap(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """A card that claims a tenth of the cost."""
    return replace(guarantee(spec, n, unit), epsilon_proved=spec.epsilon / 10.0)


class Sound:
    """Clips, averages and adds the declared noise."""

    declared = staticmethod(releases)

    def init(self, batch: Batch[MeanSpec], data: Table, rng: Generator) -> Tensor:
        """No mean yet."""
        return torch.zeros(len(batch), 1)

    def clipped(self, x: Tensor, bound: float) -> Tensor:
        """The column within its bound."""
        return x.clamp(-bound, bound)

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """The mean with its noise."""
        return release(mean, made, rng)

    def step(
        self, batch: Batch[MeanSpec], data: Table, state: Tensor, rng: Generator
    ) -> tuple[Tensor, Mean]:
        """The release."""
        x = torch.tensor(np.asarray(data.x[:, 0], np.float64))
        clipped = self.clipped(x, batch.spec.bound)
        mean = clipped.mean().expand(len(batch), 1).clone()
        made = [self.declared(spec, len(data))[0].mechanism for spec in batch.specs]
        state = self.noisy(mean, made, rng)
        return state, Mean(state[:, 0].numpy())

    def products(self, batch: Batch[MeanSpec], data: Table, state: Tensor) -> Arrays:
        """The mean of each replica."""
        return {"mean": state.numpy()}


class NoNoise(Sound):
    """Releases the mean itself."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """No noise."""
        return mean


class Discards(Sound):
    """Draws the noise and forgets it."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """No noise, though it is drawn."""
        release(mean, made, rng)
        return mean


class Half(Sound):
    """Counts on half of the sensitivity, in its noise and in what it declares."""

    declared = staticmethod(half_releases)


class Quiet(Sound):
    """Declares the right noise and draws half of it."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """Half way from the mean to its release."""
        return mean + (release(mean, made, rng) - mean) / 2.0


class ByHand(Sound):
    """Draws the right noise and adds it where nobody sees the value."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """Noise without a release."""
        return mean + draw(made, 1, rng)


class Tuned(Sound):
    """Draws noise of a larger budget than is declared."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """The noise of twice the budget."""
        return release(mean, [Laplace(m.sensitivity, 2.0 * m.epsilon) for m in made], rng)


class Twice(Sound):
    """Asks the mechanism twice, and pays once."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """The mean of two releases."""
        return (release(mean, made, rng) + release(mean, made, rng)) / 2.0


class Unclipped(Sound):
    """Believes that values lie within the bound."""

    def clipped(self, x: Tensor, bound: float) -> Tensor:
        """The column as it is, on its own scale."""
        return x * bound / bound


class Keeper(Sound):
    """Keeps the records."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def clipped(self, x: Tensor, bound: float) -> Tensor:
        """As it should be, but for the list."""
        self.seen.append(x)
        return super().clipped(x, bound)


class Fixed(Sound):
    """Draws from a generator of its own."""

    def noisy(self, mean: Tensor, made: list[Any], rng: Generator) -> Tensor:
        """The same noise every time."""
        return release(mean, made, Generator().manual_seed(0))


SOUND, NO_NOISE, DISCARDS, HALF, QUIET, TUNED, TWICE, UNCLIPPED, KEEPER, FIXED, BY_HAND = (
    kind()
    for kind in (
        Sound, NoNoise, Discards, Half, Quiet, Tuned, Twice, Unclipped, Keeper, Fixed, ByHand,
    )
)  # fmt: skip


def paper(method: str, **changes: Any) -> Paper[MeanSpec]:
    """A paper of one method, "SOUND" or one of its variants."""
    entry: Entry[MeanSpec] = Entry(
        name="mean",
        label="Mean",
        summary="Adds Laplace noise to a mean.",
        module=f"tests.conformance.mutants:{method}",
        info=Mean,
        steps=lambda spec, n: 1,
        releases=releases,
        guarantee=guarantee,
        uses=("epsilon", "bound"),
    )
    return Paper(
        slug="mean",
        title="A mean",
        citation="Nobody 2020",
        claim="The mean is private.",
        relation="replace_one",
        spec=MeanSpec,
        methods=(replace(entry, **changes),),
        datasets=(),
        gauge="mean",
    )


def column(n: int = 40) -> LabelledTable:
    """Values within [-2, 2], where the bound is smaller."""
    card = Card(
        name="column", title="A column", summary="", records=n, record="a number",
        features=("x",), source="", licence="", public="", classes=2,
    )  # fmt: skip
    x = np.random.default_rng(0).uniform(-2.0, 2.0, (n, 1))
    return LabelledTable(card, x, np.arange(n) % 2, (np.float64(-2.0), np.float64(2.0)))
