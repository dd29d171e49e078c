"""Which tables stay on this machine."""

import os

from datasets import own

SHARE = "EXPLORER_CLUSTER_TABLES"
"""Set to "allow", a user's own tables may leave this machine for the cluster."""


def stays(dataset: str) -> bool:
    """Whether a table and its runs stay on this machine: a user's own, unless it may leave."""
    return own.mine(dataset) and os.environ.get(SHARE) != "allow"
