"""One thread for work that is cut to fit a core's cache."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def single_thread() -> Iterator[None]:
    """Runs torch on one thread inside, and restores its number of threads after.

    A block of a megabyte gains little from a second core, and where cores are shared with other
    processes the two threads wait for each other: measured at a load of eight per core, one
    thread was thirty times faster.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
