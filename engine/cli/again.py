"""Computes parts of what ships again and compares them to the last digit."""

import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import starmap, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datasets import catalog as data_catalog
from datasets.base import Table
from engine.core.errors import ExplorerError
from engine.core.kept import Declared
from engine.privacy.guarantee import Guarantee
from engine.runs import artifacts, shipped
from engine.runs.events import Advanced, Event, Measured, Spent, decode, encode
from engine.runs.exhibit import Cell, Curve, Exhibit, Point
from engine.runs.job import Job
from engine.runs.reference import Reference, plain
from engine.runs.results import collect

if TYPE_CHECKING:
    from engine.audit.training import Setting

FIRST = 2
"""Trainings of an attack that are computed again, with and without the witness."""
MADE_UP = 200
"""Scores of each kind from which an attack's bound is worked out again."""
Kept = dict[str, list[tuple[list[int], NDArray[np.generic]]]]
"""Rows and array of each chunk, by the array's name."""


class DifferenceError(ExplorerError):
    """Today's code gives another number than the one that ships."""


class UncheckedError(ExplorerError):
    """Nothing could be compared, or not within the time."""


def chunks(job: Job) -> list[range]:
    """The rows of each chunk of a job on the processor, in the order of their numbers."""
    batch, records = job.batch(), data_catalog.card(job.dataset).records
    size = max(1, job.entry().chunk(batch.spec, records, "cpu"))
    return [range(i, min(i + size, len(batch))) for i in range(0, len(batch), size)]


def effort(job: Job, numbers: Sequence[int]) -> float:
    """Steps of the replicas of some chunks, times the records that each looks at."""
    parts, records = chunks(job), data_catalog.card(job.dataset).records
    rows = sum(len(parts[number]) for number in numbers)
    return float(rows * job.entry().steps(job.spec(), records) * records)


def compute(job: Job, numbers: Sequence[int], until: float) -> tuple[list[Event], Kept]:
    """Some chunks of a job, as its run computes them.

    Args:
        job: The run.
        numbers: Of the chunks.
        until: Time of `time.monotonic` at which to give up.

    Returns:
        Their events and arrays.

    Raises:
        UncheckedError: There was no time for it.
        ExplorerError: As a run.
    """
    from engine.runs import driver, groups, memory  # load torch
    from engine.runs.checkpoint import Checkpoints
    from engine.service.job_runner import set_threads, threaded

    set_threads()
    memory.keep()
    events, kept = list[Event](), Kept()
    parts, data = chunks(job), data_catalog.load(job.dataset)
    for number in numbers:
        rows = parts[number]

        def keep(name: str, arrays: Any, rows: range = rows) -> str:
            for one, array in groups.grouped(job, data, arrays, rows).items():
                kept.setdefault(one, []).append((list(rows), np.asarray(array)))
            return ""

        run = driver.chunk(
            job, job.entry(), job.batch(), rows, data, keep, number, "cpu", Checkpoints(),
            lambda: True,
        )  # fmt: skip
        with closing(run):
            for event in threaded(run, math.prod(data.x.shape)):
                if not isinstance(event, Advanced):
                    events.append(event)
                if time.monotonic() > until:
                    raise UncheckedError("expected an end within the time: allow more seconds")
    return events, kept


def check_run(ship: shipped.Shipped, until: float) -> str:
    """Computes the smallest chunk of a shipped run again and compares it with the file.

    Returns:
        What was compared, in words.

    Raises:
        DifferenceError: A measure, a price or an array differs.
        UncheckedError: There was no time for it.
    """
    parts = chunks(ship.job)
    number = min(range(len(parts)), key=lambda n: len(parts[n]))
    rows, (events, kept) = tuple(parts[number]), compute(ship.job, [number], until)
    courses = shipped.COURSES if ship.held is None else 0
    ours = _told(shipped.thinned(events, ship.job, courses), rows)
    theirs = _told(ship.events(), rows)
    if not theirs:
        raise DifferenceError(f"chunk {number}: expected its replicas together in the shipped run")
    for expected, got in zip(theirs, ours, strict=False):
        if expected != got:
            raise DifferenceError(f"chunk {number}, step {got.step}: {_apart(expected, got)}")
    if len(ours) != len(theirs):
        raise DifferenceError(f"chunk {number}: expected {len(theirs)} events, got {len(ours)}")
    arrays = _check_arrays(ship, rows, kept)
    return f"chunk {number}, {len(rows)} replicas, {len(theirs)} events, {arrays} arrays"


