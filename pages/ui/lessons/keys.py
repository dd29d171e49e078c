"""The keyboard of the presenter: `keys.js` beside this file listens."""

from pathlib import Path
from typing import Any

import streamlit as st

SOURCE = Path(__file__).with_suffix(".js")


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component(
        "explorer.keys", js=SOURCE.read_text(encoding="utf-8"), isolate_styles=False
    )


def listen(role: str, lesson: str, view: int, notes: str = "") -> Any:
    """Listens to the keys of this window and to the other window.

    Args:
        role: "present" or "notes".
        lesson: Name of the lesson; empty where there is none.
        view: Number of the view that is shown.
        notes: Address of the notes, which N opens.

    Returns:
        What was asked for: `move` with `by` (0 to leave presenter mode), and `view`.
    """
    data = {"role": role, "lesson": lesson, "view": view, "notes": notes}
    # A value is there only where something listens to its change.
    heard = dict.fromkeys(("on_move_change", "on_view_change"), lambda: None)
    return _component()(key=f"keys.{role}", data=data, height=1, **heard)
