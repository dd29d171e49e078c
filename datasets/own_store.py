"""Where tables of one's own are kept: one file each, whole or not there, with checksums.

A file begins with a line that names its form and the checksum and length of what follows: a head in
JSON, with the owner first, and the arrays. A table appears under its name by one renaming and goes
by one removal, so that a killed process leaves a whole table with its owner, or none. What such a
process leaves beside it is removed later.
"""

import contextlib
import functools
import hashlib
import io
import json
import os
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from datasets import packed
from datasets.base import Booleans, Card, Floats, Integers, LabelledTable, SurvivalTable
from engine.core import files, stored
from engine.core.errors import DatasetError
from engine.core.home import home, private_folder, private_opener

KEPT, PART, OWNER = ".table", files.PART, ".owner"
"""Endings: of a kept table, of one that is being written, and of the owner of one that is gone."""
FEATURES = "features"
"""Where trainings keep features of large tables of images, in the user's data folder."""
PREFIX = "own_"
"""How the name of a table of one's own begins."""
NAME = re.compile(rf"{PREFIX}[a-z0-9_]*[0-9a-f]{{8}}")
FORM = re.compile(rb"explorer table 1 ([0-9a-f]{64}) (\d{12})\n")
START = 17 + 64 + 1 + 12 + 1
LARGEST = 1e37
"""Bounds of a column of classes lie at most so far from 0."""
STEPS = 100
"""So many numbers of single precision lie between them at least."""
LONGER = 5e-13
"""Half of what survival regression allows for when it scales rows to length 1."""
LONGEST = 64_000_000
"""Bytes of a head at most."""
STALE = 600.0
"""Seconds after which nobody writes a part any more."""
NOBODY = "?"
"""The owner of a table whose owner cannot be read: nobody sees it."""
DAMAGED = (OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, zipfile.BadZipFile,
           NotImplementedError, OverflowError, RecursionError, MemoryError)  # fmt: skip
"""What a reader raises on damaged content."""


@dataclass(frozen=True)
class Words:
    """What the values of a table are called; nothing where an earlier version kept the table.

    Attributes:
        classes: The word of each class, in small letters.
        references: Of each feature, the category that it is compared with, which has no feature of
            its own; empty for a number, and where each category has one.
        fills: What stands for a blank in each feature: as it was stated, or else the middle of the
            public bounds, whether or not there are blanks.
        columns: Of each feature, its name before signs were left out of it, in small letters.
    """

    classes: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    fills: tuple[float, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Head:
    """What stands before the arrays of a table."""

    owner: str
    card: Card
    digest: str
    size: int
    words: Words = Words()


def folder() -> Path:
    """Where tables are kept."""
    return home() / "tables"


def names() -> tuple[str, ...]:
    """The tables that are kept, in the order of their names; what kills have left is removed."""
    try:
        found = [Path(one.path) for one in os.scandir(folder())]
    except OSError:
        return ()
    for file in found:
        with contextlib.suppress(OSError):
            if file.suffix == PART and time.time() - file.stat().st_mtime > STALE:
                file.unlink(missing_ok=True)
    stems = (file.stem for file in found if file.suffix == KEPT)
    return tuple(sorted(one for one in stems if NAME.fullmatch(one)))


def place(name: str) -> Path:
    """The file of a table, which may not be there."""
    return (folder() / name).with_suffix(KEPT)


def written(name: str, table: SurvivalTable | LabelledTable, owner: str, words: Words) -> Path:
    """Writes a table beside its place; `settle` puts it there.

    Raises:
        OSError: There is no room.
    """
    private_folder(folder())
    part = place(name).with_suffix(PART)
    arrays = packed.arrays(table)
    body = {"owner": owner, "card": packed.described(table.card), "words": asdict(words)}
    head = json.dumps({**body, "digest": "0" * 64, "size": "0" * 12}).encode()
    try:
        with open(part, "w+b", opener=private_opener) as file:
            file.seek(START + len(head))
            np.savez(file, allow_pickle=False, **arrays)
            size = file.seek(0, io.SEEK_END) - START - len(head)
            file.seek(START + len(head))
            head = json.dumps({**body, "digest": _digest(file), "size": f"{size:012}"}).encode()
            file.seek(0)
            file.write(b"explorer table 1 %s %012d\n" % (_hash(head), len(head)))
            file.write(head)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def settle(name: str) -> None:
    """Puts a table that has been written in its place."""
    os.replace(place(name).with_suffix(PART), place(name))


def earlier(name: str) -> str:
    """Another table that equals one in card, arrays and owner; the later copy is removed."""
    new = head(place(name))
    for other in (one for one in names() if one != name):
        with contextlib.suppress(DatasetError):  # a damaged one equals none
            old = head(place(other))
            if replace(old, card=replace(old.card, name=new.card.name)) == new:
                remove(name, cached=False)
                return other
    return name


def remove(name: str, cached: bool = True) -> None:
    """Deletes a table; whose it was is remembered, because runs on it stay.

    Args:
        name: Of the table.
        cached: Whether features of its records are deleted too, which a training keeps in a folder
            of their own. Their names do not tell whose they are, so all that are there go where the
            table may hold images: those of others are computed again.

    Raises:
        DatasetError: There is no room to note whose it was, or features cannot be deleted; the
            table stays.
    """
    where, whose = place(name), owner(name)
    if cached and _images(where):
        _forget(name)
    if whose not in ("", NOBODY):
        try:
            files.write(where.with_suffix(OWNER), whose.encode())
        except OSError as error:
            said = f"{name}: expected room to note whose table it was, got {error.strerror}"
            raise DatasetError(said) from None
    for end in (KEPT, PART):
        where.with_suffix(end).unlink(missing_ok=True)


def _images(where: Path) -> bool:
    """Whether a kept table may hold images: a damaged one may."""
    try:
        return where.exists() and head(where).card.image is not None
    except DatasetError:
        return True


def _forget(name: str) -> None:
    """Deletes the features that trainings have kept, and parts of them.

    Raises:
        DatasetError: They cannot be deleted.
    """
    try:
        for file in (home() / FEATURES).glob("*"):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise DatasetError(
            f"{name}: expected to delete the features of its records in {home() / FEATURES}, got "
            f"{error.strerror}"
        ) from None


def owner(name: str) -> str:
    """Who has brought a table, also after it is gone; empty where everyone here may see it."""
    where = place(name)
    try:
        if where.exists():
            return head(where).owner
        return where.with_suffix(OWNER).read_text(encoding="utf-8") or NOBODY
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, DatasetError):
        return NOBODY


