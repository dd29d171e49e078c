"""`export`: a run as files that need no store."""

import argparse
import io
import json
import pkgutil
import platform
import shlex
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli.shared import plain, replicas, spreadsheet
from engine.core import files
from engine.core.errors import DatasetError, RequestError
from engine.core.gauges import gauges
from engine.core.kept import declared, released
from engine.method import Arrays
from engine.runs import registry, whole
from engine.runs.job import Job
from engine.service.client import Client, Run
from engine.yours import card_file

RELEASED, RAW = "released", "raw-do-not-publish"
"""Folders of an export."""
AGAIN = "`run` with --again"
LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "dp-accounting")
"""What numbers depend on; those of this machine, on which the run was made."""


def export_run(arguments: argparse.Namespace) -> int:
    """Writes a run's files and prints their names."""
    client = Client(workers=False)
    run = client.run(arguments.run)
    with files.asked(arguments.to, "folder"):
        written = write(client, run, arguments.to)
    print(*written, sep="\n")
    for sentence in run.aged(AGAIN):
        print(sentence, file=sys.stderr)
    return 0


def write(client: Client, run: Run, folder: Path) -> list[Path]:
    """Writes a run's files: what its card covers apart from what must not be published.

    `released/` holds the request, the cards, the measures and arrays that are released, and a
    table of them; `raw-do-not-publish/` all measures and all other arrays. Where no finite ε is
    proved, everything is raw.

    Returns:
        The files.
    """
    job, rows = run.job, replicas(run.job, client.table(run.id))
    arrays = client.arrays(run.id)
    public, raw = divided(job, arrays, rows)
    raw = {**raw, **scores(job, arrays)}
    shown = [name for name, gauge in gauges(job.entry().info).items() if gauge.released]
    device = client.store.device(run.id)
    outer, inner = folder / RELEASED, folder / RAW
    made = [
        _text(outer / "job.json", json.dumps(json.loads(job.text()), indent=2)),
        _text(outer / "card.json", _json(_cards(job, rows))),
        _text(outer / "about.json", _json(_about(run, public if covered(rows) else {}))),
        _text(outer / "README.md", _readme(run, device, covered(rows))),
        _table(outer / "results.csv", job, rows, shown if covered(rows) else []),
        _text(inner / "README.md", _warning(run)),
        _table(inner / "results.csv", job, rows, list(rows[0]["gauges"])),
    ]
    for place, some in ((outer, public), (inner, raw)):
        if some:
            content = io.BytesIO()
            np.savez(content, allow_pickle=False, **some)
            files.give(place / "arrays.npz", content.getvalue())
            made.append(place / "arrays.npz")
    return made


def scores(job: Job, arrays: Arrays) -> Arrays:
    """How well what the run kept describes the raw records; nothing where these are not here."""
    place = paper(job.paper).scores
    if not place:
        return {}
    try:
        data = data_catalog.load(job.dataset)
    except (DatasetError, RequestError):
        return {}
    computed: Arrays = pkgutil.resolve_name(place)(job.spec(), data, arrays)
    return computed


def covered(rows: list[dict[str, Any]]) -> bool:
    """Whether a finite ε is proved of every replica."""
    return all(row["guarantee"]["epsilon_proved"] is not None for row in rows)


def divided(job: Job, arrays: Arrays, rows: list[dict[str, Any]]) -> tuple[Arrays, Arrays]:
    """The arrays that the cards cover, and the others."""
    known = paper(job.paper).arrays if covered(rows) else {}
    public = {name: array for name, array in arrays.items() if released(known, name)}
    return public, {name: array for name, array in arrays.items() if name not in public}


