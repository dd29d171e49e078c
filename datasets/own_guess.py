"""From what the columns of a file hold and what its owner says to a proposal for every column.

Roles are guessed from usual names, bounds from lists that everybody knows. What nobody states and
no list knows is read off the data, and is marked so.

Guarantees:
    What one cell means may not depend on another record: else one record would change how all are
    read, and no bound on what a record can change would hold. So what the cells decide together
    (which value is the event, what a comma or a date with slashes means, which of several columns
    is the event) is read off the data too, unless it is stated. Two tables that differ in one
    record are then read alike, or one of them cannot be released.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from datasets import own_names
from datasets.own_columns import Column
from datasets.own_names import BLANKS
from datasets.own_proposal import (
    CLASSES,
    LEFT_OUT,
    LISTS,
    MOST_LEVELS,
    SHEET,
    Choice,
    Proposal,
    Said,
    word,
)
from datasets.own_store import LARGEST, centred, fine

NAMES: Mapping[str, tuple[str, ...]] = {role: tuple(some) for role, some in SHEET["names"].items()}
"""Usual names of columns by their role, the surest first; in small letters, other signs as `_`."""
KNOWN = {role: (*some, *SHEET["patterns"].get(role, ())) for role, some in NAMES.items()}
"""The same, and patterns of names."""
INTERVALS = ({"left", "right"}, {"lower_bound_days", "upper_bound_days"}, {"l", "u"},
             {"lower", "upper"}, {"lower_bound", "upper_bound"})  # fmt: skip
HAPPENED, NOT_YET = SHEET["values"]["happened"], SHEET["values"]["not_yet"]
"""Values of an event that mean that it happened, and that it has not yet."""
USUAL: Mapping[str, tuple[float, float]] = {one: (*ends,) for one, ends in SHEET["bounds"].items()}
"""Bounds of columns by patterns of their whole name, from common knowledge."""
SHOWN = 3
"""Words that a sentence names, at most."""
PROPOSED = 20
"""Words of a column that is proposed as categories, at most."""
HOLDS = {"number": "numbers", "truth": "true or false", "date": "dates", "words": "words",
         "blank": "nothing"}  # fmt: skip
TWO = (("0", "1"), ("false", "true"), ("no", "yes"))
"""Classes that everybody expects of a column that holds two. No two pairs share a word, nor do they
share one with a public list: else one record could turn the one into the other."""
PLAIN = ({"0", "1"}, {"-1", "1"})
"""Values of events of which 1 means that it happened, whatever else is there."""
PLACE = "VALUE"
"""Stands in a sentence for a value of events that only the owner knows."""
NUMERALS = ("1", "2")
"""Values of events that mean one thing or the other, by what else is there."""
SLASHES = ("%m/%d/%Y", "%d/%m/%Y")
"""Forms of dates that only other dates tell apart."""
ONCE = ("time", "event", "start", "person", "label")
"""Roles of one column."""
COUNTS, NUMBERED = ("index", "i"), "it counts rows"
"""Names of columns that may only count rows, and what is said of them."""
UNCLEAR = ("censored", "censor", "is_censored", "censoring")
"""Names of events that may mean that it happened, and that it did not."""
OTHER = "it looks like another time or event"
ALONE = "it counts as a covariate; as a start time it needs a column of persons"
CLOSE = "its values are too close for their size: give them as differences from a start"
OPEN = {
    "number": "bounds of {}", "time": "bounds of {}", "categories": "categories of {}",
    "label": "the classes of {}", LEFT_OUT: "a decision on {}",
}  # fmt: skip
"""What nobody has stated of a column, by its role."""
READ = {
    "value": "the value that means that {} happened",
    "role": "the role of {}",
    "decimal": 'what a comma means in {} (decimal = "," or ".")',
    "dates": "dates of {} as year-month-day",
}
"""What the cells of a column mean, where they have decided it together."""


def proposed(
    columns: Mapping[str, Column], odd: Mapping[str, str], said: Said, label: str = ""
) -> Proposal:
    """What becomes of every column.

    Args:
        columns: What each of them holds.
        odd: Columns that cannot be read, and what they hold.
        said: What the owner says.
        label: The column of the classes, where it is named elsewhere.
    """
    problems: list[str] = []
    stated = _known(columns, odd, said, label, problems)
    kind, roles, unsure = _roles(columns, stated, said, problems)
    choices: dict[str, Choice] = {}
    for key, column in columns.items():
        one = dict(stated.get(key, {}))
        role = one.pop("role", None) or roles.get(key, "")
        if role in ("start", "person"):
            choice = Choice(role=role, origin="standard")
        elif role == "label":
            choice = _label(column, one, said)
        elif role == "event":
            choice = _event(column, one, said, problems)
        elif role == "time":
            choice = _time(column, one, problems)
        elif role == LEFT_OUT:
            choice = Choice(role=role, origin="standard", why=roles.get(f"{key}?", ""))
        else:
            choice = _noted(_feature(column, role, one, said, kind, problems), roles.get(f"{key}?"))
        if "role" in stated.get(key, {}) and choice.origin == "standard":
            choice = replace(choice, origin="stated")
        if key in unsure:
            choice = replace(choice, origin="data", read="role")
        if column.guessed and choice.role not in (LEFT_OUT, "person"):
            choice = replace(choice, origin="data", read="decimal")
        if one.get("from") == "data":
            choice = replace(choice, origin="data")
        choices[key] = replace(choice, holds=_holds(column))
    for key, held in odd.items():
        choices[key] = _unread(key, held, stated.get(key, {}), problems)
    asked = () if said.accept else _asked(choices, stated)
    rows = max((column.rows for column in columns.values()), default=0)
    about, wrong = said.about() | {"kind": kind}, tuple(dict.fromkeys(problems))
    return Proposal(**about, rows=rows, columns=choices, asked=asked, problems=wrong)


def _known(
    columns: Mapping[str, Column],
    odd: Mapping[str, str],
    said: Said,
    label: str,
    problems: list[str],
) -> dict[str, dict[str, Any]]:
    """What is said of the columns that are there."""
    stated = {key: dict(one) for key, one in said.columns.items()}
    horizon = stated.pop("time", None) if "time" not in (*columns, *odd) else None
    if label:
        stated.setdefault(label.strip().lower(), {})["role"] = "label"
    for key in stated.keys() - columns.keys() - odd.keys():
        role = stated.pop(key).get("role")
        what = f"the {role} column" if role and role != LEFT_OUT else "columns"
        problems.append(f"expected {what} among {', '.join(columns)[:200]}, got {key}")
    for role in ONCE:
        several = [key for key, one in stated.items() if one.get("role") == role]
        if len(several) > 1:
            problems.append(f"expected one {role} column, got {' and '.join(several)[:200]}")
    if horizon:  # a bound of "time" is that of the times, whatever their column is called
        named = next((key for key, one in stated.items() if one.get("role") == "time"), "")
        named = named or _found(columns, KNOWN["time"], {*stated} - {"time"})
        if named:
            stated[named] = {**horizon, **stated.get(named, {})}
        else:
            problems.append(f"expected columns among {', '.join(columns)[:200]}, got time")
    return stated


def _unread(key: str, held: str, one: Mapping[str, Any], problems: list[str]) -> Choice:
    """A column that cannot be read: nothing that is said of it may be forgotten."""
    if one and (role := one.get("role")) != LEFT_OUT:
        what = f"the {role} column" if role else "column"
        problems.append(
            f"expected {what} {key!r} to hold numbers, text or dates, got {held}: write it as one "
            "of these, or leave it out"
        )
    return Choice(role=LEFT_OUT, origin="standard", why="it cannot be read", holds=held)


def _roles(
    columns: Mapping[str, Column],
    stated: Mapping[str, Mapping[str, Any]],
    said: Said,
    problems: list[str],
) -> tuple[str, dict[str, str], set[str]]:
    """The kind of table, and the roles that follow from names; `key?` says why one is left out.

    Last come the columns whose names alone would not have given them their role.
    """
    given = {one["role"]: key for key, one in stated.items() if "role" in one}
    free = {key: one for key, one in columns.items() if "role" not in stated.get(key, {})}
    roles: dict[str, str] = {}
    kind = said.kind or ("classes" if "label" in given else "")
    person = "" if "person" in given else _found(free, KNOWN["person"])
    time = given.get("time") or _found(free, KNOWN["time"], {person}, _lasts)
    event = given.get("event") or _found(free, KNOWN["event"], {person, time}, _two, near=time)
    named = (
        given.get("time") or _found(free, KNOWN["time"], {person}),
        given.get("event") or _found(free, KNOWN["event"], {person, time}, near=time),
    )
    unsure = {time, event} - {*named}
    if not kind:
        usual = "" if time and event else _found(free, KNOWN["label"])
        kind = "classes" if usual else "survival"
    if kind == "classes":
        return kind, *_class_roles(free, given.get("label", ""), person, problems)
    start = given.get("start") or _found(free, KNOWN["start"], {time, event})
    _missing(columns, time, event, problems)
    roles = {time: "time", event: "event"}
    if person:
        roles[person] = "person"
    if start and (person or "person" in given):
        roles[start] = "start"
    elif start:
        roles[f"{start}?"] = ALONE
    rivals = [key for key in free if key not in (time, event, start, person, *stated)]
    times = [key for key in rivals if _plain(key) in NAMES["time"] and _lasts(columns[key])]
    events = [key for key in rivals if _ranked(key, KNOWN["event"]) and _two(columns[key])]
    for key in (*times, *events) if times and events else ():
        roles |= {key: LEFT_OUT, f"{key}?": OTHER}
        unsure.add(key)
    return kind, roles, unsure


def _class_roles(
    free: Mapping[str, Column], stated: str, person: str, problems: list[str]
) -> tuple[dict[str, str], set[str]]:
    """The roles in a table of classes: of its label, stated or found, and of ids; as `_roles`."""
    known = stated or _found(free, KNOWN["label"])
    fit = [key for key, column in free.items() if classes_fit(column)]
    label = known or (fit[-1] if fit else "")
    if not label:
        problems.append("expected the column of the classes, got none: name it with --label")
    roles = {} if stated else {label: "label"}
    if person and person != label:
        roles |= {person: LEFT_OUT, f"{person}?": "it numbers persons"}
    return roles, {label} - {known}


def _missing(columns: Mapping[str, Column], time: str, event: str, problems: list[str]) -> None:
    """Says which of the two columns of a survival table nobody has found."""
    if time and event:
        return
    lacking = " and ".join([*["time"] * (not time), *["event"] * (not event)])
    plain = {_plain(key) for key in columns}
    if any(pair <= plain for pair in INTERVALS):
        problems.append(
            "expected a time and whether the event was seen, got the two ends of an interval: "
            "interval-censored tables are not taken"
        )
        return
    names = ", ".join(columns)[:200]
    problems.append(
        f"expected columns of {lacking}, got {names}: give the role to a column "
        f'(role = "{lacking.split()[0]}"), or name the column of classes with --label'
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_")


def _ranked(name: str, usual: Sequence[str]) -> int:
    """The place of a name among usual ones, from 1; 0 where it is none of them."""
    plain = _plain(name)
    return next((at for at, one in enumerate(usual, 1) if re.fullmatch(one, plain)), 0)


def _found(
    columns: Mapping[str, Column],
    usual: Sequence[str],
    aside: set[str] = frozenset(),  # type: ignore[assignment]
    fits: Any = lambda column: True,
    near: str = "",
) -> str:
    """The column whose name is the surest; one that fits, and that follows `near`, comes first."""
    order = list(columns)
    after = order[order.index(near) + 1 :][:1] if near in columns else []
    ranked = [
        (not fits(column), rank > 1 and [key] != after, rank, order.index(key), key)
        for key, column in columns.items()
        if key not in aside and (rank := _ranked(key, usual))
    ]
    return min(ranked, default=(False, False, 0, 0, ""))[-1]


def _lasts(column: Column) -> bool:
    """Whether a column may hold times."""
    return column.kind == "number" and column.low >= 0


def _two(column: Column) -> bool:
    """Whether a column may say of each row whether something happened."""
    return column.kind == "truth" or len(column.levels or "123") <= 2


def _label(column: Column, one: Mapping[str, Any], said: Said) -> Choice:
    """The classes: as stated, known to everybody, or those that occur.

    Which classes occur is read off the records, so a model's size would tell of a rare one.
    """
    if classes := one.get("categories") or said.classes:
        return Choice(role="label", categories=classes, origin=one.get("from", "stated"))
    seen = (column.levels or ()) if classes_fit(column) else ()
    known = any(set(seen) == set(some) for some in (*TWO, *LISTS.values()))
    return Choice(role="label", categories=seen, origin="standard" if known else "data")


def _event(column: Column, one: Mapping[str, Any], said: Said, problems: list[str]) -> Choice:
    """Which value means that the event happened."""
    levels, value = column.levels, one.get("value", said.event_value)
    if value and levels is not None and value not in levels:
        got = ", ".join(levels[:5])
        problems.append(f"{column.name}.value: expected one of {got}, got {value!r}")
    if value:
        return Choice(role="event", value=value, origin=one.get("from", "stated"))
    guessed, known = _happened(column, problems)
    unclear = not guessed and _plain(column.name) in UNCLEAR
    why = "1 or true is taken as the event, not as censoring" if unclear else ""
    if known:
        return Choice(role="event", value=guessed, origin="standard", why=why)
    return Choice(role="event", value=guessed, origin="data", why=why, read="value")


def _happened(column: Column, problems: list[str]) -> tuple[str, bool]:
    """The value that means that the event happened, and whether each value tells that by itself.

    Empty for 1 or true.
    """
    levels = column.levels or ()
    if _eventless(column):
        got = ", ".join(levels[:5])
        problems.append(f"expected at least one event in {column.name}, got {got} in every row")
        return "", True
    if column.kind == "truth" or (levels and set(levels) <= PLAIN[0]):
        return "", True
    if levels and set(levels) <= PLAIN[1]:
        return "1", True
    if levels == NUMERALS:
        return levels[-1], False
    others = [one for one in levels if one not in NOT_YET]
    surest = [one for one in others if one in HAPPENED] or (others if len(levels) == 2 else [])
    if len(surest) == 1 and len(levels) <= 2:
        return surest[0], others == surest and not {*levels} & {*NUMERALS} and surest[0] in HAPPENED
    got = ", ".join(levels[:5]) or "many values"
    example = [PLACE, *(one for one in levels if one in HAPPENED)][-1]
    problems.append(
        f"expected events of 0 or 1 in {column.name}, got {got}: say which value means that it "
        f'happened (value = "{example}")'
    )
    return "", True


def _eventless(column: Column) -> bool:
    """Whether all values of a column of events mean that nothing has happened yet."""
    levels = {*(column.levels or ())}
    return bool(levels) and levels <= {"-1", *NOT_YET} - {"1"}


def _time(column: Column, one: Mapping[str, Any], problems: list[str]) -> Choice:
    low, high = one.get("low", 0.0), one.get("high")
    if low != 0.0 or (high is not None and high <= 0.0):
        problems.append(
            f"expected bounds of time from 0 to a number above 0, got {low:g} to {high or 0:g}"
        )
    origin = one.get("from", "data" if high is None else "stated")
    longest = column.high if column.high > 0.0 else 1.0
    return Choice(role="time", low=0.0, high=longest if high is None else high, origin=origin)


def _feature(
    column: Column,
    role: str,
    one: Mapping[str, Any],
    said: Said,
    table: str,
    problems: list[str],
) -> Choice:
    """What becomes of a column that may be learned from."""
    kind, levels = column.kind, column.levels
    words = not role and kind == "words" and "low" not in one
    if words or role == "categories" or "categories" in one:
        choice = _categories(column, role, one, table)
        if choice.role == LEFT_OUT and (said.every or usual(column.name)):
            return replace(choice, origin="data")  # without its words it would be a number
        if choice.fill is not None and choice.fill not in (*choice.categories, *BLANKS):
            problems.append(
                f"{column.name}.fill: expected one of {', '.join(choice.categories)[:80]}, got "
                f"{choice.fill!r}"
            )
        return choice
    stated = "low" in one or (said.every and column.kind != "blank")
    if not (role or stated) and (why := _useless(column)):
        read = levels is not None and why != NUMBERED
        return Choice(role=LEFT_OUT, why=why, origin="data" if read else "standard")
    if kind in ("words", "blank") or (kind == "date" and not (role and "low" in one)):
        row, word = column.odd or (1, "")
        problems.append(
            f"column {column.name!r}, row {row}: expected a number, got {word[:40]!r}: give it "
            'categories, or leave it out (role = "left out")'
        )
    given = {key: one[key] for key in ("low", "high") if key in one}
    if len(given) == 1:
        problems.append(f"{column.name}: expected a lowest and a highest value, got one of them")
    low, high, origin = _bounds(column, {**said.every, **given}, one.get("from"))
    if origin == "data" and not (role or stated) and _close(low, high, table):
        return Choice(role=LEFT_OUT, why=CLOSE, origin="data")
    fill = one.get("fill")
    if isinstance(fill, str):
        problems.append(f"{column.name}.fill: expected a number, got {fill!r}")
    if fill is None and column.blanks:
        fill = float(f"{column.mean:.4g}") if origin == "data" else middle(low, high)
    beyond = column.low < low or column.high > high
    why = "values beyond the bounds are clipped" if beyond and origin != "data" else ""
    choice = Choice(role="number", low=low, high=high, fill=fill, origin=origin, why=why)
    if kind == "date" and {*column.dates} & {*SLASHES}:
        return replace(choice, origin="data", read="dates")
    return choice


def _close(low: float, high: float, table: str) -> bool:
    """Whether methods cannot tell values between two bounds apart, which are not too large."""
    apart = fine if table == "classes" else centred
    return max(-low, high) <= LARGEST and not apart(np.array(low), np.array(high))


def _noted(choice: Choice, note: str | None) -> Choice:
    """A covariate with something else to know of it."""
    if not note or choice.role == LEFT_OUT:
        return choice
    return replace(choice, why="; ".join(filter(None, (choice.why, note))))


def middle(low: float, high: float) -> float:
    """What stands for a blank where nobody has said it: the middle of public bounds."""
    return float(f"{(low + high) / 2:.4g}")


def _useless(column: Column) -> str:
    """Why nothing can be learned from a column; empty where something can."""
    if column.kind == "blank":
        return "it is empty"
    if column.levels is not None and len(column.levels) == 1:
        return "it holds one value"
    if _plain(column.name) in COUNTS and column.high - column.low == column.rows - 1:
        return NUMBERED
    return "it holds dates" if column.kind == "date" else ""


def _bounds(column: Column, given: Mapping[str, Any], origin: Any) -> tuple[float, float, Any]:
    """Smallest and largest value, and where they come from: said, known by name, or the data."""
    low, high = given.get("low"), given.get("high")
    if low is not None and high is not None:
        return low, high, origin or "stated"
    known = (0.0, 1.0) if column.kind == "truth" else usual(column.name)
    if known and (known[0] <= column.mean <= known[1] or column.kind == "blank"):
        return *known, "standard"
    if not column.low < column.high:
        return (column.low, column.low + 1.0, "data") if column.low < 1e300 else (0.0, 1.0, "data")
    return column.low, column.high, "data"


def usual(name: str) -> tuple[float, float] | None:
    """Bounds of a column from common knowledge about its name."""
    rank = _ranked(name, tuple(USUAL))
    return tuple(USUAL.values())[rank - 1] if rank else None


def _categories(column: Column, role: str, one: Mapping[str, Any], table: str) -> Choice:
    """The categories: as stated, of a public list, or those that occur."""
    choice = _levels(column, role, one)
    levels, seen = choice.categories, column.levels
    if not levels:
        return choice
    # a baseline has no column of its own, and what is none of the others counts as it
    rest = f"the baseline {levels[0]}" if table == "survival" else "none of them"
    # a category such as "none" is no blank; how many cells are blank beside it is not known
    blanks, own = (
        column.blanks and choice.fill not in levels,
        sorted({*levels} & {*BLANKS}),
    )
    beyond = seen is None or not set(seen) <= set(levels)
    others = f"other values ({_some(set(seen) - set(levels))})" if seen else "other values"
    empty = f"any blanks other than {_some(own)}" if own else "blanks"
    what = " and ".join([*[empty] * bool(blanks), *[others] * beyond])
    why = f"{what} count as {rest}" if what else ""
    if choice.origin == "stated" and seen is not None and (never := {*levels} - {*seen, *BLANKS}):
        why = f"{why}{'; ' if why else ''}no row holds {_some(never)}"
    return replace(choice, why=why)


def _some(found: Collection[str]) -> str:
    """A few words, and how many more there are."""
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{', '.join(one[:40] for one in sorted(found)[:SHOWN])}{more}"


def _levels(column: Column, role: str, one: Mapping[str, Any]) -> Choice:
    fill, seen = one.get("fill"), column.levels
    fill = None if fill is None else word(fill)
    if levels := one.get("categories"):
        origin = one.get("from", "stated")
        return Choice(role="categories", categories=levels, fill=fill, origin=origin)
    if why := _useless(column) if not role else "":
        return Choice(role=LEFT_OUT, why=why, origin="data")
    if seen is None or len(seen) > (MOST_LEVELS if role else PROPOSED):
        count = "many" if seen is None else str(len(seen))
        return Choice(role=LEFT_OUT, why=f"it holds {count} different words", origin="standard")
    for known in LISTS.values():
        if set(seen) <= set(known) and len(known) <= PROPOSED:
            return Choice(role="categories", categories=known, fill=fill, origin="standard")
    return Choice(role="categories", categories=seen, fill=fill, origin="data")


def _holds(column: Column) -> str:
    """What a column holds, in a few words for its owner."""
    some = ", ".join(one for one in column.examples if one)[:40]
    blank = f", {column.blanks:,} blank" if column.blanks else ""
    span = f" from {column.low:g} to {column.high:g}" if column.kind == "number" else ""
    return f"{HOLDS[column.kind]}{span}{': ' if some else ''}{some}{blank}"


def _asked(
    choices: Mapping[str, Choice], stated: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """What would be taken from the data although nobody has said so."""
    open_ = [
        (key, one) for key, one in choices.items()
        if one.origin == "data" and stated.get(key, {}).get("from") != "data"
    ]  # fmt: skip
    asked: dict[str, list[str]] = {}
    for key, one in open_:
        asked.setdefault(READ[one.read] if one.read else OPEN[one.role], []).append(key)
    order = [*OPEN.values(), *READ.values()]
    return tuple(
        what.format(own_names.some(asked[what])) for what in dict.fromkeys(order) if what in asked
    )


def classes_fit(column: Column) -> bool:
    """Whether a column may hold classes."""
    levels = column.levels
    return levels is not None and CLASSES[0] <= len(levels) <= CLASSES[1]
