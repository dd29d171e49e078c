"""The start page: what this is, one live curve, the papers with what was found, how to read ε."""

import streamlit as st

from pages.ui import words
from pages.ui.charts.dots import dots
from pages.ui.charts.sketch import sketch
from pages.ui.kit import shell
from pages.ui.kit.glossary import linked
from pages.ui.paper import defaults, sketches
from pages.ui.paper.preview import START, draw

EXAMPLES = {
    0.1: "An attacker does hardly better than chance. The result has a lot of noise.",
    1.0: "An attacker does better than chance but is often wrong.",
    10.0: "In the worst case the attacker is almost always right. The result has little noise.",
}

shell.enter()
st.title("See what privacy costs")
st.markdown(
    linked(
        "Differential privacy adds noise that hides each person's record. A smaller privacy budget "
        "**ε** is more private and less accurate."
    )
)

if START.slug in shell.papers():
    st.markdown(
        "**Move the slider.** A model learns from medical records which of two people is likely to "
        "live longer. How many pairs does it get wrong when its parameters are private?"
    )
    draw(START)

if shell.there("learn"):
    st.page_link(
        "pages/learn.py", label="New to ε? Learn it in ten minutes", icon=":material/school:"
    )

st.header("What each paper is about, and what was found")
known = sketches.read()
with st.grid(3, min_column_width=300):
    for slug, one in shell.papers().items():
        with st.container(border=True, height="stretch"):
            st.markdown(f"#### {one.title}")
            if (drawn := known.get(slug)) is not None:
                alt = "Errors by privacy budget, from more private to less private."
                st.image(sketch(drawn.lines, drawn.none), width="stretch", alt=alt)
            st.markdown(defaults.layout(slug).words.partition(". ")[0].rstrip(".") + ".")
            if drawn is not None:
                st.markdown(drawn.found)
            st.page_link(f"pages/{slug}.py", label="Open", icon=":material/arrow_forward:")
st.caption(
    "Each picture: errors fall as ε grows, to the right. Blue: the paper's own method with proof. "
    "Orange: as printed. Green: the best proved method. Dotted: no privacy."
)

st.header("How to read ε")
st.markdown(
    "Pick one person in the data. Someone sees the result and guesses whether this person was in "
    "the data. Guessing blindly is right 50 times out of 100: the grey dots. The coloured dots are "
    "what the result adds at most. This is the worst case for any method with this ε; the noise of "
    "one method may allow less."
)
with st.grid(3, min_column_width=240):
    for epsilon, text in EXAMPLES.items():
        with st.container(border=True, height="stretch"):
            chance = words.best_guess(epsilon)
            st.markdown(f"#### ε = {epsilon:g}")
            st.image(
                dots(words.filled(chance)),
                width="stretch",
                alt=f"{words.out_of_100(chance)} of 100 dots are filled",
            )
            st.markdown(f"Right **{words.out_of_100(chance)} times out of 100**, at most.")
            st.markdown(text)

st.caption(
    "Odds out of 100 follow Nanayakkara et al. 2023, What Are the Chances? Explaining the Epsilon "
    "Parameter in Differential Privacy, arXiv 2303.00738."
)
