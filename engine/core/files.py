"""Files that are whole or not there, whenever the process that writes them is killed."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

PART = ".part"
"""What the name of a file ends with until it is whole."""


def write(path: Path, content: bytes) -> None:
    """Writes a file beside its place and renames it: others see the old one or the new one.

    Only this user can read the new file.

    Raises:
        OSError: It cannot be written; what was there before stays.
    """
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", suffix=PART, delete=False
    ) as file:
        passing = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(passing, path)
        except BaseException:
            with suppress(OSError):
                passing.unlink()
            raise
    settle(path.parent)


def settle(folder: Path) -> None:
    """Makes the names in a folder last through a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
