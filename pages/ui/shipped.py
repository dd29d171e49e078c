"""What pages open with and show after a first move: `python -m pages.ui.shipped [--write]`.

Without `--write` it lists what is not up to date. With it, it trains what is missing or was
computed by older code, and removes what no page opens with any more.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from engine.cli import shipping
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui import openings

OFTEN = 20
"""Coarse curves after which they are written: an interrupted call goes on there."""


def main() -> int:
    """Lists or writes the shipped runs; 1 if a run failed or is still to be trained."""
    parser = argparse.ArgumentParser(prog="python -m pages.ui.shipped", description=__doc__)
    parser.add_argument("--write", action="store_true", help="train what is not up to date")
    parser.add_argument("--to", type=Path, default=shipped.FOLDER, metavar="DIR", help="folder")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="at once; all cores"
    )
    arguments = parser.parse_args()
    whole, moves = openings.everything(), openings.moves()
    wanted = whole | moves
    todo = shipping.missing(wanted, arguments.to)
    surplus = shipping.unwanted(whole, arguments.to)
    print(f"{len(wanted)} runs: {len(todo)} to train, {len(surplus)} files to remove")
    if not arguments.write:
        for run, job in todo.items():
            print(f"{run} {job.paper} {job.method} on {job.dataset}")
        return int(bool(todo))
    for path in surplus:
        path.unlink()
    todo = shipping.missing(wanted, arguments.to)  # a whole run may be a coarse curve from now on
    lost = _train({run: job for run, job in todo.items() if run in whole}, arguments, arguments.to)
    lost += _train({run: job for run, job in todo.items() if run in moves}, arguments, None)
    shipping.pack(moves, {}, arguments.to)
    files = [path for path in arguments.to.rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.2f} MB")
    return int(lost > 0)


def _train(todo: Mapping[str, Job], arguments: argparse.Namespace, folder: Path | None) -> int:
    """Trains jobs and keeps what came of them; how many failed. Coarse curves go to one file."""
    began, lost, lines, moves = time.monotonic(), 0, dict[str, str](), openings.moves()
    trained = shipping.train(todo, folder, arguments.processes) if todo else ()
    for count, (run, error, line) in enumerate(trained, 1):
        job, lost = todo[run], lost + bool(error)
        lines |= {run: line} if line else {}
        if lines and (count % OFTEN == 0 or count == len(todo)):
            shipping.pack(moves, lines, arguments.to)
        at = f"{count} of {len(todo)}, {time.monotonic() - began:.0f} s"
        print(f"{at}: {run} {error or f'{job.paper} {job.method}'}", flush=True)
    return lost


if __name__ == "__main__":
    sys.exit(main())
