"""`choose`: the best of several methods on private records, with one card for the whole choice.

With `--accuracy-first` it is one method at rising ε, until its result is good enough.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from datasets import catalog as data_catalog
from datasets import own
from engine.catalog import paper
from engine.cli import release_files
from engine.cli.releasing import GOES_ON, prove
from engine.cli.shared import pairs, show_json
from engine.cli.work import progress
from engine.core import stored
from engine.core.errors import RequestError
from engine.method import Arrays
from engine.runs import ledger, sealing
from engine.runs.ledger import LedgerEntry

if TYPE_CHECKING:
    from engine.runs.searching import Aim, Found, Search
    from engine.runs.selecting import Selected, Selection

T = TypeVar("T")
Keep = Callable[..., None]
"""Keeps arrays whose noise is drawn, as `sealing.Place.keep`; does nothing without a folder."""
NUMBERS = 10_000
"""Released arrays of more numbers are not printed."""
NOTHING = "Nothing was tried, which happens by chance: nothing is published, the budget is spent."
OF = {"score": "a mean record score of {value:.4g}", "width": "an interval of {value:.4g}"}
"""What a search aims at, in words."""


def choose_command(arguments: argparse.Namespace) -> int:
    """Prices a choice or a search, makes it, and prints what it published and what it cost."""
    if _searches(arguments):
        _search(arguments)
    else:
        _choose(arguments)
    return 0


def _choose(arguments: argparse.Namespace) -> None:
    from engine.runs.selecting import Selected

    made = _choice(arguments)
    jobs = {one.job.id: one.job for one in made.candidates}
    parts = [*jobs, repr(made.tries), repr(made.card.json())]
    won, files = _sealed(
        arguments, parts, partial(_chosen, made), lambda arrays, of: Selected(jobs.get(of), arrays),
        lambda won, folder: release_files.written(
            folder, won.job, made.card, won.arrays, alone=False
        ) if won.job else [],
    )  # fmt: skip
    _show_choice(arguments, made, won, files)


def _search(arguments: argparse.Namespace) -> None:
    made = _levels(arguments)
    parts = [*(level.job.id for level in made.levels), repr(made.aim), repr(made.card.json())]
    found, files = _sealed(
        arguments, parts, partial(_found, made), partial(_found_before, made),
        lambda found, folder: release_files.written(
            folder, made.levels[found.reached].job, made.after(found.reached), found.arrays,
            alone=False,
        ),
    )  # fmt: skip
    _show_search(arguments, made, found, files)


def _sealed(
    arguments: argparse.Namespace, parts: Iterable[str], draw: Callable[[Keep], T],
    drawn: Callable[[Arrays, str], T], write: Callable[[T, Path], list[Path]],
) -> tuple[T, list[Path]]:  # fmt: skip
    """What is drawn, or what an earlier process has drawn and not published, and its files."""
    if arguments.to is None:
        return draw(lambda arrays, of: None), []
    name = sealing.named(*parts)
    counted = own.mine(arguments.dataset or "")
    with sealing.begun(arguments.to, name, arguments.line, ledger=counted) as place:
        if (arrays := place.drawn()) is None:
            made = draw(place.keep)
        else:
            print(GOES_ON, file=sys.stderr)
            made = drawn(arrays, place.of)
        return made, place.publish(partial(write, made))


def _choice(arguments: argparse.Namespace) -> "Selection":
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


def _chosen(made: "Selection", keep: Keep) -> "Selected":
    """Makes the choice; what may be published of every candidate is proved before a draw."""
    from engine.runs.selecting import choose

    job = made.candidates[0].job
    data = data_catalog.load(job.dataset)
    for one in made.candidates:
        prove(one.job, data)
    entry = ledger.enter(job.dataset, job.paper, "choose", made.card, curve=made.curve)
    with progress(f"choice among {len(made.candidates)} candidates") as report:
        won = choose(made, data, report)
    keep(won.arrays, won.job.id if won.job else "")
    if entry is not None:
        ledger.settle(job.dataset, entry, entry.epsilon, _said_chosen(made, won))
    return won


def _said_chosen(made: "Selection", won: "Selected") -> str:
    """The answer in words."""
    if won.job is None:
        return "nothing was tried"
    others = dict.fromkeys(one.job.entry().label for one in made.candidates)
    return f"{won.job.entry().label} is the best of: {'; '.join(others)}"


def _show_choice(
    arguments: argparse.Namespace, made: "Selection", won: "Selected", files: list[Path]
) -> None:
    from engine.runs.selecting import settings

    card, job = made.card, won.job
    chosen = {} if job is None else settings(job)
    told = {
        "guarantee": card.json(),
        "chosen": {"method": job and job.method, "settings": chosen},
        "candidates": [
            {"method": one.job.method, "settings": settings(one.job)} for one in made.candidates
        ],
        "tries": made.tries.mean,
        "said": _said_chosen(made, won),
    }
    named = ", ".join(f"{field} = {value}" for field, value in chosen.items())
    lines = (
        NOTHING if job is None else f"Chosen: {job.entry().label} ({named}).",
        f"The whole choice cost ε = {card.epsilon_proved:.6g}, δ = {card.delta:g}, "
        f"for {card.unit}.",
    )
    _show(arguments.json, told, won.arrays, lines, files)


def _searches(arguments: argparse.Namespace) -> bool:
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


def _levels(arguments: argparse.Namespace) -> "Search":
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


def _found(made: "Search", keep: Keep) -> "Found":
    """Makes the search; that what is published follows from releases is proved before a draw.

    It is proved at the last level: the others run the same method with more noise.
    """
    from engine.runs.searching import search

    job = made.levels[-1].job
    data = data_catalog.load(job.dataset)
    prove(job, data)
    entry = ledger.enter(job.dataset, job.paper, job.method, made.card, fixed=False)
    with progress(f"search over {len(made.levels)} levels of ε") as report:
        found = search(made, data, report)
    told = {"reached": found.reached, "met": found.met, "told": found.told}
    keep(found.arrays, json.dumps({**told, "entry": entry and asdict(entry)}))
    _settle(made, found, entry)
    return found


def _found_before(made: "Search", arrays: Arrays, of: str) -> "Found":
    """What an earlier process has found.

    The entry is settled after the arrays are kept: a kill in between leaves them, and the next
    call settles it.
    """
    from engine.runs.searching import Found

    told = json.loads(of)
    entry = told.pop("entry")
    found = Found(**{**told, "told": tuple(told["told"])}, arrays=arrays)
    _settle(made, found, entry and stored.read(LedgerEntry, entry))
    return found


def _settle(made: "Search", found: "Found", entry: LedgerEntry | None) -> None:
    """Lowers the entry to what was spent."""
    if entry is not None:
        level = made.levels[found.reached]
        ledger.settle(level.job.dataset, entry, level.epsilon, _said_found(made, found))


def _said_found(made: "Search", found: "Found") -> str:
    """The answer in words."""
    wish, last = OF[made.aim.by].format(value=made.aim.value), made.levels[found.reached].epsilon
    return f"ε = {last:.4g} is {'' if found.met else 'not '}enough for {wish}"


def _show_search(
    arguments: argparse.Namespace, made: "Search", found: "Found", files: list[Path]
) -> None:
    card = made.after(found.reached)
    told = {
        "guarantee": card.json(),
        "beforehand": made.card.epsilon_proved,
        "levels": [{"epsilon": level.epsilon, "alone": level.alone} for level in made.levels],
        "reached": found.reached,
        "met": found.met,
        "told": found.told,
        "target": made.aim.value,
        "said": _said_found(made, found),
    }
    lines = (
        f"Answer: {_said_found(made, found)}.",
        f"The search cost ε = {card.epsilon_proved:.6g}, δ = {card.delta:g}, for {card.unit}. "
        f"Before it began, at most ε = {made.card.epsilon_proved:.6g} was promised.",
    )
    _show(arguments.json, told, found.arrays, lines, files)


def _show(
    as_json: bool, told: Mapping[str, Any], arrays: Arrays, lines: Iterable[str], files: list[Path]
) -> None:
    """Prints what was published: as JSON with small arrays, or as lines."""
    if as_json:
        small = {name: array for name, array in arrays.items() if array.size <= NUMBERS}
        released = {name: array[0].tolist() for name, array in small.items()}
        show_json({**told, "released": released, "files": [str(path) for path in files]})
    else:
        print(*lines, "\n".join(map(str, files)), sep="\n")