def _apart(expected: object, got: object) -> str:
    """The places at which two values begin to differ, with a few words around."""
    left, right = str(expected), str(got)
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    near = slice(max(0, at - 60), at + 60)
    return f"expected ...{left[near]}..., got ...{right[near]}..."


def _told(events: Any, rows: tuple[int, ...]) -> list[Event]:
    """Measures and prices of these replicas alone, as a file gives them back."""
    told = [e for e in events if isinstance(e, Measured | Spent) and {*e.replicas} <= {*rows}]
    return [decode(json.loads(json.dumps(encode(event)))) for event in told]


def _check_arrays(ship: shipped.Shipped, rows: tuple[int, ...], kept: Kept) -> int:
    """How many shipped arrays have a row of this chunk; all of them are the same."""
    held, arrays = ship.arrays()
    both = [row for row in held if row in rows]
    for name, array in arrays.items() if both else ():
        if name not in kept:
            raise DifferenceError(f"array {name}: expected it, got {sorted(kept)}")
        ours = kept[name][0][1][[rows.index(row) for row in both]].astype(array.dtype)
        theirs = array[[held.index(row) for row in both]]
        numbers = np.issubdtype(array.dtype, np.number)
        if not np.array_equal(ours, theirs, equal_nan=bool(numbers)):
            raise DifferenceError(f"array {name}: expected the shipped rows, got others")
    return len(arrays) if both else 0


def pieces(point: Point | Curve) -> list[tuple[Job, list[int]]]:
    """A point's jobs, and of each the chunks that hold replicas at its values of the axes."""
    found = []
    for job in point.jobs:
        rows = set(np.flatnonzero(collect(job, ()).rows(**point.at)).tolist())
        found.append((job, [n for n, part in enumerate(chunks(job)) if rows & {*part}]))
    return found


Kind = tuple[str, str, str]
"""A method, its calibration and a data set: one code may change the numbers of some alone."""


def kinds(point: Point | Curve) -> set[Kind]:
    """Those of a point's jobs."""
    return {(job.method, str(job.values.get("calibration", "")), job.dataset) for job in point.jobs}


def compared(
    exhibit: Exhibit, kept: Reference, until: float
) -> Iterator[tuple[Point | Curve, int, str]]:
    """Computes cells of an exhibit again: one at least of each kind of job.

    Args:
        exhibit: The table or figure.
        kept: Its shipped numbers.
        until: When to give up.

    Yields:
        A point, how many of its cells are the same, and what differs, in words.

    Raises:
        DifferenceError: The exhibit has other runs or cells.
        UncheckedError: There was no time, or no cell of some method could be compared.
    """
    points, theirs = exhibit.points(True), places(exhibit, kept)
    if gone := {cell.run for cell in kept.cells if cell.run} - {
        job.id for point in points for job in point.jobs
    }:
        raise DifferenceError(f"expected the shipped runs {', '.join(sorted(gone))}, got others")
    costs = [(sum(starmap(effort, pieces(one))), n) for n, one in enumerate(points)]
    known, count = set[Kind](), 0
    for _, place in sorted(costs):
        point, cells = points[place], theirs[place]
        timed = isinstance(point, Point) and point.timed
        if kinds(point) <= known or timed or all(cell.ours is None for cell in cells):
            continue
        ours = computed(point, until)
        apart = [(a, b) for a, b in zip_longest(map(plain, cells), map(plain, ours)) if a != b]
        said = f"{point.row}: {_apart(*apart[0])}" if apart else ""
        yield point, len(cells) - len(apart), said
        count += len(cells) - len(apart)
        known |= kinds(point)
    if missing := {one for point in points for one in kinds(point)} - known:
        names = ", ".join(" ".join(one).strip() for one in sorted(missing))
        raise UncheckedError(f"{count} cells are the same, and none could be compared of {names}")


