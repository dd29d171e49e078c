"""Entries of the public registry of deployments that a user has taken to this machine.

The registry (registry.opendp.org) keeps one YAML file for each deployment and states no licence, so
no copy of them is a part of this program. What is kept here is what the page Learn shows of each
entry, with the date on which it was taken. Files of a zip are read within it, never written out.
"""

import json
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath

from engine.core import files, stored
from engine.core.errors import RequestError, StoreError
from engine.core.home import home, private_folder
from engine.yours import deployments, forms
from engine.yours.deployments import Deployment

ARCHIVE = "https://github.com/opendp/deployments-registry-data/archive/refs/heads/main.zip"
"""The registry's repository as one file."""
SECONDS = 20
"""For each answer of its host."""
FOLDER = "deployments"
"""Holds the entries in the repository; its other folders hold examples with mistakes."""
KINDS = (".yaml", ".yml")
MOST, ROOM = 1_000, 5_000_000
"""Files, and bytes in all, that are read at most; the registry has 50 files of 300 kB in all."""
LARGEST = 50_000_000
"""Bytes of a zip at most."""
LONG = 200
"""Letters of a text that are kept at most."""
UNREADABLE = (
    OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What reading a damaged, encrypted or vanished file raises."""
Files = Iterator[tuple[str, Path | zipfile.Path | None]]
"""Names and files; None where the name leads out of its archive."""


@dataclass(frozen=True)
class Taken:
    """What was taken from the registry.

    Attributes:
        date: The day, as YYYY-MM-DD.
        entries: The entries by organisation, without the parts that no page shows.
    """

    date: str
    entries: tuple[Deployment, ...]


def take(place: Path) -> tuple[Taken, list[str]]:
    """Reads the registry's files and keeps their entries in the place of earlier ones.

    Args:
        place: The folder of the repository or of its entries, a zip of either, or one YAML file.

    Returns:
        What is kept, and a sentence for each file that is left out.

    Raises:
        RequestError: There is no such place, it holds too much, or no entry that can be read.
        StoreError: There is no room to keep the entries.
    """
    if place.is_dir():
        return _keep(_in_folder(place))
    if place.suffix in KINDS and place.is_file():
        return _keep(iter([(place.name, place)]))
    with _archive(place) as archive:
        return _keep(_in_archive(archive))


def fetch() -> tuple[Taken, list[str]]:
    """Downloads the registry's archive and keeps its entries; as `take`.

    Raises:
        StoreError: The host gives no archive.
    """
    import pooch

    pooch.get_logger().setLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = pooch.retrieve(
                ARCHIVE, known_hash=None, fname="registry.zip", path=folder,
                downloader=pooch.HTTPDownloader(timeout=SECONDS),
            )  # fmt: skip
        except (OSError, ValueError) as error:  # requests' own errors are OSErrors
            raise StoreError(
                f"--fetch: expected an archive at {ARCHIVE}, got {type(error).__name__}: download "
                "it in a browser and name the file instead"
            ) from None
        return take(Path(found))


def forget() -> None:
    """Deletes what was taken.

    Raises:
        StoreError: The folder cannot be written.
    """
    try:
        _place().unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"{_place()}: expected a file that can be deleted, got: {error.strerror}"
        ) from None


def kept() -> Taken | None:
    """What was taken last; None where nothing was, or what is kept is damaged."""
    try:
        return _read(_place(), _place().stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4)
def _read(place: Path, changed: int) -> Taken:
    return stored.read(Taken, stored.parsed(place.read_bytes()))


def _place() -> Path:
    return home() / "deployments.json"


def _archive(place: Path) -> zipfile.ZipFile:
    """A zip, whose files are not read yet.

    Raises:
        RequestError: It is none, or too large.
    """
    try:
        if place.stat().st_size <= LARGEST:
            return zipfile.ZipFile(place)
        error: Exception = ValueError(f"more than {LARGEST / 1e6:g} MB")
    except UNREADABLE as found:
        error = found
    raise RequestError(
        f"deployments: expected a folder, a zip or a YAML file, got {place}: {error}"
    )


def _in_folder(place: Path) -> Files:
    """The entries of a folder, or of its folder of entries."""
    inner = place / FOLDER
    for file in sorted((inner if inner.is_dir() else place).iterdir()):
        if file.suffix in KINDS and file.is_file():
            yield file.name, file


def _in_archive(archive: zipfile.ZipFile) -> Files:
    """The entries of a zip: in its folder of entries, else above all folders or in the first.

    Of files with one name the last counts, as where a zip is unpacked.
    """
    names = [name for name in dict.fromkeys(archive.namelist()) if name.endswith(KINDS)]
    known = [(PurePosixPath(name), name) for name in names]
    inner = [pair for pair in known if pair[0].parts[-2:-1] == (FOLDER,)]
    for path, name in inner or known:
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            yield name, None
        elif len(path.parts) <= (3 if inner else 2):
            yield path.name, zipfile.Path(archive, name)


def _keep(found: Files) -> tuple[Taken, list[str]]:
    """Reads files, keeps what they hold, and says what is left out."""
    entries, left = list[Deployment](), list[str]()
    count = size = 0
    for name, file in found:
        try:
            content = _content(file)
            count, size = count + 1, size + len(content)
            if count > MOST or size > ROOM:
                break
            entries += map(_shown, deployments.read(content.decode("utf-8-sig")))
        except (RequestError, *UNREADABLE) as error:
            left.append(f"{stored.shown(name)}: {' '.join(str(error).split())}")
    if count > MOST or size > ROOM:
        raise RequestError(
            f"deployments: expected at most {MOST:,} files of {ROOM / 1e6:g} MB in all, got more"
        )
    if not entries:
        why = f"; {left[0]}" if left else ""
        raise RequestError(f"deployments: expected entries of the registry, got none{why}")
    entries.sort(key=lambda one: (one.who.casefold(), one.what.casefold()))
    taken = Taken(str(datetime.now(UTC).date()), tuple(entries))
    try:
        private_folder(home())
        files.write(_place(), json.dumps(asdict(taken)).encode())
    except OSError as error:
        raise StoreError(f"deployments: expected room to keep them, got {error}") from None
    return taken, left


def _content(file: Path | zipfile.Path | None) -> bytes:
    """What a file holds, or a byte more than an entry may have."""
    if file is None:
        raise RequestError("expected a name that stays in its archive, got one that does not")
    with file.open("rb") as opened:
        return opened.read(forms.MOST + 1)


def _shown(one: Deployment) -> Deployment:
    """What a page shows of an entry, on one line each and at no great length."""
    texts = {name: _short(getattr(one, name)) for name in ("who", "what", "epsilon", "unit")}
    sources = tuple((_short(title), url) for title, url in one.sources if len(url) <= LONG)
    return replace(one, **texts, sources=sources, told={})


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONG else f"{line[: LONG - 1]}…"
