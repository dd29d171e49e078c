"""Which workers and which apps are there, as the store knows them."""

import math
import os
from pathlib import Path
from sqlite3 import Connection

from engine.core import disk
from engine.core.errors import RequestError
from engine.service.process import Process, here
from engine.service.store import Store


def device() -> str:
    """The device that jobs run on: EXPLORER_DEVICE, or "auto".

    That is the graphics card where torch sees one through CUDA, else the processor; the
    process that trains looks, and the run says which it was.
    """
    return os.environ.get("EXPLORER_DEVICE") or "auto"


def second(device: str) -> str:
    """What a device's second process calls itself on the list of workers."""
    return f"{device}, second"


def setting(name: str, default: float) -> float:
    """A positive number from the environment.

    Raises:
        RequestError: It is there and is something else.
    """
    text = os.environ.get(name) or str(default)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < math.inf:
        raise RequestError(f"{name}: expected a positive number, got {text!r}")
    return number


def work_on(store: Store, device: str) -> bool:
    """Registers this process as the device's worker; also its heartbeat.

    Returns:
        False if another living process is that worker.
    """
    own, now = here(), store.now()
    with store.database.writing() as connection:
        for worker, beat in _workers(connection, device):
            if worker != own and worker.alive(beat, store.now):
                return False
        connection.execute(
            "INSERT OR REPLACE INTO workers VALUES (?, ?, ?, ?)", (device, own.pid, own.born, now)
        )
    return True


def leave(store: Store) -> None:
    """Takes this process off the list of workers; a store that was removed is not made again."""
    own = here()
    if disk.there(store.database.path):
        with store.database.writing() as connection:
            connection.execute("DELETE FROM workers WHERE pid = :pid AND born = :born", vars(own))


def working(store: Store, device: str) -> bool:
    """Whether a living process is the device's worker."""
    with store.database.reading() as connection:
        return any(worker.alive(beat, store.now) for worker, beat in _workers(connection, device))


def _workers(connection: Connection, device: str) -> list[tuple[Process, float]]:
    rows = connection.execute("SELECT * FROM workers WHERE device = ?", (device,)).fetchall()
    return [(Process(row["pid"], row["born"]), row["beat"]) for row in rows]


def open_app(store: Store) -> None:
    """Registers this process as an app, for which workers stay warm."""
    own, now = here(), store.now()
    with store.database.writing() as connection:
        connection.execute("INSERT OR REPLACE INTO apps VALUES (?, ?, ?)", (own.pid, own.born, now))


def apps(store: Store) -> bool:
    """Whether some app is alive; the dead ones are struck off."""
    rows = store.database.rows("SELECT * FROM apps")
    dead = [
        row for row in rows if not Process(row["pid"], row["born"]).alive(row["beat"], store.now)
    ]
    if dead:
        with store.database.writing() as connection:
            connection.executemany(
                "DELETE FROM apps WHERE pid = ? AND born = ?",
                [(row["pid"], row["born"]) for row in dead],
            )
    return len(dead) < len(rows)


def places() -> dict[str, str]:
    """The folders named by the environment, as a process in another folder must read them."""
    named = {name: os.environ.get(name) for name in ("EXPLORER_DATA", "EXPLORER_CACHE")}
    return {name: str(Path(folder).absolute()) for name, folder in named.items() if folder}
