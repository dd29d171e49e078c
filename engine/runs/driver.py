"""The training loop, written once for every method of every paper.

Replicas train in chunks, as many together as the method's entry says the device
carries best. Chunks take turns, so that every curve grows while the user looks
on, and the chunk that the user looks at goes first. Each chunk has a generator
of its own, seeded from the job, so neither the order nor the turns change a number,
nor does stopping in between where the method can go on (`engine.runs.checkpoint`).
"""

import hashlib
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from datasets.base import Card, Table
from engine.core.batch import Batch
from engine.core.errors import BudgetError
from engine.core.gauges import Column, Info, gauges
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy import accounting
from engine.privacy.guarantee import Guarantee
from engine.runs import memory
from engine.runs.artifacts import DONE
from engine.runs.checkpoint import Checkpoint, Checkpoints
from engine.runs.events import Advanced, Event, Finished, Measured, Produced, Spent, Started
from engine.runs.executor.local import Local
from engine.runs.executor.work import Executor, Keep, Pause, Work
from engine.runs.job import Job

TURNS = 20
"""Turns that each chunk takes over a whole run."""

LOCAL = Local()


def drive(
    job: Job, data: Table, keep: Keep, *, device: str = "cpu",
    focus: Mapping[str, float] | None = None, past: Checkpoints | None = None,
    pause: Pause = lambda: False, executor: Executor = LOCAL,
) -> Generator[Event, None, None]:  # fmt: skip
    """Runs a job and yields its events; closing the iterator cancels the run.

    A run that goes on where it was stopped yields what was still to come, and no `Started`.

    Args:
        job: What to run.
        data: The records.
        keep: Where arrays go.
        device: Torch device to train on; "auto" is CUDA where there is one. Its kind is reported.
        focus: Axis values under the user's sliders; their chunk goes first.
        past: Where a stopped run leaves its state and finds it again; None for nowhere.
        pause: When true after a step, an event follows at once, so that a turn may end there.
        executor: Where chunks run.
    """
    memory.keep()
    device = executor.device(device)
    entry, batch = job.entry(), job.batch()
    total = entry.steps(batch.spec, len(data))
    size = max(1, entry.chunk(batch.spec, len(data), device))
    chunks = _chunks(batch, size, focus or {})
    kind = torch.device(device).type
    past = past.on(kind) if past and entry.resumes else Checkpoints()
    over, diverged = past.done()
    if past.recall(DONE) is None:
        yield Started(0, total, len(batch), kind)
    rows = {c: part for c, part in chunks.items() if c not in over}

    def run(c: int) -> Generator[Event, None, None]:
        return chunk(job, entry, batch, rows[c], data, keep, c, device, past, pause)

    work = Work(job, data, rows, total, device, keep, past, pause, run)
    done = total * len(over)
    with past.noting(over, diverged), closing(executor.events(work)) as numbered:
        for number, event in numbered:
            if isinstance(event, Measured):
                diverged |= _diverged(event, entry.info)
            if isinstance(event, Advanced):
                done += event.done
                over |= {number} if event.step == total else set()
                event = Advanced(event.step, done, total * len(chunks))
            yield event
    yield Finished(total, "completed", tuple(sorted(diverged)))


def _chunks(batch: Batch[Spec], size: int, focus: Mapping[str, float]) -> dict[int, range]:
    """The rows of each chunk by its number; those under the sliders come first."""
    parts = [range(i, min(i + size, len(batch))) for i in range(0, len(batch), size)]
    order = sorted(range(len(parts)), key=lambda c: _distance(batch, parts[c], focus))
    return {c: parts[c] for c in order}


