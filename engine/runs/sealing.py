"""The folder of a release: whole or not there, and its noise is drawn once.

While a release is made, `.FOLDER.release` stands beside its folder, for this user alone. It holds
the request, and the released arrays from the moment when their noise is drawn. Once all files are
written there, they get their place by one rename. After a kill the same command goes on from what
it finds: arrays that are kept are written again, and no noise is drawn again.
"""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core import disk, files
from engine.core.errors import RequestError, StoreError
from engine.core.home import private_folder
from engine.method import Arrays
from engine.runs import artifacts

ARRAYS, CARD = "release.npz", "card.json"
REQUEST, MADE, LOCK, OF = "request.json", "made", "lock", "of"
LOST, STAYS = "the noise that was drawn is lost", " and its price stays in the ledger"
DRAWN, ENTERED = "the noise is drawn", " and its price is in the ledger"
AGAIN = "give the same command again, which costs no more"
"""What became of noise that was drawn for a release that cannot be written."""


@dataclass(frozen=True)
class Place:
    """Where a release is made, and where it goes.

    Attributes:
        folder: Where it goes: a folder that is new or empty.
        beside: Where it is made.
        ledger: Whether a ledger counts its price.
    """

    folder: Path
    beside: Path
    ledger: bool = False

    @property
    def made(self) -> Path:
        """What becomes the folder."""
        return self.beside / MADE

    def drawn(self) -> Arrays | None:
        """The arrays that an earlier process has drawn and not published; None if there are none.

        Raises:
            StoreError: They were kept and cannot be read any more.
        """
        for path in (self.made / ARRAYS, *sorted(self.made.glob(f".*{files.PART}"))):
            with suppress(OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
                return artifacts.unpacked(path.read_bytes())
        if (self.made / ARRAYS).exists():
            raise StoreError(
                f"{self.made / ARRAYS}: expected the arrays of a release that was begun, the file "
                "is damaged: take its budget as spent, and choose another folder"
            )
        return None

    @property
    def of(self) -> str:
        """The id of the job that the arrays were drawn for, as `keep` was told it."""
        return (self.beside / OF).read_text(encoding="utf-8")

    def keep(self, arrays: Arrays, of: str = "") -> None:
        """Keeps arrays whose noise has been drawn, before anything else is done with them.

        Args:
            arrays: What is released.
            of: The id of their job, where the request allows several.

        Raises:
            StoreError: They cannot be kept; then nobody has seen them.
        """
        try:
            self.put(arrays, of)
        except OSError as error:
            lost = f"{LOST}{STAYS * self.ledger}"
            raise StoreError(f"{_unwritten(self.folder, error)}; {lost}") from None

    def put(self, arrays: Arrays, of: str = "") -> None:
        """Writes arrays to their place.

        Raises:
            OSError: They cannot be written.
        """
        shutil.rmtree(self.made, ignore_errors=True)
        files.write(self.beside / OF, of.encode())
        self.made.mkdir()
        files.write(self.made / ARRAYS, artifacts.packed(arrays))

    def publish(self, write: Callable[[Path], list[Path]]) -> list[Path]:
        """Writes the other files and gives all of them their place by one rename.

        Args:
            write: Writes them into a folder, and returns them.

        Returns:
            Every file of the release, where it is now.

        Raises:
            OSError: They cannot be written; what is kept stays.
        """
        for part in self.made.glob(f".*{files.PART}"):
            part.replace(self.made / ARRAYS)
        written = [self.made / ARRAYS, *write(self.made)]
        shutil.copymode(written[-1], written[0])
        for path in written:
            with path.open("rb") as file:
                os.fsync(file.fileno())
        files.settle(self.made)
        with suppress(FileNotFoundError):
            self.folder.rmdir()
        self.made.rename(self.folder)
        files.settle(self.folder.parent)
        shutil.rmtree(self.beside, ignore_errors=True)
        return [self.folder / path.name for path in written]


def named(*parts: str) -> str:
    """The name of a request: what was asked for, and the card that its noise is drawn for."""
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


@contextmanager
def begun(folder: Path, job: str, command: str, *, ledger: bool = False) -> Iterator[Place]:
    """The place of a release, which no other process uses meanwhile.

    Args:
        folder: Where the release goes.
        job: The name of the request (`named`).
        command: The command line that asks for it.
        ledger: Whether a ledger counts its price.

    Raises:
        RequestError: The folder holds something, another release was begun for it, or another
            process makes it now.
        StoreError: The place cannot be made, or the release not written.
    """
    target = folder.absolute()
    if not target.name:
        raise RequestError(f"--to: expected a folder that holds nothing, got {folder}")
    place = Place(target, target.with_name(f".{target.name}.release"), ledger)
    try:
        _empty(place)
        private_folder(place.beside)
        with _locked(place):
            try:
                _same(place, job, command)
                yield place
            finally:
                if not any(place.made.glob("*")):  # nothing is drawn: nothing is left
                    shutil.rmtree(place.beside, ignore_errors=True)
    except OSError as error:
        make = "make space and " if disk.full(error) else ""
        told = f"; {DRAWN}{ENTERED * ledger}: {make}{AGAIN}"
        drawn = told if disk.found(place.made, "*") else ""
        raise StoreError(f"{_unwritten(folder, error)}{drawn}") from None


def _unwritten(folder: Path, error: OSError) -> str:
    """That a release cannot be written."""
    return f"{folder}: expected a folder to write, got: {error.strerror or error}"


def _empty(place: Place) -> None:
    """Stops a release into a folder that holds something; what is left of a whole one goes."""
    if not place.folder.exists():
        return
    names = [path.name for path in place.folder.iterdir()] if place.folder.is_dir() else ["no file"]
    if not names:
        return
    if not any(place.made.glob("*")):
        shutil.rmtree(place.beside, ignore_errors=True)
    half = (ARRAYS in names or CARD in names) and not _whole(place.folder)
    what = f"which holds {', '.join(sorted(names)[:3])}"
    what += ", a part of a release: take its budget as spent" if half else ""
    raise RequestError(
        f"release: expected a folder without a release or other files, got {place.folder}, {what}"
    )


def _whole(folder: Path) -> bool:
    """Whether arrays and card of a release are there: earlier versions could leave one alone."""
    return all((folder / name).is_file() and (folder / name).stat().st_size
               for name in (ARRAYS, CARD))  # fmt: skip


def _same(place: Place, job: str, command: str) -> None:
    """Notes the request; stops another one where noise was drawn for the first."""
    request = place.beside / REQUEST
    noted: Any = None
    with suppress(OSError, ValueError):
        noted = json.loads(request.read_text(encoding="utf-8"))
    drawn = any(place.made.glob("*"))
    if drawn and not (isinstance(noted, dict) and noted.get("job") == job):
        said = noted.get("command") if isinstance(noted, dict) else None
        got = f": finish it with `{said}`, or " if isinstance(said, str) else ": "
        if said == command:  # it has another card now
            got = " by the same command, as after an update: take its budget as spent, and "
        raise RequestError(
            f"release: expected the request that was begun for {place.folder}, whose noise is "
            f"drawn, got another{got}choose another folder"
        )
    files.write(request, json.dumps({"job": job, "command": command}).encode())


@contextmanager
def _locked(place: Place) -> Iterator[None]:
    """Keeps other processes out; the system lets go when this one ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows has another kind of lock; two people rarely share a folder
        yield
        return
    with (place.beside / LOCK).open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RequestError(
                f"release: expected a folder of its own, got {place.folder}, for which another "
                "process makes a release now"
            ) from None
        yield
