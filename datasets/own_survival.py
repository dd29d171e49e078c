"""A survival table of one's own, from the columns of a file and what its owner says of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from datasets import own_columns, own_lines
from datasets.base import Bounds, Card, Floats, SurvivalTable, check
from datasets.long import COLUMNS, long_table
from datasets.own_columns import Column
from datasets.own_lines import Said
from datasets.own_reader import Read
from engine.core.errors import DatasetError

TIME = "time"
"""Whose bound is the horizon, in a table in long format too."""
TIMES = (
    *("time", "duration", "durations", "t", "tenure", "futime", "survival_time", "survtime"),
    *("survival_in_days", "week", "weeks", "days", "months", "followup", "follow_up"),
)
EVENTS = (
    *("event", "status", "observed", "e", "death", "dead", "died", "deceased", "fustat"),
    *("arrest", "churn", "churned", "relapse"),
)
"""Usual names of the two columns, in small letters; others are said."""
FEWEST, WIDEST = 10, 50
"""Persons at least, and covariates at most."""


@dataclass(frozen=True)
class Roles:
    """Which column is what.

    Attributes:
        long: Whether a person has a row for each stretch of time.
        time: The column of times; of the ends of stretches in long format.
        event: The column of events.
        ids: The column of ids; empty where there is none.
    """

    long: bool
    time: str
    event: str
    ids: str

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that are no covariates."""
        return tuple({"start", self.time, self.event, self.ids} - {""} if self.long
                     else {self.time, self.event, self.ids} - {""})  # fmt: skip


def roles(name: str, columns: Sequence[str], said: Said) -> Roles:
    """Which column is what, by its name.

    Raises:
        DatasetError: It cannot be stated, or two names would do.
    """
    ids = said.person or ("id" if "id" in columns else "")
    for line, column in (("time", said.time), ("event", said.event), ("person", said.person)):
        if column and column not in columns:
            raise DatasetError(
                f"{name}: expected the {line} column among {', '.join(columns)[:200]}, got {column}"
            )
    if ids and "start" in columns and "stop" in columns:
        return Roles(True, "stop", _one(name, columns, said.event, EVENTS, "event"), ids)
    time = _one(name, columns, said.time, TIMES, "time")
    return Roles(False, time, _one(name, columns, said.event, EVENTS, "event"), ids)


def _one(name: str, columns: Sequence[str], stated: str, usual: Sequence[str], what: str) -> str:
    """The column that was stated, or the only one with a usual name."""
    if stated:
        return stated
    if what in columns:
        return what
    there = [column for column in usual if column in columns]
    if len(there) == 1:
        return there[0]
    if there:
        raise DatasetError(
            f"{name}: expected one column of the {what}, got {', '.join(there)}; write a line "
            f'such as "{what} column: {there[0]}"'
        )
    raise DatasetError(
        f"{name}: expected columns time, event, or {', '.join(COLUMNS)}, and one for each "
        f'covariate, got {", ".join(columns)[:200]}; a line such as "{what} column: '
        f'{columns[0]}" names another'
    )


def table(name: str, read: Read, said: Said, comma: bool) -> SurvivalTable:
    """The table, checked.

    Args:
        name: What a sentence calls the file.
        read: The columns.
        said: What the owner says of them.
        comma: Whether numbers have a decimal comma.

    Raises:
        DatasetError: It is no survival table; one sentence says why.
    """
    role = roles(name, tuple(read.columns), said)
    named = [one for one in read.columns if one not in (*role.taken, *said.leave_out)]
    columns = {one: own_columns.understood(one, read.columns[one], comma) for one in named}
    rows = len(read)
    ids = read.columns[role.ids].to_pylist() if role.ids else range(rows)
    persons = len(set(ids))
    if not role.long and persons < rows:
        raise DatasetError(
            f"{name}: expected one row for each {role.ids}, or columns start and stop, got "
            f"{rows:,} rows of {persons:,} persons"
        )
    if persons < FEWEST:
        raise DatasetError(f"{name}: expected at least {FEWEST} persons, got {persons}")
    event = _events(name, own_columns.understood(role.event, read.columns[role.event], comma), said)
    time = _times(name, read, role.time, comma)
    features, x = covariates(name, columns, said)
    bounds = _bounds(name, features, columns, said, role, x, time)
    card = _card(name, features, persons, int(event.sum()), role.long, bounds, said.taken)
    if not role.long:
        return check(SurvivalTable(card, np.stack(x, axis=1), time, event > 0))
    start = _times(name, read, "start", comma)
    parts = {"id": ids, "start": start, "stop": time, "event": event}
    return long_table(card, {**parts, **dict(zip(features, x, strict=True))})


