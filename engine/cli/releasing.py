"""`run --release`: one release with secret noise, written to a folder and nowhere else."""

import argparse
import json
from pathlib import Path

import numpy as np

from datasets import catalog as data_catalog
from engine import __version__
from engine.catalog import paper
from engine.cli.shared import plain, requested, show_json
from engine.core.errors import RequestError, StoreError
from engine.core.kept import declared
from engine.method import Arrays
from engine.privacy.guarantee import Guarantee
from engine.runs import registry, whole
from engine.runs.job import Job

FILES = ("release.npz", "card.json", "README.md")


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of a release to those of a run."""
    parser.add_argument(
        "--release", action="store_true",
        help="draw secret noise, print and keep no measure, write only what is released",
    )  # fmt: skip
    parser.add_argument("--to", type=Path, metavar="DIR", help="folder to write a release to")


def release_job(arguments: argparse.Namespace) -> int:
    """Makes one release and prints its card and the names of its files."""
    from engine.cli.running import progress
    from engine.runs.release import checked, release

    job = requested(arguments)
    if arguments.to is None:
        raise RequestError("release: expected --to and a folder to write, got none")
    if any((arguments.to / name).exists() for name in FILES):
        raise RequestError(f"release: expected a folder without a release, got {arguments.to}")
    card = checked(job, data_catalog.card(job.dataset))
    with progress(f"{job.paper} {job.method} {job.dataset}") as report:
        arrays = release(job, data_catalog.load(job.dataset), report)
    try:
        files = written(arguments.to, job, card, arrays)
    except OSError as error:
        raise StoreError(f"{arguments.to}: expected a folder to write, got: {error}") from None
    if arguments.json:
        show_json({"guarantee": card.json(), "files": [str(path) for path in files]})
    else:
        print(_summary(card))
        print("\n".join(map(str, files)))
    return 0


def written(folder: Path, job: Job, card: Guarantee, arrays: Arrays) -> list[Path]:
    """The files of a release."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in FILES]
    np.savez(files[0], allow_pickle=False, **arrays)
    body = {"dataset": job.dataset, "method": f"{job.paper}/{job.method}", "settings": job.values}
    described, spec = data_catalog.card(job.dataset), job.batch().spec
    content = {
        **body,
        "version": __version__,
        "guarantee": card.json(),
        "curves": whole.curves(job.entry(), spec, described, card),
        "registry": registry.entry(card, described, f"Epsilon Explorer {__version__}"),
    }
    text = json.dumps(plain(content), indent=2, ensure_ascii=False)
    files[1].write_text(text + "\n", encoding="utf-8")
    files[2].write_text(_readme(job, card, arrays), encoding="utf-8")
    return files


def _summary(card: Guarantee) -> str:
    delta = f", δ = {card.delta:g}" if card.delta else ""
    delta = f", δ {card.failure}" if card.failure else delta
    return f"Released with ε = {card.epsilon_proved:.6g}{delta}, for {card.unit}: {card.mechanism}."


def _readme(job: Job, card: Guarantee, arrays: Arrays) -> str:
    from engine.cli.export import release_command  # which needs `run`, whose module needs this one

    kept = paper(job.paper).arrays
    named = {name: declared(kept, name) for name in arrays}
    lines = [f"- `{name}`: {one.what}" for name, one in named.items() if one is not None]
    limits = [f"- {limit}" for limit in card.limits]
    parts = (
        f"# A release by {job.entry().label}",
        _summary(card),
        "release.npz holds, with one row each:",
        "\n".join(lines),
        "What the guarantee does not cover:",
        "\n".join(limits),
        f"A further release, with noise of its own, which adds to the price:\n\n    "
        f"{release_command(job)}",
    )
    return "\n\n".join(parts) + "\n"
