"""`bundle`, `report`, `slide` and `site`: what can be taken along without a server."""

import argparse
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.cli.shared import Commands

VIEWS, REPORT = "pages.ui.bundle.write", "pages.ui.bundle.report"
SLIDE, SITE = "pages.ui.bundle.slide", "pages.ui.site.write"
"""The views are the pages', so their modules are named here as the app's script is in `app`."""


def add(commands: "Commands") -> None:
    """Adds the command."""
    parser = commands.add_parser("bundle", help="write the papers' default views into a zip file")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE.zip", help="the file")
    parser.add_argument(
        "--paper", action="append", default=[], metavar="SLUG", help="only this one; repeatable"
    )
    parser.set_defaults(command=write)
    sheet = commands.add_parser("report", help="print a paper's default view on one page")
    sheet.add_argument("paper", metavar="PAPER", help="slug of the paper; see `list`")
    sheet.add_argument("--to", type=Path, required=True, metavar="FILE.pdf", help="the file")
    sheet.set_defaults(command=summarise)
    page = commands.add_parser("slide", help="write a view of a paper as a slide of PowerPoint")
    page.add_argument("address", metavar="ADDRESS", help="as the app's address bar shows it")
    page.add_argument("--to", type=Path, required=True, metavar="FILE.pptx", help="the file")
    page.set_defaults(command=show)
    static = commands.add_parser("site", help="write what ships as pages that need no server")
    static.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="the folder")
    static.set_defaults(command=publish)


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


def summarise(arguments: argparse.Namespace) -> int:
    """Prints the report of one paper.

    Raises:
        RequestError: A paper without a page or without runs.
        ExplorerError: There is no browser, or the file cannot be written.
    """
    importlib.import_module(REPORT).report(arguments.paper, arguments.to)
    print(arguments.to)
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Writes the slide of one view.

    Raises:
        RequestError: An address that names nothing, a view without runs, or a file that cannot be
            written.
    """
    importlib.import_module(SLIDE).slide(arguments.address, arguments.to)
    print(arguments.to)
    return 0


def publish(arguments: argparse.Namespace) -> int:
    """Writes the static pages.

    Raises:
        RequestError: A folder with other files, or one that cannot be written.
    """
    missing = importlib.import_module(SITE).site(arguments.to)
    for sentence in missing:
        print(sentence, file=sys.stderr)
    print(arguments.to)
    return 0
