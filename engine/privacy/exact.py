"""A release whose noise is drawn in whole-number arithmetic, where its values are whole numbers.

A method says of each of its releases by how much one record moves it, as a whole number
(`engine.method.Entry.whole`). Within `exactly`, `engine.privacy.noise.release` then answers with
the value plus a draw of `engine.privacy.discrete`, computed without rounding; nothing else of the
method changes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Generator, Tensor

from engine.core.errors import ExplorerError
from engine.privacy import discrete, recording
from engine.privacy.discrete import Bits
from engine.privacy.mechanisms import Gaussian, Laplace, Noise
from engine.privacy.recording import Parts, Recorder
from engine.privacy.releases import Release


class WholeError(ExplorerError):
    """A release that is not of whole numbers, or not as it was declared."""


@dataclass(eq=False, kw_only=True)
class Exact(Recorder):
    """Answers every release with whole-number noise, and keeps nothing.

    Attributes:
        moves: How far a record moves each release, as `Entry.whole` says.
        factor: What Gaussian deviations are multiplied by (`discrete.stretch`).
        bits: The source of the noise.
        made: Releases so far.
    """

    moves: Sequence[int]
    factor: float
    bits: Bits
    made: int = 0

    def watch(
        self,
        mechanisms: Sequence[Noise],
        values: Parts,
        rng: Generator,
        noisy: Callable[[], Parts],
        weights: Sequence[Tensor | None] = (),
    ) -> Parts:
        """The values with whole-number noise.

        Raises:
            WholeError: More releases than were declared, or a value that is no whole number.
        """
        if self.made >= len(self.moves) or len(mechanisms) != 1:
            raise WholeError(f"exact: expected {len(self.moves)} releases of one setting, got more")
        draw = law(mechanisms[0], self.moves[self.made], self.factor)
        self.made += 1
        return tuple(self._plus(value, draw) for value in values)

    def _plus(self, value: Tensor, draw: Callable[[Bits], int]) -> Tensor:
        numbers = value.flatten().tolist()
        if not all(float(number).is_integer() for number in numbers):
            raise WholeError("exact: expected values that are whole numbers, got others")
        outputs = [float(int(number) + draw(self.bits)) for number in numbers]
        return torch.tensor(outputs, dtype=value.dtype, device=value.device).view(value.shape)


def law(mechanism: Noise, move: int, factor: float) -> Callable[[Bits], int]:
    """Draws whole-number noise that costs no more than a mechanism's.

    Args:
        mechanism: Laplace, or Gaussian.
        move: The sensitivity: in L1 norm for Laplace, squared in L2 norm for Gaussian.
        factor: What the deviation of a Gaussian is multiplied by.

    Raises:
        WholeError: Another mechanism.
    """
    match mechanism:
        case Laplace(epsilon=budget):
            scale = discrete.up(Fraction(move) / Fraction(budget))
            return lambda bits: discrete.laplace(scale, bits)
        case Gaussian(multiplier=multiplier):
            variance = discrete.up(move * (Fraction(multiplier) * Fraction(factor)) ** 2)
            return lambda bits: discrete.gaussian(variance, bits)
    raise WholeError(f"exact: expected Laplace or Gaussian noise, got {type(mechanism).__name__}")


def factor(made: Sequence[Release], epsilon: float, delta: float) -> float:
    """What Gaussian deviations are multiplied by, so that all releases together cost ε at δ."""
    multipliers = [one.mechanism.multiplier for one in made if isinstance(one.mechanism, Gaussian)]
    if not multipliers:
        return 1.0
    return discrete.stretch(sum(m**-2.0 for m in multipliers), epsilon, delta)


@contextmanager
def exactly(moves: Sequence[int], by: float, bits: Bits) -> Iterator[Recorder]:
    """Draws all noise within exactly.

    Args:
        moves: See `Exact`.
        by: The factor of Gaussian deviations.
        bits: The source of the noise.
    """
    yield from recording._with(Exact(moves=moves, factor=by, bits=bits))
