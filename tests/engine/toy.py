"""A paper of a few lines for the tests of the service: it counts, waits, fails and diverges."""

import hashlib
import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from datasets.base import Table
from engine.catalog import catalog
from engine.core.batch import Batch
from engine.core.errors import RequestError, SpecError
from engine.core.gauges import Column, Gauge, Info
from engine.core.kept import Kept
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import Epsilon
from engine.method import Arrays, Entry, Paper
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import BEFORE, Release

BEHAVIOURS = ("count", "raise", "memory", "hang", "spin", "diverge", "large", "refuse")
Behaviour = Annotated[
    str, Choice("Behaviour", BEHAVIOURS, tuple(word.capitalize() for word in BEHAVIOURS))
]


@dataclass(frozen=True, kw_only=True)
class ToySpec(Spec):
    epsilon: Epsilon = 1.0
    scale: Annotated[float, Knob("Scale", "s", (0.0, 9.0), (0.1, 4.0), axis=True)] = 1.0
    steps: Annotated[int, Knob("Steps", "T", (1, 100_000), (1, 100))] = 3
    pause: Annotated[float, Knob("Seconds of each step", "p", (0.0, 60.0), (0.0, 1.0))] = 0.0
    behaviour: Behaviour = "count"

    def check(self) -> None:
        if self.steps > 50_000 and self.pause > 1:
            raise SpecError("pause", f"expected at most 1 with so many steps, got {self.pause}")


@dataclass(frozen=True)
class Counted(Info):
    count: Annotated[Column, Gauge("Steps taken", "up", released=True)]
    product: Annotated[Column, Gauge("Steps times scale", "up")]


class Toy:
    def init(self, batch: Batch[ToySpec], data: Table, rng: Any) -> int:
        return 0

    def step(self, batch: Batch[ToySpec], data: Table, state: int, rng: Any) -> tuple[int, Counted]:
        behave(batch.spec)
        counts = np.full(len(batch), state + 1.0)
        product = counts * batch.column("scale")
        if batch.spec.behaviour == "diverge":
            product[0] = np.inf
        return state + 1, Counted(counts, product)

    def products(self, batch: Batch[ToySpec], data: Table, state: int) -> Arrays:
        width = 1_000_000 if batch.spec.behaviour == "large" else 2
        scales = batch.column("scale")[:, None]
        return {"scales": scales * np.ones(width), "secrets": scales, "unnamed": scales}


def behave(spec: ToySpec) -> None:
    match spec.behaviour:
        case "raise":
            raise ValueError("the toy\nis broken")
        case "memory":
            raise MemoryError
        case "refuse":
            raise RequestError("behaviour: expected one that works, got refuse")
        case "hang":  # inside one operation, as a long matrix product
            hashlib.pbkdf2_hmac("sha256", b"", b"", int(spec.pause * 2_000_000))
        case "spin":  # between operations, as a solver's loop
            deadline = time.monotonic() + spec.pause
            while time.monotonic() < deadline:
                time.sleep(0.001)
        case _:
            time.sleep(spec.pause)


def guarantee(spec: ToySpec, n: int, record: str) -> Guarantee:
    return Guarantee(
        mechanism="Laplace",
        status="proved",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=spec.epsilon,
        delta=0.0,
        relation="replace_one",
        unit=record,
        reasons=("A toy is proved by playing.",),
    )


def releases(spec: ToySpec, n: int) -> tuple[Release, ...]:
    return (Release(Laplace(1.0, spec.epsilon), first=BEFORE, what="a count"),)


METHOD = Toy()
ENTRY = Entry(
    name="count",
    label="Counting",
    summary="Counts its steps.",
    module="tests.engine.toy",
    info=Counted,
    steps=lambda spec, n: spec.steps,
    releases=releases,
    guarantee=guarantee,
    uses=("epsilon", "scale", "steps", "pause", "behaviour"),
    chunk=lambda spec, n, device: 4,
)
PAPER = Paper(
    slug="toy",
    title="A toy",
    citation="Nobody 2020",
    claim="Counting is private.",
    relation="replace_one",
    spec=ToySpec,
    methods=(ENTRY,),
    datasets=("flchain", "digits"),
    gauge="product",
    arrays={"scales": Kept("What it counts by", released=True), "secret*": Kept("Records")},
)


def register() -> None:
    catalog()["toy"] = PAPER
