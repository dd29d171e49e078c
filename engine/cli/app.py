"""`app`: the browser app, served on this machine."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import RequestError

if TYPE_CHECKING:
    from engine.cli.shared import Commands

SCRIPT = Path(__file__).parents[2] / "app.py"
PORTS = range(1, 65536)


def add(commands: "Commands") -> None:
    """Adds the command."""
    serve = commands.add_parser("app", help="start the app and print its address")
    serve.add_argument("--port", type=int, default=8501, metavar="PORT", help="8501 if omitted")
    serve.set_defaults(command=start)


def start(arguments: argparse.Namespace) -> int:
    """Becomes the app's server, which runs until it is stopped.

    Raises:
        RequestError: A port that does not exist.
    """
    if arguments.port not in PORTS:
        raise RequestError(f"--port: expected a number from 1 to {PORTS[-1]}, got {arguments.port}")
    print(f"Epsilon Explorer: http://localhost:{arguments.port}", flush=True)
    serve = ["-m", "streamlit", "run", str(SCRIPT), "--server.port", str(arguments.port)]
    os.execv(sys.executable, [sys.executable, *serve])
