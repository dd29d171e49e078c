"""A question before a view, and what the class has answered."""

from collections.abc import Callable
from html import escape

import streamlit as st

from engine.service import answers
from pages.ui import words
from pages.ui.charts.figure import Figure
from pages.ui.charts.theme import MUTED, SERIES, axis, figure
from pages.ui.kit.access import client, troubles
from pages.ui.kit.chart import chart
from pages.ui.lessons.schema import Question

GIVEN = "lesson.given"
"""Begins the key under which a session remembers what it answered."""
PASSED = -1
"""Remembered of those who looked without answering."""
TICK = 2.0
"""Seconds between two looks at the class's answers."""


def given(question: Question) -> int | None:
    """The option that this session chose, from 0, or `PASSED`."""
    answer: int | None = st.session_state.get(f"{GIVEN}.{question.key}")
    return answer


def remember(question: Question, option: int) -> None:
    """Notes what this session chose."""
    st.session_state[f"{GIVEN}.{question.key}"] = option


def form(question: Question, name: str, note: str = "") -> int | None:
    """Draws the options and two buttons, and a note below.

    Returns:
        What was sent just now: an option, or `PASSED`; None for nothing.
    """
    with st.form(f"ask-{name}", border=False):
        option = st.radio(
            plain(question.text), range(len(question.options)), index=None,
            format_func=lambda i: plain(question.options[i]),
        )  # fmt: skip
        with st.container(horizontal=True):
            sent = st.form_submit_button("Answer", icon=":material/how_to_vote:", type="primary")
            passed = st.form_submit_button("Show without answering", type="tertiary")
    if note:
        st.caption(note)
    if sent and option is None:
        st.warning("Choose an option first.")
    return PASSED if passed else option if sent else None


def ask(question: Question) -> None:
    """Draws the question; the answer is counted once in a session."""
    sent = form(question, question.key, "Answers are counted without names.")
    if sent is None or given(question) is not None:
        return
    with troubles():
        if sent != PASSED:
            answers.add(client().store.database, question.key, sent, len(question.options))
        remember(question, sent)
        st.rerun()


def poll(question: Question, so_far: Callable[[Question], str]) -> None:
    """The question on the projector: options, and how many have answered, which `so_far` says."""
    st.markdown(f"### {plain(question.text)}")
    st.markdown("\n".join(f"- {plain(option)}" for option in question.options))
    st.fragment(lambda: st.caption(so_far(question)), run_every=TICK)()


def counted(question: Question) -> str:
    """How many have answered, and not what; empty where that cannot be read."""
    with troubles():
        times = answers.counts(client().store.database, question.key, len(question.options))
        return f"{words.plural(sum(times), 'answer')} so far."
    return ""


def plain(text: str) -> str:
    r"""A text that Markdown leaves as it is.

    >>> plain("a *b* [c](d) $e$ :red[f]")
    'a \\*b\\* \\[c\\]\\(d\\) \\$e\\$ \\:red\\[f\\]'
    """
    marks = "\\`*_{}[]()#+!|<>$:~&"
    return "".join(f"\\{one}" if one in marks else one for one in words.unlinked(text))


def reveal(question: Question, answered: Callable[[Question], None]) -> None:
    """What was right, why, and how the class answered, which `answered` draws."""
    mine = given(question)
    right = question.answer - 1
    said = ""
    if right >= 0:
        said = f"The answer is **{plain(question.options[right])}**."
        if mine is not None and mine >= 0:
            said = "**Right.** " if mine == right else f"Not this time. {said}"
    st.markdown(f"{said} {question.reveal}".strip())
    place = st.expander("The class's answers", icon=":material/bar_chart:", on_change="rerun",
                        key=f"answers-{question.key}")  # fmt: skip
    if place.open:
        with place:
            st.fragment(answered, run_every=TICK)(question)


def answered(question: Question) -> None:
    """The histogram, which grows while the class answers."""
    with troubles():
        times = answers.counts(client().store.database, question.key, len(question.options))
        total = sum(times)
        said = f"{words.plural(total, 'answer')} so far."
        st.markdown(said)
        rows = [{"Option": option, "Answers": count}
                for option, count in zip(question.options, times, strict=True)]  # fmt: skip
        chart(f"answers.{question.key}", histogram(question, times), said, rows, 0.0)


def histogram(question: Question, times: list[int]) -> Figure:
    """How often each option was chosen; options are escaped, since Plotly reads tags."""
    names = [escape(option) for option in question.options]
    colours = [SERIES[2] if i == question.answer - 1 else MUTED for i in range(len(times))]
    bars = {
        "type": "bar", "orientation": "h", "x": times[::-1], "y": names[::-1],
        "marker": {"color": colours[::-1]}, "text": [str(count) for count in times[::-1]],
        "hoverinfo": "skip",
    }  # fmt: skip
    return figure(
        [bars],
        height=max(160, 44 * len(times) + 70),
        showlegend=False,
        xaxis=axis("Answers", rangemode="tozero", tickformat="d"),
        yaxis=axis("", type="category"),  # options may be numbers
    )
