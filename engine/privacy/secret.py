"""Randomness that nobody can draw again: uniform numbers from the operating system.

A run's ordinary generator is seeded from its public id, so that anyone can repeat its numbers. A
release of private records needs the opposite. torch's own generator would not do: it is a Mersenne
Twister, whose state can be worked out from enough of its output, and an attacker who knows all
records but one has that output up to a guess.
"""

import os

import numpy as np
import torch
from torch import Generator, Tensor

WORDS, BEGIN = 624, 24
"""Length of the state of torch's generator on a processor, and the byte at which it begins."""


class Secret(Generator):
    """A generator on the processor whose `uniform` numbers come from the operating system.

    What torch draws from it by itself (orders of records, starts that need not be secret) comes
    from a state that is filled by the operating system, all 19,968 bits of it, at every `refill`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refill()

    def refill(self) -> None:
        """Fills the state again; earlier draws reveal nothing about later ones."""
        self.manual_seed(int.from_bytes(os.urandom(8)) >> 1)
        state = self.get_state().numpy().copy()
        words = np.frombuffer(os.urandom(4 * WORDS), np.uint32).astype(np.uint64)
        state[BEGIN : BEGIN + 8 * WORDS] = words.view(np.uint8)
        self.set_state(torch.from_numpy(state))


def uniform(shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Multiples of 2^-53 in [0, 1), in double precision, from whatever `rng` stands for."""
    if not isinstance(rng, Secret):
        return torch.rand(shape, generator=rng, dtype=torch.float64, device=rng.device)
    bits = np.frombuffer(os.urandom(8 * int(np.prod(shape))), np.uint64) >> np.uint64(11)
    return torch.from_numpy(bits.astype(np.float64) * 2.0**-53).view(shape)
