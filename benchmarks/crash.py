"""Kills a process at each of its file operations, and looks at what it leaves."""

import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.core.errors import ExplorerError
from engine.service.database import Database

DIED = 9
MOST = 10_000
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.chmod"}
"""Events of Python's own that change a folder (PEP 578); `os.replace` is a rename too."""
WRITES = os.O_WRONLY | os.O_RDWR


@dataclass(frozen=True)
class Verb:
    """Something that a user can ask for, and what must hold wherever it is killed.

    Attributes:
        act: Does it, in a folder.
        wrong: What is wrong with the folder after a kill; empty if nothing is.
        before: Fills the folder beforehand.
    """

    act: Callable[[Path], object]
    wrong: Callable[[Path], Sequence[str]]
    before: Callable[[Path], object] = lambda folder: None


def at_every_point(name: str, verb: Verb, every: int = 1) -> tuple[int, list[str]]:
    """Kills a verb at each of its points, or at one in so many; kills and what was wrong."""
    kills, wrong = 0, list[str]()
    for point in range(1, MOST, every):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            verb.before(folder)
            child = os.fork()
            if child == 0:
                _until(point, partial(verb.act, folder))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            wrong += [f"{name}, point {point}: {one}" for one in verb.wrong(folder)]
        if code == 0:
            break  # it came to its end: there are no more points
        kills += 1
        if code != DIED:
            wrong.append(f"{name}, point {point}: ended with {code}")
            break
    return kills, wrong


def _until(point: int, act: Callable[[], object]) -> None:
    """Does something, and dies at the given point of it; never returns."""
    left = [point]

    def passed(*_: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os._exit(DIED)

    try:
        _watch(passed)
        act()
    except (ExplorerError, SystemExit):
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(2)
    os._exit(0)


def _watch(passed: Callable[..., None]) -> None:
    """Counts every statement and every operation that changes a file, before it is done."""
    connect = Database._connect

    def connected(self: Database, name: str) -> sqlite3.Connection:
        connection = connect(self, name)
        connection.set_trace_callback(passed)
        return connection

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        writing = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES
        if event in CHANGES or writing:
            passed()

    setattr(Database, "_connect", connected)  # noqa: B010  # a plain assignment is no method
    flush = os.fsync

    def flushed(file: int) -> None:
        passed()
        flush(file)

    setattr(os, "fsync", flushed)  # noqa: B010  # which Python does not tell of
    sys.addaudithook(heard)
