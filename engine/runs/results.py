"""What a run's replicas came to, by column: the table that figures and exhibits read."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import RequestError, StoreError
from engine.core.gauges import Column, gauges
from engine.core.spec import Value
from engine.core.stored import shown
from engine.runs.events import Event, Measured, Spent
from engine.runs.job import Job


@dataclass(frozen=True, eq=False)
class Results:
    """The latest measurement of every replica of one run.

    Attributes:
        run: Id of the run.
        step: Steps at the latest measurement, shape (R,); 0 where there is none.
        seeds: Seed of each replica, shape (R,).
        axes: Value of each replica on each axis, shape (R,) each.
        gauges: Latest value of each gauge, shape (R,) each; NaN where there is none.
        epsilon: Budget spent, shape (R,); infinite where unbounded, NaN where not yet priced.
        arrays: Reads the arrays that the run has kept, by name; empty where there are none.
        seconds: Reads how long the run took on the clock; NaN where it was not timed.
    """

    run: str
    step: NDArray[np.int64]
    seeds: NDArray[np.int64]
    axes: dict[str, Column]
    gauges: dict[str, Column]
    epsilon: Column
    arrays: Callable[[], Mapping[str, NDArray[np.generic]]] = dataclasses.field(
        default=dict, repr=False
    )
    seconds: Callable[[], float] = dataclasses.field(default=lambda: float("nan"), repr=False)

    def rows(self, **at: Value) -> NDArray[np.bool_]:
        """Which replicas lie at the given axis values, shape (R,).

        Raises:
            RequestError: An axis that this run does not have.
        """
        chosen = np.ones(len(self.seeds), dtype=bool)
        for field, value in at.items():
            if field not in self.axes:
                raise RequestError(
                    f"{field}: expected an axis of run {self.run} "
                    f"({', '.join(self.axes) or 'it has none'}), got {field!r}"
                )
            chosen &= np.isclose(self.axes[field], float(value), rtol=1e-9, atol=0.0)
        return chosen

    def values(self, gauge: str, **at: Value) -> Column:
        """One gauge over the seeds at the given axis values; NaN where not measured."""
        return self.gauges[gauge][self.rows(**at)]

    def mean(self, gauge: str, **at: Value) -> float:
        """Mean over what has been measured; NaN if nothing has."""
        return spread_of([self.values(gauge, **at)])[0]

    def spread(self, gauge: str, **at: Value) -> float:
        """Standard deviation over what has been measured; NaN below two values."""
        return spread_of([self.values(gauge, **at)])[1]

    def only(self, rows: NDArray[np.bool_]) -> "Results":
        """Some of the replicas, `rows` of shape (R,); without arrays."""
        return _made(lambda column: column[rows], self)


def spread_of(values: Sequence[Column]) -> tuple[float, float]:
    """Mean and standard deviation of all finite values; NaN where there are none, or one."""
    every = np.concatenate([np.empty(0), *values])
    there = every[np.isfinite(every)]
    mean = float(there.mean()) if len(there) else float("nan")
    return mean, float(there.std(ddof=1)) if len(there) > 1 else float("nan")


def collect(job: Job, events: Iterable[Event]) -> Results:
    """Folds a run's events into one row per replica; later events win.

    Raises:
        StoreError: An event tells of replicas or measures that the run does not have.
    """
    batch, count = job.batch(), job.replicas()
    step = np.zeros(count, dtype=np.int64)
    spent = np.full(count, np.nan)
    columns = {name: np.full(count, np.nan) for name in gauges(job.entry().info)}
    for event in events:
        if isinstance(event, Measured | Spent):
            _check(job, count, event, columns.keys())
        match event:
            case Measured(step=at, replicas=rows, values=values):
                index = np.array(rows, dtype=np.int64)
                step[index] = at
                for name, column in values.items():
                    columns[name][index] = np.array(column, dtype=np.float64)
            case Spent(replicas=rows, epsilon=prices):
                spent[np.array(rows, dtype=np.int64)] = [np.inf if p is None else p for p in prices]
    axes = {field: batch.column(field) for field in job.axes}
    return Results(job.id, step, np.array(batch.seeds, np.int64), axes, columns, spent)


def beside(first: Results, second: Results) -> Results:
    """At each setting, the replicas of the run that has more of them there.

    Args:
        first: What goes before where both have as many.
        second: A run of the same method with the same axes.
    """
    if not first.axes:
        return second if second.seeds.size > first.seeds.size else first
    places = np.concatenate([np.stack([*one.axes.values()], axis=1) for one in (first, second)])
    _, where = np.unique(places, axis=0, return_inverse=True)
    own, other = np.split(where.ravel(), [first.seeds.size])
    count = [np.bincount(some, minlength=where.max() + 1) for some in (own, other)]
    more = count[1] > count[0]
    if not more.any():
        return first
    kept, new = ~more[own], more[other]
    return _made(lambda one, two: np.concatenate([one[kept], two[new]]), first, second)


def _made(change: Callable[..., Any], *some: Results) -> Results:
    """Results each of whose columns is made of the same column of some; without arrays."""

    def made(name: str) -> Any:
        columns = [getattr(one, name) for one in some]
        if isinstance(columns[0], dict):
            return {key: change(*(table[key] for table in columns)) for key in columns[0]}
        return change(*columns)

    names = ("step", "seeds", "axes", "gauges", "epsilon")
    return dataclasses.replace(some[0], **{name: made(name) for name in names}, arrays=dict)


def _check(job: Job, count: int, event: Measured | Spent, names: AbstractSet[str]) -> None:
    """Checks that an event tells of the run's replicas, a value each, and of measures it has."""
    if isinstance(event, Spent):
        columns, unknown = {"epsilon": event.epsilon, "delta": event.delta}, []
    else:
        columns, unknown = event.values, sorted(event.values.keys() - names)
    rows = event.replicas
    wrong = [f"replica {row}" for row in {*rows} if not 0 <= row < count] + [*map(shown, unknown)]
    wrong += [f"{len(one)} values for {len(rows)} of them" for one in columns.values()
              if len(one) != len(rows)]  # fmt: skip
    if wrong:
        raise StoreError(
            f"run {job.id}: expected measures of its {count} replicas that this version knows, got "
            f"{wrong[0]}: delete the run and repeat it"
        )


def merge(old: Results, new: Results) -> Results:
    """The results of earlier and of later events of one run, as if collected together."""
    measured = new.step > 0
    gauges = {
        name: np.where(measured, new.gauges[name], column) for name, column in old.gauges.items()
    }
    step = np.where(measured, new.step, old.step)
    spent = np.where(np.isnan(new.epsilon), old.epsilon, new.epsilon)
    return Results(old.run, step, old.seeds, old.axes, gauges, spent, old.arrays, old.seconds)
