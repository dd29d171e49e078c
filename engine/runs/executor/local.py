"""Chunks in this process: they take turns, so that every curve grows while the user looks on."""

from contextlib import ExitStack, closing

from engine.runs.devices import resolve_device
from engine.runs.events import Advanced
from engine.runs.executor.work import Numbered, Work


class Local:
    """Runs all chunks here."""

    def device(self, device: str) -> str:
        """As `Executor.device`."""
        return resolve_device(device)

    def events(self, work: Work) -> Numbered:
        """As `Executor.events`; a turn ends when a chunk has advanced."""
        runs = {number: work.run(number) for number in work.rows}
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
