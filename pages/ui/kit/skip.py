"""Leads the keyboard past menus, straight to a widget: the first Tab on a page, and a link.

The link is seen only while it has focus. A button whose menu closes gets the focus back.
"""

from pathlib import Path
from typing import Any

import streamlit as st

CODE = Path(__file__).with_suffix(".js")


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component(
        "explorer.skip", js=CODE.read_text("utf-8"), isolate_styles=False
    )


def link(key: str, text: str) -> None:
    """Puts the link where the keyboard comes by.

    Args:
        key: Of the widget that it leads to.
        text: What it says.
    """
    place = "st-key-" + "".join(one if one.isalnum() or one in "-_" else "-" for one in key)
    _component()(key=f"{key}.skip", data={"text": text, "place": place}, height=1)
