"""Chunks in this process: they take turns, so that every curve grows while the user looks on."""

from contextlib import ExitStack, closing

import torch

from engine.core.errors import RequestError
from engine.runs.events import Advanced, fitting
from engine.runs.executor.work import Numbered, Work
from engine.runs.footprint import Growth


def resolve_device(device: str) -> str:
    """The device itself, or for "auto" the one at hand: CUDA's where it computes.

    Raises:
        RequestError: One that is named and not there.
    """
    if device == "auto":
        return "cuda" if _computes("cuda") else "cpu"
    if not _computes(device):
        raise RequestError(f"device: expected auto, or one that torch can use here, got {device!r}")
    return device


def _computes(device: str) -> bool:
    """Whether torch can use a device: a card may be seen and be too old, or busy."""
    try:
        torch.Generator(device)
        return float(torch.ones(1, device=device).sum()) == 1.0
    except (RuntimeError, AssertionError):  # the latter where torch was built without
        return False


class Local:
    """Runs all chunks here."""

    def device(self, device: str) -> str:
        """As `Executor.device`."""
        return resolve_device(device)

    def events(self, work: Work) -> Numbered:
        """As `Executor.events`; a turn ends when a chunk has advanced.

        Raises:
            RequestError: The states of all chunks would not fit into memory, or a method reports
                a measure without a number for each replica.
        """
        runs = {number: work.run(number) for number in work.rows}
        fresh, growth = set(runs), Growth(work.job, len(work.data))
        with ExitStack() as stack:
            for run in runs.values():
                stack.enter_context(closing(run))
            while runs:
                for number, run in tuple(runs.items()):
                    for event in run:
                        yield number, fitting(event)
                        if isinstance(event, Advanced) and event.step > 0:
                            break  # the next chunk's turn
                    else:
                        del runs[number]
                    if number in fresh:
                        fresh.remove(number)
                        growth.begun(len(work.rows[number]))
