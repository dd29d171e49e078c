"""What an attacker has shown who sees the published model alone, beside the one who sees all."""

import math

import streamlit as st

from engine.catalog import paper
from engine.core.gauges import gauges
from engine.core.kept import declared
from engine.runs import met
from engine.runs.job import Job
from pages.ui import words

EVERYTHING, PUBLISHED = "Attacked (sees everything)", "Attacked (sees the published model only)"
MEET, SPENT = "**An attacker you may meet.**", "ε spent, at least"
GAP = (
    "The gap: an attacker who sees every step and chooses the data tests the proof, while most "
    "attackers have only the published model; the proof does not rely on that."
)
"""What the difference between both attackers means."""


def show(job: Job, bound: float | None) -> None:
    """Both attackers side by side; nothing where no attack by what is published ships.

    Args:
        job: The attack on the setting that is shown.
        bound: What the attacker who sees everything has shown; None before any attack.
    """
    row = met.fitting(job)
    if row is None:
        return
    st.markdown(f"{MEET} {finding(row)}")
    both = {EVERYTHING: bound, PUBLISHED: row.epsilon}
    st.table(
        {"": list(both), SPENT: [_shown(value) for value in both.values()]},
        border="horizontal",
    )
    st.caption(f"{GAP} {origin(row)}")


def told(row: met.Meeting, bound: float) -> list[str]:
    """The same in words: paragraphs.

    Args:
        row: The attack by what is published.
        bound: What the attacker who sees everything has shown.
    """
    both = f"{EVERYTHING}: {_shown(bound)}. {PUBLISHED}: {_shown(row.epsilon)}."
    return [f"{MEET} {finding(row)}", f"{SPENT}: {both} {GAP} {origin(row)}"]


def finding(row: met.Meeting) -> str:
    """How often the most exposed records were guessed right, rounded down."""
    share = math.floor(100 * row.right + 1e-9)
    return (
        "This attacker has only the published model and guesses for each of the "
        f"{row.records} most exposed records whether it was in the data: {share} of 100 guesses "
        "are right. Guessing blindly is right 50 times."
    )


def origin(row: met.Meeting) -> str:
    """Where the numbers come from."""
    parts = [
        f"The most exposed records are those that {row.trainings} trainings on random halves of "
        f"the data separate best; they are judged on {row.trainings} others. The larger of two "
        f"bounds counts: for real records {_shown(row.epsilon_real)}, for the worst record "
        f"{_shown(row.epsilon_worst)}{_by(row)}. Shipped with the app."
    ]
    if row.outdated:
        parts.append("Computed by an earlier version.")
    return " ".join(parts)


def _by(row: met.Meeting) -> str:
    """What gave the worst record away: a published array, a measure, or all of them together."""
    if row.epsilon_worst <= 0.0:
        return ""
    one = paper(row.paper)
    array = declared(one.arrays, row.statistic)
    gauge = gauges(one.entry(row.method).info).get(row.statistic)
    name = array.what if array else gauge.label if gauge else row.statistic
    return f" (by *{name[0].lower()}{name[1:]}*)"


def _shown(bound: float | None) -> str:
    if bound is None:
        return "not attacked yet"
    return words.least(bound) if bound > 0.0 else "nothing shown"
