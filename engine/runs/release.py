"""A release of private records: one setting, secret noise, and nothing kept but what is released.

No store, no measures and no seed: the run cannot be repeated, by us or by anybody else. What a
method's gauges show is computed from raw records and is thrown away.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from random import SystemRandom
from typing import Any

import numpy as np
import torch

from datasets.base import Card, Table
from engine.catalog import paper
from engine.core.errors import ExplorerError, RequestError
from engine.core.kept import released
from engine.core.spec import Spec
from engine.method import Arrays, Entry
from engine.privacy import exact as whole
from engine.privacy.guarantee import STATUSES, Guarantee
from engine.privacy.releases import cost as composed
from engine.privacy.secret import Secret
from engine.promise import CONCENTRATED
from engine.runs.job import Job, sound

Report = Callable[[int, int], None]
"""Told how much of how much is done."""
CLOSE = 1e-9
"""What two ways of adding up the same price may differ by, as a share."""


class ReleaseError(ExplorerError):
    """A release that ended without a result."""


def checked(job: Job, described: Card, *, exact: bool = False) -> Guarantee:
    """The card of a release, if there may be one.

    Args:
        job: The request.
        described: The data set.
        exact: Whether noise is drawn on whole numbers.

    Raises:
        RequestError: More than one setting, a card that is not proved without assumptions or
            states less than its releases cost, exact noise for what is not of whole numbers, or
            covariates that vary in time where the method needs them fixed.
    """
    if job.replicas() != 1:
        raise RequestError(f"release: expected one setting and one seed, got {job.replicas()}")
    entry, spec = sound(job).entry(), job.batch().spec
    card = entry.promise(spec, described)
    if card.status != "proved" or card.epsilon_proved is None:
        raise RequestError(
            f"release: expected a method whose card is proved, got {entry.label}, "
            f"which is {STATUSES[card.status].lower()}{_taken(described)}"
        )
    _covered(entry, spec, described)
    if not exact:
        return replace(card, secret=True)
    if entry.whole is None:
        raise RequestError(
            f"exact: expected a method that releases whole numbers, such as a histogram, a mean or "
            f"a Kaplan-Meier curve, got {entry.label}: leave out --exact"
        )
    accountant = CONCENTRATED if card.delta else card.accountant
    return replace(card, secret=True, exact=True, accountant=accountant)


def _taken(described: Card) -> str:
    """What to do where the bounds or categories of a data set are what no proof allows."""
    if not described.taken:
        return ""
    return (
        f": bounds or categories of {described.name} were taken from its records, or stated with "
        "an earlier version; state them, add the table again, and count what was released before "
        f"(`ledger {described.name}`)"
    )


def _covered(entry: Entry[Any], spec: Spec, described: Card) -> None:
    """Checks that the card of one row states at least what an accountant finds for the releases.

    Raises:
        RequestError: It states less.
    """
    from engine.privacy import accounting  # takes a second to load

    row = entry.guarantee(spec, described.records, described.record)
    stated = row.epsilon_proved or 0.0
    event = composed(entry.releases(spec, described.records))
    spent = accounting.epsilon(event, row.delta, row.relation)
    if stated < spent * (1.0 - CLOSE):  # the other accountant may know better
        spent = accounting.epsilon(event, row.delta, row.relation, tight=True)
    if stated < spent * (1.0 - CLOSE):
        raise RequestError(
            f"epsilon_proved: expected a card that states at least the ε = {spent:.4g} that the "
            f"releases of {entry.label} cost, got {stated:.4g}"
        )


def release(
    job: Job,
    data: Table,
    report: Report = lambda done, total: None,
    *,
    exact: bool = False,
) -> Arrays:
    """What the run of a job releases, with secret noise, on the processor.

    Args:
        job: The request.
        data: The records.
        report: Told how many steps are done.
        exact: Whether noise is drawn on whole numbers, without rounding.

    Raises:
        RequestError: As `checked`.
        ReleaseError: The method withheld its result.
    """
    card = checked(job, data.card, exact=exact)
    entry, batch, rng = job.entry(), job.batch(), Secret()
    method, total = entry.load(), entry.steps(batch.spec, len(data))
    with torch.no_grad(), _noise(job, data.card) if card.exact else nullcontext():
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


def _noise(job: Job, described: Card) -> AbstractContextManager[object]:
    """Draws whole-number noise that costs what one row costs on the card."""
    entry, spec = job.entry(), job.batch().spec
    row = entry.guarantee(spec, described.records, described.record)
    assert entry.whole is not None
    assert row.epsilon_proved is not None
    made = entry.releases(spec, described.records)
    by = whole.factor(made, row.epsilon_proved, row.delta)
    return whole.exactly(entry.whole, by, SystemRandom().getrandbits)
