"""Sections that all papers share: who pays for privacy, and what one release tells."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from datasets import own
from engine.core.declared import read
from engine.intervals import SHARE, TESTED, Estimate
from engine.runs import estimates
from engine.runs.groups import NAME
from pages.ui import words
from pages.ui.charts import pays as charts
from pages.ui.paper import drawing
from pages.ui.paper.parts import Chart, Part, Table
from pages.ui.paper.said import Named
from pages.ui.paper.series import chosen, kept, look, waiting
from pages.ui.paper.view import Section, View

WORDS = read(Path(__file__).with_suffix(".toml"))
MANY, FEW = 10, 5
"""Repetitions that are looked at, and estimates that a table holds."""


@dataclass(frozen=True)
class Found:
    """What the groups of a page lose.

    Attributes:
        losses: Of each group.
        sentence: The finding.
        several: Whether several draws of the noise are known.
    """

    losses: list[charts.Loss]
    sentence: str
    several: bool


def found(view: View) -> Found | str:
    """What each group loses with the method that is looked at, or why nobody can say."""
    groups = view.paper.groups
    if groups is None or not (names := groups.names(view.data)):
        return str(WORDS["who_pays"]["NO_GROUPS"])
    if own.mine(view.data.name):
        return str(WORDS["who_pays"]["PRIVATE"])
    private, plain = _measured(view, view.method), _plain(view)
    if private is None or plain is None:
        return _missing(view, private is None)
    losses = charts.losses(groups, list(map(_named, names)), private, plain)
    if not losses:
        return str(WORDS["who_pays"]["NO_GROUPS"])
    return Found(losses, charts.sentence(losses, groups, view.budget), len(private) > 1)


def line(view: View) -> None:
    """The finding in one sentence, at the top of the second tab; nothing where there is none."""
    told = found(view.left)  # as the chart below it
    if isinstance(told, Found):
        st.markdown(told.sentence)


def who_pays(view: View) -> Chart | str:
    """What each group loses to privacy with the method that is looked at."""
    groups, told = view.paper.groups, found(view)
    if groups is None or isinstance(told, str):
        return str(told)
    once = bool(groups.counted) and not told.several
    facts = {"said": told.sentence, "groups": groups.words, "DRAWS": told.several, "ONE": once}
    figure = charts.pays(told.losses, groups, look(view, view.method))
    return Chart(figure, charts.table(told.losses, groups), facts)


def _named(name: str) -> str:
    """A group with its column as pages write it: "MGUS: yes"."""
    column, mark, rest = name.partition(": ")
    return f"{words.column(column)}{mark}{rest}"


def _plain(view: View) -> np.ndarray | None:
    """The groups without privacy: of the best such method that measures them."""
    best = drawing.cast(view).none
    names = [name for name in view.watched if not view.spends(name)]
    names.sort(key=lambda name: best is None or view.watched[name].label != best.label)
    return next((one for name in names if (one := _measured(view, name)) is not None), None)


def _measured(view: View, method: str) -> np.ndarray | None:
    """Each group's measure and records, (R, g, 2), of the repetitions that measure any group."""
    rows = kept(view, method, NAME)
    if rows is None:
        return None
    rows = rows[np.isfinite(rows[:, :, 0]).any(axis=1)]
    return rows if len(rows) else None


def _missing(view: View, private: bool) -> str:
    """Why there is nothing to compare."""
    if not private:
        return str(WORDS["who_pays"]["NO_REFERENCE"])
    return str(WORDS["who_pays"]["NONE"]) if _over(view) else waiting(view)


def _over(view: View) -> bool:
    """Whether the method's run was made here and is over: what it did not leave never comes."""
    one = view.watched[view.method]
    return one.complete and one.run is not None and one.run.shipped is None


def told(view: View) -> str | list[Part]:
    """What a person would quote of one release, with intervals."""
    found = quoted(view)
    if not found:
        return str(WORDS["told"]["NOTHING"]) if _over(view) else waiting(view)
    if len(found) > FEW:  # the histogram draws those of its bins
        found = tuple(one for one in found if one.unit != SHARE)
    table = {
        "One release": [one.name for one in found],
        "Estimate (95 % interval)": [_interval(one, one.low, one.high) for one in found],
    }
    some = [one.naive for one in found]
    if any(some) and st.toggle(
        "Beside it, the interval that ignores the noise", key=f"{view.paper.slug}.ignored"
    ):
        table["As if there were no noise"] = [
            _interval(one, *(one.naive or (None, None))) for one in found
        ]
    tested = any(one.name == TESTED for one in found)
    return [Table(table, {"means": Named("TESTED" if tested else "HELD")})]


def quoted(view: View) -> tuple[Estimate, ...]:
    """The estimates of the first repetition whose arrays are there."""
    one = view.watched[view.method]
    if one.results is None:
        return ()
    for row in chosen(view, view.method)[:MANY]:
        gauges = {name: float(column[row]) for name, column in one.results.gauges.items()}
        try:
            found = estimates.others(one.job, int(row), view.data, one.arrays, gauges)
        except (KeyError, ValueError):  # arrays of this repetition are not there
            continue
        if any(part.low is not None and math.isfinite(part.low) for part in found):
            return found
    return ()


def _interval(one: Estimate, low: float | None, high: float | None) -> str:
    """A value with its interval and unit, or why there is none."""
    unit = "" if one.unit == SHARE else f" {one.unit}"
    if low is None and high is None:
        return f"{words.number(one.estimate)}{unit} (no interval)"
    end = "the end of the study" if high is None else words.number(high)
    return f"{words.number(one.estimate)}{unit} ({words.number(low or 0.0)} to {end})"


def shared(tab: str, quotes: bool = True) -> tuple[Section, ...]:
    """The sections, on a paper's second tab.

    Args:
        tab: Its name.
        quotes: Whether the paper's methods have estimates to quote.
    """
    drawn = (who_pays, told)[: 1 + quotes]
    return tuple(
        Section(words["title"], draw, words, wide=True, tab=tab)
        for draw in drawn
        if (words := WORDS[draw.__name__])
    )
