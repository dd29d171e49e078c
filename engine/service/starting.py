"""Starts the processes that serve a store: the worker, and the one that works prices out."""

import os
import subprocess
import sys
import time
from pathlib import Path

from engine.core import room
from engine.core.errors import StoreError
from engine.service import presence
from engine.service.store import Store, opened_log

ROOT = Path(__file__).parents[2]
AT_ONCE = 5.0
"""Seconds after its start within which a process that ends with an error is not tried again."""
USUAL = {"OPENBLAS_NUM_THREADS": "1", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""What such a process is told where the environment does not say otherwise. NumPy's and SciPy's
products are small here: threads for them only wait, and take a core too. And glibc asks Linux for
pages of 2 MB in place of 4 KB: survival's methods take an eighth less time with them."""


class Starter:
    """Starts one kind of process for a store, unless one is there, and does not wait for it.

    Args:
        store: What it serves.
        module: What it runs: `python -m MODULE`.
        options: Of its command line.
    """

    def __init__(self, store: Store, module: str, *options: str) -> None:
        self.store = store
        self.module = module
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._at = 0.0

    def start(self, device: str) -> int:
        """Sees to it that one is there.

        Args:
            device: What it calls itself on the list of workers.

        Returns:
            0 if one is there or has just been started; else the code with which the last one of
            this starter ended at once, and no other is started yet.

        Raises:
            StoreError: It cannot be started.
            MemoryLimitError: This process may not take what it needs, nor what it starts.
        """
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return 0
            if code > 0 and time.monotonic() - self._at < AT_ONCE:
                return code
        if not presence.working(self.store, device):
            room.check()
            self._begin()
        return 0

    def _begin(self) -> None:
        """Starts the process, in a session of its own, with its words in the log."""
        self._at = time.monotonic()
        home = {"EXPLORER_HOME": str(self.store.folder.absolute())}
        try:
            with opened_log(self.store.folder) as file:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", self.module, *self.options], cwd=ROOT,
                    env={**USUAL, **os.environ, **presence.places(), **home},
                    stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise StoreError(f"worker: expected to start a process, got: {error}") from None
