"""The curves that a person saw before the last move: drawn as ghosts until the new ones are there.

Kept in the session, one for each method, data set and page: the last that was whole. A quick series
of moves therefore leaves the curve that was seen, not one that never came.
"""

from typing import Any

import streamlit as st

from engine.core.spec import Choice, Value, knobs
from engine.method import Paper
from engine.runs.job import Job
from pages.ui import words
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.knobs import plain
from pages.ui.kit.offers import figure
from pages.ui.paper import overlay, total
from pages.ui.paper.view import Former, View

KEY = "former.seen"
MOST = 100
"""Curves that a session keeps; the oldest go first."""


def ghosts(prefix: str, view: View) -> dict[str, Former]:
    """The former curve of every method whose new one is not there; notes those that are.

    Args:
        prefix: The page.
        view: Where its runs stand.
    """
    seen: dict[tuple[str, str, str], Former] = st.session_state.setdefault(KEY, {})
    found = {}
    for name, one in view.watched.items():
        place = (prefix, one.job.dataset, name)
        if one.settled and one.drawn is not None:
            seen.pop(place, None)
            seen[place] = Former(one.job, one.drawn)
        elif place in seen:
            job, results = seen[place].job, seen[place].results
            found[name] = Former(job, results, changed(view.paper, job, one.job))
    while len(seen) > MOST:
        del seen[next(iter(seen))]
    return found


def training(view: View) -> str:
    """That lines are still to come which the finding compares; empty when all are there."""
    names = [name for name, one in view.watched.items() if one.active and _compared(view, name)]
    late = [name for name in names if not view.watched[name].settled]
    first = view.method if view.method in late or not late else late[0]
    one, before = view.watched[first], view.former.get(first)
    what = changed(view.paper, one.job, before.job) if before else ""
    at = f" at {what}" if what else ""
    if late:
        long = total.slow(view.watched[name].early[:1] or (view.watched[name],) for name in late)
        return f"Training **{one.label}**{at} …{f' ({long})' if long else ''}"
    if one.settled or one.active or not all(each.run is None for each in view.watched.values()):
        return ""
    long = total.slow([part] for each in view.watched.values() for part in each.every)
    return (
        f"Nothing is trained{at or ' with these settings'} yet: press *Train*."
        f"{f' Slow: {long}.' if long else ''}"
    )


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
