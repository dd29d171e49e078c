"""The files that stand beside the arrays of a release: its card as JSON and in words."""

import json
from pathlib import Path
from typing import Any

from datasets import catalog as data_catalog
from datasets.base import Floats, LabelledTable
from engine import __version__
from engine.catalog import paper
from engine.cli import readout
from engine.cli.export import release_command
from engine.cli.shared import plain
from engine.core.kept import declared
from engine.method import Arrays
from engine.privacy.guarantee import Guarantee
from engine.runs import registry, sealing
from engine.runs.job import Job
from engine.yours import card_file

FILES = (sealing.CARD, "README.md")
"""What stands beside the released arrays."""
TO_CHECK = f"the guarantee, to check (`python -m engine card verify {sealing.CARD}`) and to cite"
"""What the card of a release is for."""


def written(
    folder: Path, job: Job, card: Guarantee, arrays: Arrays, *, alone: bool = True
) -> list[Path]:
    """Writes what stands beside the arrays of a release.

    Args:
        folder: Where.
        job: The request.
        card: Its card.
        arrays: What it released.
        alone: Whether the card is that of this request; a choice or a search costs more, and
            nothing is known of it but the card's point.
    """
    files = [folder / name for name in FILES]
    described, spec = data_catalog.card(job.dataset), job.batch().spec
    content = card_file.of_release(job, card) if alone else _of_several(job, card)
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    files[0].write_text(text + "\n", encoding="utf-8")
    bounds = _bounds(job) if "prototypes" in arrays else None
    files += readout.written(folder, paper(job.paper), spec, described, arrays, bounds)
    beside = [path.name for path in files[2:]]
    use = TO_CHECK if alone else "the guarantee, to cite"
    files[1].write_text(_readme(job, card, arrays, beside, use), encoding="utf-8")
    return files


def _bounds(job: Job) -> tuple[Floats, Floats] | None:
    """The public bounds of the features of a table of classes, which its card does not hold."""
    data = data_catalog.load(job.dataset)
    return data.bounds if isinstance(data, LabelledTable) else None


def _of_several(job: Job, card: Guarantee) -> dict[str, Any]:
    """The card of a choice or a search, which costs more than this request releases."""
    described = data_catalog.card(job.dataset)
    registered = registry.of(card, described, f"Epsilon Explorer {__version__}")
    content = {
        "dataset": job.dataset, "method": f"{job.paper}/{job.method}", "settings": job.values,
        "version": __version__, "guarantee": card.json(), "curves": None, "registry": registered,
    }  # fmt: skip
    told: dict[str, Any] = plain(content)
    return told


def summary(card: Guarantee) -> str:
    """What was released, in a sentence."""
    delta = f", δ = {card.delta:g}" if card.delta else ""
    delta = f", δ {card.failure}" if card.failure else delta
    return f"Released with ε = {card.epsilon_proved:.6g}{delta}, for {card.unit}: {card.mechanism}."


def _readme(job: Job, card: Guarantee, arrays: Arrays, beside: list[str], use: str) -> str:
    kept = paper(job.paper).arrays
    named = {name: declared(kept, name) for name in arrays}
    lines = [f"- `{name}`: {one.what}" for name, one in named.items() if one is not None]
    limits = [f"- {limit}" for limit in card.limits]
    meant = readout.meaning(job.batch().spec, data_catalog.card(job.dataset), arrays)
    parts = (
        f"# A release by {job.entry().label}",
        summary(card),
        "All files of this folder follow from the release: they may be published, and reading or "
        "using them costs no further budget.",
        "\n".join(
            [
                *(f"- `{name}`: {readout.USES[name]}" for name in beside),
                f"- `{FILES[0]}`: {use}",
            ]
        ),
        "release.npz holds, with one row each:",
        "\n".join(lines),
        *(
            ["What the names and numbers mean:", "\n".join(f"- {one}" for one in meant)]
            if meant
            else []
        ),
        "What the guarantee does not cover:",
        "\n".join(limits),
        f"A further release, with noise of its own, which adds to the price:\n\n    "
        f"{release_command(job, card.exact)}",
    )
    return "\n\n".join(parts) + "\n"
