"""The curves that a person saw before the last move: drawn as ghosts until the new ones are there.

Kept in the session, one for each method, data set and page: the last that was whole. A quick series
of moves therefore leaves the curve that was seen, not one that never came.
"""

from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any, TypeAlias

import streamlit as st
from cachetools import LRUCache

from engine.core.spec import Choice, Value, knobs
from engine.method import Paper
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui import words
from pages.ui.charts.heights import Heights
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.knobs import plain
from pages.ui.kit.offers import figure
from pages.ui.paper import drawing, overlay, total
from pages.ui.paper.stages import coarse
from pages.ui.paper.view import Former, Page, View

KEY, AXIS = "former.seen", "former.axis"
MOST = 100
"""Curves that a session keeps; those that were not seen for longest go first."""
Seen: TypeAlias = MutableMapping[tuple[str, str, str], Former]


def ghosts(prefix: str, view: View) -> dict[str, Former]:
    """The former curve of every method whose new one is on its way; notes those that are there.

    That of a method that waits for a button stays until somebody presses it.

    Args:
        prefix: The page.
        view: Where its runs stand.
    """
    seen: Seen = st.session_state.setdefault(KEY, LRUCache(MOST))
    found = {}
    for name, one in view.watched.items():
        place = (prefix, one.job.dataset, name)
        if one.settled and one.drawn is not None:
            seen[place] = Former(one.job, one.drawn)
        elif place in seen:
            job, results = seen[place].job, seen[place].results
            found[name] = Former(job, results, changed(view.paper, job, one.job))
    return found


def axis(prefix: str, view: View) -> Heights | None:
    """The vertical axis of the cost curve, kept from before the last move; None without any line.

    Args:
        prefix: The page.
        view: What is drawn.
    """
    if not view.former and all(one.drawn is None for one in view.watched.values()):
        return None
    seen: dict[tuple[str, str, str], Heights] = st.session_state.setdefault(AXIS, {})
    place = prefix, view.data.name, view.gauge
    seen[place] = drawing.heights(view, seen.get(place))
    return seen[place]


def training(view: View) -> str:
    """That lines are still to come which the finding compares; empty when all are there."""
    names = [name for name, one in view.watched.items() if one.active and _compared(view, name)]
    late = [name for name in names if not view.watched[name].settled]
    first = view.method if view.method in late or not late else late[0]
    one, before = view.watched[first], view.former.get(first)
    what = changed(view.paper, one.job, before.job) if before else ""
    at = f" at {what}" if what else ""
    if late:
        every = [other for other in view.watched.values() if other.active and not other.settled]
        long = total.slow(other.early[:1] or (other,) for other in every)
        long = long.removeprefix(f"{one.label}: ") if len(every) == 1 else long
        return f"Training **{one.label}**{at} …{f' ({long})' if long else ''}"
    asked = any(each.run is not None for each in view.watched.values())
    if one.settled or one.active or (asked and not view.waits):
        return ""
    long = total.long(one, view.watched.values())
    return f"Nothing is trained{at or ' with these settings'} yet: press *Train*.{long}"


def stored(page: Page, view: View) -> str:
    """Which stops of a main slider are answered at once, where the present one is not.

    Empty once the curve is there, and where no stop of any main slider would be.
    """
    one = view.watched[view.method]
    if one.settled:
        return ""
    for field in (field for group in page.layout.stops for field in group):
        offer = page.offers.knobs[field]
        jobs = [replace(one.job, values={**one.job.values, field: v}) for v in offer.values]
        ships = [bool(shipped.find(coarse(job, page.first, page.layout.sketch).id)) for job in jobs]
        there = [value for value, found in zip(offer.values, ships, strict=True) if found]
        if len(there) > 1:
            ends = f"{_setting(view.paper, field, there[0])} to {offer.text(there[-1])}"
            return f" {ends} is shown at once. This value has to be trained first."
    return ""


def _compared(view: View, name: str) -> bool:
    """Whether the finding compares a method: it leaves out rivals without a proof."""
    card = view.known(name, view.budget)
    other = card is not None and card.status == "heuristic"
    return not other or overlay.entry(view.paper, name).role == "paper"


def changed(paper: Paper[Any], before: Job, now: Job) -> str:
    """The settings of an earlier job that have changed since: "L = 3"; empty where none has."""
    fields = [
        field
        for field in now.entry().uses
        if field != BUDGET and before.values.get(field) != now.values[field]
    ]
    said = [_setting(paper, field, before.values[field]) for field in fields]
    if not said and len(before.seeds) != len(now.seeds):
        said = [words.plural(len(before.seeds), "repetition")]
    return words.listed(said)


def _setting(paper: Paper[Any], field: str, value: Value) -> str:
    """One setting, by its symbol where it has one."""
    setting = knobs(paper.spec)[field]
    name = plain(setting.symbol) or setting.label
    text = setting.text(value) if isinstance(setting, Choice) else figure(float(value))
    return f"{name} = {text}"
