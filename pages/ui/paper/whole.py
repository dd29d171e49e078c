"""The whole guarantee behind a card: μ where it is exact, every ε with its δ, the trade-off."""

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from datasets.base import Card
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Guarantee
from engine.runs import whole
from pages.ui import words
from pages.ui.charts import guarantee as charts
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import chart
from pages.ui.paper.view import Page, View

NOTHING = "There is no curve, because no finite ε is proved for these releases."
_CURVES: dict[Hashable, Mapping[str, Any] | None] = {}
"""Kept because an accountant takes seconds; shared by all sessions, since no data are read."""
MOST = 256


def fold(page: Page, view: View) -> None:
    """The curves under the card, computed when the fold is opened."""
    card = view.guarantee()
    if card.epsilon_proved is None:
        return
    key = f"{page.prefix}.whole"
    place = st.expander(
        "The whole guarantee", icon=":material/ssid_chart:", on_change="rerun", key=key
    )
    if not place.open:
        return
    with place, st.spinner("Computing the curves"):
        entry = view.entry
        spec = view.watched[view.method].job.spec().replace(**{BUDGET: view.budget})
        profile = curves(entry, spec, view.data, card)
    with place:
        if profile is None:
            st.markdown(NOTHING)
            return
        st.markdown(reading(profile))
        rows = [
            {"ε": at, "δ": delta}
            for at, delta in zip(profile["epsilons"], profile["deltas"], strict=True)
        ]
        said = f"Failure probability by budget for {entry.label}."
        drawn = charts.deltas(
            profile["epsilons"], profile["deltas"], card.epsilon_proved, card.delta
        )
        chart(f"{key}.deltas", drawn, said, rows, view.budget)
        pairs = zip(profile["false_alarms"], profile["misses"], strict=True)
        rows = [{"False alarms": alarm, "Misses": miss} for alarm, miss in pairs]
        drawn = charts.tradeoff(profile["false_alarms"], profile["misses"])
        chart(f"{key}.tradeoff", drawn, "Fewest misses by false alarms.", rows, view.budget)
        st.caption(
            "A test that guesses whether one record was in the data raises false alarms and misses "
            "some. No test lies below the solid line."
        )


def curves(entry: Entry[Any], spec: Spec, data: Card, card: Guarantee) -> Mapping[str, Any] | None:
    """As `engine.runs.whole.curves`."""
    key = entry.name, entry.module, spec, data
    if len(_CURVES) >= MOST:
        _CURVES.clear()
    if key not in _CURVES:
        _CURVES[key] = whole.curves(entry, spec, data, card)
    return _CURVES[key]


def reading(profile: Mapping[str, Any]) -> str:
    """What the curves say at one false alarm in twenty, and μ where it is exact."""
    pairs = dict(zip(profile["false_alarms"], profile["misses"], strict=True))
    at = min(pairs, key=lambda alarm: abs(alarm - 0.05))
    said = (
        f"A test with {100 * at:.0f} % false alarms misses the record in at least "
        f"{100 * pairs[at]:.0f} of 100 cases."
    )
    if profile["mu"] is not None:
        said += f" Together, the releases are one Gaussian with μ = {words.number(profile['mu'])}."
    return said
