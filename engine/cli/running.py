"""`run`: does a job in this process, through the same store as the app."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.cli import releasing
from engine.cli.shared import (
    add_json,
    add_request,
    cards,
    plain,
    points,
    requested,
    seeds,
    show_json,
    show_table,
)
from engine.core.errors import ExplorerError, RequestError
from engine.runs.doubts import doubts
from engine.runs.events import Advanced, Event
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.claim import take
from engine.service.client import Client, Run
from engine.service.job_runner import perform, set_threads
from engine.service.presence import device
from engine.service.process import here

if TYPE_CHECKING:
    from engine.cli.shared import Commands

Report = Callable[[int, int], None]
"""Told how much of how much is done."""

WAIT = 0.1
"""Seconds between two looks at a job that another process does."""


class RunError(ExplorerError):
    """A run that ended without a result."""


def add(commands: "Commands") -> None:
    """Adds the command."""
    run = commands.add_parser("run", help="train, or answer from the store")
    add_request(run)
    run.add_argument(
        "--seeds", default="1", metavar="N|A,B,C", help="how many repetitions, or which; 1"
    )
    releasing.add(run)
    add_json(run)
    run.set_defaults(command=run_job)


def run_job(arguments: argparse.Namespace) -> int:
    """Runs the job that the arguments name and prints its replicas, or makes a release of it."""
    if arguments.release:
        return releasing.release_job(arguments)
    if arguments.to is not None:
        raise RequestError("to: expected --release with it; `export` writes a run's files")
    job = requested(arguments, seeds(arguments.seeds))
    client = Client(workers=False)
    with progress(f"{job.paper} {job.method} {job.dataset}") as report:
        run, cached = complete(client, job, report)
    results = client.table(run.id)
    said = (event for _, event in client.events(run.id))
    warnings = doubts(job.entry().label, job, results, said)
    if arguments.json:
        show_json(
            {
                "run": run.id,
                "seconds": run.seconds,
                "cached": cached,
                "warnings": warnings,
                "replicas": replicas(job, results),
            }
        )
    else:
        _show(job, run, cached, client)
        for text in warnings:
            print(text)
    return 0


def complete(client: Client, job: Job, report: Report) -> tuple[Run, bool]:
    """Does a job here, or waits for the process that does it.

    Returns:
        The completed run, and whether it was in the store already.

    Raises:
        RunError: It failed.
        KeyboardInterrupt: It was stopped.
    """
    ticket = client.submit(job)
    set_threads()
    try:
        while (run := client.run(job.id)).state != "completed":
            _further(client, run, report)
    except KeyboardInterrupt:
        if not ticket.joined:  # what somebody else asked for goes on
            client.cancel(job.id)
        raise
    return run, ticket.cached


def _further(client: Client, run: Run, report: Report) -> None:
    """One turn: takes a waiting job, looks at a running one, and ends with one that ended."""
    if run.state == "queued" and (claim := take(client.store, here(), run.id)):
        state = perform(claim, device(), watch=_telling(report))
        if state == "interrupted":  # by what is not here, as a cluster: it would be so again
            raise RunError(f"run {run.id}: {client.run(run.id).error}")
    elif run.active:
        report(run.done, run.total)
        time.sleep(WAIT)
    elif run.state == "interrupted":  # by the death of another process
        client.submit(run.job)
    elif run.state == "cancelled":
        raise KeyboardInterrupt
    else:
        raise RunError(f"run {run.id}: {run.error}")


def _telling(report: Report) -> Callable[[Event], None]:
    def watch(event: Event) -> None:
        if isinstance(event, Advanced):
            report(event.done, event.total)

    return watch


@contextmanager
def progress(title: str) -> Iterator[Report]:
    """A bar on a terminal; nothing where the output is piped."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not (console.is_terminal and Console().is_terminal):
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def replicas(job: Job, results: Results) -> list[dict[str, Any]]:
    """Each replica's place, seed, gauges and guarantee."""
    return [
        {
            **point,
            "seed": int(results.seeds[row]),
            "gauges": {name: plain(column[row]) for name, column in results.gauges.items()},
            "guarantee": card,
        }
        for row, (point, card) in enumerate(zip(points(job), cards(job), strict=True))
    ]


def _show(job: Job, run: Run, cached: bool, client: Client) -> None:
    """A row for each point: mean and standard deviation over the seeds."""
    count, at, priced, results = len(job.seeds), points(job), cards(job), client.table(run.id)
    rows = [
        (
            *at[first].values(),
            *(spread(column[first : first + count]) for column in results.gauges.values()),
            priced[first]["epsilon_proved"],
            priced[first]["status"].replace("_", " "),
        )
        for first in range(0, len(at), count)
    ]
    on = client.store.device(run.id)
    whence = "from the store" if cached else f"in {run.seconds or 0.0:.1f} s on {on}"
    plural = "s" * (count > 1)
    title = f"Run {run.id}, {job.method} on {job.dataset}, {count} seed{plural}, {whence}"
    show_table(title, (*job.axes, *results.gauges, "proved epsilon", "status"), rows)


def spread(values: "np.typing.NDArray[np.float64]") -> str:
    """Mean and standard deviation over what was measured."""
    values = values[np.isfinite(values)]
    if not len(values):
        return "-"
    mean = f"{values.mean():.4g}"
    return f"{mean} ± {values.std(ddof=1):.2g}" if len(values) > 1 else mean
