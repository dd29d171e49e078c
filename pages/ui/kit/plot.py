"""A Plotly chart that is changed in place: `plot.js` beside this file draws it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.messages import SOURCE as SPOKEN
from pages.ui.messages import language, tr

SOURCE = Path(__file__).with_suffix(".js")
LIBRARY = SOURCE.with_name("plotly-cartesian.min.js")
"""Plotly's own bundle for flat charts: a third of the whole, which a browser reads in a third of
the time. It comes from npm's `plotly.js-cartesian-dist-min`, in the version of `plotly.offline`."""

BUTTONS = (
    "Copy as PNG", "Save as SVG", "Save as PNG (300 dpi)", "Play the curve as sound",
    "Zoom", "Pan", "Reset axes", "Full screen",
)  # fmt: skip
"""What the buttons over a chart say."""


@st.cache_resource(show_spinner=False)
def _chart() -> Callable[..., Any]:
    """The chart, registered once; `early` hands the browser the library."""
    chart: Callable[..., Any] = st.components.v2.component(
        "explorer.plot", js=SOURCE.read_text(encoding="utf-8"), isolate_styles=False
    )
    return chart


def words() -> dict[str, str]:
    """What a chart's buttons say in the language that is spoken here; nothing in English."""
    return {} if language() == SPOKEN else {text: tr(text) for text in BUTTONS}


def plot(figure: str, key: str, alt: str, source: str) -> None:
    """Draws a figure.

    Args:
        figure: What to draw as JSON, in the house style, with the height that it has where there
            is room.
        key: Unique on the page; names the chart while its figure changes.
        alt: Its message in one sentence.
        source: Where its numbers come from; stands on copies of the chart.
    """
    _chart()(
        key=key,
        data={"figure": figure, "alt": alt, "source": source, "words": words()},
    )
