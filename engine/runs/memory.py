"""How the process that trains gets its memory: kept for the next tensor, not handed back.

glibc returns a block of more than 128 KB to the system when it is freed and takes pages of
zeros for the next. A step frees and takes hundreds of such blocks, and the page faults cost
more than the arithmetic: small convolutions take a tenth of the time without them.
"""

import ctypes
import sys
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


@cache
def keep() -> bool:
    """Asks glibc to keep freed memory, once in a process; whether it is glibc and agreed."""
    if sys.platform != "linux":
        return False
    option = getattr(ctypes.CDLL(None), "mallopt", None)
    return option is not None and bool(option(MMAP_MAX, 0) and option(TRIM_THRESHOLD, KEPT))
