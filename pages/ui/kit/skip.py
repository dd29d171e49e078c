"""What helps the keyboard and screen readers where Streamlit does not.

The first Tab on a paper's page leads past menus, straight to a widget, and so does a link that is
seen only while it has focus. A button whose menu closes gets the focus back; where a button goes,
the heading above it gets the focus. Sentences that change are read out. A page says its language.
Sliders show numbers as that language writes them: Streamlit would put such stops into addresses.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.messages import separators

CODE = Path(__file__).with_suffix(".js")


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component(
        "explorer.skip", js=CODE.read_text("utf-8"), isolate_styles=False
    )


def begin(language: str, spoken: str) -> None:
    """Puts the script on a page, which has no place in its layout.

    Args:
        language: The code of the language of the page's texts.
        spoken: That of the session, which the menu speaks.
    """
    said = {"language": language, "spoken": spoken, "marks": separators()}
    _component()(key="skip.page", data=said, height=1)


def link(key: str, text: str) -> None:
    """Puts the link where the keyboard comes by.

    Args:
        key: Of the widget that it leads to.
        text: What it says.
    """
    place = "st-key-" + "".join(one if one.isalnum() or one in "-_" else "-" for one in key)
    _component()(key=f"{key}.skip", data={"text": text, "place": place}, height=1)
