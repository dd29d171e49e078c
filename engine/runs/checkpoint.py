"""What a run leaves behind, so that it goes on where it was: arrays, never objects.

A method whose entry says `resumes` packs its state into arrays and unpacks it again. The driver
adds the step and the generator, so the run that goes on is the run that never stopped, number by
number. A run keeps its state when it is stopped, and while it goes on every half minute or every
hundredth of the run, whichever is rarer: a process that is killed loses no more than that.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import torch

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.errors import InterruptedRunError, StoreError
from engine.core.spec import Spec
from engine.method import Arrays, Entry, Method
from engine.runs.artifacts import DONE, STATE

S = TypeVar("S", bound=Spec)
T = TypeVar("T")

EVERY, SHARE = 30.0, 0.01
"""Seconds, and part of the run, between two states that are kept while it goes on."""
NOTED = ("chunks", "diverged")
STEP, GENERATOR, DEVICE, HEARD = "_step", "_generator", "_device", "_heard"


class Resumable(Method[S, T], Protocol[S, T]):
    """A method whose state can be left and taken up again. A step must not change it in place."""

    def pack(self, state: T) -> Arrays:
        """The part of the state that cannot be computed again."""

    def unpack(self, batch: Batch[S], data: Table, arrays: Arrays, rng: torch.Generator) -> T:
        """The state that `pack` was given; may use `rng`, which is put right afterwards."""


class Save(Protocol):
    """Writes arrays under their names, all of them or none, with the events so far."""

    def __call__(self, kept: Mapping[str, Arrays], *, going_on: bool) -> object:
        """`going_on` says that events which are still to come do not belong to this state."""


class Place(Protocol):
    """How far a chunk has come, wherever it runs."""

    def packed(self) -> Arrays:
        """What it takes to go on from there."""


@dataclass
class Checkpoints:
    """Where a run keeps its state, and what it has come to since it last did.

    Attributes:
        left: The arrays that were kept under a name; None if there are none.
        save: Writes the state; None to keep none.
        every: Seconds between two states that are kept while the run goes on.
        device: The kind of device that trains; empty for any.
        places: How far the chunks that are under way have come, by number.
    """

    left: Callable[[str], Arrays | None] = lambda name: None
    save: Save | None = None
    every: float = EVERY
    device: str = ""
    places: dict[int, Place] = field(default_factory=dict)
    _at: float = field(default_factory=time.monotonic, init=False)
    _steps: int = field(default=0, init=False)
    _noted: tuple[Iterable[int], Iterable[int]] = field(default=((), ()), init=False)

    def on(self, kind: str) -> "Checkpoints":
        """The same for a kind of device."""
        return replace(self, device=kind)

    def recall(self, name: str) -> Arrays | None:
        """The arrays of a name; None if there are none, or if they were left on another device.

        A generator's state is of no use there, and a run's numbers are of one kind.
        """
        kept = self.left(name)
        return kept if kept and self.device in ("", str(kept.get(DEVICE, "cpu"))) else None

    def done(self) -> tuple[set[int], set[int]]:
        """The chunks that had come to their end, and the replicas that had diverged."""
        kept = self.recall(DONE) or {}
        chunks, diverged = (set(np.asarray(kept.get(name, ())).tolist()) for name in NOTED)
        return chunks, diverged

    @contextmanager
    def noting(self, chunks: Iterable[int], diverged: Iterable[int]) -> Iterator[None]:
        """Keeps both, and how far the chunks have come, when the run is stopped inside."""
        self._noted = chunks, diverged
        try:
            yield
        except (GeneratorExit, KeyboardInterrupt, SystemExit, InterruptedRunError):
            with suppress(StoreError):  # a store that will not have it loses nothing
                self._write(going_on=False)
            raise

    def advanced(self, total: int) -> None:
        """Notes that a chunk is about to take a step of `total`; keeps the state if it is time."""
        self._steps += 1
        due = self._steps >= SHARE * total * len(self.places)
        if due and time.monotonic() - self._at >= self.every:
            with suppress(StoreError):  # a full disk stops no run: the next time, perhaps
                self._write(going_on=True)
            self._at, self._steps = time.monotonic(), 0

    def _write(self, *, going_on: bool) -> None:
        if self.save is None:
            return
        kept = {
            f"{STATE}{number:04d}": place.packed() for number, place in sorted(self.places.items())
        }
        chunks, diverged = self._noted
        over = set(chunks) - self.places.keys()  # all steps, but not yet its price and arrays
        some = zip(NOTED, (over, diverged), strict=True)
        kept[DONE] = {name: np.array(sorted(noted), np.int64) for name, noted in some}
        mark = {DEVICE: np.array(self.device)}
        self.save({name: {**part, **mark} for name, part in kept.items()}, going_on=going_on)


@dataclass
class Checkpoint:
    """How far one chunk has come, for the moment in which its state is kept.

    Attributes:
        entry: The method.
        number: Of the chunk.
        state: After so many steps.
        rng: The chunk's generator.
        step: Steps taken.
        total: Steps to take.
        past: Where the state is kept; None while nothing is.
        heard: The last step whose measurement has been told; later than `step` where a chunk was
            lost on another machine after its last state.
    """

    entry: Entry[Any]
    number: int
    state: Any
    rng: torch.Generator
    step: int = 0
    total: int = 0
    past: Checkpoints | None = None
    heard: int = 0
    after: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.after = self.rng.get_state()

    @classmethod
    def begin(
        cls, entry: Entry[Any], part: Batch[Any], data: Table, rng: torch.Generator,
        number: int, past: Checkpoints,
    ) -> "Checkpoint":  # fmt: skip
        """Where the chunk was stopped, or its beginning."""
        total = entry.steps(part.spec, len(data))
        left = past.recall(f"{STATE}{number:04d}") if entry.resumes else None
        heard = int(left[HEARD]) if left and HEARD in left else 0
        if left is None or STEP not in left:
            state = entry.load().init(part, data, rng)
            return cls(entry, number, state, rng, total=total, heard=heard)
        state = cast(Resumable[Any, Any], entry.load()).unpack(part, data, left, rng)
        rng.set_state(torch.from_numpy(np.array(left[GENERATOR], np.uint8)))
        return cls(entry, number, state, rng, int(left[STEP]), total, heard=heard)

    def advance(self, state: Any) -> None:
        """Notes one more step; the generator is noted too, since a stop breaks into the next.

        What the last step has measured is told by now and what this one has measured is not, so
        this is when a state may be kept that goes with all events so far.
        """
        if self.past is not None:
            self.past.advanced(self.total)
        self.state, self.step, self.after = state, self.step + 1, self.rng.get_state()

    @contextmanager
    def kept(self, past: Checkpoints) -> Iterator[None]:
        """Belongs to what is kept of the run until the chunk has come to its end."""
        if not self.entry.resumes:
            yield
            return
        self.past = past
        past.places[self.number] = self
        yield
        del past.places[self.number]

    def packed(self) -> Arrays:
        """The state, the step and the generator as arrays."""
        arrays = cast(Resumable[Any, Any], self.entry.load()).pack(self.state)
        mine = {STEP: np.array(self.step), GENERATOR: self.after.cpu().numpy()}
        heard = {HEARD: np.array(self.heard)} if self.heard > self.step else {}
        return {**arrays, **mine, **heard}
