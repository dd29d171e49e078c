"""Figures of learned prototypes: greys, weights of features, lines over features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import path, pixels
from pages.ui.charts.theme import axis, figure, style

NAMED = 40
"""Up to so many features are named on an axis; more are counted."""


def grey(private: Floats, exact: Floats | None) -> tuple[Floats, Floats | None]:
    """Both between 0 and 1, on the scale of the noise-free ones where there are any."""
    known = private if exact is None else exact
    low, high = float(known.min()), float(known.max())
    span = (high - low) or 1.0
    scaled = [None if one is None else ((one - low) / span).clip(0, 1) for one in (private, exact)]
    assert scaled[0] is not None
    return scaled[0], scaled[1]


def parallel(names: Sequence[str], private: Floats, exact: Floats, words: Sequence[str]) -> Figure:
    """Each prototype as a line over the features, the noise-free one dotted.

    Args:
        names: The features, d of them.
        private: Prototypes, shape (p, d).
        exact: The same without noise, shape (p, d).
        words: What each is called, p of them.
    """
    middle, spread = exact.mean(axis=0), exact.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    x: Sequence[Any] = names if len(names) <= NAMED else list(range(1, len(names) + 1))
    kinds = (("", private, 2.2), (", no noise", exact, 1.4))
    return figure(
        [
            _line(word, ending, x, (values[k] - middle) / spread, k, width)
            for k, word in enumerate(words)
            for ending, values, width in kinds
        ],
        height=460,
        xaxis=axis("Feature", showgrid=True, tickangle=-45 if len(names) <= NAMED else 0),
        yaxis=axis("Value [spreads of the prototypes without noise]"),
    )


def _line(
    word: str, ending: str, x: Sequence[Any], y: Floats, position: int, width: float
) -> dict[str, Any]:
    look = style(position)
    return path(
        word, x, y, look.colour, f"<b>{word}{ending}</b><br>%{{x}}: %{{y:.2f}}", width=width,
        dash="dot" if ending else look.dash, opacity=0.7 if ending else 1.0, legendgroup=word,
        showlegend=not ending,
    )  # fmt: skip


def weights(names: Sequence[str], columns: Sequence[tuple[str, str, Floats]]) -> Figure:
    """Features down, the metric's weights and directions across.

    Args:
        names: The features that are shown, d of them.
        columns: Group, name and values (d,) between -1 and 1.
    """
    values = pixels(
        np.stack([c[2] for c in columns], axis=1), "%{y}, %{x}: %{z:.2f} of the largest",
        signed=True, x=[[c[0] for c in columns], [c[1] for c in columns]], y=list(names), xgap=3,
        ygap=1, showscale=None,
        colorbar={"title": {"text": "of the largest", "side": "right"}, "thickness": 12},
    )  # fmt: skip
    return figure(
        [values],
        height=110 + 20 * len(names),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis=axis("", showgrid=False, type="multicategory", tickfont={"size": 11}),
        yaxis=axis("Feature", autorange="reversed", showgrid=False),
    )
