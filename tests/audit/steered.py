"""A small method that samples: how much a record says in the second release hangs on the first."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, left_out
from engine.core.batch import Batch
from engine.core.gauges import Info
from engine.core.spec import Spec
from engine.core.vocabulary import Delta, Epsilon
from engine.method import Arrays, Entry
from engine.privacy.accounting import epsilon
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release
from engine.privacy.releases import BEFORE, Release, cost
from engine.training.sampling import coins
from tests.audit import toys

RATE = 0.5
SHORT = 0.01
"""How much a record says, in sensitivities, where the first release says so."""
FIRST, SECOND = Gaussian(1.0, 1.0 / 0.3), Gaussian(1.0, 0.5)
HALF = 0.5
"""Between what the first release is without the record and with it."""


@dataclass(frozen=True, kw_only=True)
class SteeredSpec(Spec):
    epsilon: Epsilon = 1.0
    delta: Delta = 1e-5


def releases(spec: SteeredSpec, n: int) -> tuple[Release, ...]:
    return (
        Release(FIRST, first=BEFORE, what="a sum"),
        Release(SECOND, rate=RATE, what="a sum of a batch"),
    )


def guarantee(spec: SteeredSpec, n: int, record: str) -> Guarantee:
    return Guarantee(
        mechanism="noise on two sums",
        status="proved",
        epsilon_claimed=None,
        epsilon_proved=epsilon(cost(releases(spec, n)), spec.delta, "zero_out_one", tight=True),
        delta=spec.delta,
        relation="zero_out_one",
        unit=record,
        reasons=("A toy.",),
    )


def rows(data: Table, replicas: int) -> Tensor:
    """The records that are there, (R, n, d)."""
    assert isinstance(data, LabelledTable)
    x = torch.tensor(np.asarray(data.x), dtype=torch.float64)
    x[list(data.left_out)] = 0.0
    return x.expand(replicas, *x.shape)


class Steered:
    """A sum; then the sum of a batch, of records that are short where the first was long."""

    def init(self, batch: Batch[SteeredSpec], data: Table, rng: Generator) -> Tensor:
        return release(rows(data, len(batch)).sum(1), [FIRST] * len(batch), rng)

    def step(
        self, batch: Batch[SteeredSpec], data: Table, state: Tensor, rng: Generator
    ) -> tuple[Tensor, Info | None]:
        x = rows(data, len(batch))
        drawn = coins((len(batch), x.shape[1]), RATE, rng).double()
        far = torch.where(state[:, 0] > HALF, SHORT, 1.0)
        total = far[:, None] * (x * drawn[..., None]).sum(1)
        return release(total, [SECOND] * len(batch), rng), None

    def products(self, batch: Batch[SteeredSpec], data: Table, state: Tensor) -> Arrays:
        return {}


def one(spec: SteeredSpec, data: LabelledTable) -> Pair:
    """A record along the first axis, among others that say nothing."""
    zero = replace(data, x=np.zeros_like(data.x))
    return left_out(zero, 0, np.eye(data.x.shape[1])[0], echo=True)


WITNESS: Witness[Any] = Witness(words="a person along an axis", pair=one)
METHOD = Steered()
ENTRY = Entry(
    name="steered",
    label="Two sums",
    summary="Adds noise to two sums.",
    module="tests.audit.steered",
    info=Info,
    steps=lambda spec, n: 1,
    releases=releases,
    guarantee=guarantee,
    uses=tuple(SteeredSpec.__dataclass_fields__),
    witness="tests.audit.steered:WITNESS",
)
DATA = toys.table()
