"""What a task on another machine is given, and what both machines must have in common."""

import platform
from dataclasses import dataclass

from engine import __version__
from engine.runs.changes import sources
from engine.runs.job import Job


@dataclass(frozen=True)
class Order:
    """What a task is to do. Small, and the same whoever does it.

    Attributes:
        job: The job as text.
        stored: The id under which its chunks are seeded.
        number: The chunk.
        rows: Its replicas.
        device: Torch device to train on.
        token: Names the queue and the variables of this attempt at the run.
        table: Digest of the table.
        needs: What this machine's code must be, by name.
        resumes: Whether the method's states can be left and taken up.
        tick: Seconds between two messages.
    """

    job: str
    stored: str
    number: int
    rows: tuple[int, ...]
    device: str
    token: str
    table: str
    needs: dict[str, str]
    resumes: bool
    tick: float


def identity(job: Job) -> dict[str, str]:
    """What two machines must have in common to get the same numbers."""
    import numpy as np
    import torch

    return {
        "engine": __version__,
        "code": sources(job),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.partition("+")[0],
        "numpy": np.__version__,
    }
