"""Room that the store keeps for itself, so that deleting works on a disk that others have filled.

SQLite writes a removal into its log before anything is freed. A file of a few megabytes lies beside
the store; where the disk is full it goes first, and it comes back when there is room again.
"""

from pathlib import Path

from engine.core import disk
from engine.core.home import private_opener

NAME = ".spare"
SIZE = 4_000_000
"""Bytes: SQLite's log grows to about as much before it is played into the file."""
NEEDED = 2 * SIZE
"""Bytes that a store needs to go on: its log, and this file again."""

SLACK = 100_000
"""Bytes below which a disk has no room for a log."""


def keep(folder: Path, needed: int = NEEDED) -> None:
    """Puts the file there, unless it is there or the disk has no room for it.

    Args:
        folder: Where it lies.
        needed: Bytes that must be free before.
    """
    path = folder / NAME
    if path.exists() or disk.room(folder) < needed:
        return
    try:
        with open(path, "wb", opener=private_opener) as file:
            file.write(bytes(SIZE))  # a file with a hole in it would keep no room
    except OSError:
        path.unlink(missing_ok=True)


def give(folder: Path) -> bool:
    """Removes the file; whether it was there."""
    try:
        (folder / NAME).unlink()
    except OSError:
        return False
    return True
