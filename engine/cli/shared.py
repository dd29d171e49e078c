"""What several commands need: arguments of a job, tables, JSON."""

import argparse
import csv
import dataclasses
import functools
import io
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli.main import ANSWERS
from engine.core.errors import RequestError
from engine.runs.job import Job, all_used, request, sound
from engine.runs.results import Results

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that spreadsheets work out (OWASP, CSV injection)."""
FIGURE = re.compile(r"[-+]?\d+(\.\d+)?")
"""A text that is a number to a spreadsheet, whatever it begins with."""
WIDE = 200
"""Columns of a table that is not printed on a terminal."""


def requested(arguments: argparse.Namespace, seeds: Sequence[int] = (0,)) -> Job:
    """The job that the arguments name; what they leave open is as the paper's page opens.

    Raises:
        RequestError, SpecError: As `engine.runs.job.request`, for malformed texts, and for a knob
            that the method does not use: its value would change nothing. Covariates that vary in
            time where the method needs them fixed.
    """
    values = pairs("set", arguments.set)
    axes = {field: text.split(",") for field, text in pairs("sweep", arguments.sweep).items()}
    publication = paper(arguments.paper)
    dataset = arguments.dataset or publication.datasets[0]
    uses = publication.entry(arguments.method).uses
    begins = publication.begins(arguments.method, dataset)
    opening = {f: begins[f] for f in publication.opening if f in uses and f not in axes}
    job = request(arguments.paper, arguments.method, dataset, {**opening, **values}, axes, seeds)
    all_used(arguments.paper, [arguments.method], (*values, *axes))
    return sound(job)


def pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """FIELD=VALUE texts by field."""
    pairs: dict[str, str] = {}
    for text in texts:
        field, equals, value = text.partition("=")
        if not (field and equals and value):
            raise RequestError(f"--{option}: expected FIELD=VALUE, got {text!r}")
        if field in pairs:
            raise RequestError(f"{field}: expected one --{option}, got two")
        pairs[field] = value
    return pairs


def seeds(text: str) -> tuple[int, ...]:
    """The seeds that a text asks for: "20" for 0 to 19, "0,3,5" for these.

    Raises:
        RequestError: Anything else.
    """
    try:
        numbers = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers or ("," not in text and not 0 < numbers[0] <= 100_000):
        raise RequestError(
            f"seeds: expected a count from 1 to 100000 or a list such as 0,3,5, got {text!r}"
        )
    return numbers if "," in text else tuple(range(numbers[0]))


def cards(job: Job) -> list[dict[str, Any]]:
    """The guarantee of each replica, priced from its spec alone; equal specs share theirs."""
    entry, card = job.entry(), data_catalog.card(job.dataset)
    promised = functools.cache(lambda spec: entry.promise(spec, card).json())
    return [promised(spec) for spec in job.batch().specs]


def points(job: Job) -> list[dict[str, Any]]:
    """The axis values of each replica."""
    return [{field: getattr(spec, field) for field in job.axes} for spec in job.batch().specs]


def replicas(job: Job, results: Results) -> list[dict[str, Any]]:
    """Each replica's place, seed, gauges and guarantee."""
    return [
        {
            **point,
            "seed": int(results.seeds[row]),
            "gauges": {name: plain(column[row]) for name, column in results.gauges.items()},
            "guarantee": card,
        }
        for row, (point, card) in enumerate(zip(points(job), cards(job), strict=True))
    ]


def show_json(value: Any) -> None:
    """Prints one JSON object; a number that is not finite is null."""
    place = ANSWERS.get() or sys.stdout
    narrow = "utf" not in (getattr(place, "encoding", None) or "utf-8").lower()
    print(json.dumps(plain(value), allow_nan=False, ensure_ascii=narrow), file=place)


def show_file(text: str) -> None:
    """Prints what a file is made of, in UTF-8 whatever the stream's encoding: no sign is lost."""
    place = ANSWERS.get() or sys.stdout
    if isinstance(place, io.TextIOWrapper):
        place.reconfigure(encoding="utf-8")
    print(text, end="", file=place)


def plain(value: Any) -> Any:
    """A value in JSON's own types."""
    match value:
        case bool() | str() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case np.generic():
            return plain(value.item())
        case _ if dataclasses.is_dataclass(value):
            return plain(vars(value))
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case _:
            return [plain(item) for item in value]


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table, with numbers to four digits."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(text(cell) for cell in row))
    print(title)
    console.print(table, markup=False)


def words_only(value: object) -> object:
    """A cell of a file that spreadsheets open: a text that would be a formula begins with a quote.

    >>> words_only("=1+1"), words_only(-1.5), words_only("a=b"), words_only("-1")
    ("'=1+1", -1.5, 'a=b', '-1')
    """
    formula = isinstance(value, str) and value.startswith(FORMULA) and not FIGURE.fullmatch(value)
    return f"'{value}" if formula else value


def spreadsheet(head: Iterable[object], rows: Iterable[Iterable[object]], end: str = "\r\n") -> str:
    """Rows as comma-separated values, none of which is a formula.

    Args:
        head: Names of the columns.
        rows: Their cells.
        end: What ends a line.
    """
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=end).writerows(map(words_only, row) for row in (head, *rows))
    return file.getvalue()


def text(value: object) -> str:
    """A cell of a table."""
    match value:
        case None:
            return "-"
        case float() if math.isnan(value):
            return "-"
        case float():
            return f"{value:.4g}"
        case tuple() | list():
            return ", ".join(text(item) for item in value)
        case _:
            return str(value)
