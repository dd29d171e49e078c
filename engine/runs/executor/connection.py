"""The connection to a Dask cluster that is there already."""

import functools
import os
from typing import Any

from engine.core.errors import InterruptedRunError

CONNECT = 10
"""Seconds to wait for a scheduler."""
LOST = (OSError, TimeoutError)
"""What a connection raises that breaks; Dask's own errors are among them."""


@functools.lru_cache(maxsize=4)
def _client(address: str, process: int) -> Any:
    import dask
    from distributed import Client

    dask.config.set({"distributed.comm.timeouts.connect": CONNECT})
    return Client(f"tcp://{address}", timeout=CONNECT, set_as_default=False)


def connected(address: str) -> Any:
    """The client of a cluster, connected.

    Raises:
        InterruptedRunError: Nobody answers there.
    """
    try:
        client = _client(address, os.getpid())
        if client.status != "running":
            _client.cache_clear()
            client = _client(address, os.getpid())
    except (*LOST, ValueError) as error:
        raise InterruptedRunError(
            f"EXPLORER_EXECUTOR: expected a Dask scheduler at {address}, got no answer within "
            f"{CONNECT} s"
        ) from error
    return client
