"""Which records of a labelled table are trained on and which are tested on. No torch.

One rule for price, training and page: it depends on the number of records alone, which is public.
"""

import numpy as np

from datasets.base import Integers

PUBLISHED = 10_000
"""Tables of more records come with their publisher's test part, and all of theirs train."""
HELD_OUT = 5
"""Of a smaller table one record in so many is tested on, and the others train."""


def trained(n: int) -> int:
    """How many of a table's n records are trained on: coins are thrown for these alone."""
    return n if n > PUBLISHED else n - n // HELD_OUT


def train_rows(n: int) -> Integers:
    """The rows that are trained on, in the order of their places, shape (trained(n),)."""
    return np.arange(n) if n > PUBLISHED else _order(n)[n // HELD_OUT :]


def held_out_rows(n: int) -> Integers:
    """The rows that are tested on, beside a publisher's test part."""
    return np.arange(0) if n > PUBLISHED else _order(n)[: n // HELD_OUT]


def _order(n: int) -> Integers:
    """A fixed order of n rows, the first fifth of which is tested on."""
    return np.random.default_rng(0).permutation(n)
