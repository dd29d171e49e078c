"""A paper of a few lines for the tests of executors: a random walk that can go on."""

import os
import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from distributed import WorkerPlugin

from datasets.base import Table
from engine.catalog import catalog
from engine.core.batch import Batch
from engine.core.gauges import Column, Gauge, Info
from engine.core.kept import Kept
from engine.core.spec import Knob, Spec
from engine.core.vocabulary import Epsilon
from engine.method import Arrays, Entry, Paper
from tests.engine.toy import guarantee, releases

LOG = "WALK_LOG"
"""The environment's name for a file that says which steps were taken, and by whom."""


@dataclass(frozen=True, kw_only=True)
class WalkSpec(Spec):
    epsilon: Epsilon = 1.0
    steps: Annotated[int, Knob("Steps", "T", (1, 100_000), (1, 100))] = 3
    pause: Annotated[float, Knob("Seconds of each step", "p", (0.0, 60.0), (0.0, 1.0))] = 0.0


@dataclass(frozen=True)
class Walked(Info):
    place: Annotated[Column, Gauge("Place", "up", released=True)]


@dataclass(frozen=True)
class State:
    step: int
    place: torch.Tensor


class Walk:
    def init(self, batch: Batch[WalkSpec], data: Table, rng: torch.Generator) -> State:
        return State(0, torch.zeros(len(batch), dtype=torch.float64))

    def step(
        self, batch: Batch[WalkSpec], data: Table, state: State, rng: torch.Generator
    ) -> tuple[State, Walked]:
        time.sleep(batch.spec.pause)
        if LOG in os.environ:
            with open(os.environ[LOG], "a") as file:
                print(batch.seeds[0], state.step + 1, os.getpid(), time.time(), file=file)
        drawn = torch.randn(len(batch), generator=rng, dtype=torch.float64)
        place = state.place + drawn + float(data.x.sum())
        return State(state.step + 1, place), Walked(place.numpy())

    def products(self, batch: Batch[WalkSpec], data: Table, state: State) -> Arrays:
        return {"place": state.place.numpy()[:, None]}

    def pack(self, state: State) -> Arrays:
        return {"step": np.array(state.step), "place": state.place.numpy()}

    def unpack(
        self, batch: Batch[WalkSpec], data: Table, arrays: Arrays, rng: torch.Generator
    ) -> State:
        return State(int(arrays["step"]), torch.from_numpy(np.array(arrays["place"])))


METHOD = Walk()


def entry(name: str, resumes: bool) -> Entry[WalkSpec]:
    return Entry(
        name=name,
        label=name.capitalize(),
        summary="Walks at random.",
        module="tests.engine.walk",
        info=Walked,
        steps=lambda spec, n: spec.steps,
        releases=releases,  # type: ignore[arg-type]
        guarantee=guarantee,  # type: ignore[arg-type]
        uses=("epsilon", "steps", "pause"),
        chunk=lambda spec, n, device: 2,
        resumes=resumes,
    )


PAPER = Paper(
    slug="walk",
    title="A walk",
    citation="Nobody 2020",
    claim="Walking is private.",
    relation="replace_one",
    spec=WalkSpec,
    methods=(entry("walk", True), entry("stroll", False)),
    datasets=("flchain", "digits"),
    gauge="place",
    own="survival",
    arrays={"place": Kept("Where it ends", released=True)},
)


def register() -> None:
    catalog()["walk"] = PAPER


class Register(WorkerPlugin):
    """Every worker knows the walk, those too that start when others have died."""

    def setup(self, worker: Any) -> None:
        register()
