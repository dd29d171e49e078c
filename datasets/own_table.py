"""A table of one's own, made of the columns of a file as its proposal says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from datasets import own_columns, own_guess, own_names
from datasets.base import (
    Booleans,
    Bounds,
    Card,
    Floats,
    Integers,
    LabelledTable,
    SurvivalTable,
    check,
)
from datasets.long import long_table
from datasets.own_columns import Column
from datasets.own_proposal import CLASSES, Choice, Proposal
from datasets.own_reader import Source
from datasets.own_store import LARGEST, STEPS, Words, centred, fine
from engine.core.errors import DatasetError

FEWEST = {"survival": 5, "classes": 20}
"""Rows at least."""
WIDEST = 100
"""Covariates of a survival table at most."""
PUBLISHED = 10_000
"""Of a larger table of classes one row in five becomes its test part here; a method splits a
smaller one."""
HELD_OUT = 5
Plan = list[tuple[str, str, int]]
"""Of each feature its name, its column, and the place of its category; -1 for a number."""


def problems(proposal: Proposal, columns: Mapping[str, Column]) -> list[str]:
    """Everything that keeps a file from being a table, one part of a sentence each."""
    found = list(proposal.problems)
    if proposal.rows < FEWEST[proposal.kind]:
        what = "persons" if proposal.kind == "survival" else "rows"
        found.append(f"expected at least {FEWEST[proposal.kind]} {what}, got {proposal.rows}")
    used = proposal.having("time", "start", "number", "event", "label")
    for key in used:
        column, role = columns[key], proposal.columns[key].role
        if column.infinite:
            found.append(
                f"{key}: expected finite numbers, got an infinite one in row {column.infinite}"
            )
        if column.blanks and role != "number":
            what = "a class" if role == "label" else "a number" if role != "event" else "an event"
            found.append(
                f"expected {what} in every row of {key!r}, got none in row {column.first_blank}"
            )
        elif role in ("time", "start") and column.kind not in ("number", "truth"):
            row, word = column.odd or (1, "")
            found.append(f"column {key!r}, row {row}: expected a number, got {word[:40]!r}")
        elif role == "time" and column.low < 0:
            found.append(f"expected durations of at least 0 in {key!r}, got {column.low:g}")
    found += _person_problems(proposal, columns)
    features = plan(proposal)
    most = WIDEST if proposal.kind == "survival" else 10_000
    if not 1 <= len(features) <= most:
        left = [f"{key} ({one.why})" for key, one in proposal.columns.items() if one.why]
        why = f": left out are {', '.join(left)[:200]}" if left and not features else ""
        found.append(f"expected 1 to {most:,} covariates, got {len(features):,}{why}")
    names = [name for name, _, _ in features]
    if len(set(names)) < len(names):
        found.append("expected covariates with different names, got one twice")
    for key in proposal.having("categories"):
        seen, levels = columns[key].levels, proposal.columns[key].categories
        if seen is not None and not set(seen) & set(levels):
            found.append(f"expected {', '.join(levels)[:60]} in column {key!r}, got none of them")
    if proposal.kind == "survival":
        found += _close(proposal)
    if proposal.kind == "classes":
        found += _class_problems(proposal, columns, len(features))
    return found


def _person_problems(proposal: Proposal, columns: Mapping[str, Column]) -> list[str]:
    """Rows that belong to nobody, or to persons who cannot be told apart."""
    persons, found = proposal.having("person"), []
    for key in persons:
        if row := columns[key].first_blank:
            found.append(f"{key}: expected an id in every row, got none in row {row}")
        if row := columns[key].merged:
            found.append(
                f"{key}: expected ids that are text or whole numbers, got a float of more digits "
                f"than it can hold in row {row}"
            )
    alone = proposal.kind == "survival" and not persons
    for key in proposal.having("start") if alone else ():
        found.append(
            f"expected a column of persons beside the start column {key!r}, got none: give the "
            'role to a column (role = "person")'
        )
    return found


def _close(proposal: Proposal) -> list[str]:
    """Bounds of covariates whose difference is lost in rounding."""
    ends = {
        key: (proposal.columns[key].low or 0.0, proposal.columns[key].high or 0.0)
        for key in proposal.having("number")
    }
    return [
        f"expected bounds of {key} further apart for numbers of that size, got {low!r} to "
        f"{high!r}: give the column as a difference from a start"
        for key, (low, high) in ends.items()
        if not centred(np.array(low), np.array(high))
    ]


def _class_problems(proposal: Proposal, columns: Mapping[str, Column], features: int) -> list[str]:
    found = []
    for key in proposal.having("label"):
        column, levels = columns[key], columns[key].levels
        fractions = column.kind == "number" and any("." in one for one in levels or ())
        if fractions or levels is None or not CLASSES[0] <= len(levels) <= CLASSES[1]:
            count = "many" if levels is None else f"{len(levels):,}"
            got = "measurements with decimals" if fractions else f"{count} different values"
            found.append(
                f"expected {CLASSES[0]} to {CLASSES[1]} classes in column {key!r}, got {got}"
            )
        elif set(stated := proposal.columns[key].categories) != set(levels):
            found.append(
                f"expected the classes {', '.join(stated)[:80]} in column {key!r}, got "
                f"{', '.join(levels)[:80]}"
            )
    for key in proposal.having("number"):
        low, high = proposal.columns[key].low or 0.0, proposal.columns[key].high or 0.0
        if not fine(np.array(low), np.array(high)):
            found.append(
                f"expected bounds of {key} that differ in single precision, with {STEPS} of its "
                f"numbers between them, at most {LARGEST:g} from 0, got {low!r} to {high!r}: give "
                "the column as a difference from a start, or in another unit"
            )
    if (image := proposal.image) and image[0] * image[1] != features:
        found.append(
            f"expected {image[0]} x {image[1]} = {image[0] * image[1]} columns of pixels, "
            f"got {features}"
        )
    return found


def plan(proposal: Proposal) -> Plan:
    """The features: a number is one, a category one of 0 and 1 for each but a baseline."""
    first = 1 if proposal.kind == "survival" else 0
    features: Plan = []
    for key in proposal.having("number", "categories"):
        words = _called(key, proposal.columns[key].categories)
        places = [(f"{key} {word}", key, at) for at, word in enumerate(words)][first:]
        features += places if words else [(key, key, -1)]
    return features


def _called(key: str, levels: Sequence[str]) -> tuple[str, ...]:
    """Categories as plain words that differ, so short that a feature's name ends with its own."""
    return own_names.names(levels, max(own_names.MOST // 4, own_names.MOST - len(key) - 4))


def words(proposal: Proposal) -> Words:
    """What the values of the table are called: public, or read off the data as its card says."""
    [label] = proposal.having("label") or [""]
    features, survival = plan(proposal), proposal.kind == "survival"
    levels = {key: proposal.columns[key].categories for _, key, _ in features}
    return Words(
        classes=proposal.columns[label].categories if label else (),
        references=tuple(
            _called(key, levels[key])[0] if survival and at >= 0 else "" for _, key, at in features
        ),
        fills=tuple(_stands(proposal.columns[key], at) for _, key, at in features),
        columns=tuple(name for name, _, _ in features),
    )


def _stands(one: Choice, place: int) -> float:
    """What stands for a blank in a feature; it does not depend on whether there are blanks."""
    if place >= 0:
        return float(one.categories[place] == one.fill)
    if isinstance(one.fill, float):
        return one.fill
    assert one.low is not None
    assert one.high is not None
    return own_guess.middle(one.low, one.high)


def made(
    name: str, source: Source, columns: Mapping[str, Column], proposal: Proposal
) -> SurvivalTable | LabelledTable:
    """The table.

    Args:
        name: What a sentence calls the file.
        source: Where its columns are read.
        columns: What they hold.
        proposal: What becomes of them.

    Raises:
        DatasetError: It is no such table; one sentence names all that is wrong.
    """
    wrong = problems(proposal, columns)
    if proposal.asked:
        wrong.append(
            f"expected {'; '.join(proposal.asked)}, got none: state them in the settings, "
            "or take them from the data with --accept"
        )
    if wrong:
        raise DatasetError(f"{name}: {'; '.join(wrong)}")
    build = _survival if proposal.kind == "survival" else _classes
    return build(name, source, columns, proposal)


def _fill(
    x: Floats, rows: slice | Integers, batch: Mapping[str, object], columns: Mapping[str, Column],
    proposal: Proposal, features: Plan, kept: Booleans | slice = slice(None),
) -> None:  # fmt: skip
    """Writes the features of some rows into their places."""
    cells: dict[str, np.ndarray] = {}
    for at, (_, key, level) in enumerate(features):
        one, column = proposal.columns[key], columns[key]
        if key not in cells:
            cells[key] = (
                own_columns.places(batch[key], column, one.categories) if level >= 0
                else own_columns.numbers(batch[key], column)
            )  # fmt: skip
            if level >= 0 and one.fill in one.categories:
                blank = np.array([word is None for word in own_columns.words(batch[key])])
                cells[key][blank & (cells[key] < 0)] = one.categories.index(str(one.fill))
        values = cells[key] == level if level >= 0 else cells[key]
        if level < 0 and one.fill is not None:
            values = np.where(np.isnan(values), one.fill, values)
        x[rows, at] = values[kept]


def _survival(
    name: str, source: Source, columns: Mapping[str, Column], proposal: Proposal
) -> SurvivalTable:
    features, n = plan(proposal), proposal.rows
    [time], [event] = proposal.having("time"), proposal.having("event")
    starts, persons = proposal.having("start"), proposal.having("person")
    wanted = list(dict.fromkeys([*(key for _, key, _ in features), time, event, *starts, *persons]))
    x, times, events, start = np.empty((n, len(features))), np.empty(n), np.empty(n), np.zeros(n)
    ids: list[str | None] = []
    value = proposal.columns[event].value
    for rows, batch in own_columns.taken(source, columns, wanted):
        _fill(x, rows, batch, columns, proposal, features)
        times[rows] = own_columns.numbers(batch[time], columns[time])
        if value:
            events[rows] = own_columns.places(batch[event], columns[event], (value,)) == 0
        else:
            events[rows] = own_columns.numbers(batch[event], columns[event])
        if starts:
            start[rows] = own_columns.numbers(batch[starts[0]], columns[starts[0]])
        if persons:
            ids += own_columns.words(batch[persons[0]])
    if not np.isin(events, (0.0, 1.0)).all():
        raise DatasetError(f"{name}: expected events of 0 or 1, got {np.nanmax(events):g}")
    count = len(set(ids)) if persons else n
    if not starts and count < n:
        raise DatasetError(
            f"{name}: expected one row for each {persons[0]}, or columns start and stop, got {n:,} "
            f"rows of {count:,} persons"
        )
    units = _units(proposal, columns, features)
    card = _survival_card(name, proposal, features, units, count, int(events.sum()), bool(starts))
    if not starts:
        return _known(check(SurvivalTable(card, x, times, events > 0)))
    if count < FEWEST["survival"]:
        raise DatasetError(f"{name}: expected at least {FEWEST['survival']} persons, got {count}")
    named = {one: x[:, at] for at, one in enumerate(card.features)}
    table = long_table(card, {"id": ids, "start": start, "stop": times, "event": events, **named})
    return _known(table)


def _known(table: SurvivalTable) -> SurvivalTable:
    """The table with a card of the events that methods know of: those up to the longest time.

    People who are followed longer count as censored there.

    Raises:
        DatasetError: There are none.
    """
    bounds = table.card.bounds
    assert bounds is not None
    events = int(table.event[table.time <= bounds.horizon].sum())
    if not events:
        raise DatasetError(
            f"{table.card.name}: expected at least one event up to the longest time "
            f"{bounds.horizon:g}, got none"
        )
    return replace(table, card=replace(table.card, events=events))


def _range(proposal: Proposal, features: Plan) -> list[tuple[float, float]]:
    pairs = [(proposal.columns[key].low, proposal.columns[key].high) for _, key, _ in features]
    return [
        (0.0, 1.0) if low is None or high is None else (low, high)
        for low, high in pairs
    ]  # fmt: skip


def _origin(proposal: Proposal) -> str:
    """Where bounds and categories come from."""
    if not proposal.taken:
        return "Stated by the person who added the table, or known to everybody"
    names = own_names.some(own_names.names(proposal.taken))
    return f"Taken from the data for {names}; given or known otherwise"


def _survival_card(
    name: str, proposal: Proposal, features: Plan, units: tuple[str, ...], persons: int,
    events: int, long: bool,
) -> Card:  # fmt: skip
    varying = "; covariates vary in time, and all rows of an id are one record" if long else ""
    [time] = proposal.having("time")
    return Card(
        name=name,
        title=name,
        summary=f"A file that was added on this machine and is kept here alone{varying}.",
        records=persons,
        events=events,
        record=proposal.record or "a person",
        features=tuple(one for one, _, _ in features),
        units=units,
        time_unit="unit of the file",
        source="your own file",
        licence="yours to know",
        public="The number of persons, the names of columns and categories, and the bounds of "
        "columns and times; values beyond them are clipped. As printed, ranges over all rows, the "
        "largest row norm and the longest time are computed from the data instead. Ids only tell "
        "whose rows are whose, and are part of no result",
        bounds=Bounds(
            covariates=tuple(_range(proposal, features)),
            horizon=float(proposal.columns[time].high or 1.0),
            source=_origin(proposal),
        ),
        taken=bool(proposal.taken),
    )


def _units(proposal: Proposal, columns: Mapping[str, Column], features: Plan) -> tuple[str, ...]:
    """What 1 means where a feature is a category, or yes or no; empty for another number.

    A name that ends with "yes" would make the column a category of the one before.
    """
    return tuple(
        f"1 = {_called(key, proposal.columns[key].categories)[place]}" if place >= 0
        else "1 = yes" if columns[key].kind == "truth" and not name.endswith(" yes") else ""
        for name, key, place in features
    )  # fmt: skip


def _classes(
    name: str, source: Source, columns: Mapping[str, Column], proposal: Proposal
) -> LabelledTable:
    features, [label] = plan(proposal), proposal.having("label")
    levels = proposal.columns[label].categories
    groups, kept = _persons(source, columns, proposal)
    test = _test_rows(kept, groups, proposal.seed)
    low, high = np.array(_range(proposal, features)).T
    place = np.where(test, np.cumsum(test), np.cumsum(kept & ~test)) - 1
    parts = [(np.empty((int(one.sum()), len(features))), np.empty(int(one.sum()), np.int64))
             for one in (kept & ~test, test)]  # fmt: skip
    wanted = list(dict.fromkeys([*(key for _, key, _ in features), label]))
    for rows, batch in own_columns.taken(source, columns, wanted):
        y = own_columns.places(batch[label], columns[label], levels)
        for (x, classes), mine in zip(parts, ((kept & ~test)[rows], test[rows]), strict=True):
            at = place[rows][mine]
            _fill(x, at, batch, columns, proposal, features, mine)
            classes[at] = y[mine]
    for x, _ in parts:
        np.clip(x, low, high, out=x)
    (x, y), (x_test, y_test) = parts
    units = _units(proposal, columns, features)
    card = _class_card(name, proposal, features, units, len(y), levels)
    part = LabelledTable(card, x_test, y_test, (low, high), proposal.image) if len(y_test) else None
    theirs = None if groups is None else groups[kept & ~test]
    return check(LabelledTable(card, x, y, (low, high), proposal.image, part, theirs))


def _persons(
    source: Source, columns: Mapping[str, Column], proposal: Proposal
) -> tuple[Integers | None, Booleans]:
    """The person of each row, and which rows are kept: the first few of each person."""
    if not (persons := proposal.having("person")):
        return None, np.ones(proposal.rows, bool)
    numbers: dict[str | None, int] = {}
    seen: list[int] = []
    for _, batch in own_columns.taken(source, columns, persons):
        seen += [
            numbers.setdefault(one, len(numbers)) for one in own_columns.words(batch[persons[0]])
        ]
    groups = np.array(seen, np.int64)
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=-1))
    turn = np.arange(len(groups)) - np.repeat(first, np.diff(first, append=len(groups)))
    kept = np.zeros(len(groups), bool)
    kept[order] = turn < proposal.rows_per_person
    return groups, kept


