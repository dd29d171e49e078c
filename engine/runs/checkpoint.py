"""What a stopped run leaves behind, so that it goes on where it was: arrays, never objects.

A method whose entry says `resumes` packs its state into arrays and unpacks it again. The driver
adds the step and the generator, so the run that goes on is the run that never stopped, number by
number. Without a stop nothing is written.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import torch

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.errors import StoreError
from engine.core.spec import Spec
from engine.method import Arrays, Entry, Method
from engine.runs.artifacts import DONE, STATE

S = TypeVar("S", bound=Spec)
T = TypeVar("T")

NOTED = ("chunks", "diverged")
STEP, GENERATOR, DEVICE = "_step", "_generator", "_device"


class Resumable(Method[S, T], Protocol[S, T]):
    """A method whose state can be left and taken up again. A step must not change it in place."""

    def pack(self, state: T) -> Arrays:
        """The part of the state that cannot be computed again."""

    def unpack(self, batch: Batch[S], data: Table, arrays: Arrays, rng: torch.Generator) -> T:
        """The state that `pack` was given; may use `rng`, which is put right afterwards."""


@dataclass(frozen=True)
class Checkpoints:
    """Where a stopped run leaves its state.

    Attributes:
        recall: The arrays of a name; None if there are none.
        keep: Writes arrays under a name.
    """

    recall: Callable[[str], Arrays | None] = lambda name: None
    keep: Callable[[str, Arrays], object] = lambda name, arrays: None

    def on(self, kind: str) -> "Checkpoints":
        """The same for a kind of device; what was left on another is not recalled.

        A generator's state is of no use there, and a run's numbers are of one kind.
        """

        def recall(name: str) -> Arrays | None:
            kept = self.recall(name)
            return kept if kept and str(kept.get(DEVICE, "cpu")) == kind else None

        def keep(name: str, arrays: Arrays) -> object:
            return self.keep(name, {**arrays, DEVICE: np.array(kind)})

        return Checkpoints(recall, keep)

    def done(self) -> tuple[set[int], set[int]]:
        """The chunks that had come to their end, and the replicas that had diverged."""
        kept = self.recall(DONE) or {}
        chunks, diverged = (set(np.asarray(kept.get(name, ())).tolist()) for name in NOTED)
        return chunks, diverged

    @contextmanager
    def noting(self, chunks: Iterable[int], diverged: Iterable[int]) -> Iterator[None]:
        """Keeps both, as they are when the run is stopped inside."""
        sets = dict(zip(NOTED, (chunks, diverged), strict=True))
        with on_stop(
            lambda: self.keep(DONE, {k: np.array(sorted(v), np.int64) for k, v in sets.items()})
        ):
            yield


@dataclass
class Checkpoint:
    """How far one chunk has come, for the moment in which it is stopped.

    Attributes:
        entry: The method.
        number: Of the chunk.
        state: After so many steps.
        rng: The chunk's generator.
        step: Steps taken.
    """

    entry: Entry[Any]
    number: int
    state: Any
    rng: torch.Generator
    step: int = 0
    after: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.after = self.rng.get_state()

    @classmethod
    def begin(
        cls, entry: Entry[Any], part: Batch[Any], data: Table, rng: torch.Generator,
        number: int, past: Checkpoints,
    ) -> "Checkpoint":  # fmt: skip
        """Where the chunk was stopped, or its beginning."""
        left = past.recall(f"{STATE}{number:04d}") if entry.resumes else None
        if left is None:
            return cls(entry, number, entry.load().init(part, data, rng), rng)
        state = cast(Resumable[Any, Any], entry.load()).unpack(part, data, left, rng)
        rng.set_state(torch.from_numpy(np.array(left[GENERATOR], np.uint8)))
        return cls(entry, number, state, rng, int(left[STEP]))

    def advance(self, state: Any) -> None:
        """Notes one more step; the generator is noted too, since a stop breaks into the next."""
        self.state, self.step, self.after = state, self.step + 1, self.rng.get_state()

    @contextmanager
    def kept(self, past: Checkpoints) -> Iterator[None]:
        """Leaves the state behind if the run is stopped inside."""
        with on_stop(lambda: self._leave(past)):
            yield

    def _leave(self, past: Checkpoints) -> None:
        if self.entry.resumes:
            arrays = cast(Resumable[Any, Any], self.entry.load()).pack(self.state)
            mine = {STEP: np.array(self.step), GENERATOR: self.after.cpu().numpy()}
            past.keep(f"{STATE}{self.number:04d}", {**arrays, **mine})


@contextmanager
def on_stop(leave: Callable[[], object]) -> Iterator[None]:
    """Calls `leave` if the run is stopped inside; a store that will not have it loses nothing."""
    try:
        yield
    except (GeneratorExit, KeyboardInterrupt, SystemExit):
        with suppress(StoreError):
            leave()
        raise
