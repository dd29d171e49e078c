"""What Learn asks before it shows anything, and five questions before and after.

Answers stay in the session that gave them: nothing is sent to the store.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from engine.runs.results import Results
from pages.ui.kit.address import LESSON, PRESENT
from pages.ui.learn import pictures
from pages.ui.learn.declared import QUESTIONS, QUIZ, WORDS, Screen, filled, option

SAID = "learn.said"
"""Under which a session keeps what was answered, by name; -1 for a question that was skipped."""
BEFORE, AFTER = "before", "after"
PASSED = -1


def given(name: str) -> int | None:
    """What this session answered: a position; None before it did, `PASSED` for a skipped one."""
    kept: dict[str, int] = st.session_state.get(SAID, {})
    return kept.get(name)


def _keep(some: dict[str, int]) -> None:
    st.session_state[SAID] = {**st.session_state.get(SAID, {}), **some}


def waits(screen: Screen) -> bool:
    """Whether a screen still waits for a prediction: not in a lesson, which asks by itself."""
    led = LESSON in st.query_params or st.query_params.get(PRESENT) == "1"
    return not led and given(screen.name) is None and bool(pictures.asked(screen))


def _form(name: str, draw: Callable[[], Sequence[str]], send: str, skip: str) -> None:
    """A form; `draw` puts its widgets in and returns their keys, one for each answer."""

    def sent() -> None:
        found = {key: st.session_state.get(f"learn.ask.{key}") for key in keys}
        if all(value is not None for value in found.values()):
            _keep({key: int(value) for key, value in found.items() if value is not None})
        else:
            st.session_state[f"{SAID}.open"] = name

    with st.form(f"learn-ask-{name}", border=False):
        keys = draw()
        with st.container(horizontal=True):
            st.form_submit_button(send, on_click=sent, icon=":material/visibility:", type="primary")
            st.form_submit_button(
                skip, on_click=_keep, args=(dict.fromkeys(keys, PASSED),), type="tertiary"
            )
    if st.session_state.get(f"{SAID}.open") == name:
        del st.session_state[f"{SAID}.open"]
        st.warning(filled(WORDS["choose"]))


def _radio(key: str, text: str, options: Sequence[str]) -> None:
    st.radio(
        text,
        range(len(options)),
        index=None,
        key=f"learn.ask.{key}",
        format_func=options.__getitem__,
    )


def predict(screen: Screen) -> None:
    """Asks what a screen will show."""
    told = list(map(option, pictures.asked(screen)))
    text = filled(screen.ask.text, pictures.named(screen))

    def draw() -> Sequence[str]:
        if screen.ask.slider:
            st.select_slider(
                text, range(len(told)), len(told) // 2, key=f"learn.ask.{screen.name}",
                format_func=told.__getitem__,
            )  # fmt: skip
        else:
            _radio(screen.name, text, told)
        return (screen.name,)

    _form(screen.name, draw, filled(WORDS["show"]), filled(WORDS["pass"]))


def reveal(screen: Screen, results: Results | None) -> None:
    """Says what was right, and how far the prediction was from it."""
    answer = given(screen.name)
    if answer is not None and answer != PASSED:
        said = pictures.verdict(screen, answer, pictures.truth(screen, results))
        st.markdown(f":material/flag: {said}")


def _named(when: str) -> list[str]:
    return [f"{when}.{number}" for number in range(len(QUESTIONS))]


def quiz(when: str) -> None:
    """The five questions, before or after."""

    def draw() -> Sequence[str]:
        for key, one in zip(_named(when), QUESTIONS, strict=True):
            _radio(key, filled(one.text), list(map(option, one.options)))
        return _named(when)

    with st.container(border=True, key=f"learn-{when}"):
        st.header(filled(QUIZ[when]), anchor=when)
        answers = [given(key) for key in _named(when)]
        if None in answers:
            st.markdown(filled(QUIZ["how" if when == BEFORE else "again"]))
            _form(when, draw, filled(QUIZ["send"]), filled(QUIZ["pass"]))
        elif when == BEFORE:
            st.markdown(filled(QUIZ["skipped" if PASSED in answers else "kept"]))
        else:
            _marks()


def right(when: str) -> int | None:
    """How many of the five were right; None where they were skipped or not asked yet."""
    answers = [given(key) for key in _named(when)]
    if None in answers or PASSED in answers:
        return None
    return sum(a == one.answer - 1 for a, one in zip(answers, QUESTIONS, strict=True))


def gain(then: int | None, now: int) -> str:
    """How many answers are right now, and how many more than before where that is known."""
    facts: dict[str, object] = {"now": now, "all": len(QUESTIONS)}
    if then is None:
        return filled(QUIZ["alone"], facts)
    return filled(QUIZ["gain"], facts | {"then": then, "gain": now - then})


def _marks() -> None:
    """The gain, and each answer with the reason."""
    then, now = right(BEFORE), right(AFTER)
    if now is not None:
        st.markdown(gain(then, now))
    for key, one in zip(_named(AFTER), QUESTIONS, strict=True):
        mark = ""
        if (answer := given(key)) != PASSED:
            hit = answer == one.answer - 1
            icon = ":material/check:" if hit else ":material/close:"
            mark = f"{icon} {filled(QUIZ['right' if hit else 'wrong'])}. "
        st.markdown(
            f"{mark}{filled(one.text)}  \n**{option(one.options[one.answer - 1])}**. "
            f"{filled(one.why)}"
        )
    st.button(filled(QUIZ["reset"]), icon=":material/restart_alt:", key="learn.reset",
              on_click=_forget, type="tertiary")  # fmt: skip


def _forget() -> None:
    """Forgets every answer of this session."""
    st.session_state.pop(SAID, None)
