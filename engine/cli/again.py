"""Computed of what ships, computed again: the same numbers to the last digit, or what differs."""

import functools
import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datasets import catalog as data_catalog
from datasets.base import Table
from engine.core.errors import ExplorerError
from engine.core.kept import Declared
from engine.privacy.guarantee import Guarantee
from engine.runs import artifacts, packed, shipped
from engine.runs.events import Advanced, Event, Measured, Spent, decode, encode
from engine.runs.exhibit import Cell, Exhibit, Grid, Point
from engine.runs.job import Job
from engine.runs.reference import Reference, plain
from engine.runs.results import Results, collect

if TYPE_CHECKING:
    from engine.audit.training import Setting

DRAWS = 3
"""How often what is not computed is replaced by random numbers, to see which cells use it."""
FIRST = 2
"""Trainings of an attack that are computed again, with and without the witness."""
MADE_UP = 200
"""Scores of each kind from which an attack's bound is worked out again."""
Arrays = Mapping[str, NDArray[np.generic]]


class DifferenceError(ExplorerError):
    """Today's code gives another number than the one that ships."""


class UncheckedError(ExplorerError):
    """Nothing could be compared, or not within the time."""


@dataclass
class Computed:
    """What some replicas of a job came to.

    Attributes:
        events: Their events.
        arrays: Rows and array of each chunk, by the array's name.
    """

    events: list[Event] = field(default_factory=list)
    arrays: dict[str, list[tuple[list[int], NDArray[np.generic]]]] = field(default_factory=dict)


def chunks(job: Job) -> list[range]:
    """The rows of each chunk of a job on the processor, in the order of their numbers."""
    batch, records = job.batch(), data_catalog.card(job.dataset).records
    size = max(1, job.entry().chunk(batch.spec, records, "cpu"))
    return [range(i, min(i + size, len(batch))) for i in range(0, len(batch), size)]


def effort(job: Job, rows: int) -> float:
    """Steps of so many replicas, times the records that each looks at."""
    records = data_catalog.card(job.dataset).records
    return float(rows * job.entry().steps(job.spec(), records) * records)


def compute(job: Job, numbers: Sequence[int], until: float) -> Computed:
    """Some chunks of a job, as its run computes them.

    Args:
        job: The run.
        numbers: Of the chunks.
        until: Time of `time.monotonic` at which to give up.

    Raises:
        UncheckedError: There was no time for it.
        ExplorerError: As a run.
    """
    from engine.runs import driver, memory  # load torch
    from engine.runs.checkpoint import Checkpoints
    from engine.service.job_runner import set_threads

    set_threads()
    memory.keep()
    part, parts, data = Computed(), chunks(job), data_catalog.load(job.dataset)
    for number in numbers:
        rows = parts[number]

        def keep(name: str, arrays: Any, rows: range = rows) -> str:
            for one, array in arrays.items():
                part.arrays.setdefault(one, []).append((list(rows), np.asarray(array)))
            return ""

        run = driver.chunk(
            job, job.entry(), job.batch(), rows, data, keep, number, "cpu", Checkpoints(),
            lambda: True,
        )  # fmt: skip
        with closing(run):
            for event in run:
                if not isinstance(event, Advanced):
                    part.events.append(event)
                if time.monotonic() > until:
                    raise UncheckedError("expected an end within the time: allow more seconds")
    return part


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
    rows, part = tuple(parts[number]), compute(ship.job, [number], until)
    kept = shipped.thinned if ship.held is None else packed.last
    ours = _told(kept(part.events), rows)
    theirs = _told(ship.events(), rows)
    if not theirs:
        raise DifferenceError(f"chunk {number}: expected its replicas together in the shipped run")
    for expected, got in zip(theirs, ours, strict=False):
        if expected != got:
            raise DifferenceError(f"chunk {number}, step {got.step}: {_apart(expected, got)}")
    if len(ours) != len(theirs):
        raise DifferenceError(f"chunk {number}: expected {len(theirs)} events, got {len(ours)}")
    arrays = _check_arrays(ship, rows, part)
    return f"chunk {number}, {len(rows)} replicas, {len(theirs)} events, {arrays} arrays"


def _apart(expected: object, got: object) -> str:
    """The places at which two values begin to differ, with a few words around."""
    left, right = str(expected), str(got)
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    near = slice(max(0, at - 60), at + 60)
    return f"expected ...{left[near]}..., got ...{right[near]}..."


def _told(events: Any, rows: tuple[int, ...]) -> list[Event]:
    """Measures and prices of exactly these replicas, as a file gives them back."""
    told = [e for e in events if isinstance(e, Measured | Spent) and e.replicas == rows]
    return [decode(json.loads(json.dumps(encode(event)))) for event in told]


