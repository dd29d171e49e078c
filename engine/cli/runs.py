"""`runs`, `stop`, `delete` and `tidy`: what the store holds."""

import argparse
import time
from typing import Any

from engine.cli.shared import show_json, show_table
from engine.core.errors import RequestError
from engine.core.stored import shown
from engine.service.client import Client, Run

MOST = 1_000_000
"""Runs that one list holds at most."""


def list_runs(arguments: argparse.Namespace) -> int:
    """Prints the runs."""
    if not 0 < arguments.limit <= MOST:
        raise RequestError(
            f"--limit: expected a number from 1 to {MOST:,}, got {shown(arguments.limit)}"
        )
    client = Client(workers=False)
    runs = client.runs(arguments.limit, arguments.paper)
    lost = client.unreadable(arguments.limit, arguments.paper)
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
    return (*names, job.replicas(), run.state, run.seconds, asked, run.error)


def _record(run: Run, device: str) -> dict[str, Any]:
    job = run.job
    return {
        "run": run.id,
        "paper": job.paper,
        "method": job.method,
        "dataset": job.dataset,
        "values": job.values,
        "axes": job.axes,
        "seeds": job.seeds,
        "version": job.version,
        "sources": run.sources,
        "outdated": run.outdated,
        "state": run.state,
        "done": run.done,
        "total": run.total,
        "created": run.created,
        "seconds": run.seconds,
        "device": device,
        "error": run.error,
        "diverged": run.diverged,
    }


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
