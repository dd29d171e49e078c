"""`choose`: the best of several methods on private records, with one card for the whole choice."""

import argparse
import hashlib
import itertools
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli import release_files, searching
from engine.cli.releasing import GOES_ON, prove
from engine.cli.shared import pairs, show_json
from engine.cli.work import progress
from engine.core.errors import RequestError
from engine.runs import ledger, sealing

if TYPE_CHECKING:
    from engine.runs.selecting import Selected, Selection

NOTHING = "Nothing was tried, which happens by chance: nothing is published, the budget is spent."


def choose_command(arguments: argparse.Namespace) -> int:
    """Prices a choice, makes it and prints the winner with the card of the whole."""
    if searching.wanted(arguments):
        return searching.search_command(arguments)
    made = planned(arguments)
    dataset = made.candidates[0].job.dataset
    if arguments.to is None:
        won, files = _made(made, dataset), []
    else:
        with sealing.begun(arguments.to, _id(made), _command(arguments)) as place:
            won = _won(made, dataset, place)
            files = place.publish(
                lambda folder: (
                    release_files.written(folder, won.job, made.card, won.arrays, alone=False)
                    if won.job
                    else []
                )
            )
    _show(arguments, made, won, files)
    return 0


def _id(made: "Selection") -> str:
    """The same for the same candidates, price and number of tries."""
    parts = [*(one.job.id for one in made.candidates), repr(made.tries), repr(made.card.json())]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


def _command(arguments: argparse.Namespace) -> str:
    """The command line that asks for the same."""
    words = ["choose", arguments.paper, "--methods", arguments.methods]
    words += ["--dataset", arguments.dataset] if arguments.dataset else []
    words += [word for text in arguments.set for word in ("--set", text)]
    words += [word for text in arguments.grid for word in ("--grid", text)]
    words += ["--tries", f"{arguments.tries:g}"] if arguments.tries else []
    return shlex.join(["python", "-m", "engine", *words, "--to", str(arguments.to)])


def _won(made: "Selection", dataset: str, place: sealing.Place) -> "Selected":
    """The winner: the one that an earlier process has drawn and not published, or a new one."""
    from engine.runs.selecting import Selected

    arrays = place.drawn()
    if arrays is not None:
        print(GOES_ON, file=sys.stderr)
        jobs = {one.job.id: one.job for one in made.candidates}
        return Selected(jobs.get(place.of), arrays)
    return _made(made, dataset, place)


def planned(arguments: argparse.Namespace) -> "Selection":
    """The choice that the arguments ask for, priced."""
    from engine.runs.selecting import plan

    dataset = arguments.dataset or paper(arguments.paper).datasets[0]
    axes = {field: text.split(",") for field, text in pairs("grid", arguments.grid).items()}
    if set(axes) & {"epsilon", "delta"}:
        raise RequestError("grid: expected knobs other than epsilon and delta: the price is one")
    grid: list[dict[str, Any]] = [
        dict(zip(axes, place, strict=True)) for place in itertools.product(*axes.values())
    ]
    methods = [name for name in arguments.methods.split(",") if name]
    values: dict[str, Any] = dict(pairs("set", arguments.set))
    card = data_catalog.card(dataset)
    return plan(arguments.paper, methods, card, values, grid, arguments.tries)


def _made(made: "Selection", dataset: str, place: sealing.Place | None = None) -> "Selected":
    """Makes the choice; what may be published of every candidate is proved before a draw."""
    from engine.runs.selecting import choose

    data = data_catalog.load(dataset)
    for one in made.candidates:
        prove(one.job, data)
    slug = made.candidates[0].job.paper
    entry = ledger.enter(dataset, slug, "choose", made.card, curve=made.curve)
    with progress(f"choice among {len(made.candidates)} candidates") as report:
        won = choose(made, data, report)
    if place is not None:
        place.keep(won.arrays, of=won.job.id if won.job else "")
    if entry is not None:
        ledger.settle(dataset, entry, entry.epsilon, _said(made, won))
    return won


def _said(made: "Selection", won: "Selected") -> str:
    """The answer in words."""
    if won.job is None:
        return "nothing was tried"
    others = dict.fromkeys(one.job.entry().label for one in made.candidates)
    return f"{won.job.entry().label} is the best of: {'; '.join(others)}"


def _show(
    arguments: argparse.Namespace, made: "Selection", won: "Selected", files: list[Path]
) -> None:
    from engine.runs.selecting import settings

    card = made.card
    method = None if won.job is None else won.job.method
    chosen = {} if won.job is None else settings(won.job)
    if arguments.json:
        small = {
            name: array for name, array in won.arrays.items() if array.size <= searching.NUMBERS
        }
        show_json(
            {
                "guarantee": card.json(),
                "chosen": {"method": method, "settings": chosen},
                "candidates": [
                    {"method": one.job.method, "settings": settings(one.job)}
                    for one in made.candidates
                ],
                "tries": made.tries.mean,
                "said": _said(made, won),
                "released": {name: array[0].tolist() for name, array in small.items()},
                "files": [str(path) for path in files],
            }
        )
        return
    if won.job is None:
        print(NOTHING)
    else:
        named = ", ".join(f"{field} = {value}" for field, value in chosen.items())
        print(f"Chosen: {won.job.entry().label} ({named}).")
    print(
        f"The whole choice cost ε = {card.epsilon_proved:.6g}, δ = {card.delta:g}, for {card.unit}."
    )
    print("\n".join(map(str, files)))
