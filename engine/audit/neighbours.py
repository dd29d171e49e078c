"""Tables that differ from a given one in what is private alone. No torch.

What is computed from releases alone is the same on all of them once the releases are, however far
apart they are: a path of neighbours leads from each to each. So these tables change as much as
public bounds allow: maxima, counts, classes that are there, missing values. The number of records,
the card, the test part and friendships stay, except where the relation says otherwise.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from datasets.base import LabelledTable, PanelTable, SurvivalTable, Table
from engine.audit.witness import Pair, limits
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Relation

Named = tuple[str, Table]
"""What was changed, in words, and the table."""


def relation_of(entry: Entry[Any], spec: Spec, data: Table) -> Relation:
    """Which two tables are neighbours, by the card of a method on these records."""
    return entry.guarantee(spec, len(data), data.card.record).relation


def others(table: Table, relation: Relation) -> Iterator[Named]:
    """Tables with the same public side as the given one.

    Args:
        table: The records.
        relation: Which two tables are neighbours: whether places may be empty or gone.
    """
    match table:
        case LabelledTable():
            yield from _labelled(table)
        case SurvivalTable():
            yield from _survival(table)
        case PanelTable():
            yield from _panel(table)
    if relation == "zero_out_one" and not isinstance(table, SurvivalTable):
        own: Any = _plain(table)
        yield "half of all records left out", replace(own, left_out=tuple(range(0, len(table), 2)))
    if relation == "add_or_remove_one":
        yield "the last record is gone", first(table, len(table) - 1)


def lonely(table: Table, relation: Relation, place: int = -1) -> Pair | None:
    """Two neighbours in which one record stands against all others, which are alike.

    All records are at the lower bounds; one is at the upper ones, or there as well, or not there at
    all, as the relation says. So one record makes every maximum. None for persons with episodes.

    Args:
        table: The records.
        relation: Which two tables are neighbours.
        place: Whose record it is; the last one's where a record is added or removed.
    """
    if isinstance(table, SurvivalTable) and table.episodes is not None:
        return None
    low, high = limits(table)
    x = np.broadcast_to(np.asarray(low, table.x.dtype), table.x.shape).copy()
    far = x.copy()
    place = len(table) - 1 if relation == "add_or_remove_one" else place
    far[place] = high
    plain: Any = _plain(table)
    present = replace(plain, x=far)
    if relation == "replace_one" or isinstance(table, SurvivalTable):
        return Pair(replace(plain, x=x), present)
    if relation == "zero_out_one":
        return Pair(replace(present, left_out=(place % len(table),)), present)
    return Pair(first(present, len(table) - 1), present)


def _plain(table: Table) -> Table:
    """Without what would give the records back, or says that they are alike."""
    match table:
        case SurvivalTable():
            return replace(table, missing=None, alike=False)
        case PanelTable():
            return replace(table, again=None, left_out=())
    return replace(table, left_out=())


def changed(pair: Pair) -> int:
    """The place of the record that two neighbours differ in; the first that they differ in."""
    one, other = pair.without, pair.present
    if not (isinstance(one, SurvivalTable) or isinstance(other, SurvivalTable)):
        for place in sorted(set(one.left_out) ^ set(other.left_out)):
            return place
    differ = np.asarray(one.x != other.x).reshape(len(one), -1).any(1)
    return int(differ.argmax())


def first(table: Any, count: int) -> Any:
    """The first records of a table and of what belongs to them; its card says how many.

    Episodes of later persons go, and so do friendships with them.
    """
    n = len(table)
    if count >= n:
        return table
    cut: dict[str, Any] = {
        field.name: value[:count]
        for field in dataclasses.fields(table)
        if isinstance(value := getattr(table, field.name), np.ndarray) and value.shape[:1] == (n,)
    }
    card = replace(table.card, records=count)
    if isinstance(table, SurvivalTable):
        card = replace(card, events=int(table.event[:count].sum()))
        if table.episodes is not None:
            some = table.episodes.person < count
            fields = {
                f.name: getattr(table.episodes, f.name)[some]
                for f in dataclasses.fields(table.episodes)
            }
            cut["episodes"] = replace(table.episodes, **fields)
    else:
        cut["left_out"] = tuple(place for place in table.left_out if place < count)
    if isinstance(table, LabelledTable) and table.test is not None:
        cut["test"] = first(table.test, count)
    if isinstance(table, PanelTable):
        cut["friends"] = table.friends[(table.friends < count).all(1)]
        if table.again is not None:
            again = table.again
            cut["again"] = lambda *how: first(again(*how), count)
    return replace(table, card=card, **cut)


def _labelled(table: LabelledTable) -> Iterator[Named]:
    """Other features within their bounds, and other classes."""
    for words, x in _features(table):
        yield words, replace(table, x=x)
    classes = table.card.classes or int(table.y.max()) + 1
    gone = table.y == 0
    if classes == 2:  # methods need two: two records stay, of which a neighbour may lack one
        gone &= np.cumsum(gone) > 2
    words = "a class without records" if classes > 2 else "a class with two records"
    yield words, replace(table, y=np.where(gone, classes - 1, table.y))
    yield "records in reverse order", replace(table, x=table.x[::-1].copy(), y=table.y[::-1].copy())


def _survival(table: SurvivalTable) -> Iterator[Named]:
    """Other covariates, times and events; covariates stay where they vary in time."""
    if table.episodes is None:
        for words, x in _features(table):
            yield words, replace(table, x=x, alike=False)
        longest = table.card.bounds.horizon if table.card.bounds else table.time.max()
        short, long = np.zeros_like(table.time), np.full_like(table.time, longest)
        yield "all times 0", replace(table, time=short, alike=False)
        yield "all times the longest", replace(table, time=long, alike=False)
        if table.card.bounds is not None and table.card.bounds.missing:
            missing = np.zeros(table.x.shape, bool)
            missing[::2] = True
            yield "half of all records without values", replace(table, missing=missing, alike=False)
    yield "nobody has the event", replace(table, event=np.zeros_like(table.event), alike=False)
    yield "everybody has the event", replace(table, event=np.ones_like(table.event), alike=False)


def _panel(table: PanelTable) -> Iterator[Named]:
    """Other attributes and labels; friendships stay."""
    own = replace(table, again=None)
    for words, x in _features(table):
        yield words, replace(own, x=x)
    for label in (0, 1):
        yield f"all labels {label}", replace(own, y=np.full_like(table.y, label))


def _features(table: Table) -> Iterator[tuple[str, Any]]:
    """Features at the ends of their bounds: those of one record, and of all."""
    for words, end in zip(("lower", "upper"), limits(table), strict=True):
        bound = np.broadcast_to(np.asarray(end, table.x.dtype), table.x.shape)
        one = np.array(table.x)
        one[len(one) // 2] = bound[0]
        yield f"one record at the {words} bounds", one
        yield f"all records at the {words} bounds", bound.copy()
