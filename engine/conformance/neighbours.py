"""Neighbouring tables of any kind: a record replaced by one at the ends of the public bounds."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from datasets.base import LabelledTable, PanelTable, SurvivalTable, Table
from engine.audit.witness import limits, load
from engine.conformance.play import Case

PLACES = (0, 7, 19, 31, 44, 63)
"""Records that are replaced, of 80 or fewer: some of them are used, whatever is held out."""


def neighbours(case: Case) -> Iterator[tuple[Table, Table, float]]:
    """Two tables, and how many sensitivities apart their values may be.

    Replacing a record removes one and adds one: where neighbours differ by adding or removing a
    record, that is twice the sensitivity. The class of a labelled record stays, since folds may
    depend on it. Where the paper names a witness, its pair is neighbouring as the card says: once.
    """
    relation = case.entry.guarantee(case.base, case.n, "a person").relation
    times = 1.0 if relation == "replace_one" else 2.0
    for turn, place in enumerate(PLACES):
        if place < case.n:
            yield case.table, extreme(case.table, place, turn % 2 == 0), times
    if case.entry.witness:
        pair = load(case.entry).pair(case.base, case.table)
        yield pair.without, pair.present, 1.0


def extreme(table: Table, place: int, low: bool) -> Table:
    """The table with one record at an end of its public bounds, or a dark one.

    A record that lies beyond all others shows a scale that was taken from the records.
    """
    x, end = np.array(table.x), limits(table)[0 if low else 1]
    x[place] = end
    if isinstance(table, LabelledTable):
        return replace(table, x=x)
    if isinstance(table, PanelTable):
        y = np.array(table.y)
        y[place] = int(low)  # friends' windows depend on a user's labels too
        return replace(table, x=x, y=y)
    assert isinstance(table, SurvivalTable)
    time, event = np.array(table.time), np.array(table.event)
    time[place], event[place] = 0.0 if low else longest(table), low
    missing = None if table.missing is None else np.array(table.missing)
    if missing is not None:
        missing[place] = False
    return replace(table, x=x, time=time, event=event, missing=missing)


def longest(table: SurvivalTable) -> float:
    """The horizon of the card, or the table's own where it names none."""
    bounds = table.card.bounds
    return float(table.time.max()) if bounds is None else bounds.horizon
