"""Independent parts of a pass side by side, each on one core.

An operation that is spread over the cores waits for the slowest of them each time; a pass
over small maps has tens of thousands of operations. Parts of the records need not wait for
each other, and a part's numbers are the same on any number of cores.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import torch

Part = TypeVar("Part")


def spread(work: Callable[[Part], object], parts: Iterable[Part]) -> None:
    """Does `work` on every part, as many at a time as torch has threads.

    Raises:
        Exception: What `work` raised on the first part that failed.
    """
    threads = torch.get_num_threads()

    def alone(part: Part) -> None:
        with torch.no_grad():  # a thread has its own switch
            work(part)

    if threads == 1:
        for part in parts:
            alone(part)
        return
    try:
        for _ in _helpers(threads).map(alone, parts):
            pass
    finally:
        torch.set_num_threads(threads)  # a new helper's number has become everyone's


@cache
def _helpers(count: int) -> ThreadPoolExecutor:
    """Threads that stay: new ones for each pass cost a tenth of its time."""
    return ThreadPoolExecutor(count, "part", _begin)


def _begin() -> None:
    """Gives a new thread one core. Torch reads the number once in each thread: here, not later."""
    torch.set_num_threads(1)
    torch.get_num_threads()
