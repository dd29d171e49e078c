"""`run`: does a job in this process, through the same store as the app."""

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np

from datasets import catalog as data_catalog
from engine.cli import releasing
from engine.cli.shared import (
    cards,
    points,
    replicas,
    requested,
    seeds,
    show_json,
    show_table,
)
from engine.cli.work import complete, progress
from engine.core.errors import RequestError
from engine.method import Arrays
from engine.runs import estimates
from engine.runs.doubts import doubts
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Client, Run


def run_job(arguments: argparse.Namespace) -> int:
    """Runs the job that the arguments name and prints its replicas, or makes a release of it."""
    if arguments.release:
        if arguments.again:
            raise RequestError("again: expected a run, got a release, which always draws new noise")
        return releasing.release_job(arguments)
    if arguments.to is not None:
        raise RequestError("to: expected --release with it; `export` writes a run's files")
    if arguments.exact:
        raise RequestError("exact: expected --release with it, got a run")
    job = requested(arguments, seeds(arguments.seeds))
    client = Client(workers=False)
    with progress(f"{job.paper} {job.method} {job.dataset}") as report:
        run, cached = complete(client, job, report, again=arguments.again)
    results = client.table(run.id)
    said = (event for _, event in client.events(run.id))
    warnings = [*run.aged("--again"), *doubts(job.entry().label, job, results, said)]
    if arguments.json:
        show_json(
            {
                "run": run.id,
                "seconds": run.seconds,
                "cached": cached,
                "outdated": run.outdated,
                "warnings": warnings,
                "replicas": _estimated(job, results, client.arrays(run.id)),
            }
        )
    else:
        _show(job, run, cached, client)
        for text in warnings:
            print(text)
    return 0


def _estimated(job: Job, results: Results, arrays: Arrays) -> list[dict[str, Any]]:
    """Replicas with what a person would quote of them, with intervals."""
    card, rows, unsure = data_catalog.card(job.dataset), replicas(job, results), job.entry().unsure
    fitted, specs = estimates.has(arrays, card), job.batch().specs
    for i, row in enumerate(rows):
        if fitted:
            found = estimates.estimates(arrays, i, card, specs[i], unsure=unsure)
            row["coefficients"] = list(map(asdict, found))
        gauges = {name: float(column[i]) for name, column in results.gauges.items()}
        row["estimates"] = list(map(asdict, estimates.others(job, i, card, arrays, gauges)))
    return rows


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
