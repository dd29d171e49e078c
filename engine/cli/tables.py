"""`table`: adds a table of one's own, lists them and removes one."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from datasets import own
from engine.catalog import catalog
from engine.cli.shared import add_json, show_json, show_table
from engine.core.errors import RequestError

if TYPE_CHECKING:
    from engine.cli.shared import Commands


def add(commands: "Commands") -> None:
    """Adds the commands."""
    table = commands.add_parser("table", help="tables of your own: add, list, remove")
    actions = table.add_subparsers(metavar="ACTION", required=True)
    adding = actions.add_parser("add", help="check a CSV or Parquet file and keep it here")
    adding.add_argument("file", metavar="FILE", type=Path, help="CSV or Parquet")
    adding.add_argument(
        "--label", default="", metavar="COLUMN", help="the column of the classes; none for survival"
    )
    adding.add_argument(
        "--bounds", type=Path, metavar="FILE", help='lines such as "age: 18 to 100", one a column'
    )
    add_json(adding)
    adding.set_defaults(command=add_table)
    listing = actions.add_parser("list", help="the tables that are kept here")
    add_json(listing)
    listing.set_defaults(command=list_tables)
    removing = actions.add_parser("remove", help="delete a table; its runs stay")
    removing.add_argument("name", metavar="NAME", help="as `table list` says it")
    removing.set_defaults(command=remove_table)


def add_table(arguments: argparse.Namespace) -> int:
    """Keeps a file and prints the name of its data set."""
    content = _content("file", arguments.file)
    typed = _content("bounds", arguments.bounds) if arguments.bounds else b""
    lines = typed.decode("utf-8-sig", "replace")
    name = own.keep(arguments.file.name, content, lines, arguments.label)
    if arguments.json:
        card = own.card(name)
        papers = [paper.slug for paper in catalog().values() if paper.takes(card)]
        body = {"dataset": name, "records": card.records, "features": card.features}
        show_json({**body, "classes": card.classes, "record": card.record, "papers": papers})
    else:
        print(name)
    return 0


def list_tables(arguments: argparse.Namespace) -> int:
    """Prints the tables that are kept here."""
    cards = [own.card(name) for name in own.names()]
    rows = [
        (
            card.name,
            card.records,
            len(card.features),
            card.classes or "",
            ", ".join(paper.slug for paper in catalog().values() if paper.takes(card)),
        )
        for card in cards
    ]
    head = ("name", "records", "features", "classes", "papers")
    if arguments.json:
        show_json({"tables": [dict(zip(head, row, strict=True)) for row in rows]})
    else:
        show_table("Your own tables", head, rows)
    return 0


def remove_table(arguments: argparse.Namespace) -> int:
    """Deletes a table."""
    own.card(arguments.name)  # one that is not here is an error
    own.remove(arguments.name)
    return 0


def _content(what: str, place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise RequestError(
            f"{what}: expected a file that can be read, got {place}: {error.strerror}"
        ) from None