def covariates(
    name: str, columns: dict[str, Column], said: Said, first: bool = False
) -> tuple[tuple[str, ...], list[Floats]]:
    """Names and values of the covariates, categories as columns of 0 and 1.

    Args:
        name: What a sentence calls the file.
        columns: Those that are covariates.
        said: What the owner says of them.
        first: Whether the first category of each has a column of its own.
    """
    names: list[str] = []
    values: list[Floats] = []
    for one, column in columns.items():
        if one in said.levels:
            more, parts = own_columns.indicators(name, column, said.levels[one], first)
        else:
            more, parts = (one,), [own_columns.numbers(name, column, said.blanks.get(one))]
        names += more
        values += parts
    if not names or (not first and len(names) > WIDEST):
        raise DatasetError(f"{name}: expected 1 to {WIDEST} covariates, got {len(names)}")
    if len(set(names)) < len(names):
        raise DatasetError(f"{name}: expected covariates with different names, got one twice")
    return tuple(names), values


def _events(name: str, column: Column, said: Said) -> Floats:
    """1 where the event happened and 0 elsewhere."""
    if said.event_value:
        levels = own_columns.levels(column)
        if said.event_value not in levels or column.blank.any():
            raise DatasetError(
                f"{name}: expected the event value {said.event_value} in column {column.name!r} "
                f"and no blanks, got {', '.join(levels[:5]) or 'nothing'}"
            )
        if column.values is not None and column.kind == "number":
            return np.asarray(column.values == float(said.event_value), np.float64)
        _, parts = own_columns.indicators(name, column, (said.event_value,), True)
        return parts[0]
    values = own_columns.numbers(name, column)
    if not np.isin(values, (0.0, 1.0)).all():
        raise DatasetError(
            f"{name}: expected events of 0 or 1, got {values.max():g}; a line such as "
            f'"event value: {values.max():g}" says which one means that it happened'
        )
    return values


def _times(name: str, read: Read, column: str, comma: bool) -> Floats:
    return own_columns.numbers(name, own_columns.understood(column, read.columns[column], comma))


def _bounds(
    name: str,
    features: tuple[str, ...],
    columns: dict[str, Column],
    said: Said,
    role: Roles,
    x: list[Floats],
    time: Floats,
) -> Bounds:
    """The bounds that were given; of categories and of true and false they are known."""
    spoken = {TIME if one == role.time else one: pair for one, pair in said.ranges.items()}
    plain = [one for one in columns if one not in said.levels]
    ranges = known(name, [*plain, TIME], columns, spoken, said.taken)
    if said.taken:
        seen = dict(zip(features, x, strict=True))
        ranges = {one: _range(seen[one]) for one in plain} | {TIME: (0.0, _range(time)[1])} | ranges
    low, high = ranges[TIME]
    if low != 0.0 or high <= 0.0:
        raise DatasetError(
            f"{name}: expected bounds of {TIME} from 0 to a number above 0, got {low:g} to {high:g}"
        )
    return Bounds(
        covariates=tuple(ranges.get(one, (0.0, 1.0)) for one in features),
        horizon=high,
        source="Taken from the data where none were given" if said.taken
        else "Given with the table by the person who added it",
    )  # fmt: skip


def known(
    name: str,
    wanted: Sequence[str],
    columns: dict[str, Column],
    spoken: dict[str, tuple[float, float]],
    taken: bool,
) -> dict[str, tuple[float, float]]:
    """The bounds that are public, by column.

    Raises:
        DatasetError: Some are missing, unknown or impossible.
    """
    truths = [one for one in wanted if one in columns and columns[one].kind == "truth"]
    unknown = [one for one in spoken if one not in wanted]
    lacking = [one for one in wanted if one not in (*spoken, *truths)]
    asked = [one for one in wanted if one not in truths or one in spoken]
    if unknown or (lacking and not taken):
        got = ", ".join(unknown) if unknown else f"none of {', '.join(lacking)}"
        if not spoken:
            got = "none"
        raise DatasetError(
            f"{name}: expected bounds of {', '.join(asked)}, a line such as "
            f'{own_lines.EXAMPLE} for each, or "bounds: {own_lines.TAKEN}", got {got}'
        )
    for one, (low, high) in spoken.items():
        if not low < high:
            raise DatasetError(
                f"{name}: expected bounds of {one} from a number to a larger one, "
                f"got {low:g} to {high:g}"
            )
    return {**dict.fromkeys(truths, (0.0, 1.0)), **spoken}


def _range(values: Floats) -> tuple[float, float]:
    """The smallest and the largest value; a constant column gets a width."""
    low, high = float(values.min()), float(values.max())
    return low, high if high > low else low + 1.0


def _card(
    name: str,
    features: tuple[str, ...],
    persons: int,
    events: int,
    long: bool,
    bounds: Bounds,
    taken: bool,
) -> Card:
    varying = "; covariates vary in time, and all rows of an id are one record" if long else ""
    return Card(
        name=name,
        title=name,
        summary=f"A file that was added on this machine and is kept here alone{varying}.",
        records=persons,
        events=events,
        record="a person",
        features=features,
        time_unit="unit of the file",
        source="your own file",
        licence="yours to know",
        public="The number of persons, the names of columns and categories, and the bounds of "
        "columns and times; values beyond them are clipped. As printed, ranges over all rows, the "
        "largest row norm and the longest time are computed from the data instead. Ids only tell "
        "whose rows are whose, and are part of no result",
        bounds=bounds,
        taken=taken,
    )
