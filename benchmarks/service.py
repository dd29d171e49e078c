"""How long a user waits for the store and the worker, on a store of its own.

python -m benchmarks.service
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from engine.core.vocabulary import EPSILONS
from engine.runs.events import Measured
from engine.runs.job import Job, request
from engine.service.client import Client

REQUESTS = 6
READS = 300
SEEDS = 10


def rows() -> list[Row]:
    """Starts a worker, warms it up with one run, and measures what follows."""
    with service() as client:
        start = time.perf_counter()
        wait(client, job("out_pert", 150))
        cold = time.perf_counter() - start
        rest(client)
        return [
            Row("first run, worker not started yet", cold, None, "s", "", None, "with imports"),
            *warm_rows(client),
            beside_row(client),
            *reading_rows(client),
        ]


@contextmanager
def service() -> Iterator[Client]:
    """A client on a store of its own, with whose folder the worker goes too."""
    with tempfile.TemporaryDirectory() as folder:
        client = Client(Path(folder))
        client.register_app()
        yield client
        client.close()


def job(method: str, intervals: int) -> Job:
    """What a page asks for: every budget of the slider, several seeds, a new number of steps."""
    return request(
        "survival",
        method,
        "flchain",
        {"intervals": intervals},
        {"epsilon": EPSILONS},
        range(SEEDS),
    )


def warm_rows(client: Client) -> list[Row]:
    """From pressing the button to the first state and to the first live point."""
    accepted: list[float] = []
    first: dict[str, list[float]] = {"out_pert": [], "obj_pert": []}
    for number in range(REQUESTS):
        for method, times in first.items():
            seconds = press(client, job(method, 160 + 4 * number))
            accepted.append(seconds[0])
            times.append(seconds[1])
    point = "first live point, warm worker, FLchain, q about 200"
    return [
        figure("job accepted and visible", accepted, 1e3, "ms", 300.0),
        *(figure(f"{point}, {method}", times, 1.0, "s", 1.5) for method, times in first.items()),
    ]


def beside_row(client: Client) -> Row:
    """From pressing the button to the first live point while a sampler of minutes goes on."""
    long = request("survival", "exact", "flchain", {}, {"epsilon": EPSILONS}, range(3))
    client.submit(long, {"epsilon": 1.0})
    until(lambda: live(client, long.id))
    times = [press(client, job("out_pert", 100 + 4 * number))[1] for number in range(REQUESTS)]
    client.cancel(long.id)
    until(lambda: not client.run(long.id).active)
    return figure("first live point beside a sampler of minutes, out_pert", times, 1.0, "s", 0.0)


def press(client: Client, asked: Job) -> tuple[float, float]:
    """Seconds until a job is accepted and visible, and until it shows a point; then stops it."""
    start = time.perf_counter()
    client.submit(asked, {"epsilon": 1.0})
    client.run(asked.id)
    accepted = time.perf_counter() - start
    until(lambda: live(client, asked.id) or not client.run(asked.id).active)
    first = time.perf_counter() - start
    client.cancel(asked.id)
    until(lambda: not client.run(asked.id).active)
    return accepted, first


def reading_rows(client: Client) -> list[Row]:
    """What each look of a page costs, and an answer from the store."""
    done = job("out_pert", 150)
    events = client.events(done.id)
    looks = [
        timed(lambda: (client.run(done.id), client.events(done.id, events[-1][0])))
        for _ in range(READS)
    ]
    cached = [timed(lambda: (client.submit(done), client.table(done.id))) for _ in range(READS)]
    return [
        figure("one look at a run: state and new events", looks, 1e3, "ms", 1.0),
        figure("a completed run asked for again", cached, 1e3, "ms", 0.0),
    ]


def figure(what: str, seconds: list[float], scale: float, unit: str, target: float) -> Row:
    """The 95th percentile beside its target; the median in the note."""
    slow, middle = (float(np.percentile(seconds, p)) * scale for p in (95, 50))
    note = f"95th percentile of {len(seconds)}, median {middle:.3g} {unit}"
    if not target:
        return Row(what, slow, None, unit, "", None, note)
    return Row(what, slow, None, unit, f"under {target:g} {unit}", slow < target, note)


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def live(client: Client, run: str) -> bool:
    """Whether the run shows a point."""
    return any(isinstance(event, Measured) for _, event in client.events(run))


def wait(client: Client, asked: Job) -> None:
    """Runs a job to its end."""
    client.submit(asked)
    until(lambda: not client.run(asked.id).active)


def rest(client: Client) -> None:
    """Waits until the worker has loaded everything: its processor time stands still."""
    with client.store.database.reading() as connection:
        pid = connection.execute("SELECT pid FROM workers").fetchone()["pid"]
    before, now = -1.0, worked(pid)
    while now - before > 0.1:
        time.sleep(2.0)
        before, now = now, worked(pid)


def worked(pid: int) -> float:
    """Seconds of processor time that a process has used, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until(look: Callable[[], bool]) -> None:
    """Looks every five milliseconds until it is true."""
    while not look():
        time.sleep(0.005)


if __name__ == "__main__":
    for row in rows():
        print(row)
