"""Finds a publisher's file, verifies it and returns its content.

A file is looked for in the folder named by EXPLORER_DATA, then in the cache of earlier
downloads (EXPLORER_CACHE, or the user's cache folder), then at its publisher. Only verified
bytes are returned, so what was checked is what a loader parses. Nothing is ever unpickled.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from datasets.base import Card
from engine.core.errors import DatasetError


class Carried(Protocol):
    """Records that carry their card."""

    @property
    def card(self) -> Card:
        """What they are."""


FOLDER_VARIABLE = "EXPLORER_DATA"
CACHE_VARIABLE = "EXPLORER_CACHE"
SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class File:
    """One file as its publisher offers it.

    Attributes:
        path: Place inside the data folder, without ".gz": both forms are accepted there.
        sha256: Checksum of the content: decompressed, and with plain line feeds where `text`.
            None where no published copy was at hand to take it from.
        urls: Addresses to download from, tried in turn; empty where no plain file is public.
        text: Whether the content is text, whose line ends differ between copies.
    """

    path: str
    sha256: str | None
    urls: tuple[str, ...] = ()
    text: bool = False


def local(path: str) -> Path | None:
    """Returns where `path` or its gzip lies in the folder of EXPLORER_DATA; None if absent."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    place = Path(folder).expanduser() / path
    candidates = (place, place.with_name(f"{place.name}.gz"))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), None)


def card_at_hand(
    path: str, read: Callable[[Path, int], Carried], simulated: Card, published: Card
) -> Card:
    """The card of a file that replaces a simulator once it lies in the folder.

    Args:
        path: Of the file, inside the folder.
        read: Reads it, from its place and the time of its last change.
        simulated: What holds without the file.
        published: What holds of a damaged one: a loader raises, and never falls back in silence.
    """
    place = local(path)
    if place is None:
        return simulated
    try:
        return read(place, place.stat().st_mtime_ns).card
    except DatasetError:
        return published


def fetch(file: File) -> bytes:
    """Returns the verified content of `file`, decompressed.

    Raises:
        DatasetError: The file is missing and cannot be downloaded, is damaged, or has another
            checksum than expected.
    """
    if (place := local(file.path)) is not None:
        return content(place, file)
    for url in file.urls:
        cached = _cache() / Path(file.path).parent / url.rsplit("/", 1)[-1]
        if os.path.isfile(cached):
            return _verified_download(cached, file)
    return _verified_download(_download(file), file)


def content(place: Path, file: File) -> bytes:
    """Returns what `place` holds, decompressed, once its checksum is that of `file`.

    Raises:
        DatasetError: It cannot be read, is a damaged gzip file, or has another checksum.
    """
    try:
        raw = place.read_bytes()
        plain = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{file.path}: expected a complete file at {place}, got a damaged or unreadable one "
            f"({type(error).__name__})"
        ) from error
    if file.text:
        plain = plain.replace(b"\r\n", b"\n")
    digest = hashlib.sha256(plain).hexdigest()
    if file.sha256 is not None and digest != file.sha256:
        raise DatasetError(
            f"{file.path}: expected content with SHA-256 {file.sha256}, got {digest} in {place}"
        )
    return plain


def _cache() -> Path:
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    import pooch

    return Path(pooch.os_cache("epsilon-explorer"))


def _verified_download(place: Path, file: File) -> bytes:
    """Like `content`, but a file that fails is removed so that the next call starts afresh."""
    try:
        return content(place, file)
    except DatasetError:
        with suppress(OSError):
            place.unlink()
        raise


def _download(file: File) -> Path:
    """Downloads from the first address that answers; `content` compares the checksum."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    reason = "there is no public address to download it from"
    for url in file.urls:
        try:
            place = pooch.retrieve(
                url,
                known_hash=None,
                fname=url.rsplit("/", 1)[-1],
                path=_cache() / Path(file.path).parent,
                downloader=pooch.HTTPDownloader(timeout=SECONDS),
            )
        except (OSError, ValueError) as error:  # requests' own errors are OSErrors
            reason = f"the download failed with {type(error).__name__}"
        else:
            return Path(place)
    raise DatasetError(
        f"{file.path}: expected it, or its .gz, in the folder named by {FOLDER_VARIABLE}, "
        f"got no such file and {reason}"
    )
