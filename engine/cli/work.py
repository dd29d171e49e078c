"""Doing a job in this process, through the same store as the app, with a bar of its progress."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.core.errors import ExplorerError
from engine.runs.events import Advanced, Event
from engine.runs.job import Job
from engine.service.claim import take
from engine.service.client import Client, Run
from engine.service.job_runner import perform, sentence, set_threads
from engine.service.presence import device
from engine.service.process import here

Report = Callable[[int, int], None]
"""Told how much of how much is done."""

WAIT = 0.1
"""Seconds between two looks at a job that another process does."""


class RunError(ExplorerError):
    """A run that ended without a result."""


def complete(client: Client, job: Job, report: Report, *, again: bool = False) -> tuple[Run, bool]:
    """Does a job here, or waits for the process that does it.

    Args:
        client: Of the store.
        job: What to do.
        report: Told how much is done.
        again: Whether what the store holds of it is removed before.

    Returns:
        The completed run, and whether it was in the store already.

    Raises:
        RunError: It failed.
        KeyboardInterrupt: It was stopped.
    """
    answer = client.again(job) if again else client.submit(job)
    set_threads()
    try:
        while (run := client.run(job.id)).state != "completed":
            _further(client, run, report)
    except KeyboardInterrupt:
        if answer != "joined":  # what somebody else asked for goes on
            client.cancel(job.id)
        raise
    return run, answer == "cached"


def _further(client: Client, run: Run, report: Report) -> None:
    """One turn: takes a waiting job, looks at a running one, and ends with one that ended."""
    if run.state == "queued" and (claim := take(client.store, here(), run.id)):

        def watch(event: Event) -> None:
            if isinstance(event, Advanced):
                report(event.done, event.total)

        state = perform(claim, device(), watch=watch)
        if state == "interrupted":  # by what is not here, as a cluster: it would be so again
            raise RunError(f"run {run.id}: {client.run(run.id).error}")
    elif run.active:
        report(run.done, run.total)
        time.sleep(WAIT)
    elif run.state == "interrupted":  # by the death of another process
        client.submit(run.job)
    elif run.state == "cancelled":
        raise KeyboardInterrupt
    else:
        raise RunError(f"run {run.id}: {run.error}")


@contextmanager
def failing(said: str, kind: type[ExplorerError] = RunError) -> Iterator[None]:
    """Says it in one sentence where the code of a method fails within the block.

    Args:
        said: Begins the sentence; the error ends it.
        kind: Of error.

    Raises:
        ExplorerError: It does, of that kind where it is no error of this program's own.
    """
    try:
        yield
    except ExplorerError:
        raise
    except Exception as error:
        raise kind(f"{said} {sentence(error)}") from error


@contextmanager
def progress(title: str) -> Iterator[Report]:
    """A bar on a terminal; nothing where the output is piped."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not (console.is_terminal and Console().is_terminal):
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
