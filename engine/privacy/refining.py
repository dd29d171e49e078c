"""Gaussian noise that is taken away step by step: a method is run again and its release refined.

Within `refining`, `engine.privacy.noise.release` answers with the mean of all releases of the same
value so far, weighted by precision, of which the newest has fresh noise. What that costs is
`engine.privacy.expost`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch import Generator, Tensor

from engine.core.errors import ExplorerError
from engine.privacy import noise, recording
from engine.privacy.mechanisms import Gaussian, Noise
from engine.privacy.recording import Parts, Recorder


class RefiningError(ExplorerError):
    """A release whose noise cannot be reduced."""


@dataclass(frozen=True, eq=False)
class Refined:
    """One release of a run at the level reached so far.

    Attributes:
        values: Before noise.
        outputs: With the noise of this level.
        mechanism: The noise of this level.
    """

    values: Parts
    outputs: Parts
    mechanism: Gaussian


@dataclass(eq=False)
class Ladder:
    """The releases of a method at the level reached so far; none before the first level."""

    reached: list[Refined] = field(default_factory=list)


@dataclass(eq=False, kw_only=True)
class _Refining(Recorder):
    """Answers every release from a ladder, with its noise reduced to what is asked for now."""

    ladder: Ladder
    made: int = 0

    def watch(
        self,
        mechanisms: Sequence[Noise],
        values: Parts,
        rng: Generator,
        noisy: Callable[[], Parts],
        weights: Sequence[Tensor | None] = (),
    ) -> Parts:
        """The values with the noise of this level.

        Guarantees:
            The only draw is that of a Gaussian mechanism whose precision is the difference of the
            two levels' (`engine.privacy.expost`, Refining). The value must be that of the level
            before, to the last bit, so that a mean of both is one of it.

        Raises:
            RefiningError: More than one setting, noise that is not Gaussian, a value that another
                level had otherwise, or noise that would not be less than before.
        """
        (mechanism, *others), reached = mechanisms, self.ladder.reached
        if others or not isinstance(mechanism, Gaussian):
            raise RefiningError("refining: expected one setting with Gaussian noise, got another")
        before = reached[self.made] if self.made < len(reached) else None
        outputs = _next(before, values, mechanism, rng, weights)
        reached[self.made : self.made + 1] = [Refined(values, outputs, mechanism)]
        self.made += 1
        return tuple(output.clone() for output in outputs)


def _next(
    before: Refined | None, values: Parts, mechanism: Gaussian, rng: Generator,
    weights: Sequence[Tensor | None],
) -> Parts:  # fmt: skip
    """What is released at a level, from what was released at the one before."""
    if before is None:
        return _fresh(values, mechanism, rng, weights)
    same = len(values) == len(before.values) and all(map(torch.equal, values, before.values))
    if not same or mechanism.sensitivity != before.mechanism.sensitivity:
        raise RefiningError(
            "refining: expected the value and the sensitivity of the level before, got others: "
            "they depend on ε or on what was released"
        )
    whole, held = mechanism.multiplier**-2.0, before.mechanism.multiplier**-2.0
    if whole <= held:
        raise RefiningError("refining: expected less noise than at the level before, got more")
    more = replace(mechanism, multiplier=(whole - held) ** -0.5)
    part = held / whole
    fresh = _fresh(values, more, rng, weights)
    return tuple(
        part * old + (1.0 - part) * new for old, new in zip(before.outputs, fresh, strict=True)
    )


def _fresh(
    values: Parts, mechanism: Gaussian, rng: Generator, weights: Sequence[Tensor | None]
) -> Parts:
    """A release with noise of its own, outside of this context."""
    token = recording._RECORDER.set(None)
    try:
        return noise.release_together(values, [mechanism], rng, weights)
    finally:
        recording._RECORDER.reset(token)


@contextmanager
def refining(ladder: Ladder) -> Iterator[Recorder]:
    """One level: reduces the noise of every release within, and keeps it in the ladder.

    Raises:
        RefiningError: The method made other releases than at the level before.
    """
    count, one = len(ladder.reached), _Refining(ladder=ladder)
    yield from recording._with(one)
    if (count and one.made != count) or len(ladder.reached) != one.made:
        raise RefiningError(f"refining: expected {count} releases as before, got {one.made}")
