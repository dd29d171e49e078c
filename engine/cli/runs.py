"""`runs`, `stop`, `delete`, `tidy` and `differ`: what the store holds, and two of its runs."""

import argparse
import dataclasses
import time
from typing import Any

from engine.cli.shared import show_json, show_table
from engine.core.errors import RequestError
from engine.core.spec import Value
from engine.core.stored import shown
from engine.runs.difference import by_seed, difference, pairs
from engine.service.client import Client, Run
from engine.service.run import OUTDATED

MOST = 1_000_000
"""Runs that one list holds at most."""
WRONG = "wrong:"
"""Before the name of a gauge that is a share of wrong answers, to compare shares of right ones."""
JOB = ("paper", "method", "dataset", "values", "axes", "seeds", "version")
RUN = (
    *("sources", "outdated", "state", "done", "total", "created", "seconds", "device", "error"),
    "diverged",
)
"""What is told of a run: of its job, and its own; the device is known to the store."""


def list_runs(arguments: argparse.Namespace) -> int:
    """Prints the runs."""
    if not 0 < arguments.limit <= MOST:
        raise RequestError(
            f"--limit: expected a number from 1 to {MOST:,}, got {shown(arguments.limit)}"
        )
    client = Client(workers=False)
    runs, lost = client.listed(arguments.limit, arguments.paper)
    if arguments.json:
        records = [_record(run, client.store.device(run.id)) for run in runs]
        unreadable = [{"run": one.id, "reason": one.reason} for one in lost]
        show_json({"runs": records, "unreadable": unreadable})
        return 0
    show_table(
        f"{len(runs)} runs",
        ("run", "paper", "method", "data set", "replicas", "state", "seconds", "requested", ""),
        [_row(run) for run in runs],
    )
    for one in lost:
        print(one.reason)
    if any(run.outdated for run in runs):
        print(f"{OUTDATED.capitalize()}: use `run` with --again to train them again.")
    return 0


def tidy(arguments: argparse.Namespace) -> int:
    """Removes files that no run needs, and prints them."""
    store = Client(workers=False).store
    removed = [str(path.relative_to(store.folder)) for path in store.tidy()]
    if arguments.json:
        show_json({"removed": removed})
    else:
        print(*removed, f"{len(removed)} files removed from {store.folder}", sep="\n")
    return 0


def _row(run: Run) -> tuple[object, ...]:
    job = run.job
    asked = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    names = (run.id, job.paper, job.method, job.dataset)
    note = OUTDATED if run.outdated else run.error
    return (*names, job.replicas(), run.state, run.seconds, asked, note)


def _record(run: Run, device: str) -> dict[str, Any]:
    job = {name: getattr(run.job, name) for name in JOB}
    own = {name: device if name == "device" else getattr(run, name) for name in RUN}
    return {"run": run.id, **job, **own}


def stop_runs(arguments: argparse.Namespace) -> int:
    """Stops the runs named."""
    client = Client(workers=False)
    for run in arguments.runs:
        client.cancel(run)
    return 0


def delete_runs(arguments: argparse.Namespace) -> int:
    """Removes the runs named."""
    client = Client(workers=False)
    for run in arguments.runs:
        client.delete(run)
    return 0


def differ(arguments: argparse.Namespace) -> int:
    """Prints the difference between two runs at one privacy budget."""
    client = Client(workers=False)
    runs = [client.run(run) for run in (arguments.first, arguments.second)]
    names = (arguments.gauge.split(",") * 2)[:2]
    at: dict[str, Value] = {} if arguments.at is None else {"epsilon": arguments.at}
    values = []
    for run, name in zip(runs, names, strict=True):
        table = client.table(run.id)
        if "epsilon" in run.job.axes and not at:
            raise RequestError("at: expected a privacy budget, because the run has several")
        by_repetition = by_seed(run.job, table, name.removeprefix(WRONG), at)
        values.append(
            {s: 1.0 - v if name.startswith(WRONG) else v for s, v in by_repetition.items()}
        )
    paired = pairs(runs[0].job, runs[1].job)
    result = dataclasses.asdict(difference(values[0], values[1], paired=paired))
    if arguments.json:
        show_json(result)
    else:
        show_table("First run minus second run", ("", ""), list(result.items()))
    return 0
