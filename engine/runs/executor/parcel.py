"""What a task on another machine is given, and arrays and tables as bytes. No array is pickled."""

import functools
import hashlib
import json
import platform
from dataclasses import dataclass

import numpy as np

from datasets import catalog as data_catalog
from datasets import packed
from datasets.base import PanelTable, Table
from engine import __version__
from engine.core.errors import DatasetError, RequestError
from engine.runs import artifacts
from engine.runs.changes import sources
from engine.runs.job import Job

CARD = "_card"


@dataclass(frozen=True)
class Order:
    """What a task is to do. Small, and the same for each process that does it.

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
    import torch

    return {
        "engine": __version__,
        "code": sources(job),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.partition("+")[0],
        "numpy": np.__version__,
    }


def packed_table(table: Table) -> bytes:
    """A table with its card as one file.

    Raises:
        DatasetError: A panel, which holds the function that draws it.
    """
    words = json.dumps(packed.described(table.card)).encode()
    return artifacts.packed({**packed.arrays(table), CARD: np.frombuffer(words, np.uint8)})


def unpacked_table(content: bytes) -> Table:
    """What `packed_table` was given."""
    held = artifacts.unpacked(content)
    return packed.table(packed.card(json.loads(held.pop(CARD).tobytes())), held)


@functools.lru_cache(maxsize=8)
def digest(table: Table) -> str:
    """The hash of what a table holds; of a panel, of its persons and friendships."""
    held = (
        {"x": table.x, "y": table.y, "friends": table.friends}
        if isinstance(table, PanelTable)
        else packed.arrays(table)
    )
    code = hashlib.sha256()
    for name, array in sorted(held.items()):
        whole = np.ascontiguousarray(array)
        code.update(f"{name} {whole.dtype} {whole.shape}".encode())
        code.update(whole.tobytes())
    return code.hexdigest()


@functools.lru_cache(maxsize=4)
def table_here(name: str, expected: str) -> Table | None:
    """The table of that name on this machine, if it is the one that is meant."""
    try:
        table = data_catalog.load(name)
    except (DatasetError, RequestError):
        return None
    return table if digest(table) == expected else None
