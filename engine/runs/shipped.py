"""Runs that ship with the app: what every page opens with, trained beforehand.

`reference/defaults/<paper>/<id>.xz` holds lines of JSON: first where the numbers come from, then
the events of the run, thinned. `<id>.npz` beside it holds the arrays that are small enough.
`reference/defaults/<paper>.xz` holds coarse curves: each line is a run, with the last measurement
of each replica and no arrays. The same runs give the same bytes.
A run in the user's own store always goes before one that ships.
"""

import functools
import io
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from engine import catalog
from engine.core import stored
from engine.core.errors import ExplorerError, StoreError
from engine.core.kept import declared
from engine.runs import artifacts
from engine.runs.events import Event, Finished, Measured, Produced, Spent, Started, decode, encode
from engine.runs.job import Job
from engine.runs.reference import FOLDER as REFERENCE

FOLDER = REFERENCE / "defaults"
STEPS = 24
"""Measurements of a replica that are kept: the first, the last and others evenly between."""
COURSES = 10
"""Repetitions of each setting whose every measurement is kept; of all others the last is."""
DIGITS = 6
"""Significant figures of a measure."""
ROOM = 120_000
"""Bytes of a run's arrays, compressed: with more, fewer repetitions are kept."""
FEWER = (10, 5, 3, 2, 1)
"""Repetitions of each setting whose arrays are kept, from the most that fit."""
ROWS = "rows"
"""Name under which the file of arrays holds the replicas that its rows belong to."""

