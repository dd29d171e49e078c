"""What every page opens with, trained beforehand: `python -m pages.ui.shipped [--write]`.

Without `--write` it lists what is up to date. With it, it trains what is missing or was computed
by older code, and removes what no page opens with any more.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from engine.cli import shipping
from engine.runs import shipped
from pages.ui import openings


def main() -> int:
    """Lists or writes the shipped runs; 1 if a run failed."""
    parser = argparse.ArgumentParser(prog="python -m pages.ui.shipped", description=__doc__)
    parser.add_argument("--write", action="store_true", help="train what is not up to date")
    parser.add_argument("--to", type=Path, default=shipped.FOLDER, metavar="DIR", help="folder")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="at once; all cores"
    )
    arguments = parser.parse_args()
    wanted = openings.everything()
    todo = shipping.missing(wanted, arguments.to)
    surplus = shipping.unwanted(wanted, arguments.to)
    print(f"{len(wanted)} runs: {len(todo)} to train, {len(surplus)} files to remove")
    if not arguments.write:
        for run, job in todo.items():
            print(f"{run} {job.paper} {job.method} on {job.dataset}")
        return int(bool(todo))
    for path in surplus:
        path.unlink()
    began, lost = time.monotonic(), 0
    for count, (run, error) in enumerate(shipping.train(todo, arguments.to, arguments.processes)):
        job, lost = wanted[run], lost + bool(error)
        at = f"{count + 1} of {len(todo)}, {time.monotonic() - began:.0f} s"
        print(f"{at}: {run} {error or f'{job.paper} {job.method}'}", flush=True)
    files = [path for path in arguments.to.rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.2f} MB")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
