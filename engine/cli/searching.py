"""`choose --accuracy-first`: one method at rising ε until its result is good enough."""

import argparse
import hashlib
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli import release_files
from engine.cli.releasing import GOES_ON, prove
from engine.cli.shared import pairs, show_json
from engine.cli.work import progress
from engine.core import stored
from engine.core.errors import RequestError
from engine.runs import ledger, sealing
from engine.runs.ledger import LedgerEntry

if TYPE_CHECKING:
    from engine.runs.searching import Aim, Found, Search

NUMBERS = 10_000
"""Released arrays of more numbers are not printed."""
OF = {"score": "a mean record score of {value:.4g}", "width": "an interval of {value:.4g}"}
"""What a search aims at, in words."""


def wanted(arguments: argparse.Namespace) -> bool:
    """Whether a search is asked for.

    Raises:
        RequestError: Options of a search without `--accuracy-first`, or of a choice with it.
    """
    search = arguments.accuracy_first is not None
    others = ("grid", "tries") if search else ("target", "width")
    given = [f"--{name}" for name in others if getattr(arguments, name) not in (None, [])]
    if given and search:
        raise RequestError(f"accuracy-first: expected one setting and no tries, got {given[0]}")
    if given:
        raise RequestError(f"{given[0][2:]}: expected --accuracy-first with it, got none")
    return search


def search_command(arguments: argparse.Namespace) -> int:
    """Prices a search, makes it and prints what it published, what it cost and where it stopped."""
    made = planned(arguments)
    if arguments.to is None:
        _show(arguments, made, _made(made), [])
        return 0
    with sealing.begun(arguments.to, _id(made), _command(arguments)) as place:
        found = _found(made, place)
        files = place.publish(
            lambda folder: release_files.written(
                folder, made.levels[found.reached].job, made.after(found.reached), found.arrays,
                alone=False,
            )
        )  # fmt: skip
    _show(arguments, made, found, files)
    return 0


def planned(arguments: argparse.Namespace) -> "Search":
    """The search that the arguments ask for, priced."""
    from engine.runs.searching import plan

    dataset = arguments.dataset or paper(arguments.paper).datasets[0]
    try:
        budgets = [float(text) for text in arguments.accuracy_first.split(",")]
    except ValueError:
        raise RequestError(
            "accuracy-first: expected values of ε such as 0.5,1,2, got "
            f"{arguments.accuracy_first!r}"
        ) from None
    values: dict[str, Any] = dict(pairs("set", arguments.set))
    if "epsilon" in values:
        raise RequestError("set: expected no epsilon: the values of --accuracy-first are the price")
    card = data_catalog.card(dataset)
    return plan(arguments.paper, arguments.methods, card, values, budgets, _aim(arguments))


def _aim(arguments: argparse.Namespace) -> "Aim":
    from engine.runs.searching import Aim

    if (arguments.target is None) == (arguments.width is None):
        raise RequestError("accuracy-first: expected either --target or --width with it")
    if arguments.target is not None:
        return Aim("score", arguments.target)
    return Aim("width", arguments.width)


def _id(made: "Search") -> str:
    """The same for the same levels, price and aim."""
    parts = [*(level.job.id for level in made.levels), repr(made.aim), repr(made.card.json())]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


def _command(arguments: argparse.Namespace) -> str:
    """The command line that asks for the same."""
    words = ["choose", arguments.paper, "--methods", arguments.methods]
    words += ["--accuracy-first", arguments.accuracy_first]
    for name in ("dataset", "target", "width"):
        value = getattr(arguments, name)
        words += [] if value is None else [f"--{name}", f"{value}"]
    words += [word for text in arguments.set for word in ("--set", text)]
    return shlex.join(["python", "-m", "engine", *words, "--to", str(arguments.to)])


def _found(made: "Search", place: sealing.Place) -> "Found":
    """What an earlier process has found and not published, or a new search.

    The entry is settled after the arrays are kept: a kill in between leaves them, and the next
    call settles it.
    """
    from engine.runs.searching import Found

    arrays = place.drawn()
    if arrays is None:
        return _made(made, place)
    print(GOES_ON, file=sys.stderr)
    told = json.loads(place.of)
    entry = told.pop("entry")
    found = Found(**{**told, "told": tuple(told["told"])}, arrays=arrays)
    _settle(made, found, entry and stored.read(LedgerEntry, entry))
    return found


def _made(made: "Search", place: sealing.Place | None = None) -> "Found":
    """Makes the search; what may be published of every level is proved before a draw."""
    from engine.runs.searching import search

    job = made.levels[-1].job
    data = data_catalog.load(job.dataset)
    prove(job, data)
    entry = ledger.enter(job.dataset, job.paper, job.method, made.card, fixed=False)
    with progress(f"search over {len(made.levels)} levels of ε") as report:
        found = search(made, data, report)
    if place is not None:
        told = {"reached": found.reached, "met": found.met, "told": found.told}
        place.keep(found.arrays, of=json.dumps({**told, "entry": entry and asdict(entry)}))
    _settle(made, found, entry)
    return found


def _settle(made: "Search", found: "Found", entry: LedgerEntry | None) -> None:
    """Lowers the entry to what was spent."""
    if entry is not None:
        level = made.levels[found.reached]
        ledger.settle(level.job.dataset, entry, level.epsilon, _said(made, found))


def _said(made: "Search", found: "Found") -> str:
    """The answer in words."""
    wish = OF[made.aim.by].format(value=made.aim.value)
    last = made.levels[found.reached].epsilon
    if found.met:
        return f"ε = {last:.4g} is enough for {wish}"
    return f"ε = {last:.4g} is not enough for {wish}"


def _show(arguments: argparse.Namespace, made: "Search", found: "Found", files: list[Path]) -> None:
    card = made.after(found.reached)
    if arguments.json:
        small = {name: array for name, array in found.arrays.items() if array.size <= NUMBERS}
        show_json(
            {
                "guarantee": card.json(),
                "beforehand": made.card.epsilon_proved,
                "levels": [
                    {"epsilon": level.epsilon, "alone": level.alone} for level in made.levels
                ],
                "reached": found.reached,
                "met": found.met,
                "told": found.told,
                "target": made.aim.value,
                "said": _said(made, found),
                "released": {name: array[0].tolist() for name, array in small.items()},
                "files": [str(path) for path in files],
            }
        )
        return
    print(f"Answer: {_said(made, found)}.")
    print(
        f"The search cost ε = {card.epsilon_proved:.6g}, δ = {card.delta:g}, for {card.unit}. "
        f"Before it began, at most ε = {made.card.epsilon_proved:.6g} was promised."
    )
    print("\n".join(map(str, files)))
