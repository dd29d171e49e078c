"""`run --release`: one release with secret noise, written to a folder and nowhere else."""

import argparse
import sys
from contextlib import AbstractContextManager

from datasets import catalog as data_catalog
from datasets import own
from datasets.base import Table
from engine.cli.release_files import summary, written
from engine.cli.shared import requested, show_json
from engine.cli.work import failing, progress
from engine.core.errors import RequestError
from engine.runs import ledger, sealing
from engine.runs.job import Job

GOES_ON = (
    "release: an earlier process drew this noise and ended before its files were in place; they "
    "are written now, and no noise was drawn again"
)


def release_job(arguments: argparse.Namespace) -> int:
    """Makes one release and prints its card and the names of its files."""
    from engine.runs.release import checked, release

    job = requested(arguments)
    if arguments.to is None:
        raise RequestError("release: expected --to and a folder to write, got none")
    card = checked(job, data_catalog.card(job.dataset), exact=arguments.exact)
    name = sealing.named(job.id, repr(card.json()))  # of another card it is another release
    counted = own.mine(job.dataset)
    with sealing.begun(arguments.to, name, arguments.line, ledger=counted) as place:
        arrays = place.drawn()
        if arrays is None:
            data = data_catalog.load(job.dataset)
            prove(job, data)
            curve, precision = ledger.priced(job, card)
            # before a draw: a kill in between must not forget it
            ledger.enter(job.dataset, job.paper, job.method, card, curve=curve, precision=precision)
            with progress(f"{job.paper} {job.method} {job.dataset}") as report, ending(job):
                arrays = release(job, data, report, exact=arguments.exact)
            place.keep(arrays)
        else:
            print(GOES_ON, file=sys.stderr)
        files = place.publish(lambda folder: written(folder, job, card, arrays))
    if arguments.json:
        show_json({"guarantee": card.json(), "files": [str(path) for path in files]})
    else:
        print(summary(card))
        print("\n".join(map(str, files)))
    return 0


def ending(job: Job) -> AbstractContextManager[None]:
    """Says it in one sentence, as a `ReleaseError`, where the method of a job fails."""
    from engine.runs.release import ReleaseError

    label = job.entry().label
    return failing(f"release: expected a result, got none: {label} ended with", ReleaseError)


def prove(job: Job, data: Table) -> None:
    """Makes sure that what would be written follows from releases alone, on other noise.

    Raises:
        ReleaseError: It does not, an array would hold no number or is the same from all releases,
            or the method fails.
    """
    from engine.cli.verify import verified
    from engine.runs.release import ReleaseError

    with ending(job):
        found = verified(job, data)
    if differs := [name for name in found.differs if name not in found.fixed]:
        name, *others = differs
        more = f" So do {', '.join(others)}." if others else ""
        raise ReleaseError(
            f"release: nothing is written, since {name} does not follow from the private releases "
            f"alone: {found.reasons[name]}.{more}"
        )
    if found.fixed:
        raise ReleaseError(
            f"release: expected {' and '.join(found.fixed)} to change with what is released, got "
            "the same from any noise and other records: take more records or a larger epsilon"
        )
    if found.empty:
        raise ReleaseError(
            f"release: expected numbers in {' and '.join(found.empty)}, got none, since the noise "
            f"is too large for {found.records:,} records: take more records or a larger epsilon"
        )
