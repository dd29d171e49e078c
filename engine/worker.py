"""`python -m engine.worker`: one warm process per device that does the jobs of the queue.

It starts by loading what the methods need, piece by piece, looking at the queue in between.
It stops by itself when no app has been alive for a while and the queue is empty. SIGTERM
leaves the running job as interrupted; a stop that a step ignores ends the process, and the
next look of any client starts another.
"""

import argparse
import importlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from engine import presence
from engine.catalog import catalog
from engine.claim import Claim, take
from engine.errors import StoreError
from engine.events import Finished
from engine.process import here
from engine.store import Store
from engine.work import BEAT, perform

POLL = 0.05
"""Seconds between two looks at the queue."""
IDLE = 60.0
"""Seconds without an app after which the worker leaves; EXPLORER_IDLE_SECONDS overrides it."""


class Worker:
    """The loop of one process.

    Args:
        store: Where the queue is.
        device: Torch device to train on.
        idle: Seconds without an app after which to leave.
    """

    def __init__(self, store: Store, device: str, idle: float) -> None:
        self.store = store
        self.device = device
        self.idle = idle
        self._leaving = False

    def run(self) -> None:
        """Works until there is nobody to work for, or a signal says to end."""
        signal.signal(signal.SIGTERM, self._leave)
        signal.signal(signal.SIGINT, self._leave)
        pieces, looked, wanted = warm(), 0.0, time.monotonic()
        while not self._leaving:
            try:
                if time.monotonic() - looked > BEAT:
                    looked = time.monotonic()
                    if not presence.work_on(self.store, self.device):
                        return
                    self.store.sweep()
                    if presence.apps(self.store):
                        wanted = looked
                if self._next():
                    wanted = time.monotonic()
                elif next(pieces, None) is None:
                    time.sleep(POLL)
            except StoreError as error:
                print(error, file=sys.stderr, flush=True)
                time.sleep(BEAT)
            if time.monotonic() - wanted > self.idle:
                break
        presence.leave(self.store)

    def _next(self) -> bool:
        """Does the next job, if there is one."""
        claim = take(self.store, here())
        if claim is None:
            return False
        perform(claim, self.device, lambda: give_up(claim))
        return True

    def _leave(self, number: int, frame: FrameType | None) -> None:
        self._leaving = True


def give_up(claim: Claim) -> None:
    """Ends the process in the middle of a step that will not stop; its job is cancelled."""
    claim.finish("cancelled", [Finished(0, "cancelled")], asked=True)
    os._exit(1)


def warm() -> Iterator[str]:
    """Loads what methods need, one module at each turn; a module that fails is left to its job."""
    names = ["torch", "engine.driver"]
    names += dict.fromkeys(entry.module for p in catalog().values() for entry in p.methods)
    names += ["lifelines", "sksurv.metrics"]
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
        yield name


def main() -> None:
    """The command line of the worker."""
    parser = argparse.ArgumentParser(prog="python -m engine.worker", description=__doc__)
    parser.add_argument(
        "--device", default=presence.device(), help="torch device; EXPLORER_DEVICE, or cpu"
    )
    chosen: str = parser.parse_args().device
    store = Store()
    if not presence.work_on(store, chosen):
        return
    if threads := os.environ.get("EXPLORER_THREADS"):
        import torch

        torch.set_num_threads(int(threads))
    idle = float(os.environ.get("EXPLORER_IDLE_SECONDS") or IDLE)
    Worker(store, chosen, idle).run()


if __name__ == "__main__":
    main()
