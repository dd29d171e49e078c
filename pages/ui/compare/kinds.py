"""Guarantees of different kinds on one axis: a switch from ε to a measure that all of them have."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from engine.core.errors import ExplorerError
from engine.core.gauges import Gauge
from engine.runs.common import LABELS
from pages.ui import words
from pages.ui.charts import curves
from pages.ui.charts.measured import Curve, Level
from pages.ui.compare.candidates import Candidate
from pages.ui.kit import chart as drawing

BUDGET = "ε of the card"
DELTA = 1e-5
"""At which ε of all guarantees is compared."""
NAMES = {"μ": "mu", "Best attacker": "advantage", "ε at δ = 10⁻⁵": "epsilon"}
"""What is offered beside the card's ε, and the measure that it is."""
OFFERED = (BUDGET, *NAMES)
HELP = (
    "A pure ε holds at every δ, so it is not the ε of an (ε, δ) guarantee. All guarantees have "
    "these measures: μ of Gaussian noise that is at most as private, the advantage of the best "
    "attacker (share of hits less share of false alarms), and ε at the same δ. They grow with what "
    "may be lost."
)
KINDS = (
    "Two kinds of guarantee share this axis: a pure ε holds at every δ, the others only at their "
    "own δ. Switch *Measure of privacy* to compare them on one scale."
)
ROWS = "Runs on tables with several rows a person are left out here: the measures are of one row."


def note(chosen: Mapping[str, Candidate], epsilon: float, how: str | None) -> None:
    """Says that pure and other guarantees share the axis, where they do."""
    cards = [one.guarantee(epsilon) for one in chosen.values() if one.spends]
    kinds = {card.delta > 0.0 for card in cards if card.epsilon_proved is not None}
    if how == BUDGET and len(kinds) > 1:
        st.info(KINDS, icon=":material/straighten:")


def chart(
    chosen: Mapping[str, Candidate],
    levels: Sequence[Level],
    lines: Mapping[str, Curve],
    gauge: Gauge,
    epsilon: float,
    revision: str,
    how: str,
) -> None:
    """The chart with points placed by a measure, and what it is.

    Args:
        chosen: The runs, by name.
        levels: Those that spend nothing.
        lines: The curves of those that do.
        gauge: What is measured of them.
        epsilon: The budget that is looked at.
        revision: As `curves.utility` has it.
        how: One of `NAMES`.
    """
    measure, kept = NAMES[how], {}
    with st.spinner("Working out the measures…", show_time=True):
        for name, curve in lines.items():
            if chosen[name].rows == 1:
                places = tuple(place(chosen[name], at, measure) for at in curve.epsilon)
                kept[name] = replace(curve, proved=places)
    known = [p for one in kept.values() for p in one.proved if p is not None]
    bounds = (min(known, default=0.1), max(known, default=10.0))
    if bounds[0] == bounds[1]:
        bounds = (bounds[0] / 2.0, bounds[1] * 2.0)
    label = LABELS[measure]
    every = list(kept.values())
    drawn = curves.utility(
        every, levels, gauge, epsilon, f"{revision}.{measure}", bounds, True, measure=label
    )
    rows = [
        {"Run": name, "Claimed ε": at, label: place, gauge.label: middle}
        for name, one in kept.items()
        for at, place, middle in zip(one.epsilon, one.proved, one.middle, strict=True)
    ]
    drawing.chart("compare.kinds", drawn, _reading(kept, label, epsilon), rows, epsilon)
    left_out = f" {ROWS}" if len(kept) < len(lines) else ""
    st.caption(f"{_reading(kept, label, epsilon)}{left_out}")


def place(one: Candidate, epsilon: float, measure: str) -> float | None:
    """Where a run stands at a claimed budget; None where nothing finite is proved."""
    try:
        found = one.common(epsilon, DELTA)
    except ExplorerError:
        return None
    value = float(getattr(found, measure))
    return value if math.isfinite(found.mu) and 0.0 < value < math.inf else None


def _reading(kept: Mapping[str, Curve], label: str, epsilon: float) -> str:
    """Where the runs stand at the chosen budget, in one sentence."""
    said = [
        f"{name} {words.number(spent)}"
        for name, one in kept.items()
        if (i := one.at(epsilon)) is not None and (spent := one.proved[i]) is not None
    ]
    if not said:
        return f"{label}: nothing is proved at ε = {words.number(epsilon)}."
    return f"{label} of the points at ε = {words.number(epsilon)}: {words.listed(said)}."
