"""`reproduce`: a table or a figure of a paper, theirs beside ours."""

import argparse
import dataclasses
import importlib
from typing import TYPE_CHECKING, Any

from engine import reference
from engine.catalog import paper
from engine.cli.running import complete, progress
from engine.cli.shared import add_json, show_json, show_table
from engine.client import Client
from engine.errors import RequestError
from engine.exhibit import Cell, Exhibit
from engine.results import Results

if TYPE_CHECKING:
    from engine.cli.shared import Commands


def add(commands: "Commands") -> None:
    """Adds the command."""
    parser = commands.add_parser("reproduce", help="a paper's table or figure, theirs and ours")
    parser.add_argument("paper", metavar="PAPER", help="slug of the paper")
    parser.add_argument("exhibit", metavar="EXHIBIT", help="name of the table or figure")
    parser.add_argument("--full", action="store_true", help="at the paper's size, not a quick look")
    parser.add_argument(
        "--save", action="store_true", help="keep the cells in the project's reference folder"
    )
    add_json(parser)
    parser.set_defaults(command=reproduce)


def exhibits(slug: str) -> dict[str, Exhibit]:
    """The exhibits of a paper by name.

    Raises:
        RequestError: There is no such paper.
    """
    module = paper(slug).exhibits
    found: tuple[Exhibit, ...] = importlib.import_module(module).EXHIBITS if module else ()
    return {exhibit.name: exhibit for exhibit in found}


def reproduce(arguments: argparse.Namespace) -> int:
    """Runs an exhibit's jobs, or reads them from the store, and prints its cells."""
    known = exhibits(arguments.paper)
    if arguments.exhibit not in known:
        raise RequestError(
            f"exhibit: expected one of {', '.join(known) or 'none, there is none yet'}, "
            f"got {arguments.exhibit!r}"
        )
    exhibit = known[arguments.exhibit]
    results, seconds = _results(exhibit, arguments.full)
    cells = exhibit.cells(results)
    if arguments.save:
        reference.save(arguments.paper, exhibit.name, cells, full=arguments.full, seconds=seconds)
    if arguments.json:
        show_json(_record(arguments, exhibit, cells, seconds))
    else:
        _show(exhibit, cells)
    return 0


def _results(exhibit: Exhibit, full: bool) -> tuple[dict[str, Results], float]:
    """What the exhibit's jobs came to, and how long they took when they ran."""
    client, results, seconds = Client(workers=False), {}, 0.0
    for name, job in exhibit.jobs(full).items():
        with progress(f"{exhibit.title}: {name}") as report:
            run, _ = complete(client, job, report)
        results[name] = client.table(run.id)
        seconds += run.seconds or 0.0
    return results, seconds


def _record(
    arguments: argparse.Namespace, exhibit: Exhibit, cells: tuple[Cell, ...], seconds: float
) -> dict[str, Any]:
    return {
        "paper": arguments.paper,
        "exhibit": exhibit.name,
        "title": exhibit.title,
        "caption": exhibit.caption,
        "quantity": exhibit.quantity,
        "full": arguments.full,
        "seconds": seconds,
        "cells": [{**dataclasses.asdict(cell), "ratio": cell.ratio} for cell in cells],
    }


def _show(exhibit: Exhibit, cells: tuple[Cell, ...]) -> None:
    """A row for each cell."""

    def row(cell: Cell) -> tuple[object, ...]:
        numbers = (cell.published, cell.ours, cell.spread)
        told = ["-" if v is None else f"{v:.{exhibit.digits}f}" for v in numbers]
        ratio = "-" if cell.ratio is None else f"{cell.ratio:.3f}"
        return (cell.row, cell.column, cell.variant, *told, ratio, cell.run)

    print(f"{exhibit.title}. {exhibit.caption}")
    columns = ("row", "column", "variant", "theirs", "ours", "±", "ratio", "run")
    show_table(exhibit.quantity, columns, map(row, cells))
