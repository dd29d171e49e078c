"""Chunks on two local Dask workers against the same chunks in this process, one thread each.

python -m benchmarks.cluster [show | two | one | kills] [--small] [--kills NUMBER]

With --small, digits stand in for MNIST; speed means nothing then, as starting takes the longest.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks.row import Row
from datasets import catalog
from engine.runs.driver import drive
from engine.runs.events import Advanced, Event, Measured, encode
from engine.runs.executor.cluster import Cluster, connected
from engine.runs.executor.local import Local
from engine.runs.executor.work import Executor
from engine.runs.job import Job, request

ROOT = Path(__file__).parents[1]
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 8.0)
KILLS = 50
FASTER, OVERHEAD = 1.6, 0.05
LOADED = (
    "distributed", "pandas", "engine.runs.executor.cluster",
    "engine.papers.survival.samplers.langevin",
)  # fmt: skip
"""What a worker has loaded when it begins, where many of them begin."""


@contextmanager
def cluster(workers: int) -> Iterator[Cluster]:
    """A scheduler and workers of one thread each on this machine, with this code."""
    import dask
    from distributed import LocalCluster

    # Else a worker that is killed twice within 15 s may be given up for good.
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}), LocalCluster(
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


def grid(calibration: str = "rigorous", data: str = "mnist") -> Job:
    """Seven budgets and three seeds of pCDBN."""
    values: dict[str, Any] = {"calibration": calibration}
    if calibration != "rigorous":
        values |= {"pretraining": 1, "epochs": 1, "filters": 4}
    return request("pcdbn", "pcdbn", data, values, {"epsilon": EPSILONS}, range(3))


def folds(data: str = "mnist", count: int = 25) -> Job:
    """The folds of GMLVQ."""
    return request("lvq", "gmlvq_dp", data, {}, {}, range(count))


JOBS: dict[str, Callable[[str], Job]] = {
    "25 folds of GMLVQ": folds,
    "7 ε x 3 seeds of pCDBN, as printed, one epoch": lambda data: grid("paper", data),
    "7 ε x 3 seeds of pCDBN, rigorous": lambda data: grid("rigorous", data),
}
ONE_TASK = "one chunk shares the pass over the data, so one worker does it"


def rows() -> list[Row]:
    """All rows."""
    torch.set_num_threads(1)
    return [*two(), one(), *kills()]


def two(data: str = "mnist") -> Iterator[Row]:
    """Two workers against this process."""
    with cluster(2) as executor:
        warm(executor, data)
        for what, job in JOBS.items():
            here, expected = trained(job(data), Local())
            there, actual = trained(job(data), executor)
            same = "same numbers to the bit" if expected == actual else "OTHER NUMBERS"
            chunked = tasks(job(data)) > 1
            yield Row(
                f"{what} on {data}, two workers", there, here, "s",
                f">= {FASTER} x as fast, same numbers" if chunked else "same numbers",
                expected == actual and (not chunked or here >= FASTER * there),
                f"{same}; peer: this process, one thread{'' if chunked else '; ' + ONE_TASK}",
            )  # fmt: skip


def tasks(job: Job) -> int:
    """How many chunks a job has."""
    size = job.entry().chunk(job.spec(), len(catalog.load(job.dataset)), "cpu")
    return -(-job.replicas() // size)


def one(data: str = "mnist") -> Row:
    """What one worker costs beside this process."""
    job = folds(data, 4)
    with cluster(1) as executor:
        warm(executor, data)
        here, expected = trained(job, Local())
        there, actual = trained(job, executor)
    met = expected == actual and there <= (1 + OVERHEAD) * here
    note = f"{100 * (there / here - 1):+.1f} %; peer: this process"
    return Row(
        f"4 folds of GMLVQ on {data}, one worker", there, here, "s", "<= 5 % more", met, note
    )


def warm(executor: Cluster, data: str) -> None:
    """Loads torch and the images in every worker, which is no part of a long run."""
    connected(executor.address).run(prepare, data)
    trained(request("lvq", "glvq_sgd", data, {"epochs": 1}, {}, range(2)), executor)


def prepare(data: str) -> None:
    """What a worker does once."""
    torch.set_num_threads(1)
    catalog.load(data)


def kills(count: int = KILLS) -> list[Row]:
    """Workers that are killed in mid-chunk, until so many have died."""
    dead, rounds, wrong, longest = 0, 0, 0, 0.0
    values = {"intervals": 5, "sampler_epochs": 0.2}
    job = request("survival", "psgld", "flchain", values, {"epsilon": (0.5, 4.0)}, range(2))
    _, expected = trained(job, Local())
    began = time.perf_counter()
    with loaded(), cluster(2) as executor:
        while dead < count and rounds < count:
            killer = Killer(executor, count - dead)
            actual = killer.run(job)
            dead, rounds, wrong = dead + killer.dead, rounds + 1, wrong + (expected != actual)
            longest = max(longest, killer.longest)
    note = (
        f"{rounds} runs of {job.method} in {time.perf_counter() - began:.0f} s; "
        f"at most {longest:.1f} s from a kill to the next measure that is new"
    )
    target = f"{count} kills, 0 runs with lost, double or other events"
    met, what = not wrong and dead >= count, f"{dead} workers killed in mid-chunk"
    return [Row(what, float(wrong), None, "", target, met, note)]


@contextmanager
def loaded() -> Iterator[None]:
    """Workers are forked from a process that has loaded what takes seconds of every start."""
    import dask
    from distributed.utils import get_mp_context

    os.environ.update(OMP_NUM_THREADS="1", MKL_CBWR="AUTO,STRICT")  # before torch is loaded there
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(list(LOADED))
        yield


class Killer:
    """Kills the worker that trains, after its first, second or third new measure, time and again.

    A worker that is killed before it has told anything new would never bring a run to its end.

    Args:
        executor: Whose workers.
        most: How many at most.
    """

    def __init__(self, executor: Cluster, most: int) -> None:
        self.dead, self.longest, self._most = 0, 0.0, most
        self._executor, self._client = executor, connected(executor.address)

    def run(self, job: Job) -> list[str]:
        """What a run says whose workers are killed, as `said`."""
        data, events, heard, struck = catalog.load(job.dataset), list[Event](), 0, 0.0
        for event in drive(job, data, lambda name, arrays: name, executor=self._executor):
            events.append(event)
            if not isinstance(event, Measured):
                continue
            if struck:
                self.longest, struck = max(self.longest, time.perf_counter() - struck), 0.0
            heard += 1
            if heard > self.dead % 3 and self.dead < self._most and self._strike():
                self.dead, heard, struck = self.dead + 1, 0, time.perf_counter()
        return said(events)

    def _strike(self) -> bool:
        """Whether a worker that had a task is dead now."""
        for where in (w for w, tasks in self._client.processing().items() if tasks):
            for pid in self._client.run(os.getpid, workers=[where], on_error="ignore").values():
                os.kill(pid, signal.SIGKILL)
                return True
        return False


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


def main() -> None:
    """Prints the rows of one part as they come, or of all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster")
    parser.add_argument("part", nargs="?", choices=("show", "two", "one", "kills"))
    parser.add_argument("--small", action="store_true", help="digits in place of MNIST")
    parser.add_argument("--kills", type=int, default=KILLS, help="workers to kill")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.part == "show":
        show()
        return
    data = "digits" if asked.small else "mnist"
    parts: dict[str, Callable[[], Iterable[Row]]] = {
        "two": lambda: two(data),
        "one": lambda: [one(data)],
        "kills": lambda: kills(asked.kills),
    }
    for name in [asked.part] if asked.part else parts:
        for row in parts[name]():
            print(row, flush=True)


if __name__ == "__main__":
    main()
