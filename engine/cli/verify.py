"""`verify`: replays a method on other records and compares what would be published, bit by bit."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from datasets import catalog as data_catalog
from datasets.base import Table
from engine.catalog import paper
from engine.cli.release_files import written
from engine.cli.shared import requested, show_json, show_table
from engine.cli.work import failing
from engine.core.errors import RequestError, StoreError
from engine.method import Arrays
from engine.runs import sealing
from engine.runs.job import Job
from engine.service.job_runner import set_threads

if TYPE_CHECKING:
    from engine.audit.published import Verdict


TOLD = ("records", "steps", "published", "differs", "public", "reasons")
"""What is told of a replay."""


def run_verify(arguments: argparse.Namespace) -> int:
    """Replays the method that the arguments name; 1 where something published differs.

    Raises:
        RequestError: Not one setting, or a method without privacy.
    """
    job = requested(arguments)
    if job.axes:
        raise RequestError(f"sweep: expected one setting to verify, got a sweep of {len(job.axes)}")
    set_threads()
    with failing(f"verify {job.paper} {job.method} {job.dataset}:"):
        found = verified(job, data_catalog.load(job.dataset))
    if arguments.json:
        head = {"paper": job.paper, "method": job.method, "dataset": job.dataset}
        show_json({**head, **{name: getattr(found, name) for name in TOLD}})
    else:
        _show(job, found)
    for name, reason in found.reasons.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return 1 if found.differs else 0


def verified(job: Job, data: Table) -> "Verdict":
    """Replays a job of one setting to the files that a release of it would write.

    Raises:
        RequestError: A method without privacy.
    """
    from engine.audit.published import verify  # loads torch

    publication = paper(job.paper)
    found, arrays = verify(publication, job.entry(), job.batch().spec, data)
    one, other = (_files(job, kept) for kept in (arrays[0], arrays[-1]))
    names = dict.fromkeys((*one, *other))
    changed = {
        f"file {name}": "expected the same bytes, got others on other records"
        for name in names
        if one.get(name) != other.get(name)
    }
    return found.also([f"file {name}" for name in names], changed)


def _files(job: Job, arrays: Arrays) -> dict[str, bytes]:
    """The files of a release and what they hold."""
    card = job.entry().promise(job.batch().spec, data_catalog.card(job.dataset))
    with tempfile.TemporaryDirectory() as folder:
        place = sealing.Place(Path(folder) / "release", Path(folder) / "beside")
        try:
            place.beside.mkdir()
            place.put(arrays)
            files = place.publish(lambda there: written(there, job, card, arrays))
            return {file.name: file.read_bytes() for file in files}
        except OSError as error:
            raise StoreError(
                f"{folder}: expected room to try the files of a release in, got: {error.strerror}"
            ) from None


def _show(job: Job, found: "Verdict") -> None:
    """What is published, and how it took the replay."""
    said = {name: "never changes" if name in found.fixed else "differs" for name in found.differs}
    said = {name: "public" for name in found.public} | said
    rows = [(name, said.get(name, "follows from the releases")) for name in found.published]
    steps = f"{found.steps} step{'' if found.steps == 1 else 's'}"
    title = f"{job.entry().label} on {job.dataset}, {found.records:,} records, {steps}"
    show_table(title, ("published", "replay"), rows)
