"""Training the runs that ship with the app, several at once, and writing them as files."""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path

from datasets import catalog
from engine import __version__
from engine.cli.work import complete
from engine.core.errors import ExplorerError
from engine.runs import shipped
from engine.runs.changes import sources
from engine.runs.job import Job
from engine.runs.shipped import Origin
from engine.service.client import Client

LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "scikit-survival", "dp-accounting")
"""What the numbers come from besides the engine."""
ENDS = (".xz", ".npz")
"""Ends of the names of a run's files."""


def missing(wanted: Mapping[str, Job], folder: Path) -> dict[str, Job]:
    """The jobs of which nothing ships, or something that older code computed."""
    shipped.index.cache_clear()
    ships = shipped.index(folder)
    return {
        run: job
        for run, job in wanted.items()
        if run not in ships or ships[run].origin.sources != sources(job)
    }


def unwanted(wanted: Mapping[str, Job], folder: Path) -> list[Path]:
    """Files of runs that no page opens with any more."""
    kept = {folder / job.paper / f"{run}{end}" for run, job in wanted.items() for end in ENDS}
    return sorted(path for end in ENDS for path in folder.glob(f"*/*{end}") if path not in kept)


def pack(wanted: Mapping[str, Job], new: Mapping[str, str], folder: Path) -> None:
    """Writes the coarse curves of each paper into one file: those that are there, and new ones.

    Args:
        wanted: The jobs that ship so, by id; any other is removed.
        new: Lines of runs, by id.
        folder: Where the files go.
    """
    papers = {job.paper for job in wanted.values()} | {path.stem for path in folder.glob("*.xz")}
    for paper in sorted(papers):
        path = folder / f"{paper}.xz"
        there = shipped.lines(shipped.packed(path)) if path.exists() else {}
        both = there | dict(new)
        kept = sorted(run for run in both if run in wanted and wanted[run].paper == paper)
        shipped.write(path, [both[run] for run in kept])
    shipped.index.cache_clear()


def train(
    wanted: Mapping[str, Job], folder: Path | None, processes: int
) -> Iterator[tuple[str, str, str]]:
    """Trains jobs and writes each as soon as it is done.

    Args:
        wanted: The jobs, by id.
        folder: Where the files go; None for lines of a file that many share (`pack`).
        processes: How many train at once, one thread each.

    Yields:
        The id of a run that is done, a sentence if it failed, and its line.
    """
    environment = {"OMP_NUM_THREADS": "1", "EXPLORER_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    os.environ.update(environment)  # what the processes start with
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        order = sorted(wanted.items(), key=lambda pair: effort(pair[1]))
        place = "" if folder is None else str(folder)
        running: dict[Future[tuple[str, str]], str] = {
            pool.submit(write, job.text(), place, sources(job)): run for run, job in order
        }
        for future in as_completed(running):
            yield running[future], *future.result()


def effort(job: Job) -> int:
    """Steps of all replicas of a job: the longest begins last."""
    return job.replicas() * job.entry().steps(job.spec(), catalog.card(job.dataset).records)


def write(text: str, folder: str, code: str) -> tuple[str, str]:
    """Trains one job in this process, in a store of its own, and writes its file.

    Args:
        text: The job.
        folder: Where the file goes; empty for none.
        code: Digest of the sources, read before anything was loaded from them.

    Returns:
        A sentence if that failed; and the run as a line, where no file was written.
    """
    job = Job.read(text)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        client = Client(Path(home), workers=False)
        try:
            run, _ = complete(client, job, lambda done, total: None)
            events = [event for _, event in client.events(job.id)]
            origin = Origin(
                job=text,
                device=client.store.device(job.id),
                threads=1,
                seconds=round(run.seconds or 0.0, 2),
                finished=round(run.finished or time.time()),
                total=run.total,
                diverged=run.diverged,
                sources=code,
                software={"engine": __version__} | {name: version(name) for name in LIBRARIES},
            )
            if not folder:
                return "", shipped.line(origin, events)
            shipped.save(origin, events, client.arrays(job.id), Path(folder))
        except ExplorerError as error:
            return f"{job.paper} {job.method}: {error}", ""
        finally:
            client.close()
    return "", ""
