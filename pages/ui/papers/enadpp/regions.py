"""Where persons are compared: which connections between brain regions the answer came from."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from datasets.connectivity import NETWORKS, PAIRS, REGIONS, WINDOWS
from pages.ui.charts.figure import Figure, Floats, by_row
from pages.ui.charts.marks import box, text
from pages.ui.charts.theme import GROUND, SERIES, axis, figure
from pages.ui.paper.parts import Chart, Note
from pages.ui.paper.series import product
from pages.ui.paper.view import View
from pages.ui.papers.enadpp.sections import EXACT

RULES = {"relevance_z_plus": "compared_z_plus", "relevance_epsilon": "compared_epsilon"}
"""Arrays of a run, by what they are called where records are images."""
FIRST = REGIONS // NETWORKS
"""Regions of the network that the simulator weakens in one of its groups."""
GAP = 0.06
"""Between two squares, as a part of the width."""


def connected(view: View, rule: str) -> Chart | Note:
    """The share of every pair of regions, with and without privacy."""
    if not view.data.simulated:
        return Note("UNKNOWN")
    private = shares(view, view.method, rule)
    if private is None:
        return Note("NONE")
    exact = shares(view, EXACT, rule) if view.method != EXACT else None
    drawn = [(view.entry.label, private)]
    drawn += [(view.watched[EXACT].label, exact)] if exact is not None else []
    pairs = FIRST * (FIRST - 1) // 2
    facts = {
        "rule": rule,
        "pairs": pairs,
        "held": within(private),
        "WITHOUT": exact is not None,
        "plain": 0.0 if exact is None else within(exact),
        "chance": 100 * pairs / PAIRS,
        "first": FIRST,
    }
    names = [(name, square(values, REGIONS)) for name, values in drawn]
    return Chart(connections(names, FIRST), rows(drawn), facts, "regions")


def shares(view: View, method: str, rule: str) -> Floats | None:
    """Per cent of each pair of regions, shape (pairs,); None where a run has not kept them."""
    measured = product(view, method, RULES[rule])
    if measured is None or measured.shape[1] != WINDOWS * PAIRS:
        return None
    total: Floats = 100.0 * measured.mean(axis=0).reshape(WINDOWS, PAIRS).sum(axis=0)
    return total


def within(values: Floats) -> float:
    """Per cent of the pairs among the first network's regions."""
    first, second = np.triu_indices(REGIONS, 1)
    return float(values[(first < FIRST) & (second < FIRST)].sum())


def rows(drawn: list[tuple[str, Floats]]) -> list[dict[str, float]]:
    """A row for each pair of regions, those with the largest share first."""
    first, second = np.triu_indices(REGIONS, 1)
    order = np.argsort(-drawn[0][1])
    shown = {f"{name} [%]": values[order] for name, values in drawn}
    return by_row({"Region": first[order] + 1, "and region": second[order] + 1, **shown})


def square(shares: Floats, regions: int) -> Floats:
    """Shares of pairs (pairs,), upper triangle row by row, as (regions, regions); NaN on the line.

    Raises:
        ValueError: Another number of pairs.
    """
    upper = np.triu_indices(regions, 1)
    grid = np.full((regions, regions), np.nan)
    grid[upper] = shares
    grid.T[upper] = shares
    return grid


def connections(squares: Sequence[tuple[str, Floats]], outlined: int) -> Figure:
    """Squares side by side in one scale of colours.

    Args:
        squares: Names, and per cent (regions, regions).
        outlined: The first so many regions are outlined.
    """
    most = max(float(np.nanmax(values)) for _, values in squares)
    wide = (1.0 + GAP) / len(squares) - GAP
    place = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    layout: dict[str, Any] = {}
    traces, shapes, words = [], [], []
    for i, (name, values) in enumerate(squares):
        end, left = str(i + 1) if i else "", i * (wide + GAP)
        traces.append(_trace(values, most, end, last=i + 1 == len(squares)))
        side = 0.5, outlined + 0.5
        shapes.append(box(side, side, dashed=True, xref=f"x{end}", yref=f"y{end}"))
        words.append(text(name, left + wide / 2, 1.0, size=14, **place))
        plain = {"showgrid": False, "showline": False, "dtick": 4, "tick0": 4}
        layout[f"xaxis{end}"] = axis("Region", domain=[left, left + wide], **plain)
        layout[f"yaxis{end}"] = axis(
            "" if i else "Region", autorange="reversed", anchor=f"x{end}",
            showticklabels=not i, **plain,
        )  # fmt: skip
    return figure(
        traces, height=360, margin={"l": 8, "r": 8, "t": 32, "b": 8},
        shapes=shapes, annotations=words, **layout,
    )  # fmt: skip


def _trace(values: Floats, most: float, end: str, *, last: bool) -> dict[str, Any]:
    """One square; the last one has the scale of colours beside it."""
    places = list(range(1, len(values) + 1))
    shown = [[None if np.isnan(v) else round(float(v), 3) for v in row] for row in values]
    return {
        "type": "heatmap", "x": places, "y": places, "z": shown, "zmin": 0.0, "zmax": most,
        "xaxis": f"x{end}", "yaxis": f"y{end}", "xgap": 1, "ygap": 1, "showscale": last,
        "colorscale": [[0.0, GROUND], [1.0, SERIES[0]]],
        "colorbar": {"title": {"text": "% of all", "side": "right"}, "thickness": 12},
        "hovertemplate": "regions %{y} and %{x}: %{z:.2f} % of all<extra></extra>",
    }  # fmt: skip
