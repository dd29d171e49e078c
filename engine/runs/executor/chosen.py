"""Which executor the operator has chosen."""

import importlib.util
import os
import re
from typing import TYPE_CHECKING

from datasets import own
from engine.core.errors import RequestError

if TYPE_CHECKING:
    from engine.runs.executor.work import Executor

SETTING = "EXPLORER_EXECUTOR"
SHARE = "EXPLORER_CLUSTER_TABLES"
"""Set to "allow", a user's own tables may leave this machine for the cluster."""
ADDRESS = re.compile(r"dask://(?P<place>[^/\s:]+:\d{1,5})/?")


def elsewhere() -> bool:
    """Whether chunks are meant to run on other machines, which leaves this one free."""
    return ADDRESS.fullmatch(os.environ.get(SETTING, "")) is not None


def chosen(dataset: str) -> "Executor":
    """`Local`, or the cluster that EXPLORER_EXECUTOR names as "dask://host:port".

    A user's own table stays on this machine, and so do its runs, unless it may leave.

    Args:
        dataset: What a job runs on.

    Raises:
        RequestError: It names nothing of the kind, or Dask is not installed.
    """
    text = os.environ.get(SETTING, "") or "local"
    place = ADDRESS.fullmatch(text)
    if place is None and text != "local":
        raise RequestError(f"{SETTING}: expected local, or dask://host:port, got {text!r}")
    if place is None or (own.mine(dataset) and os.environ.get(SHARE) != "allow"):
        from engine.runs.executor.local import Local  # loads torch

        return Local()
    if importlib.util.find_spec("distributed") is None:
        raise RequestError(
            f"{SETTING}: expected Dask to be installed, got none: "
            "pip install -r requirements-cluster.txt"
        )
    from engine.runs.executor.cluster import Cluster

    return Cluster(place["place"])