def _test_rows(kept: Booleans, groups: Integers | None, seed: int) -> Booleans:
    """Which of many rows are tested on: a fifth, whole persons, by number and public seed alone."""
    n, test = int(kept.sum()), np.zeros(len(kept), bool)
    if n <= PUBLISHED:
        return test
    rng = np.random.default_rng(seed)
    if groups is None:
        test[rng.permutation(n)[: n // HELD_OUT]] = True
        return test
    persons = np.unique(groups[kept])
    return np.isin(groups, rng.permutation(persons)[: len(persons) // HELD_OUT]) & kept


def _class_card(
    name: str, proposal: Proposal, features: Plan, units: tuple[str, ...], records: int,
    classes: Sequence[str],
) -> Card:  # fmt: skip
    [label] = proposal.having("label")
    occur = proposal.columns[label].origin == "data"
    learned = own_names.OCCUR if occur else ""
    image, most = proposal.image, proposal.rows_per_person
    persons = bool(proposal.having("person"))
    kept = f" The first {most} rows of each person are kept." if persons else ""
    return Card(
        name=name,
        title=name,
        summary=f"A file that was added on this machine and is kept here alone. The classes are "
        f"{', '.join(classes)}.{kept}",
        records=records,
        classes=len(classes),
        record=f"a person with at most {most} rows" if persons else proposal.record or "a row",
        features=(f"{image[0]} x {image[1]} pixels",) if image
        else tuple(one for one, _, _ in features),
        units=() if image else units,
        image=image,
        source="your own file",
        licence="yours to know",
        public=f"The number of rows, the names of columns and categories, the names of the "
        f"classes{learned}, and the bounds: {_origin(proposal)[0].lower()}{_origin(proposal)[1:]}; "
        "values beyond them are clipped. The split into training and test rows follows from the "
        f"number of rows and the seed {proposal.seed}",
        rows=most if persons else 1,
        taken=bool(proposal.taken),
    )  # fmt: skip