def head(where: Path) -> Head:
    """What stands before the arrays of a kept table.

    Raises:
        DatasetError: It is damaged.
    """
    try:
        return _head(where, where.stat().st_mtime_ns)
    except DAMAGED as error:
        raise damaged(where.stem, "card") from error


@functools.lru_cache(maxsize=256)
def _head(where: Path, changed: int) -> Head:
    with where.open("rb") as file:
        found = FORM.fullmatch(file.read(START))
        if found is None or int(found[2]) > LONGEST:
            raise ValueError("no table of this form")
        text = file.read(int(found[2]))
        if _hash(text) != found[1]:
            raise ValueError("a checksum that does not fit")
        body = json.loads(text)
        size = int(body["size"])
        if file.seek(0, io.SEEK_END) != START + len(text) + size:
            raise ValueError("a length that does not fit")
    words = stored.read(Words, body["words"]) if "words" in body else Words()
    return Head(str(body["owner"]), packed.card(body["card"]), str(body["digest"]), size, words)


def load(where: Path) -> SurvivalTable | LabelledTable:
    """A kept table.

    Raises:
        DatasetError: It is damaged, or has bounds that an earlier version admitted.
    """
    with _arrays(where, whole=True) as held:
        table = packed.table(head(where).card, {key: held[key] for key in held.files})
    if not _scales(table):
        raise DatasetError(
            f"{where.stem}: expected bounds that records can be scaled by, got some too large or "
            f"too close: remove it (table remove {where.stem}) and add the file again"
        )
    return table


@contextlib.contextmanager
def _arrays(where: Path, whole: bool = False) -> Iterator[Any]:
    """The arrays of a kept table by their names, each of them read when it is asked for.

    Args:
        where: Its file.
        whole: Whether all of it is read first, to compare its checksum.

    Raises:
        DatasetError: It is damaged.
    """
    known = head(where)
    try:
        with where.open("rb") as file:
            file.seek(-known.size, io.SEEK_END)
            if whole and _digest(file) != known.digest:
                raise ValueError("a checksum that does not fit")
            file.seek(-known.size, io.SEEK_END)
            with np.load(file, allow_pickle=False) as held:
                yield held
    except DAMAGED as error:
        raise damaged(where.stem, "arrays") from error


def _scales(table: SurvivalTable | LabelledTable) -> bool:
    """Whether records can be scaled by the bounds of a table."""
    if isinstance(table, LabelledTable):
        return bool(single(*table.bounds).all())
    bounds = table.card.bounds
    return bounds is None or bool(centred(*np.array(bounds.covariates, np.float64).T).all())


def single(low: Floats, high: Floats) -> Booleans:
    """By which bounds a column of classes can be scaled.

    Methods do so in single precision, in which they have to be numbers, and their difference a
    normal one above 0.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        span = np.asarray(high, np.float32) - np.asarray(low, np.float32)
    near = np.maximum(np.abs(low), np.abs(high)) <= LARGEST
    return np.asarray(near & (span >= np.finfo(np.float32).tiny), np.bool_)


def fine(low: Floats, high: Floats) -> Booleans:
    """Which bounds a column of classes may have: single precision keeps values between them apart.

    Of seconds since 1970 it holds every 128th alone. A table that is kept already may have any
    bounds that it can be scaled by (`single`).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float32)
        apart = np.subtract(high, low) >= STEPS * np.spacing(largest)
    return np.asarray(single(low, high) & apart, np.bool_)


def centred(low: Floats, high: Floats) -> Booleans:
    """Which bounds a covariate of a survival table may have.

    Methods take their middle from a value and divide by their difference, in double precision. What
    is left may be longer than one half by less than they allow for.
    """
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    longest = np.maximum(high - middle, middle - low)
    return np.asarray((longest <= half * (1.0 + LONGER)) & (half > 0.0), np.bool_)


def varies(where: Path) -> bool:
    """Whether a kept table has covariates that vary in time: by the names of its arrays.

    Raises:
        DatasetError: It is damaged.
    """
    with _arrays(where) as held:
        return any(key.startswith("course_") for key in held.files)


def labels(where: Path) -> tuple[Integers, Integers]:
    """The classes of the rows of a kept table, and of those that are set aside for tests.

    Raises:
        DatasetError: It is damaged, or holds no classes.
    """
    beside = f"{packed.TEST}y"
    with _arrays(where) as held:
        return held["y"], held[beside] if beside in held else np.zeros(0, np.int64)


def damaged(name: str, what: str) -> DatasetError:
    """The sentence on a table that cannot be read."""
    return DatasetError(
        f"{name}: expected the {what} of a table, got damaged ones: remove it "
        f"(table remove {name}) and add the file again"
    )


def _digest(file: IO[bytes]) -> str:
    code = hashlib.sha256()
    while block := file.read(1 << 20):
        code.update(block)
    return code.hexdigest()


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
