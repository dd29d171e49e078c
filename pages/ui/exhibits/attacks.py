"""Claimed, proved and attacked budgets of every private method, as shipped."""

from collections.abc import Callable, Iterator
from itertools import groupby

import streamlit as st

from engine.catalog import catalog
from engine.core.spec import Choice, knobs
from engine.runs import audits
from pages.ui import words
from pages.ui.charts.rows import Marks, marks
from pages.ui.kit.access import troubles
from pages.ui.kit.chart import chart

READ = (
    "◆ claimed, ■ proved, □ proved under an assumption, ▲ attacked: the method spends at least "
    "this much. Red: an attack above what is claimed or proved; above □, it breaks the assumption. "
    "A row without ■ or □ has no proof."
)
CAPTION = (
    "For each row, the method is trained many times with one extreme record in the data and as "
    "many times without it, and the attack guesses which is which. With 95 % confidence, the "
    "method spends at least the attacked ε; most of these bounds hold only if the noise is of the "
    "declared kind. 0 means that these trainings show nothing. An attack above a proof without "
    "assumptions is repeated once with new noise, and the first bound is shown too. *Broken* "
    "says why a method was not attacked."
)


def show() -> None:
    """The table of shipped attacks; nothing where none ships."""
    with troubles():
        rows = audits.rows()
        if not rows:
            return
        st.header("Claimed, proved and attacked", anchor=False)
        st.markdown(finding(rows))
        drawn = list(charted(rows))
        chart("reproduce.attacks", marks(drawn), finding(rows), [line(row) for row in rows], 0.0)
        st.caption(READ)
        st.caption(CAPTION)


def charted(rows: tuple[audits.Row, ...]) -> Iterator[Marks]:
    """The rows of the chart, below the title of their paper."""
    for _, group in groupby(rows, key=lambda row: row.paper):
        some = list(group)
        yield Marks(f"<b>{_called(some[0])[0]}</b>")
        for row in some:
            _, method, noise = _called(row)
            yield Marks(
                f"{method}{f', {noise.lower()}' if noise else ''}",
                row.epsilon_claimed,
                row.epsilon_proved,
                row.epsilon_attacked,
                row.broken,
                row.assumed,
            )


def finding(rows: tuple[audits.Row, ...]) -> str:
    """How many attacks won, in one sentence."""
    done = [row for row in rows if not row.reason]
    broken = sum(row.broken for row in done)
    count = words.plural(len(done), "attack")
    parts = [f"Of {count}, {broken} show more than is claimed or proved."]
    if again := sum(row.attacks > 1 for row in done):
        parts.append(f"{words.plural(again, 'bound')} above a proof were drawn again.")
    if unknown := sum(row.attacks == 0 for row in done):
        parts.append(f"For {unknown}, there is no record of whether a first bound was drawn again.")
    return " ".join(parts)


def line(row: audits.Row) -> dict[str, str | int]:
    """One attack in words and short figures."""
    paper, method, noise = _called(row)
    return {
        "Paper": paper,
        "Method": method,
        "Noise": noise or "–",
        "Budget ε": words.number(row.budget),
        "Claimed ε": _number(row.epsilon_claimed),
        "Proved ε": _number(row.epsilon_proved),
        "Attacked ε, at least": _number(row.epsilon_attacked, words.least),
        "Broken": _verdict(row),
        "Trainings": 2 * row.replicas,
        "First bound, where drawn again": _number(row.epsilon_first, words.least),
        "δ": words.number(row.delta),
    }


def _called(row: audits.Row) -> tuple[str, str, str]:
    """The paper, the method and its calibration, as the paper's page calls them."""
    paper = catalog().get(row.paper)
    if paper is None:
        return row.paper, row.method, row.calibration
    label = next((one.label for one in paper.methods if one.name == row.method), row.method)
    knob, noise = knobs(paper.spec).get(audits.CALIBRATION), row.calibration
    if isinstance(knob, Choice) and noise in knob.options:
        noise = knob.text(noise)
    return paper.title, label, noise


def _verdict(row: audits.Row) -> str:
    """Whether the attack is above claim or proof, and what that means; or why there is none."""
    if row.reason:
        return row.reason
    if not row.broken:
        return "no"
    return "yes, the assumption of its proof" if row.assumed else "yes"


def _number(value: float | None, told: Callable[[float], str] = words.number) -> str:
    return "–" if value is None else told(value)
