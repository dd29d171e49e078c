"""Prints one table: what was measured, against whom, and whether it meets its target.

python -m benchmarks [survival service …]
"""

import importlib
import pkgutil
import sys

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.row import Row

VERDICT = {True: "yes", False: "no", None: ""}


def main(names: list[str]) -> None:
    """Runs the named benchmarks, or all of them, and prints their rows as they come."""
    known = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name not in ("row", "__main__")
    )
    wrong = [name for name in names if name not in known]
    if wrong:
        sys.exit(f"expected benchmarks among {', '.join(known)}, got {', '.join(wrong)}")
    table = Table("what", "ours", "peer", "peer / ours", "unit", "target", "met", "note")
    for name in names or known:
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            table.add_row(*cells(row))
    Console(width=180).print(table)


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts."""
    peer = "" if row.peer is None else f"{row.peer:.4g}"
    ratio = "" if row.peer is None or not row.ours else f"{row.peer / row.ours:.3g}"
    return (
        row.what,
        f"{row.ours:.4g}",
        peer,
        ratio,
        row.unit,
        row.target,
        VERDICT[row.ok],
        row.note,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
