"""How the process that trains gets its memory: kept for the next tensor, not handed back.

glibc returns a block of more than 128 KB to the system when it is freed and takes pages of
zeros for the next. A step frees and takes hundreds of such blocks, and the page faults cost
more than the arithmetic: small convolutions take a tenth of the time without them. What is kept
grows with every kind of job, so a process that holds much hands all of it back between two jobs.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache

TRIM_THRESHOLD, MMAP_MAX = -1, -4
"""Numbers of the two parameters in glibc's malloc.h."""
KEPT = 1 << 30
"""Bytes at the end of the heap that stay with the process when they are free."""


def release() -> None:
    """Hands a graphics card's free memory back; it would stay with a process that waits."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.cuda.empty_cache()  # nothing where no card was used


def trim() -> bool:
    """Hands back all of the processor's memory that is free; whether there was any."""
    back = _glibc("malloc_trim")
    return back is not None and bool(back(0))


@cache
def keep() -> bool:
    """Asks glibc to keep freed memory, once in a process; whether it is glibc and agreed."""
    option = _glibc("mallopt")
    return option is not None and bool(option(MMAP_MAX, 0) and option(TRIM_THRESHOLD, KEPT))


def _glibc(name: str) -> Callable[..., int] | None:
    """A function of glibc; None where another library takes its place."""
    if sys.platform != "linux":
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    return found
