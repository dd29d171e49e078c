"""What a page tells beside its cost curve: one picture, and the sentence that it says.

In a wide window it stands left of the curve, else below it.
"""

import streamlit as st

from pages.ui.kit import chart
from pages.ui.kit.glossary import linked
from pages.ui.kit.style import sheet
from pages.ui.paper import faded
from pages.ui.paper.view import Told, View

PLACE = "told"
STYLE = sheet(__file__)
"""Streamlit's columns stand in one order only; here the curve comes first where there is no room
for both."""


def draw(view: View, told: Told | None) -> None:
    """The sentence and the picture, as high as the curve beside it; if none, the former picture."""
    if told is None:
        faded.draw(view, PLACE)
        return
    key, said = f"{view.paper.slug}.{PLACE}", told.said.replace("*", "")
    with st.container(key=f"{view.paper.slug}-{PLACE}", gap=None):
        st.markdown(told.said, help=linked(told.note))
        picture = chart.picture(told.figure, said, (), view.budget, fit=True)
        chart.draw(key, picture)
    faded.keep(view, PLACE, [(key, picture)])
