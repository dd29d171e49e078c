"""Chunks on two local Dask workers against the same chunks in this process, one thread each.

python -m benchmarks.cluster [show | two | one | kills]
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks.row import Row
from datasets import catalog
from engine.runs.driver import drive
from engine.runs.events import Advanced, Event, encode
from engine.runs.executor.cluster import Cluster
from engine.runs.executor.connection import connected
from engine.runs.executor.local import Local
from engine.runs.executor.work import Executor
from engine.runs.job import Job, request

ROOT = Path(__file__).parents[1]
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 8.0)
KILLS = 50
FASTER, OVERHEAD = 1.6, 0.05


@contextmanager
def cluster(workers: int) -> Iterator[Cluster]:
    """A scheduler and workers of one thread each on this machine, with this code."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    ) as made:  # fmt: skip
        yield Cluster(made.scheduler_address.removeprefix("tcp://"))


def trained(job: Job, executor: Executor) -> tuple[float, list[str]]:
    """Seconds, and what was said of every replica, in an order of its own."""
    data = catalog.load(job.dataset)
    began = time.perf_counter()
    events = list(drive(job, data, lambda name, arrays: name, executor=executor))
    return time.perf_counter() - began, said(events)


def said(events: list[Event]) -> list[str]:
    """What was measured and spent, as text."""
    counted = (event for event in events if not isinstance(event, Advanced))
    bodies = ({k: v for k, v in encode(event).items() if k != "digest"} for event in counted)
    return sorted(json.dumps(body, sort_keys=True) for body in bodies)


def grid(calibration: str = "rigorous") -> Job:
    """Seven budgets and three seeds of pCDBN."""
    values: dict[str, Any] = {"calibration": calibration}
    if calibration != "rigorous":
        values |= {"pretraining": 1, "epochs": 2, "filters": 16}
    return request("pcdbn", "pcdbn", "mnist", values, {"epsilon": EPSILONS}, range(3))


def folds() -> Job:
    """The 25 folds of GMLVQ on MNIST."""
    return request("lvq", "gmlvq_dp", "mnist", {}, {}, range(25))


JOBS: dict[str, Callable[[], Job]] = {
    "25 folds of GMLVQ on MNIST": folds,
    "7 ε x 3 seeds of pCDBN on MNIST, as printed, 2 epochs": lambda: grid("paper"),
    "7 ε x 3 seeds of pCDBN on MNIST, rigorous": grid,
}
ONE_TASK = "one chunk shares the pass over the data, so one worker does it"


def rows() -> list[Row]:
    """All rows."""
    torch.set_num_threads(1)
    return [*two(), one(), *kills()]


def two() -> Iterator[Row]:
    """Two workers against this process."""
    with cluster(2) as executor:
        warm(executor)
        for what, job in JOBS.items():
            here, expected = trained(job(), Local())
            there, actual = trained(job(), executor)
            same = "same numbers to the bit" if expected == actual else "OTHER NUMBERS"
            chunked = what != list(JOBS)[-1]
            yield Row(
                f"{what}, two workers", there, here, "s",
                f">= {FASTER} x as fast, same numbers" if chunked else "same numbers",
                expected == actual and (not chunked or here >= FASTER * there),
                f"{same}; peer: this process, one thread{'' if chunked else '; ' + ONE_TASK}",
            )  # fmt: skip


def one() -> Row:
    """What one worker costs beside this process."""
    job = request("lvq", "gmlvq_dp", "mnist", {}, {}, range(4))
    with cluster(1) as executor:
        warm(executor)
        here, expected = trained(job, Local())
        there, actual = trained(job, executor)
    met = expected == actual and there <= (1 + OVERHEAD) * here
    note = f"{100 * (there / here - 1):+.1f} %; peer: this process"
    return Row("4 folds of GMLVQ on MNIST, one worker", there, here, "s", "<= 5 % more", met, note)


def warm(executor: Cluster) -> None:
    """Loads torch and the images in every worker, which is no part of a long run."""
    connected(executor.address).run(prepare)
    trained(request("lvq", "glvq_sgd", "mnist", {"epochs": 1}, {}, range(2)), executor)


def prepare() -> None:
    """What a worker does once."""
    torch.set_num_threads(1)
    catalog.load("mnist")


def kills(count: int = KILLS) -> list[Row]:
    """Workers that are killed in mid-chunk, until so many have died."""
    dead, rounds, wrong = 0, 0, 0
    job = request("survival", "psgld", "flchain", {}, {"epsilon": (0.5, 1.0, 4.0)}, range(4))
    _, expected = trained(job, Local())
    with cluster(2) as executor:
        while dead < count:
            killer = Killer(executor, count - dead)
            _, actual = trained(job, executor)
            dead += killer.stop()
            rounds += 1
            wrong += expected != actual
    note = f"{rounds} runs of {job.method}; SIGKILL of a worker every 2 to 4 s"
    target = "0 runs with lost, double or other events"
    return [
        Row(f"{dead} workers killed in mid-chunk", float(wrong), None, "", target, not wrong, note)
    ]


class Killer:
    """Kills one worker after the other while a run goes on.

    Args:
        executor: Whose workers.
        most: How many at most.
    """

    def __init__(self, executor: Cluster, most: int) -> None:
        self.dead, self._most = 0, most
        self._client, self._over = connected(executor.address), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """Ends it; returns how many were killed."""
        self._over.set()
        self._thread.join()
        return self.dead

    def _run(self) -> None:
        while not self._over.wait(2.0 + self.dead % 3) and self.dead < self._most:
            busy = {where for where, tasks in self._client.processing().items() if tasks}
            pids = self._client.run(os.getpid, on_error="ignore")
            for where in sorted(busy & pids.keys())[:1]:
                os.kill(pids[where], signal.SIGKILL)
                self.dead += 1


def show() -> None:
    """A curve of relevance learning on two workers, with the numbers of this process."""
    job = request("lvq", "glvq_dp", "digits", {"epochs": 1}, {"epsilon": EPSILONS[::2]}, range(25))
    with cluster(2) as executor:
        print(f"EXPLORER_EXECUTOR=dask://{executor.address}", flush=True)
        there, actual = trained(job, executor)
        here, expected = trained(job, Local())
    same = "the same numbers" if actual == expected else "OTHER NUMBERS"
    print(f"{job.method} on {job.dataset}: {there:.1f} s there, {here:.1f} s here, {same}")
    if actual != expected:
        sys.exit(1)


def main(name: str) -> None:
    """Prints the rows of one part."""
    torch.set_num_threads(1)
    if name == "show":
        show()
        return
    parts: dict[str, Callable[[], Any]] = {"two": two, "one": lambda: [one()], "kills": kills}
    for row in parts.get(name, rows)():
        print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
