"""Arrays on disk: one .npz file each, named by the hash of its content, never unpickled."""

import hashlib
import io
import os
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.core import disk, files
from engine.core.errors import FullError, RequestError, StoreError
from engine.core.home import private_folder
from engine.method import Arrays

STATE = "state-"
"""Names of what a stopped run keeps for going on begin so."""
DONE = f"{STATE}done"
"""What every run that can go on keeps when it is stopped."""
ABANDONED = 3600.0
"""Seconds after which a half-written file is left over."""


@contextmanager
def written(folder: Path, arrays: Arrays) -> Iterator[tuple[Path, str]]:
    """Writes arrays to a passing file; the caller renames it, or it is removed.

    Yields:
        The file, whole and on the disk, and the SHA-256 of its content.

    Raises:
        StoreError: It cannot be written.
        FullError: The disk is full.
    """
    passing = folder / ".none"
    try:
        private_folder(folder)
        with tempfile.NamedTemporaryFile(
            dir=folder, prefix=files.writer(os.getpid()), suffix=files.PART, delete=False
        ) as file:
            passing = Path(file.name)
            np.savez(file, allow_pickle=False, **{k: np.asarray(v) for k, v in arrays.items()})
            file.flush()
            os.fsync(file.fileno())
        with passing.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield passing, digest
    except OSError as error:
        if disk.full(error):
            said = error.strerror or str(error)
            raise FullError(disk.sentence(folder, size(arrays), "arrays", said)) from error
        raise StoreError(
            f"{folder}: expected to write {disk.megabytes(size(arrays))} of arrays, got: "
            f"{error.strerror or error}"
        ) from error
    finally:
        with suppress(OSError):  # a folder that cannot be entered
            passing.unlink()


def tidy(folder: Path) -> list[Path]:
    """Removes what killed processes left half written, and returns it.

    What a living process of this machine writes stays, and for an hour what another machine does.
    """
    removed = []
    for part in sorted(folder.glob(f"*{files.PART}")):
        with suppress(OSError):
            if files.abandoned(part.name) or time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink()
                removed.append(part)
    return removed


def fitting(arrays: Arrays, rows: int) -> Arrays:
    """The same arrays, each with a row for every replica.

    Raises:
        RequestError: One has another number of rows, or none.
    """
    for name, array in arrays.items():
        shape = np.shape(array)
        if shape[:1] != (rows,):
            raise RequestError(
                f"array {name}: expected {rows} row{'' if rows == 1 else 's'}, one for each "
                f"replica, got {shape[0] if shape else 'a single value'}"
            )
    return arrays


def size(arrays: Arrays) -> int:
    """How many bytes arrays take."""
    return sum(np.asarray(array).nbytes for array in arrays.values())


def place(folder: Path, digest: str) -> Path:
    """Where the arrays of that digest are."""
    return folder / f"{digest}.npz"


def load(folder: Path, digest: str) -> dict[str, NDArray[np.generic]]:
    """The arrays of that digest.

    Raises:
        StoreError: The file is missing or damaged.
    """
    path = place(folder, digest)
    try:
        with path.open("rb") as raw:
            if hashlib.file_digest(raw, "sha256").hexdigest() != digest:
                raise ValueError("its content is not what was written")
            raw.seek(0)
            return unpacked(raw)
    except FileNotFoundError:
        raise StoreError(f"{path}: expected the arrays of a run, the file is missing") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise StoreError(
            f"{path}: expected the arrays of a run, the file is damaged ({error}): "
            "delete the run and repeat it"
        ) from error


def packed(arrays: Arrays) -> bytes:
    """Arrays as the bytes of one file."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{k: np.asarray(v) for k, v in arrays.items()})
    return file.getvalue()


def unpacked(content: bytes | BinaryIO) -> dict[str, NDArray[np.generic]]:
    """The arrays of one file, which has its own errors where it is damaged."""
    raw = io.BytesIO(content) if isinstance(content, bytes) else content
    with np.load(raw, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def single(arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Arrays as they ship: numbers of double precision in single precision."""
    made = {name: np.asarray(array) for name, array in arrays.items()}
    return {
        n: one.astype(np.float32) if one.dtype == np.float64 else one for n, one in made.items()
    }


def together(count: int, parts: list[tuple[list[int], NDArray[np.generic]]]) -> NDArray[np.generic]:
    """Parts of an array in the order of their rows; missing rows are NaN, or empty texts."""
    kind = np.result_type(*(part.dtype for _, part in parts))
    rows = {row for some, _ in parts for row in some}
    gaps = len(rows) < count and kind.kind in "biuf"
    shape = (count, *parts[0][1].shape[1:])
    whole = np.full(shape, np.nan) if gaps else np.zeros(shape, kind)
    for some, part in parts:
        whole[some] = part
    return whole
