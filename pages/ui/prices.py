"""Prices of what the pages open with: `python -m pages.ui.prices` has them all worked out.

An accountant may take seconds for a budget. The answers for the settings that pages open with
ship with the program, so that a first visitor's slider does not wait for them.
"""

import math
from collections.abc import Iterator
from contextlib import suppress

from datasets import catalog as data_catalog
from engine.core.errors import ExplorerError
from engine.privacy.guarantee import Guarantee
from engine.runs.common import common
from engine.runs.job import Job
from pages.ui import openings
from pages.ui.compare import kinds
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import ceiling


def cards(job: Job) -> Iterator[Guarantee]:
    """The guarantee of a job at each budget of its grid."""
    entry, data = job.entry(), data_catalog.card(job.dataset)
    for budget in job.axes.get(BUDGET, ()):
        spec = job.spec().replace(**{BUDGET: budget})
        card = entry.guarantee(spec, data.records, data.record)
        ceiling.of((entry, spec, data), entry.promise(spec, data))
        yield card


def shared(job: Job) -> None:
    """Has the measures that all guarantees have worked out, at each budget of a job's grid."""
    entry, data = job.entry(), data_catalog.card(job.dataset)
    for budget in job.axes.get(BUDGET, ()) if data.rows == 1 else ():
        with suppress(ExplorerError):
            common(entry, job.spec().replace(**{BUDGET: budget}), data, kinds.DELTA)


def main() -> None:
    """Asks for every card of every page's opening and writes the accountants' answers."""
    from engine.privacy import answers

    for job in openings.everything().values():
        proved = [card.epsilon_proved for card in cards(job)]
        shared(job)
        print(job.paper, job.method, proved, flush=True)
    known = {code: value for code, value in answers.answers.items() if math.isfinite(value)}
    answers.ship(known)
    print(f"{len(known)} answers in {answers.SHIPPED}")


if __name__ == "__main__":
    main()
