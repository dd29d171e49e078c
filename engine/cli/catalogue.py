"""`list` and `price`: what there is and what it promises, without touching data."""

import argparse
import dataclasses
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from datasets import catalog as data_catalog
from datasets.base import Card
from engine.catalog import catalog, paper, problems
from engine.cli.shared import cards, points, requested, show_json, show_table
from engine.core.errors import DatasetError
from engine.core.gauges import gauges
from engine.core.spec import Knob, Setting, knobs
from engine.method import Entry, Paper
from engine.privacy.guarantee import RELATIONS, STATUSES

PAPER = ("slug", "title", "citation", "claim", "relation", "datasets", "gauge")
ENTRY = ("name", "label", "role", "summary", "uses")
"""What is told of a paper and of a method as it stands."""


def list_all(arguments: argparse.Namespace) -> int:
    """Prints the catalogue."""
    chosen = [paper(arguments.paper)] if arguments.paper else list(catalog().values())
    held = _cards(name for publication in chosen for name in publication.datasets)
    for problem in (*problems(), *data_catalog.problems()):
        print(problem, file=sys.stderr)
    if arguments.json:
        papers = [_paper(publication) for publication in chosen]
        show_json({"papers": papers, "datasets": [dataclasses.asdict(card) for card in held]})
        return 0
    for publication in chosen:
        _show_paper(publication)
    show_table(
        "Data sets",
        ("name", "title", "records", "record", "file", "licence"),
        [(c.name, c.title, c.records, c.record, _file(c), c.licence) for c in held],
    )
    return 0


def _cards(names: Iterable[str]) -> list[Card]:
    """The cards of data sets, without those that are broken."""
    cards = []
    for name in dict.fromkeys(names):
        with suppress(DatasetError):
            cards.append(data_catalog.card(name))
    return cards


def _show_paper(publication: Paper[Any]) -> None:
    print(f"{publication.slug}: {publication.title}. {publication.citation}\n{publication.claim}")
    show_table(
        "Methods",
        ("name", "label", "role", "summary"),
        [(e.name, e.label, e.role, e.summary) for e in publication.methods],
    )
    opens = publication.opens()
    show_table(
        "Knobs",
        ("name", "label", "symbol", "admits", "begins at", "axis"),
        [
            (field, knob.label, knob.symbol, _admits(knob), opens[field], "axis" * knob.axis)
            for field, knob in knobs(publication.spec).items()
        ],
    )
    declared = {name: g for e in publication.methods for name, g in gauges(e.info).items()}
    show_table(
        "Gauges",
        ("name", "label", "better", "released"),
        [(n, g.label, g.better, "yes" if g.released else "no") for n, g in declared.items()],
    )


def _admits(knob: Setting) -> str:
    if isinstance(knob, Knob):
        low, high = knob.bounds
        return f"{low:g} to {high:g}"
    return ", ".join(knob.options)


def _file(card: Card) -> str:
    """Where the records come from, in a word."""
    return "simulated" if card.simulated else "embedded" if card.embedded else "needed"


def _paper(publication: Paper[Any]) -> dict[str, Any]:
    default, opens = publication.spec().values(), publication.opens()
    return {
        **{name: getattr(publication, name) for name in PAPER},
        "methods": [_entry(entry) for entry in publication.methods],
        "knobs": {  # a page and a bare command open with `opens` on the first data set
            field: {
                **vars(knob),
                "axis": knob.axis,
                "default": default[field],
                "opens": opens[field],
            }
            for field, knob in knobs(publication.spec).items()
        },
    }


def _entry(entry: Entry[Any]) -> dict[str, Any]:
    told = {name: getattr(entry, name) for name in ENTRY}
    return {**told, "gauges": {name: vars(gauge) for name, gauge in gauges(entry.info).items()}}


def show_price(arguments: argparse.Namespace) -> int:
    """Prints the guarantee of each point, from the spec and the data set's public card."""
    job = requested(arguments)
    priced = [
        {**point, "guarantee": card} for point, card in zip(points(job), cards(job), strict=True)
    ]
    if arguments.json:
        head = {"paper": job.paper, "method": job.method, "dataset": job.dataset}
        records = data_catalog.card(job.dataset).records
        whole = {"points": priced} if job.axes else priced[0]
        show_json({**head, "values": job.values, "records": records, **whole})
        return 0
    for point in priced:
        show_card(job.entry().label, point)
    return 0


def show_card(label: str, point: dict[str, Any]) -> None:
    """Prints one guarantee, field by field."""
    card = {
        **point["guarantee"],
        "status": STATUSES[point["guarantee"]["status"]],
        "relation": RELATIONS[point["guarantee"]["relation"]],
    }
    axes = [f"{field} = {value:g}" for field, value in point.items() if field != "guarantee"]
    rows = [
        (name.replace("_", " ") * (number == 0), item)
        for name, value in card.items()
        for number, item in enumerate(value if isinstance(value, tuple) else (value,))
        if item != ""
    ]
    show_table(", ".join((label, *axes)), ("", ""), rows)
