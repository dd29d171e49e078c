"""`app`: the browser app, served on this machine alone, or for a class in one room."""

import argparse
import ipaddress
import os
import socket
import sys
from pathlib import Path

from engine.core.errors import RequestError

SCRIPT = Path(__file__).parents[2] / "app.py"
PORTS = range(1, 65536)
NOWHERE = ("192.0.2.1", 9)
"""An address that is no computer's (RFC 5737): asking for the way there sends nothing."""
WARNING = (
    "Everybody in this network can open it, without encryption and without a password. Tables and "
    "lessons of their own are off. Stop it with Ctrl-C after the class."
)


def start(arguments: argparse.Namespace) -> int:
    """Becomes the app's server, which runs until it is stopped.

    Raises:
        RequestError: A port or an address that does not exist, or no network.
    """
    if arguments.port not in PORTS:
        raise RequestError(f"--port: expected a number from 1 to {PORTS[-1]}, got {arguments.port}")
    if arguments.address and not arguments.room:
        raise RequestError("--address: expected --class beside it")
    if arguments.room:
        _open(_own(arguments.address), arguments.port)
    else:
        print(f"Epsilon Explorer: http://localhost:{arguments.port}", flush=True)
    serve = ["-m", "streamlit", "run", str(SCRIPT), "--server.port", str(arguments.port)]
    os.execv(sys.executable, [sys.executable, *serve])


def _open(address: str, port: int) -> None:
    """Sets what the server reads from its environment, and prints the address with its QR code."""
    os.environ["STREAMLIT_SERVER_ADDRESS"] = address
    os.environ.setdefault("STREAMLIT_SERVER_ALLOWED_HOSTS", address)
    os.environ.setdefault("EXPLORER_UPLOADS", "off")
    link = f"http://{f'[{address}]' if ':' in address else address}:{port}"
    import segno

    print(f"Epsilon Explorer for this room: {link}\n")
    segno.make(link, error="m").terminal(compact=True)
    print(f"\n{WARNING}", flush=True)


def _own(named: str | None) -> str:
    """Finds the address of the machine in the network of the room.

    Raises:
        RequestError: What was named is no address, or there is no network.
    """
    if named:
        try:
            return str(ipaddress.ip_address(named))
        except ValueError:
            raise RequestError(
                f"--address: expected an address such as 192.168.1.20, got {named!r}"
            ) from None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(NOWHERE)
        except OSError:
            raise RequestError("--class: expected a network; join one, or name --address") from None
        return str(way.getsockname()[0])