ORIGIN, EVENTS = "origin", "events"
"""What a line of a file holds that many runs share."""

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a shipped run comes from.

    Attributes:
        job: The job, as text.
        device: The kind of device that trained it.
        threads: How many threads trained it.
        seconds: How long that took.
        finished: Unix time of its end.
        total: Steps that were taken.
        diverged: Replicas that diverged.
        sources: Fingerprint of the code that computed it (`engine.runs.changes.sources`).
        software: Versions of the libraries, by name.
    """

    job: str
    device: str
    threads: int
    seconds: float
    finished: float
    total: int
    diverged: tuple[int, ...]
    sources: str
    software: dict[str, str]


@dataclass(frozen=True)
class Shipped:
    """A run that ships with the app.

    Attributes:
        job: The request.
        origin: Where its numbers come from.
        path: The file of its events.
        held: Its events, where many runs share a file: a coarse curve.
    """

    job: Job
    origin: Origin
    path: Path
    held: tuple[dict[str, Any], ...] | None = field(default=None, compare=False)

    def events(self) -> list[Event]:
        """What the run said, thinned.

        Raises:
            StoreError: The file is damaged.
        """
        try:
            bodies = list(_lines(self.path))[1:] if self.held is None else self.held
            return [decode(body) for body in bodies]
        except ValueError as error:
            raise StoreError(f"{self.path}: expected the events of a run, got {error}") from None

    def arrays(self) -> tuple[list[int], Arrays]:
        """The replicas whose arrays are kept, and the arrays; none of either as a rule says so.

        Raises:
            StoreError: The file is damaged.
        """
        path = self.path.with_suffix(".npz")
        if self.held is not None or not path.exists():
            return [], {}
        try:
            held = artifacts.unpacked(path.read_bytes())
            rows = [int(row) for row in held.pop(ROWS)]
            return rows, {name: _every(part, len(rows)) for name, part in held.items()}
        except (OSError, ValueError, EOFError, KeyError, TypeError, BadZipFile) as error:
            raise StoreError(f"{path}: expected the arrays of a run, got {error}") from None


def _every(part: NDArray[np.generic], count: int) -> NDArray[np.generic]:
    """A row for each replica, also where one row stands for all."""
    return np.broadcast_to(part, (count, *part.shape[1:])) if len(part) == 1 else part


def find(run: str, folder: Path | None = None) -> Shipped | None:
    """The shipped run of that id; None if none ships."""
    return index(folder or FOLDER).get(run)


@functools.cache
def index(folder: Path) -> dict[str, Shipped]:
    """Every shipped run by its id, which today's code works out; read once.

    Files that this version cannot read are left out: the page then trains as if none shipped.
    """
    shipped = {one.job.id: one for path in sorted(folder.glob("*.xz")) for one in packed(path)}
    for path in sorted(folder.glob("*/*.xz")):
        try:
            job, origin = opened(next(_lines(path)))
        except (ExplorerError, StopIteration, ValueError):
            continue
        shipped[job.id] = Shipped(job, origin, path)
    return shipped


def packed(path: Path) -> list[Shipped]:
    """The runs of a file that many share; those that this version cannot read are left out.

    A damaged file has none.
    """
    found = []
    try:
        bodies = list(_lines(path))
    except StoreError:
        return []
    for body in bodies:
        try:
            job, origin = opened(body[ORIGIN])
            held = tuple(dict(event) for event in body[EVENTS])
        except (ExplorerError, LookupError, TypeError, ValueError):
            continue
        found.append(Shipped(job, origin, path, held))
    return found


def opened(head: dict[str, Any]) -> tuple[Job, Origin]:
    """A job and where its numbers come from, as a file says it.

    Raises:
        ExplorerError: This version cannot read it.
        ValueError: The same.
    """
    origin = stored.read(Origin, head)
    job = Job.read(origin.job)
    job.batch()
    return job, origin


def save(
    origin: Origin, events: Sequence[Event], arrays: Arrays, folder: Path | None = None
) -> Path:
    """Writes a run, thinned; the same run gives the same bytes.

    Returns:
        The file of its events.

    Raises:
        StoreError: It cannot be written.
    """
    job = Job.read(origin.job)
    path = (folder or FOLDER) / job.paper / f"{job.id}.xz"
    rows, kept = fitting(arrays, job)
    reported = list(thinned(events, job))
    if kept:
        reported.append(Produced(origin.total, "shipped", "", tuple(rows)))
    reported.append(Finished(origin.total, "completed", origin.diverged))
    write(path, map(_text, [asdict(origin), *map(encode, reported)]))
    beside = path.with_suffix(".npz")
    try:
        if kept:
            beside.write_bytes(_packed(rows, kept))
        else:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: expected to write a run, got: {error}") from None
    return path


def mark(ships: Sequence[Shipped], sources: Mapping[str, str]) -> None:
    """Says of runs of one file, by id, that other sources give the same numbers.

    Raises:
        StoreError: The file is damaged or cannot be written.
    """
    path, alone, marked = ships[0].path, ships[0].held is None, list[Shipped]()
    for one in ships if alone else packed(path):
        digest = sources.get(one.job.id, one.origin.sources)
        marked.append(replace(one, origin=replace(one.origin, sources=digest)))
    if alone:
        _, *bodies = _lines(path)
        write(path, map(_text, [asdict(marked[0].origin), *bodies]))
    else:
        write(path, [text for _, text in sorted(lines(marked).items())])
    index.cache_clear()


def lines(ships: Iterable[Shipped]) -> dict[str, str]:
    """Runs of a file that many share as lines again, by id."""
    return {one.job.id: _line(one.origin, one.held or ()) for one in ships}


def line(origin: Origin, events: Iterable[Event]) -> str:
    """A run as a line of a file that many share."""
    told = thinned(events, Job.read(origin.job), courses=0)
    over = Finished(origin.total, "completed", origin.diverged)
    return _line(origin, map(encode, [*told, over]))


def _line(origin: Origin, events: Iterable[Mapping[str, Any]]) -> str:
    return _text({ORIGIN: asdict(origin), EVENTS: list(events)})


def _text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, separators=(",", ":"))


def write(path: Path, lines: Iterable[str]) -> None:
    """Writes lines as a file that LZMA has pressed; removes it where there are none.

    LZMA needs seven tenths of the room of gzip.

    Raises:
        StoreError: It cannot be written.
    """
    text = "\n".join(lines)
    try:
        if not text:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        content = lzma.compress(text.encode(), preset=lzma.PRESET_EXTREME | 6)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    except OSError as error:
        raise StoreError(f"{path}: expected to write runs, got: {error}") from None


def thinned(events: Iterable[Event], job: Job, courses: int = COURSES) -> Iterator[Event]:
    """The beginning, at most STEPS measurements of some repetitions, and the prices.

    Of further repetitions the last measurement is kept.

    Args:
        events: What the run said.
        job: Its job.
        courses: How many repetitions keep more than the last measurement.
    """
    measured: dict[tuple[int, ...], list[Measured]] = {}
    for event in events:
        if isinstance(event, Measured):
            measured.setdefault(event.replicas, []).append(event)
        elif isinstance(event, Started | Spent):
            yield event
    for rows, some in measured.items():
        first = [place for place, row in enumerate(rows) if row % len(job.seeds) < courses]
        *early, last = np.unique(np.linspace(0, len(some) - 1, STEPS).round().astype(int))
        for place in early if first else ():
            yield rounded(_only(some[place], first))
        yield rounded(some[last])


def _only(event: Measured, places: Sequence[int]) -> Measured:
    """A measurement of some of its replicas."""
    values = {name: tuple(column[i] for i in places) for name, column in event.values.items()}
    return Measured(event.step, tuple(event.replicas[i] for i in places), values)


def rounded(event: Measured) -> Measured:
    """A measurement with DIGITS significant figures."""
    values = {
        name: tuple(None if v is None else float(f"{v:.{DIGITS}g}") for v in column)
        for name, column in event.values.items()
    }
    return Measured(event.step, event.replicas, values)


def fitting(arrays: Arrays, job: Job) -> tuple[list[int], Arrays]:
    """As many repetitions as fit into ROOM, in single precision; then without the largest arrays.

    Those that no page draws are the first to go. An array that is the same in every replica is
    kept once, with a single row.

    Args:
        arrays: With a row for each replica.
        job: Their job: its seeds vary fastest.

    Returns:
        The replicas that are kept, and their arrays.
    """
    single = artifacts.single(arrays)
    seeds = np.arange(job.replicas()) % len(job.seeds)
    rows = np.flatnonzero(seeds < 1)
    for count in (len(job.seeds), *(n for n in FEWER if n < len(job.seeds))):
        rows = np.flatnonzero(seeds < count)
        kept = {name: _once(part[rows]) for name, part in single.items()}
        if len(_packed(rows.tolist(), kept)) <= ROOM:
            return rows.tolist(), kept
    while kept and len(_packed(rows.tolist(), kept)) > ROOM:
        aside = [name for name in kept if not _drawn(job, name)]
        del kept[max(aside or kept, key=lambda name: kept[name].nbytes)]
    return rows.tolist(), kept


def _drawn(job: Job, name: str) -> bool:
    """Whether a page draws an array; one that nobody has declared may be drawn."""
    one = declared(catalog.paper(job.paper).arrays, name)
    return one is None or one.drawn


def _once(part: NDArray[np.generic]) -> NDArray[np.generic]:
    """The first row alone where all rows are the same."""
    return part[:1] if len(part) > 1 and (part == part[:1]).all() else part


def _packed(rows: Sequence[int], arrays: Arrays) -> bytes:
    """The file of arrays, as `np.load` reads it; by LZMA, which needs a twentieth less room."""
    file = io.BytesIO()
    with ZipFile(file, "w") as whole:
        for name, array in {ROWS: np.array(rows, np.int64), **arrays}.items():
            entry = ZipInfo(f"{name}.npy")
            entry.compress_type = ZIP_LZMA
            with whole.open(entry, "w") as part:
                np.lib.format.write_array(part, array, allow_pickle=False)
    return file.getvalue()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file of events, one by one."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield stored.read(dict[str, Any], stored.parsed(line))
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise StoreError(f"{path}: expected the events of a run, got {error}") from None
