"""`audits --sees published`: attacks by whoever has the published model and nothing else."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli import again
from engine.cli.shared import show_json, show_table
from engine.runs import audits, changes, met
from engine.runs.job import Job


def attacked(
    wanted: Sequence[tuple[Job, str]], worst: int, seconds: float, *, keep: bool, as_json: bool
) -> None:
    """Attacks some settings and prints one line for each.

    Args:
        wanted: The attacks and their calibrations.
        worst: Trainings with the worst record, and as many without.
        seconds: Of each attack on real records, about.
        keep: Whether to keep them in the reference folder.
        as_json: Whether to print them as JSON.
    """
    found = []
    for job, calibration in wanted:
        found.append(_one(job, calibration, worst, seconds))
        if keep:
            met.KEPT.put(found[-1])
    if as_json:
        show_json({"sees": "published", "audits": [asdict(row) for row in found]})
        return
    columns = ("paper", "method", "budget", "at least", "worst record", "real records", "right")
    show_table(
        "Attacks by what is published",
        (*columns, "of how many", "trainings"),
        [
            (
                row.paper, row.method, row.budget, row.epsilon, row.epsilon_worst,
                row.epsilon_real, row.right, row.records, row.trainings,
            )
            for row in found
        ],
    )  # fmt: skip


def _one(job: Job, calibration: str, worst: int, seconds: float) -> met.Meeting:
    """One attack; what is loaded and calibrated is not counted."""
    from engine.audit.met import meet  # these load torch
    from engine.audit.report import check
    from engine.audit.training import Setting

    one, spec, data = paper(job.paper), job.spec(), data_catalog.load(job.dataset)
    entry, began = one.entry(job.method), time.monotonic()
    card = check(entry, spec, len(data), worst)
    setting = Setting.of(entry, spec, data)
    shown = meet(setting, data, one.arrays, worst=worst, delta=card.delta, seconds=seconds)
    return met.Meeting(
        run=audits.name(job),
        sources=changes.sources(replace(job, audit=False)),
        paper=job.paper,
        method=job.method,
        dataset=job.dataset,
        calibration=calibration,
        budget=float(job.values[audits.EPSILON]),
        delta=card.delta,
        seconds=time.monotonic() - began,
        first=again.first_published(setting, data, one.arrays, card.delta),
        **asdict(shown),
    )
