"""Images and what a network looked at in them, in one picture of many small ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.figure import Figure
from pages.ui.charts.theme import GROUND, INK, SERIES, figure

Floats = NDArray[np.float64]

COLUMNS = 5
HEAD = 0.45
"""Room for words above a column of pictures, in heights of a picture."""
GAP = 0.08
CELL = 74
"""Pixels for each picture of a column."""


def heat(
    images: Floats, maps: Sequence[tuple[str, Floats]], words: Sequence[str], revision: str
) -> Figure:
    """Each image above its maps, five in a row.

    Args:
        images: Grey values, shape (k, d) with d a square.
        maps: Names, and relevances of the same shape; each is scaled by its own largest.
        words: What stands above each image.
        revision: Changes when a zoom should be forgotten.
    """
    count, side = len(images), round(images.shape[1] ** 0.5)
    layers = [("digit", images), *maps]
    group = HEAD + len(layers) * (1 + GAP)
    grids = [
        _grid([_scaled(one) for one in values], side, level, group)
        for level, (_, values) in enumerate(layers)
    ]
    rows = -(-count // COLUMNS)
    tall, wide = rows * group, COLUMNS * (1 + GAP) - GAP
    ticks = [g * group + HEAD + level * (1 + GAP) + 0.5 for g in range(rows)
             for level in range(len(layers))]  # fmt: skip
    hidden = {"showgrid": False, "zeroline": False, "showline": False, "ticks": ""}
    return figure(
        [trace for part, grid in enumerate(grids) for trace in _traces(grid, part == 0)],
        height=round(CELL * tall) + 16,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        meta={"tall": tall / wide},
        uirevision=revision,
        xaxis={**hidden, "showticklabels": False, "range": [0, wide], "constrain": "domain"},
        yaxis={
            **hidden, "range": [tall, 0], "scaleanchor": "x", "constrain": "domain",
            "constraintoward": "top",
            "tickvals": ticks, "ticktext": [name for name, _ in layers] * rows,
            "tickfont": {"size": 12},
        },
        annotations=[_word(words[i], i, group) for i in range(count)],
    )  # fmt: skip


def _scaled(one: Floats) -> Floats:
    """A picture between -1 and 1, its largest magnitude at one of them."""
    largest = float(np.abs(one).max(initial=0.0))
    return one / largest if largest > 0 else one


def _grid(
    pictures: Sequence[Floats], side: int, level: int, group: float
) -> list[tuple[Floats, Floats, Floats]]:
    """The pictures of one kind with the places of their pixels: x, y and (side, side)."""
    pixel = (np.arange(side) + 0.5) / side
    return [
        (
            i % COLUMNS * (1 + GAP) + pixel,
            i // COLUMNS * group + HEAD + level * (1 + GAP) + pixel,
            one.reshape(side, side),
        )
        for i, one in enumerate(pictures)
    ]


def _traces(grid: Sequence[tuple[Floats, Floats, Floats]], grey: bool) -> list[dict[str, Any]]:
    """One heat map for each picture."""
    scale = (
        [[0.0, GROUND], [1.0, INK]] if grey else [[0.0, SERIES[1]], [0.5, GROUND], [1.0, SERIES[0]]]
    )
    said = "grey %{z:.2f}" if grey else "relevance %{z:.2f} of the largest"
    return [
        {
            "type": "heatmap", "x": x.round(4).tolist(), "y": y.round(4).tolist(),
            "z": z.round(3).tolist(), "zmin": 0.0 if grey else -1.0, "zmax": 1.0,
            "colorscale": scale, "showscale": False, "hovertemplate": f"{said}<extra></extra>",
        }
        for x, y, z in grid
    ]  # fmt: skip


def _word(text: str, i: int, group: float) -> dict[str, Any]:
    return {
        "x": i % COLUMNS * (1 + GAP) + 0.5, "y": i // COLUMNS * group + HEAD - 0.04, "text": text,
        "showarrow": False, "yanchor": "bottom", "font": {"size": 13, "color": INK},
    }  # fmt: skip
