"""The friendships as a network, coloured by what a method predicts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.papers.dbn.yesiwell.described import TEST
from engine.papers.dbn.yesiwell.layout import MOST
from pages.ui.charts.figure import Figure, Floats, by_row
from pages.ui.charts.marks import HIDDEN, dots, path
from pages.ui.charts.theme import GRID, INK, SERIES, brief, figure
from pages.ui.kit import address
from pages.ui.kit.offers import Offer
from pages.ui.paper.parts import Chart, Part, Widgets
from pages.ui.paper.series import DIVERGED, chosen, waiting
from pages.ui.paper.view import View

TIME = "yesiwell.time"
_COUNTED = range(1, TEST + 1)
TIMES = Offer("time", tuple(map(str, _COUNTED)), tuple(_COUNTED), "1")
"""What the slider below the picture says, which is drawn after it."""
LOST = f"{DIVERGED} Try a larger ε, or *Bounded* under *Noisy objective*."
SMALL, LARGE = 6.0, 20.0
"""Diameters of users with the fewest and with the most friends, in pixels."""


def _drawn_by(view: View) -> None:
    """The method, and which of the times after the training data is drawn."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view.pick()
        with st.container(width=240):
            st.slider(
                "Times after training", 1, TEST, 1, key=TIME, bind="query-params",
                help="Later times are predicted from the days before them; nothing is trained "
                "again.",
            )  # fmt: skip


def friendships(view: View) -> list[Part]:
    """The network at one time: colours are predicted chances, crosses are wrong predictions."""
    one, rows = view.watched[view.method], chosen(view, view.method)
    courses = chances(one.arrays)
    if courses is None or not len(rows):
        classes = vars(one.job.spec())["task"] == "classification"
        why = "Shown for the task of predicting the next time." if classes else waiting(view)
        return [why, Widgets(view.pick)]
    time = min(int(address.value("yesiwell", TIMES)), courses.shape[1])
    row = next((int(row) for row in rows if np.isfinite(courses[row, time - 1]).all()), None)
    if row is None:
        return [LOST, Widgets(view.pick)]
    chance = courses[row, time - 1]
    came = np.asarray(one.arrays["came"], np.float64)[row][time - 1]
    places = np.asarray(one.arrays["places"], np.float64)[row]
    right = (chance > 0.5) == (came > 0.5)
    users = {"User": range(len(chance)), "Predicted chance": chance, "Exercised more": came != 0}
    facts = {
        "data": view.data.name,
        "time": time,
        "unit": view.data.time_unit.removesuffix("s") if time == 1 else view.data.time_unit,
        "simulated": "simulated " if view.data.simulated else "",
        "right": right.mean(),
        "more": (chance > 0.5).mean(),
        "SAMPLED": view.data.records > MOST,
        "drawn": len(places),
    }
    figure = draw(places, np.asarray(one.arrays["links"][row], np.int64), chance, right)
    return [Chart(figure, by_row(users), facts, "network", fit=True, below=lambda: _drawn_by(view))]


def chances(kept: Mapping[str, NDArray[np.generic]]) -> Floats | None:
    """Chances from 0 to 1 by replica, time and user; None where there are none.

    Runs keep them in whole per cent, and those of earlier versions as shares, none above 1.
    """
    if "course" not in kept:
        return None
    known = np.asarray(kept["course"], np.float64)
    if not (known > 1.0).any():
        return known
    return np.where(known > 100.0, np.nan, known / 100.0)


def draw(
    places: Floats, links: NDArray[np.int64], chance: Floats, right: NDArray[np.bool_]
) -> Figure:
    """The network as one trace of lines and one of users, which needs no graphics card.

    Args:
        places: Coordinates from -1 to 1, shape (u, 2).
        links: Pairs of users, shape (k, 2).
        chance: Predicted chance of each user, shape (u,).
        right: Whether each prediction came true, shape (u,).
    """
    gap = np.full((len(links), 1), np.nan)
    ends = [np.hstack([places[links, k], gap]).ravel() for k in (0, 1)]
    x, y = ([None if v != v else round(float(v), 3) for v in end] for end in ends)
    friends = np.bincount(links.ravel(), minlength=len(places))
    size = SMALL + (LARGE - SMALL) * np.sqrt(friends / max(1, friends.max(initial=1)))
    edges = path("", x, y, GRID, width=0.7, showlegend=False)
    ink = {"color": INK}
    bar = {
        "title": {"text": "Chance to exercise more", "side": "right", "font": ink},
        "thickness": 12, "tickformat": ".0%", "tickfont": ink,
    }  # fmt: skip
    colours = {"cmin": 0.0, "cmax": 1.0, "colorscale": [[0.0, SERIES[1]], [1.0, SERIES[0]]]}
    look = {
        "size": size.round(1).tolist(), "color": brief(chance), "line": {"width": 0},
        "symbol": ["circle" if one else "x" for one in right], "colorbar": bar, **colours,
    }  # fmt: skip
    said = "Chance %{marker.color:.0%}, %{customdata} friends"
    users = dots(
        "", places[:, 0], places[:, 1], None, None, said,
        marker=look, customdata=friends.tolist(), showlegend=False,
    )  # fmt: skip
    return figure(
        [edges, users],
        height=560,
        margin={"l": 8, "r": 8, "t": 4, "b": 8},
        xaxis=_axis(places[:, 0]),
        yaxis=_axis(places[:, 1]),
    )


def _axis(values: Floats) -> dict[str, Any]:
    """An axis that is not drawn, with room for the largest dot at its ends."""
    low, high = (float(v) for v in (values.min(initial=0.0), values.max(initial=0.0)))
    room = 0.05 * max(high - low, 1e-9)
    return {**HIDDEN, "range": [low - room, high + room], "constrain": "domain"}
