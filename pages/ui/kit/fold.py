"""A fold whose widgets are made once it is opened: a browser makes what it is sent, seen or not."""

from collections.abc import Iterable
from typing import Any

import streamlit as st


def fold(label: str, icon: str, key: str, widgets: Iterable[str]) -> Any:
    """A fold; returns its place, or None while its widgets need not be made.

    They are made as well where the session or the address holds one of them: what is said there
    would get lost without its widget.

    Args:
        label: Its heading.
        icon: The icon before it.
        key: Unique on the page.
        widgets: The keys of its widgets.
    """
    place = st.expander(label, icon=icon, key=key, on_change="rerun")
    held = any(name in st.session_state or name in st.query_params for name in widgets)
    return place if held or wanted(place.open) else None


def wanted(opened: bool | None) -> bool:
    """Whether the widgets of a fold are made that nobody has touched, by whether it is open."""
    return bool(opened)
