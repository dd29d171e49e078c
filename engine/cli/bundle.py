"""`bundle`, `report`, `slide` and `site`: what can be taken along without a server."""

import argparse
import pkgutil
import sys

LESSON = "pages.ui.site.lesson:lesson"


def write(arguments: argparse.Namespace) -> int:
    """Writes a file or a folder; what is left out is named.

    The views are the pages', so the functions that write them are named in the commands' sheet, as
    the app's script is in `app`. They take what is asked for and the place to write to, and may
    return sentences about what is left out.

    Raises:
        RequestError: What is asked for is not there, or the place cannot be written.
        ExplorerError: A program that this needs is missing.
    """
    known = vars(arguments)
    if known.get("lesson"):
        pkgutil.resolve_name(LESSON)(arguments.to, arguments.lesson)
        print(arguments.to)
        return 0
    asked = known.get("address", known.get("paper"))
    places = [arguments.to, asked] if isinstance(asked, list) else [asked, arguments.to]
    said = pkgutil.resolve_name(arguments.command.writer)(
        *(one for one in places if one is not None)
    )
    for sentence in said or ():
        print(sentence, file=sys.stderr)
    print(arguments.to)
    return 0
