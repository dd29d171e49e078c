"""The first screen's game: the visitor attacks a private mean, wins, and loses to more noise."""

from random import Random

import streamlit as st

from pages.ui.kit.chart import chart
from pages.ui.learn import figures, maths
from pages.ui.learn.declared import Screen, filled
from pages.ui.learn.pictures import Shown

ROUND, SCORE, LAST = "learn.round", "learn.score", "learn.last"
MANY = 100
"""Rounds that are played at once."""
FEW, SURE, LOST = 5, 0.9, 20
"""Rounds before a win is said, the share of right guesses that it takes, and rounds for a loss."""


def draw(screen: Screen, text: str, shown: Shown) -> None:
    """Draws a round at one budget, its two buttons, and the score."""
    one = _round(text)
    with st.container(key="learn-game-finding", gap=None):
        st.markdown(said := finding(screen, shown, score(text)))
    names = {key: screen.says(key) for key in ("inside", "outside", "published", "x")}
    rows = [
        {names["x"]: names["outside"], "": maths.OTHERS},
        {names["x"]: names["inside"], "": maths.OTHERS + maths.STEP},
        {names["x"]: names["published"], "": one.published},
    ]
    drawn = figures.game(one.published, names)
    chart(f"{screen.control.key}.chart", drawn, said, rows, float(text))
    with st.container(horizontal=True):
        for key, inside in (("yes", True), ("no", False)):
            st.button(screen.says(key), key=f"learn.game.{key}", on_click=guess,
                      args=(text, inside))  # fmt: skip
        st.button(screen.says("many"), key="learn.game.many", on_click=many, args=(text,),
                  type="tertiary")  # fmt: skip
    if (last := st.session_state.get(LAST)) is not None:
        hit, inside = last
        words = (screen.said["hit" if hit else "miss"], screen.said["was" if inside else "wasnot"])
        with st.container(key="learn-guess-finding", gap=None):
            st.markdown(" ".join(map(filled, words)))


def score(text: str) -> tuple[int, int]:
    """Right guesses and rounds that were played at a budget."""
    right, played = st.session_state.get(SCORE, {}).get(text, (0, 0))
    return right, played


def finding(screen: Screen, shown: Shown, score: tuple[int, int]) -> str:
    """What the score says: begun, won, lost, or to go on."""
    right, played = score
    told = screen.says("score" if played else "none", {"right": right, "played": played})
    if played < FEW:
        name = "on" if played else "begin"
    elif right / played >= SURE:
        name = "win"
    else:
        name = "lose" if played >= LOST and 100 * right < maths.LOST * played else "on"
    facts = {**shown.facts, "score": told, "next": screen.says(name)}
    return screen.says("finding", facts)


def _round(text: str, fresh: bool = False) -> maths.Round:
    """The round that waits for a guess at a budget."""
    at, one = st.session_state.get(ROUND, ("", None))
    if fresh or at != text or one is None:
        if at != text:
            st.session_state.pop(LAST, None)
        one = maths.play(float(text), Random())
        st.session_state[ROUND] = (text, one)
    found: maths.Round = one
    return found


def guess(text: str, inside: bool) -> None:
    """Counts a guess and draws the next round."""
    one = _round(text)
    st.session_state[LAST] = (inside == one.inside, one.inside)
    _count(text, int(inside == one.inside), 1)


def many(text: str) -> None:
    """Plays many rounds by the best rule."""
    rounds = [maths.play(float(text), Random()) for _ in range(MANY)]
    st.session_state.pop(LAST, None)
    _count(text, sum(one.best == one.inside for one in rounds), MANY)


def _count(text: str, more: int, rounds: int) -> None:
    right, played = score(text)
    kept = st.session_state.get(SCORE, {})
    st.session_state[SCORE] = {**kept, text: (right + more, played + rounds)}
    _round(text, fresh=True)
