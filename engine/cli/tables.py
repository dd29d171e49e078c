"""`table`: adds a table of one's own, lists them and removes one."""

import argparse
import sys
from pathlib import Path
from typing import IO, Any

from datasets import own
from datasets.base import Card
from engine.catalog import catalog
from engine.cli.shared import show_file, show_json, show_table
from engine.core.errors import ExplorerError, RequestError

MOST_SETTINGS = 10_000_000
"""Bytes of settings that are read at most."""


def add_table(arguments: argparse.Namespace) -> int:
    """Keeps a file and prints the name of its data set, or prints what would become of it."""
    text = _read("settings", arguments.settings).decode("utf-8-sig", "replace")
    with _opened("file", arguments.file) as file:
        if arguments.propose:
            return _propose(own.propose(file, text, arguments.label), arguments.json)
        name, taken, notes = own.add(
            arguments.file.name, file, text, arguments.label, accept=arguments.accept
        )
    if arguments.json:
        card = own.card(name)
        body = {"dataset": name, "records": card.records, "features": card.features}
        more = {"classes": card.classes, "record": card.record, "taken": taken, "notes": notes}
        show_json({**body, **more, "papers": _papers(card)})
        return 0
    print(name)
    for note in notes:
        print(note, file=sys.stderr)
    if taken:
        print(
            f"Taken from the data: {', '.join(taken)}. Guarantees on this table hold only "
            "under that assumption, and it cannot be released (run --release).",
            file=sys.stderr,
        )
    return 0


def _propose(found: dict[str, Any], as_json: bool) -> int:
    """Prints a proposal, and on the other stream what is wrong or missing."""
    if as_json:
        show_json(found)
        return 0
    show_file(found["toml"])
    for what, parts in (("missing: ", found["asked"]), ("wrong: ", found["problems"])):
        if parts:
            print(f"{what}{'; '.join(parts)}", file=sys.stderr)
    return 0


def list_tables(arguments: argparse.Namespace) -> int:
    """Prints the tables that are kept here, and a sentence on each that is damaged."""
    rows, damaged = [], []
    for name in own.names():
        try:
            card = own.card(name)
        except ExplorerError as error:
            damaged.append(str(error))
        else:
            count = card.classes or ""
            papers = ", ".join(_papers(card))
            rows.append((name, card.records, len(card.features), count, papers))
    head = ("name", "records", "features", "classes", "papers")
    if arguments.json:
        body = [dict(zip(head, row, strict=True)) for row in rows]
        show_json({"tables": body, "damaged": damaged})
    else:
        show_table("Your own tables", head, rows)
        print(*damaged, sep="\n", end="\n" if damaged else "", file=sys.stderr)
    return 0


def _papers(card: Card) -> list[str]:
    return [paper.slug for paper in catalog().values() if paper.takes(card)]


def remove_table(arguments: argparse.Namespace) -> int:
    """Deletes a table."""
    if arguments.name not in own.names():
        raise RequestError(f"dataset: expected a table that is kept here, got {arguments.name!r}")
    own.remove(arguments.name)
    return 0


def _opened(what: str, place: Path) -> IO[bytes]:
    try:
        if not place.is_file():
            raise OSError("it is no file" if place.exists() else "there is none")
        return place.open("rb")
    except OSError as error:
        raise RequestError(
            f"{what}: expected a file that can be read, got {place}: {error.strerror or error}"
        ) from None


def _read(what: str, place: Path | None) -> bytes:
    if place is None:
        return b""
    with _opened(what, place) as file:
        return file.read(MOST_SETTINGS)
