"""A method of a few lines to attack: noisy sums of clipped records, wrong in known ways."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Card, LabelledTable, Table
from engine.audit.witness import Pair, Witness
from engine.core.batch import Batch
from engine.core.gauges import Info
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import Delta, Epsilon
from engine.method import Arrays, Entry
from engine.privacy.accounting import calibrate, epsilon
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.noise import release
from engine.privacy.releases import Release, cost

FAULTS = ("none", "half", "scaled", "twice", "single", "bare")
CLIP, WIDE = 1.0, 64


@dataclass(frozen=True, kw_only=True)
class SumSpec(Spec):
    epsilon: Epsilon = 1.0
    delta: Delta = 1e-5
    kind: Annotated[str, Choice("Noise", ("gaussian", "laplace"), ("Gaussian", "Laplace"))] = (
        "gaussian"
    )
    fault: Annotated[str, Choice("Fault", FAULTS, tuple(f.capitalize() for f in FAULTS))] = "none"
    steps: Annotated[int, Knob("Steps", "T", (1, 1000), (1, 10))] = 1
    rate: Annotated[float, Knob("Sampling rate", "q", (0.001, 1.0), (0.01, 1.0))] = 1.0


def releases(spec: SumSpec, n: int) -> tuple[Release, ...]:
    if spec.kind == "laplace":
        mechanism: Any = Laplace(CLIP, spec.epsilon / spec.steps)
    else:
        multiplier = calibrate(
            lambda m: cost((Release(Gaussian(CLIP, m), times=spec.steps),)),
            spec.epsilon,
            spec.delta,
            "replace_one",
            tight=False,
        )
        mechanism = Gaussian(CLIP, multiplier)
    return (Release(mechanism, times=spec.steps, rate=spec.rate, what="a sum"),)


def guarantee(spec: SumSpec, n: int, record: str) -> Guarantee:
    bare = spec.fault == "bare"
    delta = 0.0 if spec.kind == "laplace" else spec.delta
    proved = None if bare else epsilon(cost(releases(spec, n)), delta, "replace_one")
    return Guarantee(
        mechanism="noise on a sum",
        status="not_private" if bare else "proved",
        epsilon_claimed=None if bare else spec.epsilon,
        epsilon_proved=proved,
        delta=delta,
        relation="replace_one",
        unit=record,
        reasons=("A toy.",),
    )


class Sums:
    """Neighbours replace a record within half the clipping bound, so a sum moves by C at most."""

    def init(self, batch: Batch[SumSpec], data: Table, rng: Generator) -> Tensor:
        return torch.zeros(len(batch), data.x.shape[1])

    def step(
        self, batch: Batch[SumSpec], data: Table, state: Tensor, rng: Generator
    ) -> tuple[Tensor, Info | None]:
        spec = batch.spec
        x = torch.tensor(np.asarray(data.x), dtype=torch.float32)
        norm = 1 if spec.kind == "laplace" else 2
        clipped = x * (0.5 * CLIP / x.norm(norm, dim=1, keepdim=True)).clamp(max=1.0)
        total = clipped.sum(0).expand(len(batch), -1).contiguous()
        if spec.fault == "scaled":  # a gradient that is scaled after it was clipped
            total = 2.0 * total
        made = releases(spec, len(data))[0].mechanism
        if spec.fault == "half":
            made = type(made)(made.sensitivity / 2.0, *list(vars(made).values())[1:])
        for _ in range(1 + (spec.fault == "twice")):
            noisy = release(total, [made] * len(batch), rng)
        return state + noisy, None

    def products(self, batch: Batch[SumSpec], data: Table, state: Tensor) -> Arrays:
        return {"sum": state.numpy()}


def table(n: int = 20, wide: int = WIDE) -> LabelledTable:
    card = Card(
        name="toy",
        title="A toy",
        summary="Nobody's.",
        records=n,
        record="a person",
        features=("x",) * wide,
        source="",
        licence="",
        public="",
        classes=2,
    )
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (n, wide))
    return LabelledTable(card, x, np.arange(n) % 2, (np.float64(-1.0), np.float64(1.0)))


def opposed(spec: SumSpec, data: LabelledTable) -> Pair:
    """One record at a corner, or at the opposite one."""
    tables = []
    for value in (-1.0, 1.0):
        x = np.array(data.x)
        x[0] = value
        tables.append(LabelledTable(data.card, x, data.y, data.bounds))
    return Pair(tables[0], tables[1])


def outside(spec: SumSpec, data: LabelledTable) -> Pair:
    pair = opposed(spec, data)
    pair.present.x[0] = 9.0
    return pair


def total(batch: Batch[SumSpec], pair: Pair, state: Tensor) -> Tensor:
    return state.sum(1)


WITNESS = Witness(words="a person at a corner", pair=opposed, scores={"sum": total})
OUTSIDE = Witness(words="a person outside", pair=outside)
METHOD = Sums()
ENTRY = Entry(
    name="sums",
    label="Noisy sums",
    summary="Adds noise to sums.",
    module="tests.audit.toys",
    info=Info,
    steps=lambda spec, n: spec.steps,
    releases=releases,
    guarantee=guarantee,
    uses=tuple(SumSpec.__dataclass_fields__),
    witness="tests.audit.toys:WITNESS",
)
