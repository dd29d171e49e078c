"""Small pictures in rows of five, one layer below the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import BARE, pixels, text
from pages.ui.charts.theme import figure

COLUMNS = 5
GAP = 0.08
"""Between pictures, in widths of a picture."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Pictures of one kind.

    Attributes:
        name: What stands beside them.
        pictures: Shape (k, h, w), between 0 and 1, or -1 and 1 where signed.
        signed: Whether both signs matter.
        hover: What the pointer says, with %{z} for the value.
    """

    name: str
    pictures: Floats
    signed: bool = False
    hover: str = "%{z:.2f} of the largest"


def tiles(
    layers: Sequence[Layer], words: Sequence[str], *, head: float = 0.5, cell: int = 76,
    size: int = 12, toward: str | None = "left",
) -> Figure:  # fmt: skip
    """Pictures under each other, each group below its words.

    Args:
        layers: The pictures, k in each layer.
        words: What stands above each group, k of them.
        head: Room for these words, in widths of a picture.
        cell: Pixels for each row of pictures.
        size: Of the words.
        toward: The side where pictures stand that are narrower than their place.
    """
    group = head + len(layers) * (1 + GAP)
    rows = -(-len(words) // COLUMNS)
    wide, tall = min(len(words), COLUMNS) * (1 + GAP) - GAP, rows * group
    heights = [g * group + head + i * (1 + GAP) + 0.5 for g in range(rows)
               for i in range(len(layers))]  # fmt: skip
    return figure(
        [
            _picture(layer, k, k // COLUMNS * group + head + i * (1 + GAP))
            for i, layer in enumerate(layers)
            for k in range(len(words))
        ],
        height=round(cell * tall) + 16,
        margin={"l": 8, "r": 8, "t": 8 + 16 * max(one.count("<br>") for one in words), "b": 8},
        meta={"tall": tall / wide},
        xaxis={**BARE, "showticklabels": False, "range": [0, wide], "constrain": "domain",
               "constraintoward": toward},
        yaxis={
            **BARE, "range": [tall, 0], "scaleanchor": "x", "constrain": "domain",
            "constraintoward": "top", "tickvals": heights,
            "ticktext": [layer.name for layer in layers] * rows, "tickfont": {"size": 12},
        },
        annotations=[
            text(one, k % COLUMNS * (1 + GAP) + 0.5, k // COLUMNS * group + head - 0.04, size=size,
                 yanchor="bottom")
            for k, one in enumerate(words)
        ],
    )  # fmt: skip


def _picture(layer: Layer, k: int, top: float) -> dict[str, Any]:
    """One picture in its place."""
    one = layer.pictures[k]
    height, width = one.shape
    x = k % COLUMNS * (1 + GAP) + (np.arange(width) + 0.5) / width
    y = top + (np.arange(height) + 0.5) / height
    places = {"x": x.round(4).tolist(), "y": y.round(4).tolist()}
    return pixels(one, layer.hover, signed=layer.signed, **places)


def signed(values: Floats, axis: int | tuple[int, ...] = -1) -> Floats:
    """Values between -1 and 1, the largest magnitude along some axes at one of them."""
    largest = np.abs(values).max(axis=axis, keepdims=True)
    scaled: Floats = values / np.where(largest > 0, largest, 1.0)
    return scaled
