"""The start page: what this is, one live curve, how to read ε, and where to go on."""

import streamlit as st

from pages.ui import words
from pages.ui.charts.dots import dots
from pages.ui.kit import shell
from pages.ui.paper.preview import START, glance

EXAMPLES = {
    0.1: "The answer says next to nothing about any one person. It carries a lot of noise.",
    1.0: "A guess gets better, and stays a guess.",
    10.0: "In the worst case the guess is nearly always right. There is little noise.",
}

shell.enter()
st.title("See what privacy costs")
st.markdown(
    "Differential privacy adds noise to an answer, so that nobody who reads it can tell whether "
    "any one person's record was used. "
    "The noise costs accuracy, and one number, **ε**, sets the price: the smaller it is, the more "
    "private and the noisier. "
    "Here you slide ε on published methods and real data, watch what becomes of the answer, and "
    "read beside every curve what has been proved about it."
)

if START.slug in shell.papers():
    st.header("Move the slider")
    st.markdown(
        "A model learns from medical records which of two people is likely to live longer. "
        "How often is it right, once its parameters are made private?"
    )
    glance(START)

st.header("How to read ε")
st.markdown(
    "Pick one person in the data. Somebody sees the answer and guesses whether it was computed "
    "with that person's record or with another in its place. Tossing a coin, they are right "
    "50 times out of 100: the grey dots. What the answer adds, at most, is in colour. This is the "
    "worst case over everything that somebody may know already; most readers learn less."
)
with st.grid(3, min_column_width=240):
    for epsilon, text in EXAMPLES.items():
        with st.container(border=True, height="stretch"):
            chance = words.best_guess(epsilon)
            st.markdown(f"#### ε = {epsilon:g}")
            st.image(
                dots(min(99, round(100 * chance))),
                width="stretch",
                alt=f"{words.out_of_100(chance)} of 100 dots are filled",
            )
            st.markdown(f"Right **{words.out_of_100(chance)} times out of 100**, at most.")
            st.markdown(text)

st.header("Where to begin")
with st.grid(2, min_column_width=320):
    for slug, one in shell.papers().items():
        with st.container(border=True, height="stretch"):
            st.markdown(f"#### {one.title}")
            st.markdown(one.claim)
            st.caption(one.citation)
            st.page_link(f"pages/{slug}.py", label="Open", icon=":material/arrow_forward:")
st.caption(
    "Odds in this form: Nanayakkara et al. 2023, What Are the Chances? Explaining the Epsilon "
    "Parameter in Differential Privacy, arXiv 2303.00738."
)
