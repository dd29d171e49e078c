"""A chart as a page shows it: with words for those who cannot see it, and its numbers below."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.ui.kit.plot import plot


def chart(
    key: str,
    figure: go.Figure,
    alt: str,
    rows: Sequence[dict[str, Any]],
    budget: float,
    *,
    fit: bool = False,
    move: str = "",
    below: Callable[[], None] | None = None,
) -> None:
    """Draws a figure and, once asked for, the table of what it shows.

    Args:
        key: Unique on the page; keeps the zoom while the figure changes.
        figure: What to draw.
        alt: Its message in one sentence, for screen readers.
        rows: Its numbers.
        budget: The budget that it is drawn for; the browser can tell by it which move of the
            slider a picture belongs to.
        fit: Whether its height follows what the window has left above its foot.
        move: Where its points stand; when that changes, they are seen to move.
        below: Draws what stands between the figure and its table.
    """
    figure.layout.meta = {"budget": budget, "fit": fit, "move": move}
    plot(figure, key, alt)
    if below is not None:
        below()
    table = st.expander(
        "The numbers behind this chart", key=f"{key}.table", on_change="rerun",
        icon=":material/table_rows:",
    )  # fmt: skip
    if table.open:
        table.dataframe(list(rows), hide_index=True, alt=alt)
