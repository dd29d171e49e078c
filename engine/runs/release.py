"""A release of private records: one setting, secret noise, and nothing kept but what is released.

No store, no measures and no seed: the run cannot be repeated, by us or by anybody else. What a
method's gauges show is computed from raw records and is thrown away.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from datasets.base import Card, Table
from engine.catalog import paper
from engine.core.errors import ExplorerError, RequestError
from engine.core.kept import released
from engine.method import Arrays
from engine.privacy.guarantee import STATUSES, Guarantee
from engine.privacy.secret import Secret
from engine.runs.job import Job

Report = Callable[[int, int], None]
"""Told how much of how much is done."""


class ReleaseError(ExplorerError):
    """A release that ended without a result."""


def checked(job: Job, described: Card) -> Guarantee:
    """The card of a release, if there may be one.

    Raises:
        RequestError: More than one setting, or a card that is not proved without assumptions.
    """
    if job.replicas() != 1:
        raise RequestError(f"release: expected one setting and one seed, got {job.replicas()}")
    entry, spec = job.entry(), job.batch().spec
    card = entry.promise(spec, described)
    if card.status != "proved" or card.epsilon_proved is None:
        raise RequestError(
            f"release: expected a method whose card is proved, got {entry.label}, "
            f"which is {STATUSES[card.status].lower()}"
        )
    return replace(card, secret=True)


def release(job: Job, data: Table, report: Report = lambda done, total: None) -> Arrays:
    """What the run of a job releases, with secret noise, on the processor.

    Raises:
        RequestError: As `checked`.
        ReleaseError: The method withheld its result.
    """
    checked(job, data.card)
    entry, batch, rng = job.entry(), job.batch(), Secret()
    method, total = entry.load(), entry.steps(batch.spec, len(data))
    with torch.no_grad():
        state: Any = method.init(batch, data, rng)
        for step in range(1, total + 1):
            rng.refill()
            state, _ = method.step(batch, data, state, rng)
            report(step, total)
        arrays = method.products(batch, data, state)
    declared = paper(job.paper).arrays
    published = {name: array for name, array in arrays.items() if released(declared, name)}
    if not all(np.isfinite(array).all() for array in published.values() if array.dtype.kind == "f"):
        raise ReleaseError(f"release: expected a result, got none: {entry.label} withheld it")
    return published
