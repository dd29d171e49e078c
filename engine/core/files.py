"""Files that are whole or not there, whenever the process that writes them is killed."""

import hashlib
import os
import platform
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.core.errors import RequestError

PART = ".part"
"""What the name of a file ends with until it is whole."""
SHARED = 0o666
"""The rights that a program asks for by default; the user's mask takes some away."""


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Writes a file beside its place and renames it: others see the old one or the new one.

    Args:
        path: The file.
        content: What it will hold.
        mode: Its rights, before the user's mask; without it only this user can read the file.

    Raises:
        OSError: It cannot be written; what was there before stays.
    """
    passing = path.with_name(f"{_begins(path)}{writer(os.getpid())}{secrets.token_hex(4)}{PART}")
    try:
        with open(passing, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(passing, path)
    except BaseException:
        with suppress(OSError):
            passing.unlink()
        raise
    settle(path.parent)


@contextmanager
def asked(path: Path, what: str = "file") -> Iterator[None]:
    """Says in one sentence that what somebody asked for by --to cannot be written.

    Raises:
        RequestError: Instead of an `OSError`.
    """
    try:
        yield
    except OSError as error:
        said = error.strerror or error
        raise RequestError(
            f"--to: expected a {what} that can be written, got {path}: {said}"
        ) from None


def give(path: Path, content: bytes) -> None:
    """Writes a file that somebody asked for by name, and removes what a killed attempt has left.

    A link keeps leading to its file. What is no file, such as a pipe, is written to as it is.

    Raises:
        OSError: It cannot be written; a file that was there before stays.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    with suppress(OSError):
        for part in path.parent.iterdir():
            if part.name.startswith(_begins(path)) and abandoned(part.name[len(_begins(path)) :]):
                part.unlink()
    write(path, content, stat.S_IMODE(path.stat().st_mode) if path.exists() else SHARED)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of one, which is the old one or the new one meanwhile.

    A process that is killed may leave `.FOLDER.new.part` or `.FOLDER.old.part` beside it, which the
    next one removes. Between two renames the folder is not there for a moment: of a process that is
    killed then, the next one puts `.FOLDER.old.part` back first.

    Raises:
        OSError: It cannot be written; the old one stays.
    """
    target = folder.absolute()
    new, old = (target.with_name(f".{target.name}.{kind}{PART}") for kind in ("new", "old"))
    _put_back(old, target)
    for left in (new, old):
        if left.exists():
            shutil.rmtree(left)
    new.mkdir(parents=True)
    try:
        yield new
        if target.exists():
            target.rename(old)
        new.rename(target)
    finally:
        _put_back(old, target)
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)
    settle(target.parent)


def _put_back(old: Path, target: Path) -> None:
    """Gives a folder that was moved aside its name again, where nothing has taken its place."""
    if old.exists() and not target.exists():
        old.rename(target)


def _begins(path: Path) -> str:
    """How the names of a file's passing files begin; short, since names have a longest length."""
    return f".{path.name[:40]}."


def writer(process: int) -> str:
    """The part of a passing file's name that tells which process writes it."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    return f"{machine}-{process}-"


def abandoned(name: str) -> bool:
    """Whether a passing file is one of a process of this machine that is gone.

    Args:
        name: Its name from the place on where `writer` stands.
    """
    number = name.split("-")[1] if name.count("-") >= 2 else ""
    if os.name == "nt" or not number.isdecimal() or not name.startswith(writer(int(number))):
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # somebody else's, so alive
        return False
    return False


def settle(folder: Path) -> None:
    """Makes the names in a folder last through a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
