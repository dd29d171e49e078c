"""Batches that nobody can draw again.

The places of sampled records come from gaps that torch draws by itself, and torch's generator is
one whose state can be worked out (`engine.privacy.secret`). A release of private records draws a
coin for every record instead, by numbers of the operating system.
"""

import functools
import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from engine.privacy.secret import Secret, uniform

Places: TypeAlias = Callable[[int, Tensor, float, Generator], Tensor]
"""As `engine.training.sampling.places`."""


def unseeded(seeded: Places) -> Places:
    """Draws by secret coins where the generator is secret, and as before with every other one.

    Numbers that ship come from seeded generators, so they are not of an earlier version by it
    (`engine.runs.changes`).
    """

    @functools.wraps(seeded)
    def drawn(n: int, sizes: Tensor, rate: float, rng: Generator) -> Tensor:
        draw = _by_coins if isinstance(rng, Secret) else seeded
        return draw(n, sizes, rate, rng)

    return drawn


def _by_coins(n: int, sizes: Tensor, rate: float, rng: Generator) -> Tensor:
    """The same places by a coin for each record, of a probability that is `rate` at most."""
    every = torch.arange(n).expand(len(sizes), n)
    below = math.floor(rate * 2.0**53) / 2.0**53
    chosen = (uniform((len(sizes), n), rng) < below) & (every < sizes[:, None])
    width = max(1, int(chosen.sum(1).max()))
    return every.masked_fill(~chosen, n).sort(1).values[:, :width]
