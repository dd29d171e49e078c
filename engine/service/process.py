"""Which process is which: its number together with its birth, since numbers are used again."""

import functools
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STALE = 5.0
"""Seconds without a heartbeat after which a process that cannot be looked at counts as dead.

A heartbeat lies so far in the future at most: all are read from one clock, and a later one is
damage.
"""


@dataclass(frozen=True)
class Process:
    """One process of one machine, for as long as the machine is up.

    Attributes:
        pid: Its number.
        born: Where it counts and when it began: "place/start"; the start is empty on
            systems that do not tell.
    """

    pid: int
    born: str

    def alive(self, beat: float, now: Callable[[], float]) -> bool:
        """Whether it still runs, as far as this process can know; what a damaged row says does not.

        Args:
            beat: The store's time at its last heartbeat, which decides when the process is in
                another container or the system does not tell when processes began.
            now: Reads the store's time.
        """
        try:
            place, _, start = self.born.rpartition("/")
            if start and place == _place():
                return _start(self.pid) == start
            return abs(now() - beat) < STALE
        except TypeError:
            return False


def stand_back(by: int) -> None:
    """Lets whatever else the machine does go before this process, by so much of a nice value.

    Linux may share the processor out among sessions first, and a nice value then counts within one
    session only. A process that has a session of its own lets the session stand back as well.
    """
    with suppress(AttributeError):  # Windows has no such thing
        os.nice(by)
        if os.getsid(0) == os.getpid():
            with suppress(OSError):  # nor have other systems, or containers that do not share so
                Path("/proc/self/autogroup").write_text(str(by))


@contextmanager
def handling(handlers: Mapping[signal.Signals, Any]) -> Iterator[bool]:
    """Sets handlers of signals, then restores the former ones; gives whether this thread may."""
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, one) for number, one in handlers.items() if here}
    try:
        yield here
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def here() -> Process:
    """The process that asks."""
    return _here(os.getpid())


@functools.cache
def _here(pid: int) -> Process:
    return Process(pid, f"{_place()}/{_start(pid)}")


@functools.cache
def _place() -> str:
    """What makes process numbers comparable: one boot of one machine, one namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return platform.node()


def _start(pid: int) -> str:
    """Clock ticks from boot to the birth of a process; empty if it is dead or unknown."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()  # the name before may hold spaces and brackets
    return "" if fields[0] in "ZX" else fields[19]
