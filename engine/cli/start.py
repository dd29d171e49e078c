"""The installed command `epsilon-explorer`: the app, or the command line.

An installation holds everything in one folder. The modules import each other by their own names
(`engine`, `datasets`, `pages`), so that folder goes to the front of the path first.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Starts the app if there are no arguments, else runs the command that they name.

    Returns:
        The exit code, as `engine.cli.main.main`.
    """
    sys.path.insert(0, str(ROOT))
    line = importlib.import_module("engine.cli.main")
    given = sys.argv[1:] if arguments is None else arguments
    return cast(int, line.main(given or ["app"], "epsilon-explorer"))
