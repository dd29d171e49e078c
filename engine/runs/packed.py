"""Coarse curves that ship with the app, many in one file: `reference/defaults/<paper>.xz`.

Each line of JSON is a run: where its numbers come from, and its events with the last measurement of
each replica. No arrays are kept. The same runs give the same bytes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine.core.errors import StoreError
from engine.runs.events import Event, Finished, Measured, Spent, Started, encode
from engine.runs.shipped import EVENTS, ORIGIN, Origin, Shipped, index, packed, pressed, rounded


def line(origin: Origin, events: Iterable[Event]) -> str:
    """A run as a line."""
    told = [*last(events), Finished(origin.total, "completed", origin.diverged)]
    return _text(origin, [encode(event) for event in told])


def last(events: Iterable[Event]) -> Iterator[Event]:
    """The beginning and the prices, then the last measurement of each replica."""
    measured: dict[tuple[int, ...], Measured] = {}
    for event in events:
        if isinstance(event, Measured):
            measured[event.replicas] = event
        elif isinstance(event, Started | Spent):
            yield event
    yield from map(rounded, measured.values())


def _text(origin: Origin, events: Sequence[Mapping[str, Any]]) -> str:
    body = {ORIGIN: asdict(origin), EVENTS: list(events)}
    return json.dumps(body, separators=(",", ":"))


def mark(ships: Sequence[Shipped], sources: Mapping[str, str]) -> None:
    """Says of runs of one file, by id, that other sources give the same numbers."""
    path = ships[0].path
    marked = [
        replace(one, origin=replace(one.origin, sources=sources[one.job.id]))
        if one.job.id in sources
        else one
        for one in packed(path)
    ]
    write(path, lines(marked))
    index.cache_clear()


def write(path: Path, lines: Mapping[str, str]) -> None:
    """Writes the runs of a paper, by id; removes the file where there is none.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        if not lines:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(lines[run] for run in sorted(lines))
        packed = pressed(text)
        if not path.exists() or path.read_bytes() != packed:
            path.write_bytes(packed)
    except OSError as error:
        raise StoreError(f"{path}: expected to write runs, got: {error}") from None


def lines(ships: Sequence[Shipped]) -> dict[str, str]:
    """Runs as lines again, by id."""
    return {one.job.id: _text(one.origin, one.held or ()) for one in ships}
