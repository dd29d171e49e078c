"""Prints one table: what was measured, against whom, and whether it meets its target.

python -m benchmarks [survival service …] [--json]
"""

import dataclasses
import importlib
import json
import math
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.row import Row

JSON = "--json"
VERDICT = {True: "yes", False: "no", None: ""}


def main(names: list[str]) -> None:
    """Runs the named benchmarks, or all of them, and prints their rows; `--json` as JSON.

    Each row goes to standard error as soon as it is measured: some take an hour in all.
    """
    as_json, names = JSON in names, [name for name in names if name != JSON]
    known = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name not in ("row", "peers", "visitors", "gpu", "__main__")
    )
    wrong = [name for name in names if name not in known]
    if wrong:
        sys.exit(f"expected benchmarks among {', '.join(known)}, got {', '.join(wrong)}")
    table = Table("what", "ours", "peer", "peer / ours", "unit", "target", "met", "note")
    done: list[Row] = []
    for name in names or known:
        done += told(measured(name), sys.stderr)
    for row in done:
        table.add_row(*cells(row))
    if as_json:
        print(json.dumps(list(map(plain, done)), indent=1, allow_nan=False))
        return
    console = Console(width=180)
    console.print(table)
    console.print(summary(done))


def measured(name: str) -> Iterator[Row]:
    """The rows of one benchmark as they come; if it breaks, one more says why, as unmet."""
    try:
        yield from importlib.import_module(f"benchmarks.{name}").rows()
    except Exception as error:
        yield Row.missing(
            name, "every target that is not above", f"{type(error).__name__}: {error}"
        )


def told(rows: Iterable[Row], file: TextIO) -> Iterator[Row]:
    """The same rows, each printed as it comes."""
    for row in rows:
        print(*cells(row), sep=" | ", file=file, flush=True)
        yield row


def plain(row: Row) -> dict[str, Any]:
    """A row for JSON, which has neither NaN nor infinity.

    A figure is None where nothing was measured, or where it was not there in time.
    """
    known = dataclasses.asdict(row) | {"ran": row.ran}
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in known.items()
    }


def summary(rows: list[Row]) -> str:
    """How many targets were met; one that was not measured is not met."""
    targets = [row for row in rows if row.target]
    absent = sum(not row.ran for row in targets)
    met = sum(row.ok is True for row in targets)
    missed = len(targets) - met - absent
    return f"{len(targets)} targets: {met} met, {missed} missed, {absent} not measured (unmet)"


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts."""
    peer = "" if row.peer is None else f"{row.peer:.4g}"
    ratio = "" if row.peer is None or not row.ours else f"{row.peer / row.ours:.3g}"
    return (
        row.what,
        f"{row.ours:.4g}" if row.ran else "not measured",
        peer,
        ratio,
        row.unit,
        row.target,
        VERDICT[row.ok],
        row.note,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
