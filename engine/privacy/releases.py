r"""What a run releases: which mechanism, how often, on which sample of the records. No torch here.

A paper's `Entry.releases` returns a tuple of these. What they cost together (`cost`), the ε that
an accountant proves of that, and the noise that is drawn all follow from the same mechanisms.

    >>> from engine.privacy.mechanisms import Gaussian, Laplace
    >>> start = Release(Laplace(1.0, 0.5), first=BEFORE, what="class counts")
    >>> steps = Release(Gaussian(1.0, 4.0), times=100, rate=0.01, what="sum of clipped gradients")
    >>> [release.made(10) for release in (start, steps)]
    [1, 10]
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from engine.privacy.mechanisms import Exposed, Gaussian, Laplace, Mechanism

if TYPE_CHECKING:
    from dp_accounting import DpEvent

BEFORE = -1
"""`Release.first` of what is released before the first step."""
LEAST = 1e-6
"""A smaller noise multiplier counts as none: accountants divide by its square."""


@dataclass(frozen=True)
class Batches:
    """How records come into batches: what is drawn and what is priced both follow from it.

    Attributes:
        rate: Chance of each record to be in a step, by its own coin every time; 1 for all.
        parts: Into so many batches one random order of the records is cut, again in every
            epoch; 1 where there is no order.
        kept: Whether the order of the first epoch is that of all, so that a record's steps are
            `parts` apart.
    """

    rate: float
    parts: int = 1
    kept: bool = False


@dataclass(frozen=True)
class Release:
    """One kind of release of a run.

    Attributes:
        mechanism: What is drawn from, and what one use of it costs. Where its sensitivity
            or its dimension depends on the width of the data, it is stated for one feature: that
            may change what one release costs, but not what all of a run cost together.
        times: How often it is used: once in each of so many steps.
        rate: Chance of each record to take part, by its own coin every time; 1 for all records.
        first: Steps taken before the first use; `BEFORE` for a use before the first step.
        disjoint: Of so many successive steps, counted from the first of the run, each record
            takes part in one at most (`Batches.parts`).
        what: What is released, in words.
    """

    mechanism: Mechanism
    _: KW_ONLY
    times: int = 1
    rate: float = 1.0
    first: int = 0
    disjoint: int = 1
    what: str = ""

    def made(self, steps: int) -> int:
        """How often it has been used after so many steps."""
        return min(self.times, max(0, steps - self.first))

    def met(self, steps: int | None = None) -> int:
        """How many of its uses one record takes part in at most, after so many steps or all.

        Of disjoint batches one in each epoch, whichever it is: parallel composition. It holds for
        every order of the records, so also for a random one, and gains nothing from its being
        unknown.

        >>> Release(Gaussian(1.0, 4.0), times=25, disjoint=10).met()
        3
        """
        count = self.times if steps is None else self.made(steps)
        if count == 0 or self.disjoint == 1:
            return count
        start = max(0, self.first)
        return (start + count - 1) // self.disjoint - start // self.disjoint + 1


def exposed(why: str) -> tuple[Release, ...]:
    """The releases of a method without privacy: one that no budget pays for."""
    return (Release(Exposed(why), first=BEFORE, what="an answer without proved noise"),)


def active(releases: Sequence[Release], step: int) -> tuple[Release, ...]:
    """The releases that step number `step`, counted from zero, makes."""
    return tuple(r for r in releases if r.first <= step < r.first + r.times)


def cost(releases: Sequence[Release], steps: int | None = None) -> "DpEvent":
    r"""What the releases of the first steps cost together.

    Gaussian releases of all records, adaptive or not, are merged into the one that is exactly as
    private: 1/s^2 = \sum_i 1/s_i^2 (Dong, Roth and Su 2022, Corollary 2). Noise without bound
    releases nothing, and next to no noise releases all.

    Args:
        releases: What a run releases.
        steps: Steps taken so far; None for the whole run.
    """
    from dp_accounting import ComposedDpEvent, GaussianDpEvent, NonPrivateDpEvent, NoOpDpEvent

    precisions: list[float] = []
    parts: list[Any] = []
    for release in releases:
        count = release.met(steps)
        mechanism = release.mechanism
        if count == 0 or _silent(mechanism):
            continue
        if isinstance(mechanism, Exposed) or _bare(mechanism):
            return NonPrivateDpEvent()
        if isinstance(mechanism, Gaussian) and release.rate >= 1.0:
            precisions.append(count / mechanism.multiplier**2)
        else:
            parts.append(_repeated(mechanism, release.rate, count))
    if precisions:
        parts.insert(0, GaussianDpEvent(math.fsum(precisions) ** -0.5))
    if len(parts) == 1:
        return parts[0]
    return ComposedDpEvent(parts) if parts else NoOpDpEvent()


def _silent(mechanism: Mechanism) -> bool:
    """Whether its noise is without bound, so that it says nothing."""
    return isinstance(mechanism, Laplace | Gaussian) and not math.isfinite(mechanism.scale)


def _bare(mechanism: Mechanism) -> bool:
    """Whether its noise is next to none."""
    return isinstance(mechanism, Gaussian) and mechanism.multiplier < LEAST


def _repeated(mechanism: Mechanism, rate: float, count: int) -> "DpEvent":
    from dp_accounting import PoissonSampledDpEvent, SelfComposedDpEvent

    event = mechanism.event
    sampled = PoissonSampledDpEvent(rate, event) if rate < 1.0 else event
    return SelfComposedDpEvent(sampled, count) if count > 1 else sampled
