"""Large tables of one's own: seconds and memory from ten thousand to a million rows.

python -m benchmarks.large [ROWS]

Prints what one size takes; `python -m benchmarks large` compares ten thousand, a hundred thousand
and a million rows.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.row import Row, high_water
from datasets import catalog, own
from engine.core.vocabulary import EPSILONS
from engine.runs.driver import drive
from engine.runs.job import request

SIZES = (10_000, 100_000, 1_000_000)
METHODS = ("out_pert", "dp_gd")
BOUNDS = "age: 18 to 100\ntreated: 0 to 1\nmarker: -4 to 4\ntime: 0 to 50"
GIGABYTES = 6.0
LINEAR = 1.5
"""Ten times the rows may take ten times as long, and half as much again."""


def table(rows: int) -> bytes:
    """A file of so many persons: age, treatment, marker, and times that depend on them."""
    rng = np.random.default_rng(0)
    age, treated = rng.integers(18, 100, rows), rng.integers(0, 2, rows)
    marker = rng.normal(size=rows)
    rate = 0.02 * np.exp(0.02 * (age - 50) - 0.5 * treated + 0.3 * marker)
    lives, leaves = rng.exponential(1 / rate), rng.uniform(1.0, 50.0, rows)
    time_, event = np.minimum(lives, leaves), lives <= leaves
    columns = zip(time_, event, age, treated, marker, strict=True)
    lines = (f"{t:.4f},{int(e)},{a},{x},{m:.4f}" for t, e, a, x, m in columns)
    return "\n".join(["time,event,age,treated,marker", *lines]).encode()


def measure(rows: int) -> dict[str, float]:
    """Seconds of adding the file and of both methods at 7 ε x 5 seeds, and peak memory in GB."""
    content = table(rows)
    began = time.perf_counter()
    name = own.keep("large.csv", content, BOUNDS)
    taken = {"add": time.perf_counter() - began}
    data = catalog.load(name)
    for method in METHODS:
        job = request("survival", method, name, {}, {"epsilon": EPSILONS[::3][:7]}, range(5))
        began = time.perf_counter()
        for _ in drive(job, data, lambda name, arrays: name):
            pass
        taken[method] = time.perf_counter() - began
    return {**taken, "GB": high_water() / 1024}


def alone(rows: int) -> dict[str, float]:
    """`measure` in a process of its own, whose memory is nobody else's."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.large", str(rows)], capture_output=True, text=True,
            check=True, cwd=Path(__file__).parents[1], env={**os.environ, "EXPLORER_HOME": home},
        )  # fmt: skip
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def rows() -> list[Row]:
    """Memory at a million rows, and what ten times the rows cost."""
    measured = {size: alone(size) for size in SIZES}
    most = measured[SIZES[-1]]
    table = [
        Row(
            f"{SIZES[-1]:,} rows, 7 ε x 5 seeds, out_pert and dp_gd: peak memory", most["GB"], None,
            "GB", f"<= {GIGABYTES:g}", most["GB"] <= GIGABYTES,
            f"{most['add']:.1f} s to add the file, {most['out_pert']:.1f} s and "
            f"{most['dp_gd']:.1f} s to train",
        )
    ]  # fmt: skip
    for part in ("add", *METHODS):
        few, many = measured[SIZES[1]][part], most[part]
        note = ", ".join(f"{size:,}: {one[part]:.2f} s" for size, one in measured.items())
        growth = many / few
        table.append(
            Row(
                f"{part}: seconds at 1,000,000 rows over seconds at 100,000", growth, None, "x",
                f"<= {10 * LINEAR:g}", growth <= 10 * LINEAR, note,
            )
        )  # fmt: skip
    return table


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[0])))
