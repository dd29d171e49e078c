"""Runs that look like the engine's and cost nothing: their numbers are made up, seeded."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from datasets import catalog as data_catalog
from engine.core.gauges import gauges
from engine.runs import shipped
from engine.runs.changes import sources
from engine.runs.events import Advanced, Finished, Measured, Produced, Spent, Started
from engine.runs.job import Job
from engine.runs.shipped import Origin
from engine.service.claim import Claim, take
from engine.service.process import here
from engine.service.store import Store

SURVIVAL_POINTS = 200


def begin(home: Path, job: Job) -> Claim:
    """A run that is under way: a quarter of its replicas is trained."""
    store = Store(home)
    for _ in range(100):
        store.submit(job, {})
        if claim := take(store, here(), job.id):
            break
        store.cancel(job.id)  # a worker that was still there was quicker
        time.sleep(0.1)
    assert claim is not None
    count = job.replicas()
    rows = range(max(1, count // 4))
    spent = Spent(1, tuple(rows), (1.0,) * len(rows), (0.0,) * len(rows))
    claim.append([Started(0, 4, count), _measured(job, rows), spent])
    claim.append([Advanced(1, 1, 4)])
    return claim


def play(home: Path, job: Job) -> None:
    """A run that is over."""
    claim = begin(home, job)
    rows = range(job.replicas())
    arrays = _arrays(job)
    claim.append([_measured(job, rows)])
    if arrays:
        digest = claim.keep("final-0000", arrays)
        claim.append([Produced(1, "final-0000", digest, tuple(rows))])
    lost = tuple(range(9, job.replicas(), 10)) if job.axes else ()
    claim.finish("completed", [Advanced(1, 4, 4), Finished(1, "completed", lost)])


def ship(folder: Path, job: Job) -> None:
    """A run that ships with the app."""
    rows = range(job.replicas())
    origin = Origin(
        job=job.text(), device="cpu", threads=1, seconds=2.0, finished=1.8e9, total=1,
        diverged=(), sources=sources(job), software={},
    )  # fmt: skip
    spent = Spent(1, tuple(rows), (1.0,) * len(rows), (0.0,) * len(rows))
    events = [Started(0, 1, len(rows)), _measured(job, rows), spent]
    shipped.save(origin, events, _arrays(job), folder)


def _measured(job: Job, rows: range) -> Measured:
    """Gauges that fall with the budget; one replica in ten has diverged."""
    rng = np.random.default_rng(1)
    batch, names = job.batch(), gauges(job.entry().info)
    budget = batch.column("epsilon")[rows.start : rows.stop]
    values: dict[str, tuple[float | None, ...]] = {}
    for name in names:
        column = (1.0 + 1.0 / budget) * rng.uniform(0.8, 1.2, len(rows))
        values[name] = tuple(
            None if i % 10 == 9 and job.axes else float(v) for i, v in enumerate(column)
        )
    return Measured(1, tuple(rows), values)


def _drawn(rng: np.random.Generator, rows: int, d: int) -> dict[str, Any]:
    """Draws of a sampler: normal around 1, as its approximation says."""
    return {
        "draws": rng.normal(1.0, 0.5, (rows, 40, d)).astype(np.float32),
        "mode": np.ones((rows, d)), "laplace": np.full((rows, d), 0.5),
    }  # fmt: skip


def _arrays(job: Job) -> dict[str, Any]:
    """What a survival run leaves behind; nothing for other papers."""
    if job.paper != "survival" or job.method == "cox":
        return {}
    rng, rows = np.random.default_rng(2), job.replicas()
    p, knots = len(data_catalog.card(job.dataset).features), int(job.values["knots"])
    d = p + knots
    scale = {
        "centre": np.full((rows, p), 50.0), "span": np.full((rows, p), 40.0),
        "norm": np.full(rows, 1.2), "horizon": np.full(rows, 5000.0), "tau": np.zeros(rows),
    }  # fmt: skip
    start = np.r_[-6.0, np.zeros(d - 1)]
    coefficients = start + rng.normal(0, 0.3, (rows, d))
    if job.method in ("psgld", "exact"):
        scale |= _drawn(rng, rows, d)
    if job.method != "non_private":
        noise = np.ones((rows, d)) / job.batch().column("epsilon")[:, None]
        return {"coefficients": coefficients, "noise": noise, **scale}
    time = np.linspace(0, 5000, SURVIVAL_POINTS)
    return {
        "coefficients": coefficients,
        "optimum": coefficients,
        "errors": np.full((rows, d), 0.1),
        "cox": coefficients[:, knots:],
        "cox_errors": np.full((rows, p), 0.1),
        "km_time": np.tile(time, (rows, 1)),
        "km_survival": np.tile(np.exp(-time / 9000), (rows, 1)),
        **scale,
    }
