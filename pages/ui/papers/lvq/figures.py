"""Figures of learned prototypes: pictures, weights of features, lines over features."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.figure import Figure
from pages.ui.charts.theme import GROUND, INK, SERIES, axis, brief, figure, style

Floats = NDArray[np.float64]

COLUMNS = 5
HEAD, GAP = 0.5, 0.08
"""Room above and between pictures, in widths of a picture."""
CELL = 76
"""Pixels for each row of pictures."""
GREY = [[0.0, GROUND], [1.0, INK]]
SIGNED = [[0.0, SERIES[1]], [0.5, GROUND], [1.0, SERIES[0]]]
NAMED = 40
"""Up to so many features are named on an axis; more are counted."""


def tiles(
    layers: Sequence[tuple[str, Floats]], words: Sequence[str], revision: str, *,
    signed: bool = False,
) -> Figure:  # fmt: skip
    """Pictures in rows of five, one layer below the other.

    Args:
        layers: Names and pictures (k, h, w), between 0 and 1, or -1 and 1 where signed.
        words: What stands above each picture, k of them.
        revision: Changes when a zoom should be forgotten.
        signed: Whether both signs matter.
    """
    group = HEAD + len(layers) * (1 + GAP)
    rows = -(-len(words) // COLUMNS)
    wide = min(len(words), COLUMNS) * (1 + GAP) - GAP
    hidden = {"showgrid": False, "zeroline": False, "showline": False, "ticks": ""}
    heights = [g * group + HEAD + i * (1 + GAP) + 0.5 for g in range(rows)
               for i in range(len(layers))]  # fmt: skip
    return figure(
        [
            _picture(one, k, k // COLUMNS * group + HEAD + i * (1 + GAP), signed)
            for i, (_, pictures) in enumerate(layers)
            for k, one in enumerate(pictures)
        ],
        height=round(CELL * rows * group) + 16,
        margin={"l": 8, "r": 8, "t": 8 + 16 * max(text.count("<br>") for text in words), "b": 8},
        uirevision=revision,
        meta={"tall": rows * group / wide},
        xaxis={**hidden, "showticklabels": False, "range": [0, wide], "constrain": "domain",
               "constraintoward": "left"},
        yaxis={
            **hidden, "range": [rows * group, 0], "scaleanchor": "x", "constrain": "domain",
            "constraintoward": "top", "tickvals": heights,
            "ticktext": [name for name, _ in layers] * rows, "tickfont": {"size": 12},
        },
        annotations=[_above(text, k, group) for k, text in enumerate(words)],
    )  # fmt: skip


def _picture(one: Floats, k: int, top: float, signed: bool) -> dict[str, Any]:
    """One picture in its place."""
    height, width = one.shape
    x = k % COLUMNS * (1 + GAP) + (np.arange(width) + 0.5) / width
    y = top + (np.arange(height) + 0.5) / height
    return {
        "type": "heatmap", "x": x.round(4).tolist(), "y": y.round(4).tolist(),
        "z": one.round(3).tolist(), "zmin": -1.0 if signed else 0.0, "zmax": 1.0,
        "colorscale": SIGNED if signed else GREY, "showscale": False,
        "hovertemplate": "%{z:.2f} of the largest<extra></extra>",
    }  # fmt: skip


def _above(text: str, k: int, group: float) -> dict[str, Any]:
    return {
        "x": k % COLUMNS * (1 + GAP) + 0.5, "y": k // COLUMNS * group + HEAD - 0.04,
        "text": text, "showarrow": False, "yanchor": "bottom",
        "font": {"size": 12, "color": INK},
    }  # fmt: skip


def grey(private: Floats, exact: Floats | None) -> tuple[Floats, Floats | None]:
    """Both between 0 and 1, on the scale of the noise-free ones where there are any."""
    known = private if exact is None else exact
    low, high = float(known.min()), float(known.max())
    span = (high - low) or 1.0
    scaled = [None if one is None else ((one - low) / span).clip(0, 1) for one in (private, exact)]
    assert scaled[0] is not None
    return scaled[0], scaled[1]


def parallel(
    names: Sequence[str], private: Floats, exact: Floats, words: Sequence[str], revision: str
) -> Figure:
    """Each prototype as a line over the features, the noise-free one dotted.

    Args:
        names: The features, d of them.
        private: Prototypes, shape (p, d).
        exact: The same without noise, shape (p, d).
        words: What each is called, p of them.
        revision: Changes when a zoom should be forgotten.
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
        uirevision=revision,
        xaxis=axis("Feature", showgrid=True, tickangle=-45 if len(names) <= NAMED else 0),
        yaxis=axis("Value [spreads of the prototypes without noise]"),
    )


def _line(
    word: str, ending: str, x: Sequence[Any], y: Floats, position: int, width: float
) -> dict[str, Any]:
    look = style(position)
    return {
        "type": "scatter", "mode": "lines", "name": word, "legendgroup": word,
        "showlegend": not ending, "x": list(x), "y": brief(y),
        "line": {"color": look.colour, "dash": "dot" if ending else look.dash, "width": width},
        "opacity": 0.7 if ending else 1.0,
        "hovertemplate": f"<b>{word}{ending}</b><br>%{{x}}: %{{y:.2f}}<extra></extra>",
    }  # fmt: skip


def weights(
    names: Sequence[str], columns: Sequence[tuple[str, str, Floats]], revision: str
) -> Figure:
    """Features down, the metric's weights and directions across.

    Args:
        names: The features that are shown, d of them.
        columns: Group, name and values (d,) between -1 and 1.
        revision: Changes when a zoom should be forgotten.
    """
    return figure(
        [{
            "type": "heatmap", "x": [[c[0] for c in columns], [c[1] for c in columns]],
            "y": list(names), "z": np.stack([c[2] for c in columns], axis=1).round(3).tolist(),
            "zmin": -1.0, "zmax": 1.0, "colorscale": SIGNED, "xgap": 3, "ygap": 1,
            "colorbar": {"title": {"text": "of the largest", "side": "right"}, "thickness": 12},
            "hovertemplate": "%{y}, %{x}: %{z:.2f} of the largest<extra></extra>",
        }],
        height=110 + 20 * len(names),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        uirevision=revision,
        xaxis=axis("", showgrid=False, type="multicategory", tickfont={"size": 11}),
        yaxis=axis("Feature", autorange="reversed", showgrid=False),
    )  # fmt: skip


def signed(values: Floats) -> Floats:
    """Each row between -1 and 1, its largest magnitude at one of them."""
    largest = np.abs(values).max(axis=-1, keepdims=True)
    scaled: Floats = values / np.where(largest > 0, largest, 1.0)
    return scaled
