"""`export`: a run as files that need no store."""

import argparse
import csv
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli.running import replicas
from engine.cli.shared import plain
from engine.core.errors import StoreError
from engine.runs.job import Job
from engine.service.client import Client, Run

if TYPE_CHECKING:
    from engine.cli.shared import Commands


def add(commands: "Commands") -> None:
    """Adds the command."""
    export = commands.add_parser("export", help="a run as files: job, results, cards, arrays")
    export.add_argument("run", metavar="RUN", help="id of the run")
    export.add_argument("--to", required=True, type=Path, metavar="DIR", help="folder to write")
    export.set_defaults(command=export_run)


def export_run(arguments: argparse.Namespace) -> int:
    """Writes a run's files and prints their names."""
    client = Client(workers=False)
    run = client.run(arguments.run)
    try:
        for path in write(client, run, arguments.to):
            print(path)
    except OSError as error:
        raise StoreError(f"{arguments.to}: expected a folder to write, got: {error}") from None
    return 0


def write(client: Client, run: Run, folder: Path) -> list[Path]:
    """Writes job.json, results.csv, card.json, README.md and the arrays of a run.

    Returns:
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    job, rows = run.job, replicas(run.job, client.table(run.id))
    texts = {
        "job.json": json.dumps(json.loads(job.text()), indent=2) + "\n",
        "card.json": json.dumps(plain(_cards(job, rows)), indent=2, ensure_ascii=False) + "\n",
        "README.md": _readme(run, client.store.device(run.id)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    _write_table(folder / "results.csv", job, rows)
    files = [*(folder / name for name in texts), folder / "results.csv"]
    if arrays := client.arrays(run.id):
        np.savez(folder / "arrays.npz", allow_pickle=False, **arrays)
        files.append(folder / "arrays.npz")
    return files


def _cards(job: Job, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One guarantee for each point; seeds share theirs."""
    each = [
        {**{field: row[field] for field in job.axes}, "guarantee": row["guarantee"]}
        for row in rows[:: len(job.seeds)]
    ]
    return {"run": job.id, "dataset": vars(data_catalog.card(job.dataset)), "points": each}


def _write_table(path: Path, job: Job, rows: list[dict[str, Any]]) -> None:
    """A line for each replica; what was not measured is empty."""
    told = ("status", "epsilon_claimed", "epsilon_proved", "delta")
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*job.axes, "seed", *rows[0]["gauges"], *told])
        for row in rows:
            place = [row[field] for field in job.axes]
            card = [row["guarantee"][name] for name in told]
            table.writerow([*place, row["seed"], *row["gauges"].values(), *card])


def _readme(run: Run, device: str) -> str:
    job = run.job
    trained = f", trained on {device}" if device else ""
    found, entry = paper(job.paper), job.entry()
    released = "card.json says what is guaranteed of each row, by whom and why."
    return (
        f"# Run {run.id}\n\n{found.title}, {entry.label}, on {job.dataset}: "
        f"{run.state}{trained}.\n"
        f"{found.citation}\n\nresults.csv has a row for each replica, and arrays.npz a first axis "
        f"in the same order.\n{released}\n\nRun it again with Epsilon Explorer {job.version}:\n\n"
        f"    {command(job)}\n"
    )


def command(job: Job) -> str:
    """The command line that asks for a job."""
    default = paper(job.paper).spec().values()
    words = ["python", "-m", "engine", "run", job.paper, job.method, "--dataset", job.dataset]
    for field, value in job.values.items():
        if value != default[field] and field not in job.axes:
            words += ["--set", f"{field}={value}"]
    for field, values in job.axes.items():
        words += ["--sweep", f"{field}={','.join(map(str, values))}"]
    words += ["--seeds", _seeds(job.seeds)]
    return shlex.join(words)


def _seeds(seeds: tuple[int, ...]) -> str:
    """Seeds as `--seeds` reads them."""
    if seeds == tuple(range(len(seeds))):
        return str(len(seeds))
    return ",".join(map(str, seeds)) + "," * (len(seeds) == 1)
