"""Runs a method small and quick, and keeps all that it released: what the checks look at."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import torch

from datasets import catalog as data
from datasets.base import PanelTable, Table
from engine.audit.neighbours import first
from engine.core.batch import Batch
from engine.core.errors import ExplorerError
from engine.core.spec import Choice, Spec, Value, knobs
from engine.method import Entry, Paper
from engine.privacy import accounting
from engine.privacy.mechanisms import Exposed
from engine.privacy.recording import Recorder, recording, replaying

RECORDS, PERSONS = 80, 30
"""Records of a table, and persons of a panel, whose every point in time counts."""
SMALL: dict[str, Value] = {
    "epsilon": 0.8123, "intervals": 6, "epochs": 2, "sample_rate": 0.5, "steps": 3, "samples": 16,
    "filters": 4, "pretraining": 1, "sgd_epochs": 1, "hidden": 5, "batch": 40, "records": 40,
    "bases": 3, "bands": 3, "history": 8, "unit": "user",
}  # fmt: skip
"""Values that make a run short. No other test asks for this budget, so none shares a cache."""


@dataclass(frozen=True, eq=False)
class Case:
    """One method, on few records, at a short setting."""

    paper: Paper[Any]
    entry: Entry[Any]
    table: Table
    base: Spec

    @property
    def n(self) -> int:
        """Records."""
        return len(self.table)


@dataclass(frozen=True, eq=False)
class Played:
    """One run: its releases, what it left behind, and the last thing that it measured."""

    seen: Recorder
    products: dict[str, np.ndarray]
    info: Any

    def numbers(self) -> list[np.ndarray]:
        """Everything that a run says in numbers, for comparison."""
        outputs = [part.numpy() for one in self.seen.releases for part in one.outputs]
        drawn = [noise.numpy() for _, noise in self.seen.drawn]
        measured = [] if self.info is None else list(vars(self.info).values())
        return [*outputs, *drawn, *map(np.asarray, (*self.products.values(), *measured))]


def case(paper: Paper[Any], entry: Entry[Any], table: Table | None = None) -> Case:
    """The method on the first records of its paper's first data set that needs no file."""
    if table is None:
        whole = data.load(next(d for d in paper.datasets if data.card(d).embedded))
        table = first(whole, PERSONS if isinstance(whole, PanelTable) else RECORDS)
    values = {field: value for field, value in SMALL.items() if field in knobs(paper.spec)}
    return Case(paper, entry, table, paper.spec().replace(**values))


@contextmanager
def some_multiplier() -> Iterator[None]:
    """Replaces the search for a noise multiplier, which takes seconds, by some number from 1 to 2.

    The number depends on what is searched for. The accountants stay the real ones.
    """

    def some(make: Any, target: float, delta: float, relation: str, **how: Any) -> float:
        text = f"{make(1.0)} {target} {delta} {relation}"
        return 1.0 + zlib.crc32(text.encode()) / 2**32

    with mock.patch.object(accounting, "calibrate", some):
        yield


def private(case: Case) -> bool:
    """Whether the method promises a finite budget at its first setting."""
    releases = case.entry.releases(case.base, case.n)
    return not any(isinstance(release.mechanism, Exposed) for release in releases)


def play(
    case: Case,
    spec: Spec,
    *,
    seed: int = 1,
    replicas: int = 1,
    table: Table | None = None,
    script: Recorder | None = None,
) -> Played:
    """A whole run of equal settings, whose seeds of the repetition are all 0.

    With a script, it is handed the releases of another run in place of its own.
    """
    method, table = case.entry.load(), case.table if table is None else table
    batch = Batch(spec, (spec,) * replicas, (0,) * replicas)
    rng, info = torch.Generator().manual_seed(seed), None
    watching = recording() if script is None else replaying(script.releases)
    with torch.no_grad(), watching as seen:
        state = method.init(batch, table, rng)
        for _ in range(case.entry.steps(spec, len(table))):
            state, reported = method.step(batch, table, state, rng)
            info = reported or info
        products = method.products(batch, table, state)
    return Played(seen, dict(products), info)


def settings(case: Case) -> Iterator[Spec]:
    """The short setting, and the same with each option of each choice in turn."""
    yield case.base
    for field, knob in knobs(case.paper.spec).items():
        if isinstance(knob, Choice):
            for option in knob.options:
                if option != getattr(case.base, field):
                    yield from _if_allowed(case.base, field, option)


def nudged(case: Case, spec: Spec, field: str) -> Iterator[Spec]:
    """The setting with one field moved: another option, or half, twice, a little more."""
    knob, now = knobs(case.paper.spec)[field], getattr(spec, field)
    if isinstance(knob, Choice):
        candidates: list[Value] = [option for option in knob.options if option != now]
    else:
        whole = isinstance(now, int)
        between = [(now + end) / 2 for end in knob.bounds]
        candidates = (
            [now // 2, now + 2, now + 1, 2 * now] if whole else [now / 2, 2 * now, *between]
        )
    for value in candidates:
        if value != now:
            yield from _if_allowed(spec, field, value)


def _if_allowed(spec: Spec, field: str, value: Value) -> Iterator[Spec]:
    try:
        yield spec.replace(**{field: value})
    except ExplorerError:
        return
