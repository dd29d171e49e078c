"""What a page tells beside its cost curve: one picture, and the sentence that it says.

In a wide window it stands left of the curve, else below it.
"""

from dataclasses import dataclass

import streamlit as st

from pages.ui.charts.figure import Figure
from pages.ui.kit.chart import chart
from pages.ui.kit.glossary import linked
from pages.ui.kit.style import sheet

STYLE = sheet(__file__)
"""Streamlit's columns stand in one order only; here the curve comes first where there is no room
for both."""


@dataclass(frozen=True, eq=False)
class Told:
    """A picture with what it says.

    Attributes:
        said: What it says, in a sentence with a number.
        figure: The picture.
        note: How to read it.
    """

    said: str
    figure: Figure
    note: str


def draw(prefix: str, told: Told | None, budget: float) -> None:
    """The sentence, the picture as high as the curve beside it, and how to read it; if any."""
    if told is None:
        return
    with st.container(key=f"{prefix}-told", gap=None):
        st.markdown(told.said, help=linked(told.note))
        said = told.said.replace("*", "")
        chart(f"{prefix}.told", told.figure, said, None, budget, fit=True)
