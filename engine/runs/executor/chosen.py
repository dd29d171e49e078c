"""Which executor the operator has chosen."""

import importlib.util
import os
import re
from typing import TYPE_CHECKING

from engine.core.errors import RequestError
from engine.runs.executor.staying import stays

if TYPE_CHECKING:
    from engine.runs.executor.work import Executor

SETTING = "EXPLORER_EXECUTOR"
ADDRESS = re.compile(r"dask://(?P<place>[^/\s:]+:\d{1,5})/?")


def elsewhere() -> bool:
    """Whether chunks are meant to run on other machines, which leaves this one free."""
    return ADDRESS.fullmatch(os.environ.get(SETTING, "")) is not None


def chosen(dataset: str = "") -> "Executor":
    """`Local`, or the cluster that EXPLORER_EXECUTOR names as "dask://host:port".

    A table that stays here has its runs here, prepared as such: the device and the precision of
    the products are this machine's.

    Args:
        dataset: Name of the data set of a job.

    Raises:
        RequestError: It names nothing of the kind, or Dask is not installed.
    """
    text = os.environ.get(SETTING, "") or "local"
    if text == "local" or (ADDRESS.fullmatch(text) and stays(dataset)):
        from engine.runs.executor.local import Local  # loads torch

        return Local()
    place = ADDRESS.fullmatch(text)
    if place is None:
        raise RequestError(f"{SETTING}: expected local, or dask://host:port, got {text!r}")
    if importlib.util.find_spec("distributed") is None:
        raise RequestError(
            f"{SETTING}: expected Dask to be installed, got none: "
            "pip install -r requirements-cluster.txt"
        )
    from engine.runs.executor.cluster import Cluster

    return Cluster(place["place"])
