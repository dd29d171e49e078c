"""Runs of other libraries, kept on this machine: one file each, whole or not there.

A file is checked and priced in a process of its own, with a limit of time, because its numbers are
somebody else's. What is kept is read again in the form of the schema.
"""

import functools
import json
import re
import secrets
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from engine import __version__
from engine.core import files, stored
from engine.core.errors import ExplorerError, RequestError, StoreError
from engine.core.home import home, private_folder
from engine.yours import forms, library_run
from engine.yours.library_run import LibraryRun

NAME = re.compile(r"library_[0-9a-f]{16}")
MOST = 100
"""Runs that are kept at most."""
SECONDS = 120.0
"""For pricing one run."""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class KeptRun:
    """A run that is kept.

    Attributes:
        name: Its name here.
        owner: Who has brought it; empty where everyone here may see it.
        run: The run.
        prices: Its ε by the claimed ε: as executed, and as if coins had drawn the batches.
    """

    name: str
    owner: str
    run: LibraryRun
    prices: dict[float, tuple[float, float]]


@dataclass(frozen=True)
class Body:
    """What a file holds: the run as it was brought, and its prices by this version."""

    program: str
    owner: str
    prices: tuple[tuple[float, float, float], ...]
    run: str


def folder() -> Path:
    """Where runs are kept."""
    return home() / "library"


def keep(content: bytes, owner: str = "") -> KeptRun:
    """Checks and prices a run with results, and keeps it; one that is kept already stays as it is.

    Args:
        content: The file, as `library_run.parsed` reads it.
        owner: Who has brought it.

    Raises:
        RequestError: It is none, has no results, takes too long to price, or is one too many.
        StoreError: There is no room to keep it.
    """
    run = library_run.parsed(content)
    if not run.points:
        raise RequestError("results: expected measured values for a curve, got none")
    known = {name: find(name) for name in names()}
    for one in known.values():
        if one is not None and (one.run, one.owner) == (run, owner):
            return one
    if len(known) >= MOST:
        raise RequestError(f"run: expected at most {MOST} that are kept: remove one first")
    name = f"library_{secrets.token_hex(8)}"
    _write(name, owner, content.decode("utf-8-sig"))
    found = find(name)
    assert found is not None
    return found


def _write(name: str, owner: str, text: str) -> None:
    """Prices a run and writes it."""
    body = Body(__version__, owner, _asked(text.encode()), text)
    try:
        private_folder(folder())
        files.write(_place(name), json.dumps(asdict(body)).encode())
    except OSError as error:
        raise StoreError(f"run: expected room to keep it, got {error}") from None


def _asked(content: bytes) -> tuple[tuple[float, float, float], ...]:
    """The prices of a run, from a process of its own."""
    command = [sys.executable, "-m", "engine.yours.kept_runs"]
    try:
        done = subprocess.run(
            command, input=content, cwd=ROOT, capture_output=True, timeout=SECONDS, check=True
        )
        return stored.read(tuple[tuple[float, float, float], ...], stored.parsed(done.stdout))
    except (subprocess.SubprocessError, ValueError):
        raise RequestError(
            f"run: expected numbers that are priced within {SECONDS:g} s, got others"
        ) from None


def names() -> tuple[str, ...]:
    """The runs that are kept here, in the order of their names."""
    try:
        return tuple(sorted(p.stem for p in folder().iterdir() if NAME.fullmatch(p.stem)))
    except OSError:
        return ()


def find(name: str) -> KeptRun | None:
    """A kept run; None where it is gone or damaged."""
    try:
        place = _place(name)
        return _read(place, place.stat().st_mtime_ns)
    except (OSError, ValueError, ExplorerError):
        return None


@functools.lru_cache(maxsize=MOST)
def _read(place: Path, changed: int) -> KeptRun:
    with place.open("rb") as file:
        body = stored.read(Body, stored.parsed(file.read(3 * forms.MOST)))
    if body.program != __version__:  # another version may price otherwise
        _write(place.stem, body.owner, body.run)
        return _read(place, place.stat().st_mtime_ns)
    run = library_run.parsed(body.run.encode())
    prices = {at: (proved, coins) for at, proved, coins in body.prices}
    if prices.keys() != run.points.keys():
        raise ValueError("prices of other budgets")
    return KeptRun(place.stem, body.owner, run, prices)


def remove(name: str) -> None:
    """Deletes a kept run.

    Raises:
        RequestError: There is none of that name.
    """
    if not NAME.fullmatch(name) or not _place(name).exists():
        known = ", ".join(names()) or "none is"
        raise RequestError(f"run: expected one that is kept here ({known}), got {name!r}")
    _place(name).unlink(missing_ok=True)


def owner(name: str) -> str | None:
    """Who has brought a run; None where there is none of that name."""
    found = find(name)
    return None if found is None else found.owner


def _place(name: str) -> Path:
    return (folder() / name).with_suffix(".json")


def main() -> None:
    """Prints the prices of the run on the standard input."""
    run = library_run.parsed(sys.stdin.buffer.read(forms.MOST + 1))
    prices = [
        [at, point.run.epsilon(), point.run.epsilon("poisson")] for at, point in run.points.items()
    ]
    print(json.dumps(prices))


if __name__ == "__main__":
    main()
