"""Chunks in this process: they take turns, so that every curve grows while the user looks on."""

from contextlib import ExitStack, closing

from engine.runs.devices import resolve_device
from engine.runs.events import Advanced
from engine.runs.executor.work import Numbered, Work
from engine.runs.footprint import Growth


class Local:
    """Runs all chunks here."""

    def device(self, device: str) -> str:
        """As `Executor.device`."""
        return resolve_device(device)

    def events(self, work: Work) -> Numbered:
        """As `Executor.events`; a turn ends when a chunk has advanced.

        Raises:
            RequestError: The states of all chunks would not fit into memory.
        """
        runs = {number: work.run(number) for number in work.rows}
        fresh, growth = set(runs), Growth(work.job, len(work.data))
        with ExitStack() as stack:
            for run in runs.values():
                stack.enter_context(closing(run))
            while runs:
                for number, run in tuple(runs.items()):
                    for event in run:
                        yield number, event
                        if isinstance(event, Advanced):
                            break  # the next chunk's turn
                    else:
                        del runs[number]
                    if number in fresh:
                        fresh.remove(number)
                        growth.begun(len(work.rows[number]))