def check_exhibit(exhibit: Exhibit, kept: Reference, until: float) -> str:
    """Computes cells of an exhibit again and compares them with those that ship.

    Args:
        exhibit: The table or figure.
        kept: Its shipped numbers.
        until: When to give up.

    Returns:
        What was compared, in words.

    Raises:
        DifferenceError: A number differs, or the exhibit has other runs or cells.
        UncheckedError: No cell of some method could be compared.
    """
    count = 0
    for _, same, said in compared(exhibit, kept, until):
        if said:
            raise DifferenceError(said)
        count += same
    return f"{count} cells of {len(kept.cells)}"


def places(exhibit: Exhibit, kept: Reference) -> list[list[Cell]]:
    """The shipped cells of each point.

    Raises:
        DifferenceError: A point has none, or a cell has no point.
    """
    found: list[list[Cell]] = []
    for point in exhibit.points(True):
        at = (point.column,) if isinstance(point, Point) else ()
        place = (point.row, point.variant, *at)
        found.append([c for c in kept.cells if (c.row, c.variant, c.column)[: len(place)] == place])
    count = sum(map(len, found))
    if count != len(kept.cells) or not all(found):
        raise DifferenceError(f"expected {len(kept.cells)} cells, got {count} at the same places")
    return found


def computed(point: Point | Curve, until: float) -> tuple[Cell, ...]:
    """The cells of a point from today's code; nothing else of its jobs is computed.

    Raises:
        UncheckedError: There was no time for it.
    """
    found = []
    for job, numbers in pieces(point):  # other replicas are not measured, nor are their arrays
        events, kept = compute(job, numbers, until)
        arrays = {name: artifacts.together(job.replicas(), some) for name, some in kept.items()}
        found.append(replace(collect(job, events), arrays=partial(dict, arrays)))
    return point.cells(found)


def first_scores(setting: "Setting", card: Guarantee) -> list[float]:
    """What tells whether today's code attacks alike, to six digits.

    Scores of the first trainings without and with the witness, and the bound that an attack with
    made-up scores of the same names comes to.
    """
    from engine.audit import report, runner
    from engine.audit.bounds import Scores

    worlds = [runner.train(setting, world, FIRST)[0] for world in (0, 1)]
    values = [float(v) for scores in worlds for name in sorted(scores) for v in scores[name]]
    rng = np.random.default_rng(0)
    without, far = rng.standard_normal(MADE_UP), rng.standard_normal(MADE_UP)
    made_up = {name: Scores(without, without + 2.0 + far) for name in sorted(worlds[0])}
    bound = report.summary(card, setting, runner.Collected(made_up, math.nan)).epsilon_attacked
    return [float(f"{value:.6g}") for value in (*values, bound)]


def first_published(setting: "Setting", data: Table, kept: Declared, delta: float) -> list[float]:
    """What tells whether today's code attacks what is published alike, to six digits.

    What the first trainings without and with the witness and the first one on a half of the records
    publish, each array as one number to which every element adds; and the two bounds that the
    attacker comes to with made-up numbers.
    """
    from engine.audit import met, outside
    from engine.audit.bounds import Scores, epsilon_bound

    pair = setting.pair
    told = [
        outside.seen(setting, kept, table, FIRST, f"{world}/0")
        for world, table in enumerate((pair.without, pair.present))
    ]
    told.append(outside.seen(setting, kept, met.half(data, met.drawn(setting, data, 0)), 1,
                             "half/0"))  # fmt: skip
    values = [
        float(number)
        for one in told
        for name in sorted(one)
        for number in one[name] @ np.random.default_rng(5).uniform(0.5, 1.5, one[name].shape[1])
    ]
    rng = np.random.default_rng(0)
    inside, noise = rng.random((MADE_UP, MADE_UP)) < 0.5, rng.standard_normal((MADE_UP, 2))
    right = met.exposed(inside, inside[:, :2] + noise)
    bound = epsilon_bound({"": Scores(noise[:, 0], noise[:, 1] + 2.0)}, delta, met.HALF_THE_RISK)
    return [float(f"{value:.6g}") for value in (*values, float(right.mean()), bound.epsilon)]