def _check_arrays(ship: shipped.Shipped, rows: tuple[int, ...], part: Computed) -> int:
    """How many shipped arrays have a row of this chunk; all of them are the same."""
    held, arrays = ship.arrays()
    both = [row for row in held if row in rows]
    for name, array in arrays.items() if both else ():
        if name not in part.arrays:
            raise DifferenceError(f"array {name}: expected it, got {sorted(part.arrays)}")
        ours = part.arrays[name][0][1][[rows.index(row) for row in both]].astype(array.dtype)
        theirs = array[[held.index(row) for row in both]]
        numbers = np.issubdtype(array.dtype, np.number)
        if not np.array_equal(ours, theirs, equal_nan=bool(numbers)):
            raise DifferenceError(f"array {name}: expected the shipped rows, got others")
    return len(arrays) if both else 0


@dataclass(frozen=True)
class Piece:
    """The repetitions of one setting of one job of an exhibit.

    Attributes:
        name: The job's name in the exhibit.
        job: The job.
        rows: Its replicas.
        numbers: The chunks that hold them.
        effort: What these chunks take, in the unit of `effort`.
    """

    name: str
    job: Job
    rows: range
    numbers: tuple[int, ...]
    effort: float


def points(jobs: Mapping[str, Job]) -> list[Piece]:
    """The cheapest setting of each job, the cheapest job first."""
    found = []
    for name, job in jobs.items():
        parts, count = chunks(job), len(job.seeds)
        size = len(parts[0])
        cheapest: Piece | None = None
        for first in range(0, job.replicas(), count):
            rows = range(first, first + count)
            numbers = tuple(range(rows[0] // size, rows[-1] // size + 1))
            work = effort(job, sum(len(parts[n]) for n in numbers))
            if cheapest is None or work < cheapest.effort:
                cheapest = Piece(name, job, rows, numbers, work)
        assert cheapest is not None  # a job has a replica
        found.append(cheapest)
    return sorted(found, key=lambda point: point.effort)


Kind = tuple[str, str]
"""A method and its calibration."""


def _kind(job: Job) -> Kind:
    return job.method, str(job.values.get("calibration", ""))


def check_exhibit(exhibit: Exhibit, kept: Reference, until: float) -> str:
    """Computes cells of an exhibit again: one at least of each method in each calibration.

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
    jobs, compared, known = exhibit.jobs(True), 0, set[Kind]()
    runs, asked = {cell.run for cell in kept.cells if cell.run}, {job.id for job in jobs.values()}
    if gone := runs - asked:
        raise DifferenceError(f"expected the shipped runs {', '.join(sorted(gone))}, got others")
    for point in points(jobs):
        if _kind(point.job) in known or not _may_show(exhibit, jobs, [point]):
            continue
        if count := _check_points(exhibit, kept, jobs, [point], until):
            compared += count
            known.add(_kind(point.job))
    needs = _needs(exhibit, jobs)  # cells that come from several settings or jobs
    for kind in sorted({_kind(job) for job in jobs.values()} - known):
        groups = [some for some in needs if kind in {_kind(point.job) for point in some}]
        if kind in known or not groups:
            continue
        group = min(groups, key=lambda some: sum(point.effort for point in some))
        if count := _check_points(exhibit, kept, jobs, group, until):
            compared += count
            known |= {_kind(point.job) for point in group}
    if missing := {_kind(job) for job in jobs.values()} - known:
        names = ", ".join(" ".join(kind).strip() for kind in sorted(missing))
        raise UncheckedError(
            f"{compared} cells are the same, and none could be compared of {names}"
        )
    return f"{compared} cells of {len(kept.cells)}"


def _declared(exhibit: Exhibit) -> Sequence[Point]:
    """What each cell comes of, where the exhibit is declared as a grid; else nothing."""
    grid = getattr(exhibit.cells, "__self__", None)
    return grid.points(True) if isinstance(grid, Grid) else ()


def _whole(name: str, job: Job) -> Piece:
    """All of a job."""
    rows = job.replicas()
    return Piece(name, job, range(rows), tuple(range(len(chunks(job)))), effort(job, rows))


def _needs(exhibit: Exhibit, jobs: Mapping[str, Job]) -> list[list[Piece]]:
    """The whole jobs that each cell comes from; cells without a number are left out."""
    if points := _declared(exhibit):
        groups = dict.fromkeys(tuple(job.id for job in point.jobs) for point in points)
        return [[_whole(name, jobs[name]) for name in group] for group in groups]

    def drawn(changed: str | None) -> tuple[Cell, ...]:
        results = {
            name: _made_up(job, np.random.default_rng([3, place, name == changed]))
            for place, (name, job) in enumerate(jobs.items())
        }
        return tuple(exhibit.cells(results))

    needs: dict[int, list[Piece]] = {}
    before = drawn(None)
    for name, job in jobs.items():
        point = _whole(name, job)
        for place, (one, other) in enumerate(zip(before, drawn(name), strict=True)):
            if _value(one) != _value(other):
                needs.setdefault(place, []).append(point)
    return list(needs.values())


def _may_show(exhibit: Exhibit, jobs: Mapping[str, Job], some: Sequence[Piece]) -> bool:
    """Whether a cell may follow from these points alone; one that needs arrays may."""
    drawn = _cells(exhibit, jobs, [(point, Computed()) for point in some])
    alone = _alone(exhibit, some, len(drawn[0]))
    unknown = any(_value(drawn[0][place]) is None for place in alone)
    return unknown or not alone.isdisjoint(_stable(drawn))


def _alone(exhibit: Exhibit, some: Sequence[Piece], cells: int) -> set[int]:
    """Places of the cells that come of no other job, as far as the exhibit declares it.

    A cell that is read from arrays may leave out a job without any: it would seem to be computed.
    """
    names, points = {point.name for point in some}, _declared(exhibit)
    return {
        place
        for place in range(cells)
        if not points or {job.id for job in points[place].jobs} <= names
    }


def _check_points(
    exhibit: Exhibit,
    kept: Reference,
    jobs: Mapping[str, Job],
    some: Sequence[Piece],
    until: float,
) -> int:
    """How many cells follow from some points alone; each of them is the shipped one."""
    parts = [(point, compute(point.job, point.numbers, until)) for point in some]
    drawn = _cells(exhibit, jobs, parts)
    if len(drawn[0]) != len(kept.cells):
        raise DifferenceError(f"expected {len(kept.cells)} cells, got {len(drawn[0])}")
    alone = _alone(exhibit, some, len(drawn[0]))
    stable = [place for place in _stable(drawn) if place in alone]
    for place in stable:
        ours, theirs = plain(drawn[0][place]), plain(kept.cells[place])
        if ours != theirs:
            raise DifferenceError(f"{ours['row']}, {ours['column']}: {_apart(theirs, ours)}")
    return len(stable)


def _stable(drawn: Sequence[Sequence[Cell]]) -> list[int]:
    """Places of the cells that follow from what was computed, and from nothing that was drawn.

    The last of the drawn ones has random numbers for what was computed too: a cell that is the same
    there follows from nothing.
    """
    *same, other = drawn
    return [
        place
        for place, cell in enumerate(same[0])
        if _value(cell) is not None
        and all(_value(cells[place]) == _value(cell) for cells in same[1:])
        and _value(other[place]) != _value(cell)
    ]


def _value(cell: Cell) -> tuple[float, float | None] | None:
    """Mean and spread; None for a cell without a number."""
    if cell.ours is None or not math.isfinite(cell.ours):
        return None
    return cell.ours, cell.spread if cell.spread and math.isfinite(cell.spread) else None


def _cells(
    exhibit: Exhibit, jobs: Mapping[str, Job], parts: Sequence[tuple[Piece, Computed]]
) -> list[tuple[Cell, ...]]:
    """The cells with the points' numbers and random ones elsewhere, `DRAWS` times; then without.

    A point's numbers without events are random too, but the same in all draws but the last.
    """
    drawn = []
    for draw in range(DRAWS + 1):
        rng = np.random.default_rng([2, draw])
        results = {name: _made_up(job, rng) for name, job in jobs.items()}
        for point, part in parts:
            own = _made_up(point.job, np.random.default_rng(1))
            if part.events:
                own = collect(point.job, part.events)
            if draw < DRAWS:
                results[point.name] = _placed(results[point.name], own, point, part, rng)
            elif part.arrays:
                others = functools.partial(_arrays, point, part, rng, own=False)
                results[point.name] = replace(results[point.name], arrays=others)
        drawn.append(tuple(exhibit.cells(results)))
    return drawn


def _made_up(job: Job, rng: np.random.Generator) -> Results:
    """Random measures for every replica."""
    blank, count, seconds = collect(job, ()), job.replicas(), float(rng.uniform(1.0, 2.0))
    return replace(
        blank,
        step=np.ones(count, np.int64),
        gauges={name: rng.uniform(0.05, 0.95, count) for name in blank.gauges},
        epsilon=rng.uniform(0.05, 0.95, count),
        seconds=lambda: seconds,
    )


def _placed(
    drawn: Results, own: Results, point: Piece, part: Computed, rng: np.random.Generator
) -> Results:
    """Random results with the point's own rows in place."""
    rows = np.isin(np.arange(len(drawn.seeds)), point.rows)
    arrays = _arrays(point, part, rng, own=True)
    return replace(
        drawn,
        step=np.where(rows, own.step, drawn.step),
        gauges={n: np.where(rows, own.gauges[n], column) for n, column in drawn.gauges.items()},
        epsilon=np.where(rows, own.epsilon, drawn.epsilon),
        arrays=lambda: arrays,
    )


def _arrays(point: Piece, part: Computed, rng: np.random.Generator, *, own: bool) -> dict[str, Any]:
    """The arrays of all replicas: the point's own rows where asked for, random ones elsewhere."""
    full = {}
    for name, parts in part.arrays.items():
        array = artifacts.together(point.job.replicas(), parts).copy()
        others = [r for r in range(len(array)) if not own or r not in point.rows]
        if np.issubdtype(array.dtype, np.number) and others:
            values = rng.uniform(0.05, 0.95, (len(others), *array.shape[1:]))
            array[others] = values.astype(array.dtype)
        full[name] = array
    return full


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
