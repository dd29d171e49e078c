"""Claimed, proved and attacked budgets of every private method, as shipped."""

import streamlit as st

from engine.catalog import catalog
from engine.core.spec import Choice, knobs
from engine.runs import audits
from pages.ui import words
from pages.ui.kit.access import troubles

CAPTION = (
    "Each row trains the method many times with one extreme record in the data and as often "
    "without, and guesses which is which. The attacked ε is spent at least, at 95 % confidence; 0 "
    "means that these trainings show nothing."
)


def show() -> None:
    """The table of shipped attacks; nothing where none ships."""
    with troubles():
        rows = audits.rows()
        if not rows:
            return
        st.header("Claimed, proved and attacked", anchor=False)
        st.markdown(finding(rows))
        st.dataframe([line(row) for row in rows], hide_index=True, alt=finding(rows))
        st.caption(CAPTION)


def finding(rows: tuple[audits.Row, ...]) -> str:
    """How many attacks won, in one sentence."""
    broken = sum(row.broken for row in rows)
    count = words.plural(len(rows), "attack")
    return f"Of {count}, {broken} show more than is claimed or proved."


def line(row: audits.Row) -> dict[str, str | int]:
    """One attack in words and short figures."""
    paper = catalog().get(row.paper)
    entry = next((e for e in paper.methods if e.name == row.method), None) if paper else None
    return {
        "Paper": paper.title if paper else row.paper,
        "Method": entry.label if entry else row.method,
        "Noise": _calibration(row) or "–",
        "Claimed ε": _number(row.epsilon_claimed),
        "Proved ε": _number(row.epsilon_proved),
        "Attacked ε, at least": words.number(row.epsilon_attacked),
        "δ": words.number(row.delta),
        "Trainings": 2 * row.replicas,
        "Broken": "yes" if row.broken else "no",
    }


def _calibration(row: audits.Row) -> str:
    """The label of a calibration."""
    paper = catalog().get(row.paper)
    knob = knobs(paper.spec).get(audits.CALIBRATION) if paper else None
    if isinstance(knob, Choice) and row.calibration in knob.options:
        return str(knob.labels[knob.options.index(row.calibration)])
    return row.calibration


def _number(value: float | None) -> str:
    return "–" if value is None else words.number(value)
