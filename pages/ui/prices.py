"""Prices of pages' openings and first moves: `python -m pages.ui.prices` works them out.

An accountant may take seconds for a budget, and the noise of a training waits for it. The answers
for the settings that pages open with, and for those after a move of any one control, ship with the
program.
"""

import json
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

from datasets import catalog as data_catalog
from engine import catalog
from engine.core.errors import ExplorerError
from engine.privacy import answers
from engine.privacy.guarantee import Guarantee
from engine.runs.common import common
from engine.runs.job import Job
from pages.ui import openings
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.paper import ceiling, choice, defaults, kinds
from pages.ui.paper.view import offers


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


def moved(slug: str) -> Iterator[Job]:
    """What a paper's page trains after a move of one control, without methods by hand."""
    paper, layout = catalog.paper(slug), defaults.layout(slug)
    offered = offers(paper, layout)
    chosen, budgets = choice.untouched(offered), offered.knobs[BUDGET].values
    for field in chosen.values:
        for value in offered.knobs[field].values:
            there = chosen.moved({field: value})
            with suppress(ExplorerError):  # settings that contradict each other
                jobs = choice.jobs(paper, there, budgets)
                yield from (job for name, job in jobs.items() if name not in layout.by_hand)


def main() -> None:
    """Asks for every card of every page's opening and first moves, and writes the answers.

    Twice, in processes of their own: the first works the answers out, and on the way answers
    what each search asks. The second is answered at once, and leaves those out.
    """
    shipped: dict[str, float] = json.loads(answers.SHIPPED.read_text(encoding="utf-8"))
    for known in (shipped, dict[str, float]()):
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            process.submit(_ask, known).result()


def _ask(before: dict[str, float]) -> None:
    """Asks for everything, and writes the answers after each paper, beside those from before.

    A first call that was broken off goes on there.
    """
    for job in openings.everything().values():
        proved = [card.epsilon_proved for card in cards(job)]
        shared(job)
        print(job.paper, job.method, proved, flush=True)
    for slug in shell.papers():
        shipped = (*openings.stops(slug), *openings.nearby(slug))
        for job in (*moved(slug), *(job for job, _ in shipped)):
            with suppress(ExplorerError):  # no noise meets this budget
                promised(job)
        if before:
            print(f"{slug}: {_write(before)} answers", flush=True)
    print(f"{_write(before)} answers in {answers.SHIPPED}")


def promised(job: Job) -> None:
    """Asks for what a run of this job promises at each budget, as its training does."""
    entry, data = job.entry(), data_catalog.card(job.dataset)
    for budget in job.axes.get(BUDGET, ()):
        entry.promise(job.spec().replace(**{BUDGET: budget}), data)


def _write(before: dict[str, float]) -> int:
    """Writes the answers so far, and those from before that nobody has asked for; how many."""
    known = before | {
        code: value for code, value in answers.answers.items() if math.isfinite(value)
    }
    answers.ship(known)
    return len(known)


if __name__ == "__main__":
    main()
