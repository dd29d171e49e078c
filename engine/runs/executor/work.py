"""What an executor is given, and what it is."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Protocol

from datasets.base import Table
from engine.method import Arrays
from engine.runs.checkpoint import Checkpoints
from engine.runs.events import Event
from engine.runs.job import Job

Pause = Callable[[], bool]
"""Whether somebody else is to have a turn, asked after every step."""

Keep = Callable[[str, Arrays], str]
"""Writes arrays under a name and returns the digest of the file."""

Numbered = Generator[tuple[int, Event], None, None]
"""The events of all chunks, each with the number of its chunk."""


@dataclass(frozen=True)
class Work:
    """The chunks of a job that are still to run.

    Attributes:
        job: What to run.
        data: The records.
        rows: The replicas of each chunk by its number; those first that are to go first.
        total: Steps of each chunk.
        device: Torch device to train on.
        keep: Where arrays go.
        past: Where a stopped run leaves its state and finds it again.
        pause: When true, an event is to follow soon, so that a turn may end there.
        run: A chunk's run in this process, by its number.
    """

    job: Job
    data: Table
    rows: Mapping[int, range]
    total: int
    device: str
    keep: Keep
    past: Checkpoints
    pause: Pause
    run: Callable[[int], Generator[Event, None, None]]


class Executor(Protocol):
    """Runs chunks somewhere."""

    def device(self, device: str) -> str:
        """The device that trains where "auto" or another one is asked for.

        Raises:
            RequestError: One that is named and not there.
        """

    def events(self, work: Work) -> Numbered:
        """The events of all chunks: of each chunk in order, and every one once.

        Closing it stops the chunks and leaves their states behind.

        Raises:
            InterruptedRunError: The chunks could not go on, and may where the run is asked for
                again.
        """
