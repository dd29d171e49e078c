"""What is measured and known beside the paper, in a sentence each, with a link to its table."""

from html import escape

import streamlit as st

from engine.runs import reference
from engine.runs.exhibit import Exhibit, exhibits
from pages.ui.kit import address
from pages.ui.kit.access import troubles
from pages.ui.kit.root import rooted
from pages.ui.paper.parts import Widgets
from pages.ui.paper.view import View

SLUG = "enadpp"


def beside(view: View) -> list[Widgets]:
    """A line for each table that is not the paper's own."""
    return [Widgets(_lines)]


def _lines() -> None:
    for exhibit in exhibits(SLUG).values():
        if exhibit.beside:
            link = rooted(address.exhibit(SLUG, exhibit.title))
            anchor = f'<a href="{link}" target="_self">{escape(exhibit.title)}</a>'
            st.markdown(f"{anchor}: {_said(exhibit)}", unsafe_allow_html=True)


def _said(exhibit: Exhibit) -> str:
    """Its result, from what ships."""
    ships = None
    with troubles():
        ships = reference.load(SLUG, exhibit.name, reference.FOLDER)
    return exhibit.says(ships.cells if ships else ())
