"""The shares of a table's records in the cells of one column, synthetic beside original."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import bars, dots
from pages.ui.charts.theme import INK, PER_CENT, SERIES, axis, figure

SYNTHETIC, ORIGINAL = "Synthetic", "Original, not private"
EVENTS = ("no event", "event")


def shares(column: Mapping[str, Any], original: Sequence[float] | None = None) -> Figure:
    """Bars of the synthetic shares, and rings at the original's where they are given.

    Args:
        column: As the card of a synthetic table has it: title, heads, levels or bins between low
            and high, shares, and the plain words of the classes where they have some.
        original: Shares in the same cells; None to leave them out.
    """
    places, parts = cells(column), len(column["shares"]) // len(cells(column))
    traces = []
    for part in range(parts):
        name = f", {EVENTS[part]}" if parts > 1 else ""
        own = slice(part * len(places), (part + 1) * len(places))
        for label, values in ((SYNTHETIC, column["shares"]), (ORIGINAL, original)):
            if values is None:
                continue
            y = PER_CENT[0] * np.array(values[own])
            hover = f"{label}{name}<br>%{{x}}: %{{y:.3g}} %"
            traces.append(
                bars(f"{label}{name}", places, y, SERIES[part], hover) if label == SYNTHETIC
                else dots(f"{label}{name}", places, y, INK, ("circle-open", "diamond-open")[part],
                          hover, size=7, ring=1.5)
            )  # fmt: skip
    return figure(
        traces, height=320, xaxis=axis(column["heads"][0]), barmode="stack" if original is None else
        "group", yaxis=axis("Share of records [%]", rangemode="tozero"),
    )  # fmt: skip


def cells(column: Mapping[str, Any]) -> list[Any]:
    """The middle of each bin, or the name of each level."""
    if not column["levels"]:
        width = (column["high"] - column["low"]) / column["bins"]
        return [round(column["low"] + width * (i + 0.5), 6) for i in range(column["bins"])]
    heads = column["heads"]
    if len(heads) == 1:
        return [f"class {word}" for word in column.get("words") or range(column["levels"])]
    return ["none of these", *heads]


def table(
    column: Mapping[str, Any], original: Sequence[float] | None = None
) -> list[dict[str, Any]]:
    """The numbers of the chart."""
    places = cells(column)
    rows = []
    for i, share in enumerate(column["shares"]):
        event = {"Event": EVENTS[i // len(places)]} if len(column["shares"]) > len(places) else {}
        beside = {} if original is None else {ORIGINAL: original[i]}
        rows.append({column["title"]: places[i % len(places)], **event, SYNTHETIC: share, **beside})
    return rows
