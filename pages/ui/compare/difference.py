"""Can two runs be told apart? The test runs in a process of its own, which may load scipy."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.compare import PREFIX
from pages.ui.compare.candidates import Candidate, Trained
from pages.ui.kit import command
from pages.ui.kit.access import client

PATIENCE = 60.0
"""Seconds that the test may take on a busy machine."""

FIELDS = ("first", "second")
"""Names in the address of the two runs."""
DATA_DIFFER = "These runs use different data sets, so a difference may come from the data alone."


def show(chosen: Mapping[str, Candidate], gauge: str, kind: Gauge, at: float) -> None:
    """Draws the choice of two runs and the answer."""
    able = {
        name: one
        for name, one in chosen.items()
        if isinstance(one, Trained) and len(one.values(gauge, at)) >= 2
    }
    if len(able) < 2:
        st.markdown(
            f"Needs two runs of this app with at least 2 repetitions at ε = {words.number(at)}."
        )
        return
    first, second = _pair(list(able))
    if first == second:
        st.markdown("Choose two different runs.")
        return
    runs = (able[first], able[second])
    with st.spinner("Testing…"):
        gauges = ",".join(one.asked(gauge) for one in runs)
        stamp = tuple(client().run(one.run).created for one in runs)
        answer = ask(runs[0].run, runs[1].run, gauges, at, stamp)
    st.markdown(sentence((first, second), at, answer, kind))
    st.caption(
        "Student's t-test on repetitions with the same seed, which share their split and start."
        if answer["paired"]
        else "Welch's t-test: these runs share no seeds, so repetitions are not paired."
    )
    if runs[0].dataset != runs[1].dataset:
        st.caption(DATA_DIFFER)
    st.caption("If you test many pairs, about 1 in 20 equal pairs will seem different by chance.")


def _pair(names: list[str]) -> tuple[str, str]:
    """The two runs that are chosen; the address holds them."""
    titles, places = ("First run", "Second run"), st.columns(2)
    chosen = []
    for field, title, place, at in zip(FIELDS, titles, places, (0, 1), strict=True):
        key = f"{PREFIX}.{field}"
        if st.session_state.get(key) not in (None, *names):
            st.session_state[key] = names[at]  # that run has no repetitions at this budget
        chosen.append(place.selectbox(title, names, at, key=key, bind="query-params"))
    return chosen[0], chosen[1]


def sentence(names: tuple[str, str], at: float, answer: Mapping[str, Any], kind: Gauge) -> str:
    """The answer in words, for two runs by their names at a budget."""
    scale, unit = (100.0, " percentage points") if kind.unit == words.SHARE else (1.0, "")
    gap, *ends = (words.number(scale * answer[name]) for name in ("mean", "low", "high"))
    means = f"the means differ by {gap}{unit} (95 % interval {ends[0]} to {ends[1]}, "
    means += f"p = {words.number(answer['p'], 2)})"
    count = min(answer["counts"])
    if answer["p"] < 0.05:
        higher = names[0 if answer["mean"] > 0 else 1]
        return f"**Yes.** At ε = {words.number(at)}, {means}: {higher} is higher."
    text = f"**No, not with {words.plural(count, 'repetition')} of each.** "
    text += f"{means[:1].upper()}{means[1:]}."
    if not answer["needed"]:
        return text
    more = max(1, answer["needed"] - count)
    return (
        f"{text} If the true difference is as large as measured, about "
        f"{words.plural(more, 'more repetition')} of each would show it in 4 of 5 attempts."
    )


@st.cache_data(max_entries=256, show_spinner=False)
def ask(
    first: str, second: str, gauge: str, epsilon: float, stamp: tuple[float, ...]
) -> dict[str, Any]:
    """What `python -m engine differ` says of two runs; the stamp changes with one of them.

    Raises:
        RequestError: It cannot be said; the sentence says why.
    """
    asked = ("differ", first, second, "--gauge", gauge, "--at", str(epsilon))
    return command.answer(asked, PATIENCE)
