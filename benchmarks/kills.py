"""Processes that are killed while they use the store: what they leave is whole.

python -m benchmarks.kills [NUMBER [EVERY]]

NUMBER processes are killed at random, and each verb at one in EVERY of its points.

A process asks for runs, does them, keeps their arrays and state, ends, repeats and deletes them.
It is killed at every statement and file operation of every verb, and a thousand times at random.
After each kill another process looks: all rows can be read, every array's file is there and
whole, nothing is said to run, and one start of a worker leaves no file that nothing needs.
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import crash
from benchmarks.crash import Verb
from benchmarks.row import Row
from engine.core import files
from engine.core.errors import ExplorerError
from engine.runs import artifacts
from engine.runs.artifacts import DONE
from engine.runs.events import Advanced, Event, Finished, Measured, Produced, Started
from engine.runs.job import Job, request
from engine.service.claim import Claim, take
from engine.service.client import Client
from engine.service.process import here

NUMBER = 1_000
SEED = 2026
LONGEST = 0.03
"""Seconds after which a process is killed at the latest."""
Do = Callable[[Client, Job, int], object]


def jobs() -> list[Job]:
    """A few runs that cost nothing to ask for."""
    return [
        request("mean", "laplace", "flchain", {"records": count}, {"epsilon": (0.5, 1.0)}, (0,))
        for count in (100, 200, 300)
    ]


def asked(client: Client, job: Job) -> Claim | None:
    """Asks for a job and takes it."""
    client.submit(job, {"epsilon": 1.0})
    return take(client.store, here(), job.id)


def done(client: Client, job: Job, number: int) -> None:
    """Does a job with everything that a worker writes."""
    claim = asked(client, job)
    if claim is None:
        return
    arrays = {"answer": np.full((2, 3), float(number))}
    claim.append([Started(0, 4, 2)])
    claim.save({"state-0000": arrays, DONE: {"chunks": np.zeros(0)}}, (), going_on=True)
    claim.append([Measured(1, (0, 1), {"error": (0.5, None)}), Advanced(1, 1, 4)])
    claim.beat()
    digest = claim.keep("final-0000", arrays)
    last: tuple[Event, ...] = (Produced(4, "final-0000", digest, (0, 1)), Finished(4, "completed"))
    claim.finish("completed" if number % 3 else "cancelled", last)


def stopped(client: Client, job: Job, number: int) -> None:
    """Asks for a job and stops it."""
    client.submit(job)
    client.cancel(job.id)


def swept(client: Client, job: Job, number: int) -> None:
    """What a worker does when it starts."""
    client.store.sweep()
    client.store.tidy()


VERBS: dict[str, Do] = {
    "ask, do and end": done,
    "ask and stop": stopped,
    "repeat": lambda client, job, number: client.again(job),
    "delete": lambda client, job, number: client.delete(job.id),
    "sweep and tidy": swept,
}


def rows(number: int = NUMBER, every: int = 1) -> list[Row]:
    """Kills at each point of each verb, and at random."""
    points = "each crash point" if every == 1 else f"one in {every} crash points"
    return [
        _row(f"{points} of every verb", *at_every_point(every)),
        _row("kills at random", *at_random(number)),
    ]


def _row(what: str, kills: int, wrong: list[str]) -> Row:
    note = f"{kills:,} kills" + "".join(f"; {one}" for one in wrong[:2])
    return Row(f"broken after {what}", len(wrong), None, "", "none", not wrong, note)


def at_random(number: int = NUMBER, seed: int = SEED) -> tuple[int, list[str]]:
    """Kills a busy process again and again, on one store; returns kills and what was wrong."""
    rng, wrong, some = random.Random(seed), list[str](), jobs()
    with tempfile.TemporaryDirectory() as folder:
        for kill in range(number):
            child = os.fork()
            if child == 0:
                _busy(Path(folder), some, kill)
            time.sleep(rng.uniform(0.0, LONGEST))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            wrong += [f"kill {kill}: {one}" for one in damage(Path(folder))]
    return number, wrong


def at_every_point(every: int = 1) -> tuple[int, list[str]]:
    """Kills each verb at each of its points, or at one in so many; kills and what was wrong."""
    kills, wrong, some = 0, list[str](), jobs()

    def before(folder: Path) -> None:
        with contextlib.closing(Client(folder, workers=False)) as client:
            done(client, some[0], 1)
            done(client, some[1], 3)

    for name, verb in VERBS.items():

        def act(folder: Path, verb: Do = verb) -> None:
            verb(Client(folder, workers=False), some[1], 4)

        more, faults = crash.at_every_point(name, Verb(act, damage, before), every)
        kills, wrong = kills + more, wrong + faults
    return kills, wrong


def _busy(folder: Path, some: list[Job], seed: int) -> None:
    """Does one verb after the other until it is killed; never returns."""
    with contextlib.suppress(BaseException):
        rng, client = random.Random(seed), Client(folder, workers=False)
        for number in range(10_000):
            with contextlib.suppress(ExplorerError):
                rng.choice(list(VERBS.values()))(client, rng.choice(some), number)
    os._exit(1)


def damage(folder: Path) -> list[str]:
    """What is wrong with a store after a kill and one start of a worker."""
    wrong = []
    with contextlib.closing(Client(folder, workers=False)) as client:
        runs, lost = client.listed(1_000)
        wrong += [f"unreadable: {one.reason}" for one in lost]
        wrong += [f"still runs: {run.id}" for run in runs if run.state == "running"]
        for run in runs:
            try:
                client.table(run.id)
                client.arrays(run.id)
            except ExplorerError as error:
                wrong.append(str(error))
        for part in client.store.artifacts.glob(f"*{files.PART}"):
            os.utime(part, (0, 0))  # an hour later: what is being written now is younger
        client.store.tidy()
        with client.store.database.reading() as connection:
            found = connection.execute("SELECT digest FROM artifacts").fetchall()
            if [row[0] for row in connection.execute("PRAGMA integrity_check")] != ["ok"]:
                wrong.append("the file is damaged")
        digests = {row["digest"] for row in found}
        there = {path.name for path in client.store.artifacts.glob("*")}
        wrong += [f"no file: {one}" for one in digests if f"{one}.npz" not in there]
        wrong += [f"left over: {one}" for one in there if one.removesuffix(".npz") not in digests]
        for one in digests:
            try:
                artifacts.load(client.store.artifacts, one)
            except ExplorerError as error:
                wrong.append(str(error))
    return wrong


if __name__ == "__main__":
    for row in rows(*map(int, sys.argv[1:3])):
        print(row, flush=True)