def _text(path: Path, text: str, end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.give(path, f"{text}{end}".encode())
    return path


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def _cards(job: Job, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One guarantee for each point; seeds share theirs. Counts of raw records are left out."""
    entry, described, each = job.entry(), data_catalog.card(job.dataset), []
    for row, spec in list(zip(rows, job.batch().specs, strict=True))[:: len(job.seeds)]:
        card = entry.promise(spec, described)
        profile = whole.curves(entry, spec, described, card)
        each.append(
            {
                **{field: row[field] for field in job.axes},
                "guarantee": row["guarantee"],
                "mu": None if profile is None else profile["mu"],
                "curves": profile,
                "registry": registry.of(card, described, f"Epsilon Explorer {job.version}"),
                "card": card_file.of_setting(job, spec),
            }
        )
    dataset = asdict(described)
    dataset.pop("events")
    return {"run": job.id, "dataset": dataset, "points": each}


def _about(run: Run, arrays: Arrays) -> dict[str, Any]:
    """What the files mean and what they were computed with: nothing of it comes from a record."""
    job, publication = run.job, paper(run.job.paper)
    names = {name: declared(publication.arrays, name) for name in arrays}
    return {
        "run": run.id,
        "sources": run.sources,
        "outdated": run.outdated,
        "versions": {"epsilon-explorer": job.version, "python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        "measures": {name: vars(g) for name, g in gauges(job.entry().info).items() if g.released},
        "arrays": {name: kept.what for name, kept in names.items() if kept},
        "model": publication.model(job.spec(), data_catalog.card(job.dataset)),
    }


def _table(path: Path, job: Job, rows: list[dict[str, Any]], names: list[str]) -> Path:
    """A line for each replica; what was not measured is empty."""
    columns = ("status", "epsilon_claimed", "epsilon_proved", "delta")
    cells = [
        [
            *(row[field] for field in job.axes), row["seed"], *(row["gauges"][n] for n in names),
            *(row["guarantee"][name] for name in columns),
        ]
        for row in rows
    ]  # fmt: skip
    return _text(path, spreadsheet([*job.axes, "seed", *names, *columns], cells), "")


def _readme(run: Run, device: str, proved: bool) -> str:
    job = run.job
    trained = f", trained on {device}" if device else ""
    old = "".join(f"{sentence}\n" for sentence in run.aged(AGAIN))
    publication, entry = paper(job.paper), job.entry()
    guarantee = (
        "card.json says what is guaranteed of each row, by whom and why; `python -m engine card "
        "verify card.json` checks it. Each row is priced as if "
        "published alone: publishing several adds their ε up.\n\n"
        "The seed of the noise is public here, so that anyone can repeat the numbers. Results from "
        "private records must be made with `--release` instead, which keeps the noise secret."
        if proved
        else f"No finite ε is proved for this run, so nothing of it is here: see `{RAW}`."
    )
    return (
        f"# Run {run.id}\n\n{publication.title}, {entry.label}, on {job.dataset}: "
        f"{run.state}{trained}.\n"
        f"{old}"
        f"{publication.citation}\n\nresults.csv has a row for each replica, and arrays.npz, where "
        f"there is one, a first axis in the same order.\n{guarantee}\n\n"
        f"Run it again with Epsilon Explorer {job.version}:\n\n    {command(job)}"
    )


def _warning(run: Run) -> str:
    return (
        f"# Run {run.id}: do not publish\n\nThese measures and arrays are computed from raw "
        "records, to compare methods. No guarantee covers them."
    )


def command(job: Job) -> str:
    """The command line that asks for a job."""
    return shlex.join([*_words(job), "--seeds", _seeds(job.seeds)])


def release_command(job: Job, exact: bool = False) -> str:
    """The command line that makes a release with the settings of a job, its noise exact or not."""
    return shlex.join([*_words(job), "--release", *["--exact"] * exact, "--to", "DIR"])


def _words(job: Job) -> list[str]:
    default = paper(job.paper).begins(job.method, job.dataset)
    words = ["python", "-m", "engine", "run", job.paper, job.method, "--dataset", job.dataset]
    for field, value in job.values.items():
        if value != default[field] and field not in job.axes:
            words += ["--set", f"{field}={value}"]
    for field, values in job.axes.items():
        words += ["--sweep", f"{field}={','.join(map(str, values))}"]
    return words


def _seeds(seeds: tuple[int, ...]) -> str:
    """Seeds as `--seeds` reads them."""
    if seeds == tuple(range(len(seeds))):
        return str(len(seeds))
    return ",".join(map(str, seeds)) + "," * (len(seeds) == 1)
