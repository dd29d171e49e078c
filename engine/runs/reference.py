"""Computed exhibits that ship with the project, so that a page is never empty.

`reference/<paper>/<exhibit>.json` holds the cells, the size, the version and the seconds it
took; `make reference` computes all of them again.
"""

import dataclasses
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import __version__, catalog
from engine.core import stored
from engine.core.errors import StoreError
from engine.runs import naming
from engine.runs.exhibit import Cell

FOLDER = naming.FOLDER


@dataclass(frozen=True, kw_only=True)
class Reference:
    """An exhibit as it was computed once.

    Attributes:
        cells: In reading order.
        full: Whether at full size; a quick look has fewer repetitions or a smaller data set.
        seconds: Time that the jobs took, whenever they ran.
        version: The engine that computed it.
        date: Day of the computation, as 2026-01-31.
        sources: Digest of the sources that computed it (`engine.runs.changes`); empty where
            there is nothing to run, or where an earlier version did not keep it.
    """

    cells: tuple[Cell, ...]
    full: bool
    seconds: float
    version: str
    date: str
    sources: str = ""


def save(
    paper: str,
    exhibit: str,
    cells: Sequence[Cell],
    *,
    full: bool,
    seconds: float,
    sources: str = "",
    folder: Path | None = None,
) -> Path:
    """Writes an exhibit's cells, one line each, so that a difference can be read.

    The defaults by which its runs are named are put on file with it (`engine.runs.naming`).

    Returns:
        The file.
    """
    date = time.strftime("%Y-%m-%d", time.gmtime())
    computed = Reference(
        cells=tuple(cells), full=full, seconds=round(seconds, 1), version=__version__, date=date,
        sources=sources,
    )  # fmt: skip
    path = _write(paper, exhibit, computed, folder or FOLDER)
    naming.record(catalog.paper(paper), folder or FOLDER)
    return path


def mark(paper: str, exhibit: str, sources: str, folder: Path | None = None) -> None:
    """Says of a shipped exhibit that other sources give the same numbers.

    Raises:
        StoreError: There is none, or it cannot be read.
    """
    kept = load(paper, exhibit, folder)
    if kept is None:
        raise StoreError(f"{exhibit}: expected an exhibit that ships, got none")
    _write(paper, exhibit, dataclasses.replace(kept, sources=sources), folder or FOLDER)


def _write(paper: str, exhibit: str, computed: Reference, folder: Path) -> Path:
    """Writes the file: the head in the first line, then a line for each cell."""
    path = folder / paper / f"{exhibit}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {name: value for name, value in vars(computed).items() if name != "cells"}
    lines = ",\n".join(
        "  " + json.dumps(plain(cell), ensure_ascii=False) for cell in computed.cells
    )
    text = json.dumps(head)[:-1] + f', "cells": [\n{lines}\n]}}\n'
    path.write_text(text, encoding="utf-8")
    return path


def load(paper: str, exhibit: str, folder: Path | None = None) -> Reference | None:
    """What was computed; None if nothing was.

    Raises:
        StoreError: The file is there and cannot be read.
    """
    path = (folder or FOLDER) / paper / f"{exhibit}.json"
    if not path.exists():
        return None
    try:
        return stored.read(Reference, stored.parsed(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: expected a computed exhibit, got {error}") from None


def plain(cell: Cell) -> dict[str, object]:
    """A cell as JSON values, to six digits; a number that is not finite is null."""
    return {
        name: (float(f"{value:.6g}") if math.isfinite(value) else None)
        if isinstance(value, float)
        else value
        for name, value in dataclasses.asdict(cell).items()
    }
