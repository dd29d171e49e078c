"""The people whose curves are drawn: their fields in the sidebar, in the data set's units."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from datasets import catalog
from datasets.base import Card
from engine.papers.survival.evaluation.curves import Scale
from pages.ui import words
from pages.ui.jobs import live
from pages.ui.jobs.live import Watched
from pages.ui.paper.series import SOON
from pages.ui.paper.view import Page

LETTERS = "abc"
COUNTS = ("1", "2", "3")
PEOPLE = "survival.people"
SHIFT = {"a": -0.2, "b": 0.2, "c": 0.0}
"""How far a person starts from the mean of the first covariate, in parts of its range."""


def names(dataset: str) -> tuple[str, ...]:
    """What the people's widgets are called in the address."""
    features = catalog.card(dataset).features
    return ("people", *(f"{dataset}.{who}.{name}" for who in LETTERS for name in features))


def describe(page: Page) -> None:
    """Number fields for one to three people, in the data set's own units."""
    data = catalog.card(page.chosen.dataset)
    scale = scale_of(live.watch(page.jobs, dict.fromkeys(page.jobs, "")))
    st.segmented_control(
        "How many", COUNTS, default=COUNTS[1], required=True, key=PEOPLE, bind="query-params"
    )
    if scale is None:
        st.markdown(SOON)
        return
    for who, tab in zip(LETTERS, st.tabs([_called(who) for who in LETTERS]), strict=True):
        for field in _fields(data, scale, who):
            tab.number_input(
                field.title, field.low, field.high, field.start, field.step,
                f"%.{field.places}f", key=field.key, bind="query-params",
            )  # fmt: skip


def scale_of(watched: Mapping[str, Watched]) -> Scale | None:
    """How the data set is scaled, from whichever run has left arrays."""
    for one in watched.values():
        arrays = one.arrays
        for row in np.flatnonzero(np.isfinite(arrays.get("horizon", [])))[:1]:
            return Scale.read(arrays, int(row))
    return None


def _called(who: str) -> str:
    return f"Person {who.upper()}"


@dataclass(frozen=True)
class Field:
    """A number field for one covariate of one person."""

    key: str
    title: str
    low: float
    high: float
    start: float
    step: float
    places: int


def _fields(data: Card, scale: Scale, who: str) -> list[Field]:
    """The number fields of one person."""
    return [_field(data, scale, who, i) for i in range(len(data.features))]


def _field(data: Card, scale: Scale, who: str, i: int) -> Field:
    """A covariate starts in its middle, or at what is usual if the card says so.

    The first covariate differs from person to person.
    """
    centre, span = float(scale.centre[i]), float(scale.span[i])
    key, title = f"survival.{data.name}.{who}.{data.features[i]}", unit_of(data, i)
    if data.units and data.units[i].startswith("1 ="):
        usual = data.bounds.missing[i] if data.bounds and data.bounds.missing else centre
        return Field(key, title, 0.0, 1.0, float(usual > 0.5), 1.0, 0)
    step = 1.0 if data.units and data.units[i].startswith("code") else float(f"{span / 50:.0e}")
    places = max(0, -math.floor(math.log10(step)))
    low, high, usual = centre - span, centre + span, centre
    if data.bounds is not None:
        low, high = data.bounds.covariates[i]
        usual = data.bounds.missing[i] if data.bounds.missing else 0.5 * (low + high)
    start = round((usual + SHIFT[who] * span * (i == 0)) / step) * step
    return Field(key, title, low, high, min(max(round(start, places), low), high), step, places)


def profiles(data: Card, scale: Scale) -> dict[str, list[float]]:
    """The people's covariates, by what they are called."""
    count = int(st.session_state.get(PEOPLE) or COUNTS[1])
    return {
        _called(who): [
            float(st.session_state.get(field.key, field.start))
            for field in _fields(data, scale, who)
        ]
        for who in LETTERS[:count]
    }


def unit_of(card: Card, i: int) -> str:
    """A covariate with what one more of it is."""
    unit = card.units[i] if card.units else ""
    name = words.column(card.features[i])
    return f"{name} ({unit})" if unit else name
