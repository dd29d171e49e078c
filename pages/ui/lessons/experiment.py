"""A question that splits a class at random: two explanations, asked before and after.

What is counted are randomised responses, so that no count says what any one person answered. Half
of the budget is for the answer before, half for the answer after.
"""

from random import SystemRandom

import numpy as np
import streamlit as st

from engine.service import answers
from engine.service.responses import Interval, RandomisedResponse
from pages.ui import words
from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import dots, whiskers
from pages.ui.charts.theme import SERIES, axis, brief, figure
from pages.ui.kit.access import client, troubles
from pages.ui.kit.chart import chart
from pages.ui.lessons import question as plainly
from pages.ui.lessons.schema import Question

ARM, EARLY = "lesson.arm", "lesson.early"
"""Begin the keys under which a session remembers its explanation, and that it answered before."""
BEFORE, AFTER = "before", "after"
GROUPS = ("A", "B")


def mechanism(question: Question) -> RandomisedResponse:
    """How one of the two answers is randomised."""
    return RandomisedResponse(len(question.options), question.epsilon / 2)


def ask(question: Question) -> None:
    """Asks, explains in one of two ways, and asks again."""
    arm, early = f"{ARM}.{question.key}", f"{EARLY}.{question.key}"
    if arm not in st.session_state:
        st.session_state[arm] = SystemRandom().randrange(len(question.arms))
    mine = st.session_state[arm]
    when = AFTER if early in st.session_state else BEFORE
    if when == AFTER:
        st.info(question.arms[mine], icon=":material/lightbulb:")
        st.markdown("Now that you have read this: the same question again.")
    sent = plainly.form(question, f"{question.key}-{when}")
    if sent == plainly.PASSED:
        plainly.remember(question, sent)
        st.rerun()
    elif sent is not None:
        with troubles():
            report = mechanism(question).report(sent, SystemRandom())
            key = question.counted(mine, when)
            answers.add(client().store.database, key, report, len(question.options))
            if when == AFTER:
                plainly.remember(question, sent)
            st.session_state[early] = True
            st.rerun()
    each = mechanism(question)
    kept = words.number(100 * each.honest, 2)
    st.caption(
        f"Your answer is counted unchanged with probability {kept} %; otherwise another option, "
        "drawn at random, is counted instead. So each of your two answers costs you "
        f"ε = {each.epsilon:g}, and {question.epsilon:g} together. No names are kept."
    )


def told(question: Question) -> dict[tuple[int, str], list[int]]:
    """The counted reports by explanation, from 0, and time.

    Raises:
        StoreError: The store cannot be read.
    """
    database, options = client().store.database, len(question.options)
    return {
        (arm, when): answers.counts(database, question.counted(arm, when), options)
        for arm in range(len(question.arms)) for when in (BEFORE, AFTER)
    }  # fmt: skip


def counted(question: Question) -> str:
    """How many have answered, and not what."""
    with troubles():
        counts = told(question)
        early, late = (
            sum(sum(times) for (_, at), times in counts.items() if at == when)
            for when in (BEFORE, AFTER)
        )
        return f"{words.plural(early, 'answer')} before, {late} after."
    return ""


def answered(question: Question) -> None:
    """Both distributions before and after, and what the second explanation does more."""
    with troubles():
        counts, how = told(question), mechanism(question)
        right = question.answer - 1
        shares = {at: how.share(times, right) for at, times in counts.items() if sum(times)}
        said = finding(counts, how, right)
        st.markdown(said)
        rows = [
            {"Explanation": GROUPS[arm], "Asked": when, "Answers": sum(counts[arm, when]),
             "Right": one.middle, "From": one.low, "To": one.high}
            for (arm, when), one in shares.items()
        ]  # fmt: skip
        chart(f"experiment.{question.key}", drawn(shares), said, rows, 0.0)
        for group, text in zip(GROUPS, question.arms, strict=True):
            st.caption(f"**{group}:** {text}")


def finding(counts: dict[tuple[int, str], list[int]], how: RandomisedResponse, right: int) -> str:
    """What the class shows: the difference after the explanations, with its interval."""
    groups = [sum(counts[arm, AFTER]) for arm in range(len(GROUPS))]
    if not all(groups):
        return f"Answers after the explanations: {groups[0]} with A, {groups[1]} with B."
    gap = how.gap(counts[0, AFTER], counts[1, AFTER], right)
    sure = "" if gap.low <= 0.0 <= gap.high else " The difference is more than chance."
    people, side = round(100 * abs(gap.middle)), "more" if gap.middle >= 0.0 else "fewer"
    return (
        f"After explanation B, {people} {side} people in 100 are right than after A (95 % interval "
        f"of the difference {100 * gap.low:+.0f} to {100 * gap.high:+.0f}; {groups[0]} and "
        f"{groups[1]} answers).{sure}"
    )


def drawn(shares: dict[tuple[int, str], Interval]) -> Figure:
    """Shares of right answers with intervals, by explanation and time."""
    traces = []
    for at, (group, symbol) in enumerate(zip(GROUPS, ("circle", "diamond"), strict=True)):
        points = {when: one for (arm, when), one in shares.items() if arm == at}
        low, middle, high = (
            np.array([getattr(one, end) for one in points.values()])
            for end in ("low", "middle", "high")
        )
        traces.append(
            dots(f"Explanation {group}", list(points), brief(middle), SERIES[at], symbol,
                 "%{x}: %{y:.0%}", error_y=whiskers(low, middle, high, SERIES[at]))
        )  # fmt: skip
    return figure(
        traces,
        height=320,
        xaxis=axis("Asked"),
        yaxis=axis("Right answers", range=[-0.02, 1.02], tickformat=".0%"),
    )
