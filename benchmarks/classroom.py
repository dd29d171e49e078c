"""A class on one page: how soon a moved slider is answered while a run trains on that page.

python -m benchmarks.classroom [SESSIONS …] [--seconds SECONDS] [--growth SECONDS]

Every session keeps the survival page open and moves its budget slider once a second for a minute.
Memory is watched for ten minutes, unless sessions are named; --growth 0 leaves it out.
The page's own methods train on it, a sampler of minutes among them.
"""

import argparse
import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from benchmarks.service import until, worked
from benchmarks.visitors import Visit, visit
from engine import catalog
from engine.runs.job import Job
from engine.service.client import Client
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice, defaults
from pages.ui.paper.view import offers
from tests.browser.app import serving, temporary_home

SECONDS = 60.0
LIMITS = {1: 0.25, 20: 1.0, 40: 2.0}
"""Seconds within which 95 of 100 moves are to be answered, by the number of sessions."""
ANSWERED = 0.99
"""The share of moves that are to be answered."""
GROWTH_SECONDS = 600.0
GROWTH_SESSIONS = 5
GROWTH = 5.0
"""Megabytes an hour by which the page's process may grow with five sessions."""
PAGE, LONG = "survival", "exact"


def rows() -> list[Row]:
    """Opens the app for each size of class, and once more to watch its memory."""
    measured = [row for number, count in enumerate(LIMITS) for row in class_rows(count, number)]
    return [*measured, growth_row()]


def class_rows(count: int, number: int, seconds: float = SECONDS) -> list[Row]:
    """What a class of that size waits for, and how much processor time one drawing takes."""
    intervals = (50, 100, 400)[number % 3]
    with training(intervals) as (address, client, long, pid):
        query = f"{PAGE}.intervals={intervals}"
        asyncio.run(visit(address, PAGE, query, 1, 3.0))
        until(lambda: client.run(long.id).state == "running")
        before = worked(pid)
        visits = asyncio.run(visit(address, PAGE, query, count, seconds))
        used, trains = worked(pid) - before, client.run(long.id).active
    what = f"slider moved while a run trains on the page, {count} at once"
    if not trains:
        return [Row.missing(what, f"under {LIMITS.get(count, 2.0):g} s", "the run ended too early")]
    return _rows(what, visits, LIMITS.get(count, 2.0), used)


def _rows(what: str, visits: list[Visit], limit: float, used: float) -> list[Row]:
    answers = [seconds for one in visits for seconds in one.answers]
    moves = sum(one.moves for one in visits)
    share = len(answers) / moves
    middle, slow = (float(np.percentile(answers, p)) for p in (50, 95))
    note = f"{moves} moves, median {1e3 * middle:.0f} ms"
    drawn = sum(one.redraws for one in visits)
    return [
        Row(f"{what}, p95", slow, None, "s", f"under {limit:g} s", slow < limit, note),
        Row(f"{what}, answered", 100 * share, None, "%", "at least 99 %", share >= ANSWERED, note),
        Row(
            f"{what}, processor time of a drawing", 1e3 * used / drawn, None, "ms", "", None,
            f"{drawn} drawings with opening the page, {used:.1f} s in the page's process",
        ),
    ]  # fmt: skip


def growth_row(seconds: float = GROWTH_SECONDS) -> Row:
    """How much the page's process grows while five sessions move the slider."""
    with training(100) as (address, _, _, pid):
        query = f"{PAGE}.intervals=100"
        asyncio.run(visit(address, PAGE, query, GROWTH_SESSIONS, seconds / 5))  # caches fill
        before, began = resident(pid), time.monotonic()
        asyncio.run(visit(address, PAGE, query, GROWTH_SESSIONS, seconds))
        hours = (time.monotonic() - began) / 3600
        grown = (resident(pid) - before) / hours
    return Row(
        f"memory of the page's process, {GROWTH_SESSIONS} sessions", grown, None, "MB/h",
        f"under {GROWTH:g} MB/h", grown < GROWTH, f"from {60 * hours:.0f} minutes",
    )  # fmt: skip


@contextlib.contextmanager
def training(intervals: int) -> Iterator[tuple[str, Client, Job, int]]:
    """The app with a run of minutes on one page: its address, a client, that run, its process."""
    with temporary_home() as home, serving(home) as address:
        client, long = Client(home, workers=True), jobs(intervals)[LONG]
        client.submit(long, {BUDGET: 1.0})
        try:
            yield address, client, long, process(address)
        finally:
            client.cancel(long.id)
            client.close()


def jobs(intervals: int) -> dict[str, Job]:
    """What the page asks for at that number of intervals, by method."""
    paper, layout = catalog.paper(PAGE), defaults.layout(PAGE)
    offered = offers(paper, layout)
    chosen = choice.untouched(offered)
    chosen = replace(chosen, values={**chosen.values, "intervals": intervals})
    return choice.jobs(paper, chosen, offered.knobs[BUDGET].values, layout.by_hand)


def process(address: str) -> int:
    """The number of the app's process, found by its port, on Linux."""
    port = address.rpartition(":")[2].encode()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if b"streamlit" in words and port in words:
                return int(place.name)
    raise LookupError(f"expected an app at {address}")


def resident(pid: int) -> float:
    """Megabytes of memory that a process holds, on Linux."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Prints the rows as they come."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom")
    parser.add_argument("sessions", nargs="*", type=int, help="sizes of the class; 1, 20 and 40")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each size")
    parser.add_argument("--growth", type=float, help="seconds for which memory is watched")
    asked = parser.parse_args()
    for number, count in enumerate(asked.sessions or LIMITS):
        for row in class_rows(count, number, asked.seconds):
            print(row, flush=True)
    growth = asked.growth if asked.growth is not None else GROWTH_SECONDS * (not asked.sessions)
    if growth:
        print(growth_row(growth), flush=True)


if __name__ == "__main__":
    main()
