"""`bundle`: views, cards, numbers and settings in one file that needs no server."""

import argparse
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.cli.shared import Commands

VIEWS = "pages.ui.bundle.write"
"""The views are the pages', so their module is named here as the app's script is in `app`."""


def add(commands: "Commands") -> None:
    """Adds the command."""
    parser = commands.add_parser("bundle", help="write the papers' default views into a zip file")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE.zip", help="the file")
    parser.add_argument(
        "--paper", action="append", default=[], metavar="SLUG", help="only this one; repeatable"
    )
    parser.set_defaults(command=write)


def write(arguments: argparse.Namespace) -> int:
    """Writes the file; a paper without runs is named and left out.

    Raises:
        RequestError: A paper without a page, or a file that cannot be written.
    """
    missing = importlib.import_module(VIEWS).bundle(arguments.to, arguments.paper)
    for sentence in missing:
        print(sentence, file=sys.stderr)
    print(arguments.to)
    return 0