def chunk(
    job: Job,
    entry: Entry[Any],
    batch: Batch[Any],
    rows: Sequence[int],
    data: Table,
    keep: Keep,
    number: int,
    device: str,
    past: Checkpoints,
    pause: Pause,
) -> Generator[Event, None, None]:
    """The whole run of some replicas; after each turn it says how many steps it took."""
    method, part, rows = entry.load(), batch.take(rows), tuple(rows)
    rng = torch.Generator(device).manual_seed(_seed(job.id, number))
    total = entry.steps(batch.spec, len(data))
    every = max(1, total // TURNS)
    with torch.no_grad():
        place = Checkpoint.begin(entry, part, data, rng, number, past)
    reported = 0
    with place.kept(past):
        if 0 < place.step < total or pause():
            yield Advanced(place.step, place.step, total)
            reported = place.step
        for step in range(place.step + 1, total + 1):
            with torch.no_grad():
                state, info = method.step(part, data, place.state, rng)
            place.advance(state)
            if info is not None and step > place.heard:
                yield measured(step, rows, info)
            if step < total and (step % every == 0 or pause()):
                yield Advanced(step, step - reported, total)
                reported = step
        yield from _close(entry, part, rows, data, keep, place.state, total, number)
    yield Advanced(total, total - reported, total)


def _close(
    entry: Entry[Any],
    part: Batch[Any],
    rows: tuple[int, ...],
    data: Table,
    keep: Keep,
    state: Any,
    step: int,
    number: int,
) -> Generator[Event, None, None]:
    """What a chunk leaves behind: its price and its arrays."""
    card = replace(data.card, records=len(data))
    cards = [entry.promise(spec, card) for spec in part.specs]
    specs = zip(part.specs, cards, strict=True)
    prices = tuple(_price(entry, spec, promised, card, step) for spec, promised in specs)
    yield Spent(step, rows, prices, tuple(promised.delta for promised in cards))
    with torch.no_grad():
        arrays = entry.load().products(part, data, state)
    if arrays:
        yield Produced(step, f"final-{number:04d}", keep(f"final-{number:04d}", arrays), rows)


def measured(step: int, rows: Sequence[int], info: Info) -> Measured:
    """An info as an event, its columns as plain numbers."""
    columns = {field: getattr(info, field) for field in gauges(type(info))}
    values = {field: tuple(map(_number, np.asarray(c, float))) for field, c in columns.items()}
    return Measured(step, tuple(rows), values)


def _number(value: Column) -> float | None:
    """A number, or None where it is not finite."""
    return float(value) if math.isfinite(value) else None


def _diverged(event: Measured, info: type[Info]) -> set[int]:
    """The replicas of which some gauge is not finite that every replica has."""
    optional = {name for name, gauge in gauges(info).items() if gauge.may_be_undefined}
    return {
        r
        for name, column in event.values.items()
        if name not in optional
        for r, value in zip(event.replicas, column, strict=True)
        if value is None
    }


def _price(entry: Entry[Any], spec: Spec, promised: Guarantee, card: Card, steps: int) -> float:
    """The epsilon that an accountant proves for so many steps; infinity when none does.

    For a whole run that is the card's, whose accountant the paper has chosen.
    """
    n = card.records
    if steps == entry.steps(spec, n) and promised.epsilon_proved is not None:
        return promised.epsilon_proved
    if card.rows > 1:  # of persons with several rows only the card is known
        return math.inf
    try:
        event = entry.cost(spec, n, steps)
        return accounting.epsilon(event, promised.delta, promised.relation, tight=True)
    except BudgetError:
        return math.inf


def _seed(run: str, number: int) -> int:
    """A seed for one chunk of one run, spread by a hash."""
    return int.from_bytes(hashlib.sha256(f"{run}/{number}".encode()).digest()[:7], "big")


def _distance(batch: Batch[Any], rows: Sequence[int], focus: Mapping[str, float]) -> float:
    """How far a chunk is from the user's sliders: the nearest replica, in log scale."""
    apart = np.zeros(len(rows))
    for field, value in focus.items():
        column = batch.take(rows).column(field)
        apart += np.abs(np.log(np.maximum(column, 1e-300) / max(value, 1e-300)))
    return float(apart.min())
