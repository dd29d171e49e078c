"""The whole guarantee behind a card: μ where it is exact, every ε with its δ, the trade-off."""

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from datasets.base import Card
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Guarantee
from engine.runs import whole
from pages.ui import words
from pages.ui.charts import attack as charts
from pages.ui.charts.figure import by_row
from pages.ui.kit.chart import Picture, picture, show
from pages.ui.kit.shared import once
from pages.ui.paper.view import Page, View

TITLE = "The whole guarantee"
TEST = "tradeoff"
"""Ends the key of the chart of what a test may do."""
READING = (
    "A test that guesses whether one record was in the data raises false alarms and misses some. "
    "No test lies below the solid line."
)
NOTHING = "There is no curve, because no finite ε is proved for these releases."


def fold(page: Page, view: View) -> None:
    """The curves under the card, computed when the fold is opened."""
    card = view.guarantee()
    if card.epsilon_proved is None:
        return
    place = st.expander(TITLE, icon=":material/ssid_chart:", on_change="rerun", key=prefix(page))
    if not place.open:
        return
    with place, st.spinner("Computing the curves"):
        profile = of(view)
    with place:
        if profile is None:
            st.markdown(NOTHING)
            return
        st.markdown(reading(profile))
        for name, one in pictures(view, profile).items():
            show(f"{prefix(page)}.{name}", one)
        st.caption(READING)


def prefix(page: Page) -> str:
    """Begins the keys of the fold's charts, and is its own."""
    return f"{page.prefix}.whole"


def of(view: View) -> Mapping[str, Any] | None:
    """The curves of the method that is looked at; None where nothing finite is proved."""
    return curves(*view.asked(view.method, view.budget), view.guarantee())


def pictures(view: View, profile: Mapping[str, Any]) -> dict[str, Picture]:
    """Every ε with its δ, and what a test may do at best: the end of each chart's key, and it."""
    card = view.guarantee()
    assert card.epsilon_proved is not None  # else there is no profile
    epsilons, proved = profile["epsilons"], profile["deltas"]
    alarms, misses = profile["false_alarms"], profile["misses"]
    return {
        "deltas": picture(
            charts.deltas(epsilons, proved, card.epsilon_proved, card.delta),
            f"Failure probability by budget for {view.entry.label}.",
            by_row({"ε": epsilons, "δ": proved}), view.budget,
        ),
        TEST: picture(
            charts.allowed(alarms, misses), "Fewest misses by false alarms.",
            by_row({"False alarms": alarms, "Misses": misses}), view.budget,
        ),
    }  # fmt: skip


def curves(entry: Entry[Any], spec: Spec, data: Card, card: Guarantee) -> Mapping[str, Any] | None:
    """As `engine.runs.whole.curves`."""
    key = "whole", entry.name, entry.module, spec, data
    return once(key, lambda: whole.curves(entry, spec, data, card))


def reading(profile: Mapping[str, Any]) -> str:
    """What the curves say at one false alarm in twenty, and μ where it is exact."""
    pairs = dict(zip(profile["false_alarms"], profile["misses"], strict=True))
    at = min(pairs, key=lambda alarm: abs(alarm - 0.05))
    said = (
        f"A test with {100 * at:.0f} % false alarms misses the record in at least "
        f"{math.floor(100 * pairs[at] + 1e-9)} of 100 cases."
    )
    if profile["mu"] is not None:
        said += f" Together, the releases are one Gaussian with μ = {words.number(profile['mu'])}."
    return said
