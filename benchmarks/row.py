"""One line of the table that benchmarks print, and how what it compares is timed."""

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

TURNS = 3
"""Times that everything is measured; the median counts, and the range is shown."""


@dataclass(frozen=True)
class Row:
    """A measurement beside what it is compared with.

    Attributes:
        what: What was measured, with its setting.
        ours: Our figure; NaN where it was not measured.
        peer: The other's figure in the same unit; None where there is nobody to compare with.
        unit: Unit of both.
        target: What was to be reached, in words; empty where nothing was.
        ok: Whether it was reached; None where nothing was to be.
        note: What a reader must know to judge it.
    """

    what: str
    ours: float
    peer: float | None
    unit: str
    target: str
    ok: bool | None
    note: str

    @classmethod
    def missing(cls, what: str, target: str, why: str) -> Self:
        """A measurement that could not be made; a target that it had counts as missed."""
        return cls(what, math.nan, None, "", target, False if target else None, why)

    @property
    def ran(self) -> bool:
        """Whether anything was measured."""
        return not math.isnan(self.ours)


@dataclass(frozen=True)
class Timing:
    """Seconds of one thing, over several turns.

    Attributes:
        seconds: Of each turn, in the order in which they were taken.
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle turn."""
        return statistics.median(self.seconds)

    def __mul__(self, factor: float) -> "Timing":
        """So many times the work."""
        return Timing(tuple(factor * one for one in self.seconds))

    def __add__(self, other: "Timing") -> "Timing":
        """Both, one after the other, turn by turn."""
        return Timing(tuple(a + b for a, b in zip(self.seconds, other.seconds, strict=True)))


def race(rivals: Mapping[str, Callable[[], object]], turns: int = TURNS) -> dict[str, Timing]:
    """Times rivals in turns, after one to warm up, so that a busy machine disturbs all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for work in rivals.values():
        work()
    for _ in range(turns):
        for name, work in rivals.items():
            began = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - began)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}


def turns(rivals: Mapping[str, Callable[[], float]]) -> dict[str, Timing]:
    """As `race`, of rivals who say themselves for how many seconds they worked."""
    for work in rivals.values():
        work()
    rounds = [{name: work() for name, work in rivals.items()} for _ in range(TURNS)]
    return {name: Timing(tuple(one[name] for one in rounds)) for name in rivals}


def at_most(what: str, ours: Timing, peer: Timing, most: float, note: str = "") -> Row:
    """A row of medians: ours may take at most so many times the peer's."""
    target = f"at most {most:.3g} times the peer"
    met = ours.median <= most * peer.median
    return Row(what, ours.median, peer.median, "s", target, met, _ranged(ours, peer, note))


def beside(what: str, ours: Timing, peer: Timing, note: str = "") -> Row:
    """A row of medians without a target."""
    return Row(what, ours.median, peer.median, "s", "", None, _ranged(ours, peer, note))


def _ranged(ours: Timing, peer: Timing, note: str) -> str:
    """The note, with the range of the ratio over the turns."""
    ratios = [b / a for a, b in zip(ours.seconds, peer.seconds, strict=True)]
    said = f"peer / ours {min(ratios):.3g} to {max(ratios):.3g} in {len(ratios)} turns"
    return f"{note}; {said}" if note else said


def high_water() -> float:
    """Peak memory of this process, in MB; getrusage would count its parent's, before the exec."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
