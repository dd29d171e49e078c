"""A thousand runs of five hundred replicas on two hundred workers: measured parts, simulated whole.

What one task, one message and one write cost is measured on this machine; how they add up on a
fleet that is not here is simulated, with the sizes that are said in the rows.

python -m benchmarks.fleet
"""

import heapq
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import Row
from engine.runs.events import Measured
from engine.runs.executor.cluster import tick
from engine.runs.job import request
from engine.service.claim import take
from engine.service.process import here
from engine.service.scheduler import ELSEWHERE, OPEN
from engine.service.store import Store

RUNS, REPLICAS, WORKERS, CHUNK = 1_000, 500, 200, 25
SECONDS, EVENTS = 60.0, 40
"""Of a chunk on one worker: how long it takes on average, and how often it measures."""
TRIED = 300


@dataclass(frozen=True)
class Costs:
    """Seconds on this machine.

    Attributes:
        task: Of the scheduler for a task that does nothing, with submitting it and its result.
        message: Of the scheduler for one message by the queue.
        write: Of the store for a write of a run's new events.
    """

    task: float
    message: float
    write: float


def rows() -> list[Row]:
    """What the parts cost, how long the fleet takes, and what is full first."""
    costs = measured()
    parts = Row(
        "one task, one message, one write of events", 1e3 * costs.task, None, "ms", "", None,
        f"task {1e3 * costs.task:.2g} ms, message {1e3 * costs.message:.2g} ms, "
        f"write {1e3 * costs.write:.2g} ms",
    )  # fmt: skip
    return [parts, *(fleet(costs, together) for together in (1, OPEN, ELSEWHERE)), limits(costs)]


def measured() -> Costs:
    """Measures what a task, a message and a write cost."""
    return Costs(*_dask(), _write())


def _dask() -> tuple[float, float]:
    from distributed import LocalCluster, Queue

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        cluster.get_client() as client,
    ):
        client.gather(client.map(_nothing, range(20), pure=False))
        began = time.perf_counter()
        client.gather([client.submit(_nothing, i, pure=False) for i in range(TRIED)])
        task = (time.perf_counter() - began) / TRIED
        queue: Any = Queue("fleet", client=client)
        body = {"chunk": 0, "events": [_event()] * 4, "state": b""}
        began = time.perf_counter()
        for _ in range(TRIED):
            queue.put(body)
        queue.get(batch=True)
        return task, (time.perf_counter() - began) / TRIED


def _nothing(number: int) -> int:
    return number


def _event() -> dict[str, Any]:
    values = {"error": [0.25] * CHUNK, "cost": [0.5] * CHUNK}
    return {"kind": "Measured", "step": 7, "replicas": list(range(CHUNK)), "values": values}


def _write() -> float:
    """Seconds of one write of a few measurements into a store."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        job = request("mean", "laplace", "flchain", {}, {"epsilon": (1.0, 2.0)}, range(3))
        store.submit(job, {})
        claim = take(store, here(), job.id)
        assert claim is not None
        event = Measured(7, tuple(range(CHUNK)), {"error": (0.25,) * CHUNK})
        began = time.perf_counter()
        for _ in range(TRIED):
            claim.append([event] * 4)
        seconds = (time.perf_counter() - began) / TRIED
        store.database.close()
        return seconds


def fleet(costs: Costs, together: int) -> Row:
    """All runs, with so many open at once: chunks go to free workers in the order of their runs."""
    rng = np.random.default_rng(0)
    tasks = -(-REPLICAS // CHUNK)
    seconds = rng.gamma(4.0, SECONDS / 4.0, (RUNS, tasks))  # half as much spread as the mean
    free, left = [0.0] * WORKERS, [tasks] * RUNS
    opened = list(range(min(together, RUNS)))
    ready = [(0.0, run, chunk) for run in opened for chunk in range(tasks)]
    heapq.heapify(ready)
    ahead, busy, end, ends = len(opened), 0.0, 0.0, [0.0] * RUNS
    while ready:
        at, run, chunk = heapq.heappop(ready)
        begin = max(at, heapq.heappop(free)) + costs.task
        over = begin + float(seconds[run, chunk])
        heapq.heappush(free, over)
        busy, left[run], end = busy + over - begin, left[run] - 1, max(end, over)
        ends[run] = max(ends[run], over)
        if not left[run] and ahead < RUNS:
            for number in range(tasks):
                heapq.heappush(ready, (ends[run], ahead, number))
            ahead += 1
    share = busy / (WORKERS * end)
    told = RUNS * tasks * EVENTS / end
    note = (
        f"{together} runs open at once; {told:.0f} messages and at most "
        f"{min(told, 10 * together):.0f} writes a second; without overhead and "
        f"waiting {seconds.sum() / WORKERS / 3600:.2f} h"
    )
    return Row(f"{WORKERS} workers, {RUNS:,} runs x {REPLICAS} replicas", end / 3600, None, "h",
               "", None, f"{note}; workers busy {100 * share:.0f} %")  # fmt: skip


def limits(costs: Costs) -> Row:
    """How many workers the scheduler and the store carry before either is full."""
    each = EVENTS / SECONDS
    scheduler = 1.0 / (each * costs.message + costs.task / SECONDS)
    noisy = tick(WORKERS) / costs.message
    store = 1.0 / costs.write
    note = (
        f"messages fill the scheduler first; at {noisy:,.0f} workers where every tick has "
        f"something to tell; the store takes {store:,.0f} writes a second, and each open run "
        "writes ten times a second at most"
    )
    return Row(f"workers at which the scheduler is full, {each:.2g} messages a second each",
               scheduler, WORKERS, "", f">= {WORKERS}", scheduler >= WORKERS, note)  # fmt: skip


def main() -> None:
    """Prints the rows."""
    for row in rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
