"""A whole curve on a graphics card against one run on it, and against the processor.

python -m benchmarks.gpu [FOLDER]

Prints each row as it is measured and writes the table into a file with the card's name, in FOLDER
or here. Without a card it says so in one sentence and ends. Steps are not captured as graphs
(DESIGN.md).
"""

import itertools
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import enadpp
from benchmarks.row import Row, at_most
from datasets import catalog
from engine.runs import cards
from engine.runs.driver import drive
from engine.runs.executor.local import resolve_device
from engine.runs.job import Job, request
from engine.training.network import mlp

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 8.0)
SEEDS = range(20)
WANTED = 20.0
"""Times that 140 settings at once are to be as fast as one after the other."""
TOGETHER, STEPS = 21, 20
"""Replicas that step together, and steps of each rival in a turn."""
NO_CARD = "benchmarks.gpu: expected a graphics card that torch can use through CUDA, got none"
RUNS: tuple[tuple[str, str, str, dict[str, int]], ...] = (
    ("enadpp", "dpsgd", "mnist", {"epochs": 1}),
    ("enadpp", "dp_ftrl", "mnist", {"epochs": 1}),
    ("enadpp", "dpsgd", "digits", {"epochs": 4}),
    ("lvq", "gmlvq_dp", "mnist", {"epochs": 1}),
    ("survival", "dp_gd", "flchain", {}),
    ("pcdbn", "psgd", "mnist", {"sgd_epochs": 1}),
)
HEADINGS = ("what", "all at once", "one by one", "ratio", "unit", "target", "met", "note")


def seconds(job: Job, device: str) -> tuple[float, int]:
    """How long a run takes on a device after one to warm up, and its chunks' size there.

    The first run loads what the card computes with and searches for the noise of every budget.
    Both are kept, and a search runs on the processor.
    """
    data = cards.pinned(catalog.load(job.dataset), device)
    cards.prepare(device)
    fitted = cards.fitted(job, data, device)
    took = 0.0
    for _ in range(2):
        began = time.perf_counter()
        for _ in drive(fitted, data, _nowhere, device=device):
            pass
        took = time.perf_counter() - began
    together = fitted.entry().chunk(fitted.spec(), len(data), device)
    return took, min(together, job.replicas())


def _nowhere(name: str, arrays: object) -> str:
    return name


def rows(
    device: str, runs: Sequence[tuple[str, str, str, dict[str, int]]] = RUNS,
    epsilons: Sequence[float] = EPSILONS, seeds: Sequence[int] = SEEDS,
) -> Iterator[Row]:  # fmt: skip
    """One row for each run: all settings at once against one setting, so many times."""
    for paper, method, dataset, values in runs:
        whole = request(paper, method, dataset, values, {"epsilon": epsilons}, seeds)
        alone = request(paper, method, dataset, values, {"epsilon": epsilons[:1]}, seeds[:1])
        (ours, together), (one, _) = seconds(whole, device), seconds(alone, device)
        each = whole.replicas() * one
        yield Row(
            f"{method} on {dataset}, {whole.replicas()} settings", ours, each, "s",
            f">= {WANTED:g} x", each >= WANTED * ours,
            f"one alone {one:.2f} s; {together} step together",
        )  # fmt: skip


def steps(device: str) -> Iterator[Row]:
    """A private step of a network, and one of 21 replicas together, against plain PyTorch's."""
    x, y = (part.to(device) for part in enadpp.table(enadpp.WIDE[0]))
    network, lot = mlp(*enadpp.WIDE), enadpp.LOT
    rivals = {
        "plain": enadpp.plain(enadpp.module(enadpp.WIDE).to(device), x, y, lot),
        **{str(n): enadpp.private(network, x, y, lot, replicas=n) for n in (1, TOGETHER)},
    }
    took = enadpp.timed({name: (_waited(one, device), STEPS) for name, one in rivals.items()})
    for n in (1, TOGETHER):
        what = f"a private step of 784-512-256-10, {n} at once, each against plain PyTorch"
        yield at_most(what, took[str(n)] * (1.0 / n), took["plain"], 1.25, f"{lot} records")


def _waited(take: enadpp.Steps, device: str) -> enadpp.Steps:
    """The same steps until the card has done them, not only heard of them."""

    def whole(count: int) -> None:
        take(count)
        if device == "cuda":
            torch.cuda.synchronize()

    return whole


def write(name: str, measured: Iterable[Row], folder: Path) -> Path:
    """Prints rows and then the table, and writes it into a file with the card's name."""
    from benchmarks.__main__ import cells, summary, told

    table = Table(*HEADINGS, title=f"{name}, torch {torch.__version__}")
    done = list(told(measured, sys.stdout))
    for row in done:
        table.add_row(*cells(row))
    path = folder / f"gpu-{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}.txt"
    with path.open("w", encoding="utf-8") as file:
        for console in (Console(width=180), Console(width=180, file=file)):
            console.print(table)
            console.print(summary(done))
    return path


def main(words: Sequence[str]) -> None:
    """Measures on the card that is there."""
    if resolve_device("auto") != "cuda":
        sys.exit(NO_CARD)
    name = torch.cuda.get_device_name()
    print(
        write(name, itertools.chain(steps("cuda"), rows("cuda")), Path(words[0] if words else "."))
    )


if __name__ == "__main__":
    main(sys.argv[1:])
