"""`bundle`, `report`, `slide` and `site`: what can be taken along without a server."""

import argparse
import importlib
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.cli.shared import Commands


@dataclass(frozen=True)
class Export:
    """A command that writes what a page shows.

    Attributes:
        name: Of the command.
        help: What it does.
        to: What it writes, as its help names it.
        writer: Module and function that write it. The views are the pages', so their modules are
            named here as the app's script is in `app`. The function takes the place to write to,
            after what is asked for, and may return sentences about what is left out.
        asked: The argument that says what is asked for: name, metavar and help; empty for none.
    """

    name: str
    help: str
    to: str
    writer: tuple[str, str]
    asked: tuple[str, str, str] | None = None


EXPORTS = (
    Export("report", "print a paper's default view on one page", "FILE.pdf",
           ("pages.ui.bundle.report", "report"),
           ("paper", "PAPER", "slug of the paper; see `list`")),
    Export("slide", "write a view of a paper as a slide of PowerPoint", "FILE.pptx",
           ("pages.ui.bundle.powerpoint", "write"),
           ("address", "ADDRESS", "as the app's address bar shows it")),
    Export("site", "write what ships as pages that need no server", "FOLDER",
           ("pages.ui.site.write", "site")),
)  # fmt: skip
LESSON = "pages.ui.site.lesson"
BUNDLE = Export(
    "bundle", "write the papers' default views into a zip file", "FILE.zip",
    ("pages.ui.bundle.write", "bundle"),
)  # fmt: skip


def add(commands: "Commands") -> None:
    """Adds the commands."""
    for one in (BUNDLE, *EXPORTS):
        parser = commands.add_parser(one.name, help=one.help)
        if one.asked is not None:
            name, shown, text = one.asked
            parser.add_argument(name, metavar=shown, help=text)
        if one is BUNDLE:
            parser.add_argument(
                "--paper", action="append", default=[], metavar="SLUG",
                help="only this one; repeatable",
            )  # fmt: skip
            parser.add_argument(
                "--lesson", metavar="NAME",
                help="this lesson as one HTML file, which can be printed too",
            )  # fmt: skip
        parser.add_argument("--to", type=Path, required=True, metavar=one.to, help="where to")
        parser.set_defaults(command=partial(write, one))


def write(one: Export, arguments: argparse.Namespace) -> int:
    """Writes the file or the folder; what is left out is named.

    Raises:
        RequestError: What is asked for is not there, or the place cannot be written.
        ExplorerError: A program that this needs is missing.
    """
    module, function = one.writer
    known = vars(arguments)
    if known.get("lesson"):
        importlib.import_module(LESSON).lesson(arguments.to, arguments.lesson)
        print(arguments.to)
        return 0
    asked = [known[one.asked[0]]] if one.asked is not None else []
    more = [known["paper"]] if one is BUNDLE else []
    said = getattr(importlib.import_module(module), function)(*asked, arguments.to, *more)
    for sentence in said or ():
        print(sentence, file=sys.stderr)
    print(arguments.to)
    return 0
