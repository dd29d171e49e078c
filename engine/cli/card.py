"""`card`: a guarantee as a file, from a method or a library's run, and whether one is in order."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.shared import add_json, add_request, requested, show_json
from engine.core import files
from engine.core.errors import StoreError
from engine.yours import card_file, library_run

if TYPE_CHECKING:
    from engine.cli.shared import Commands

WRONG = 1
"""The exit code for a card that is not in order."""


def add(commands: "Commands") -> None:
    """Adds the commands."""
    parser = commands.add_parser("card", help="guarantee cards as files: make, verify, library")
    kinds = parser.add_subparsers(metavar="ACTION", required=True)
    make = kinds.add_parser("make", help="the card of a method at one setting")
    add_request(make)
    make.add_argument("--to", type=Path, metavar="FILE", help="file to write; else it is printed")
    make.set_defaults(command=make_card)
    verify = kinds.add_parser("verify", help="price the releases of a card again and compare")
    verify.add_argument("file", type=Path, metavar="FILE")
    add_json(verify)
    verify.set_defaults(command=verify_card)
    library = kinds.add_parser("library", help="the card of a run that another library tells of")
    library.add_argument("file", type=Path, metavar="FILE")
    library.add_argument(
        "--to", type=Path, metavar="FILE", help="file to write; else it is printed"
    )
    library.set_defaults(command=library_card)


def make_card(arguments: argparse.Namespace) -> int:
    """Writes or prints the card that the arguments name."""
    return _out(card_file.of_job(requested(arguments)), arguments.to)


def library_card(arguments: argparse.Namespace) -> int:
    """Writes or prints the card of a library's run."""
    return _out(library_run.document(library_run.read(arguments.file)), arguments.to)


def verify_card(arguments: argparse.Namespace) -> int:
    """Says whether a card is in order; 1 where it is not."""
    document = card_file.read(arguments.file)
    wrong = card_file.verify(document)
    guarantee = document["guarantee"]
    if arguments.json:
        shown = {name: guarantee[name] for name in ("status", "epsilon_proved", "delta")}
        show_json({"file": str(arguments.file), "right": not wrong, "wrong": wrong, **shown})
    elif wrong:
        print(*wrong, sep="\n", file=sys.stderr)
    else:
        proved = guarantee["epsilon_proved"]
        price = "nothing is proved" if proved is None else f"ε = {float(proved):.4g} is proved"
        print(f"In order: {price}, at δ = {guarantee['delta']:g}.")
    return WRONG if wrong else 0


def _out(document: card_file.Document, path: Path | None) -> int:
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    if path is None:
        print(text)
        return 0
    try:
        files.give(path, f"{text}\n".encode())
    except OSError as error:
        raise StoreError(f"to: expected a file to write, got: {error}") from None
    print(path)
    return 0
