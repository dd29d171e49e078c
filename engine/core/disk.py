"""How much room a disk has, and the sentence that says that it is full."""

import errno
import math
import shutil
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system answers where a disk, or a user's share of it, is full."""


def full(error: OSError) -> bool:
    """Whether an error says that the disk is full."""
    return error.errno in FULL


def there(path: Path) -> bool:
    """Whether a file or folder is there, as far as this user can tell.

    What lies in a folder that may not be entered is not, nor is a name that no disk can hold.
    """
    try:
        return path.exists()
    except OSError:
        return False


def found(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder by a pattern of their names, sorted; none where it cannot be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def room(folder: Path) -> int:
    """Bytes that are free on the disk of a folder, or of the one that it would be made in."""
    while not there(folder) and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def sentence(
    folder: Path, needed: int, what: str, said: str = "it is full", *, runs: bool = True
) -> str:
    """That there is no room, how much is needed and how much is free.

    Where more is free than is needed, the system's own words stand in its place: a quota, or a disk
    that lacks something else than room.

    Args:
        folder: Where something was to be written.
        needed: Bytes that it takes.
        what: What was to be written.
        said: What the system said.
        runs: Whether runs can be deleted to make space.
    """
    free = room(folder)
    deleting = " or delete runs" if runs else ""
    begins = f"{folder}: expected {megabytes(needed)} of free space on the disk for {what}"
    if free <= needed:
        return f"{begins}, it is full ({megabytes(free)} free): make space{deleting}"
    return (
        f"{begins}, got: {said} ({megabytes(free)} free): check whether a quota is "
        f"used up{deleting and f',{deleting}'}"
    )


def megabytes(count: float) -> str:
    """Bytes for a sentence; below a tenth of a megabyte in kilobytes, rounded up."""
    if 0 < count < 1e5:
        return f"{math.ceil(count / 1e3)} kB"
    return f"{count / 1e6:,.1f} MB"
