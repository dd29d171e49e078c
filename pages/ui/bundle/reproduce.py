"""Runs what this bundle shows again and compares every median.

    python reproduce.py [PAPER ...]

It needs Epsilon Explorer: run it in an environment where that is installed, or in its folder.
The exit code is 0 if every number comes out again, and 1 if one does not.
"""

import csv
import importlib.util
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.runs.job import Job

HERE = Path(__file__).resolve().parent
CLOSE = 1e-4
"""Shipped numbers have six digits; a sum may differ in its last ones on another processor."""


def explorer() -> None:
    """Puts Epsilon Explorer on the path."""
    sys.path.insert(0, os.getcwd())
    if importlib.util.find_spec("engine") is None:
        installed = importlib.util.find_spec("epsilon_explorer")
        if installed is None or not installed.submodule_search_locations:
            sys.exit("expected Epsilon Explorer: install it, or run this in its folder")
        sys.path.insert(0, next(iter(installed.submodule_search_locations)))


def published(slug: str, run: str) -> dict[tuple[str, str], float]:
    """The medians of one run, by measure and budget."""
    numbers = {}
    for path in sorted((HERE / "data").glob(f"{slug}-*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row.get("Run") == run:
                    measure = path.stem.removeprefix(f"{slug}-")
                    numbers[measure, row["ε"]] = float(row["Median"])
    return numbers


def again(job: "Job", home: Path) -> Iterator[tuple[tuple[str, str], float]]:
    """The medians of the same run, computed now."""
    import numpy as np

    from engine.cli.work import complete
    from engine.service.client import Client

    client = Client(home, workers=False)
    complete(client, job, lambda done, total: None)
    table = client.table(job.id)
    points = [{"epsilon": budget} for budget in job.axes.get("epsilon", ())]
    for name in table.gauges:
        for at in points or [{}]:
            values = table.values(name, **at)
            values = values[np.isfinite(values)]
            if len(values):
                place = str(float(at["epsilon"])) if at else ""
                yield (name, place), float(np.median(values))


def compare(path: Path, home: Path) -> int:
    """Runs one setting again; how many of its numbers differ."""
    from engine.runs.job import Job

    spec = json.loads(path.read_text(encoding="utf-8"))
    job = Job.read(json.dumps(spec["job"]))
    known, seen, wrong = published(job.paper, spec["run"]), 0, 0
    for place, value in again(job, home):
        if place in known:
            seen += 1
            if not math.isclose(known[place], value, rel_tol=CLOSE, abs_tol=1e-9):
                wrong += 1
                print(f"  {place[0]} at ε = {place[1] or '-'}: {known[place]:.6g}, now {value:.6g}")
    missing = len(known) - seen
    print(f"{path.stem}: {seen} numbers compared, {wrong} differ, {missing} missing", flush=True)
    return wrong + missing + (seen == 0)


def main() -> int:
    """Runs what is asked for again; 1 if a number differs."""
    explorer()
    wanted = sys.argv[1:]
    paths = [
        p
        for p in sorted((HERE / "specs").glob("*.json"))
        if not wanted or any(p.stem.startswith(f"{one}-") for one in wanted)
    ]
    if not paths:
        sys.exit(f"expected a paper of this bundle, got {' '.join(wanted)!r}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EXPLORER_HOME"] = folder
        return int(sum(compare(path, Path(folder)) for path in paths) > 0)


if __name__ == "__main__":
    sys.exit(main())
