"""The opening picture of deep belief networks: one idea, three noises, and what each hides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import dots, level, pixels, text
from pages.ui.charts.theme import BROKEN, INK, MUTED, axis, brief, figure
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import attack, ruler
from pages.ui.paper.overlay import CALIBRATION
from pages.ui.paper.ruler import Mark
from pages.ui.paper.view import Told, View, known
from pages.ui.papers.pcdbn import figures
from pages.ui.words import listed

OWN = "pcdbn"
WAYS = {"released": "Authors' program", "paper": "As printed", "rigorous": "With proof"}
NAMED = {
    WAYS["released"]: "the authors' program",
    WAYS["paper"]: "the printed noise",
    WAYS["rigorous"]: "noise with proof",
}
"""Each way within a sentence."""
SYMBOLS = {"claimed": ("diamond", 0.3), "proved": ("square", 0.2), "attacked": ("triangle-up", 0.1)}
"""Sign of each mark, and how high it stands in its row."""
STRIP = (0.36, 0.76)
"""Where a row's filters begin and end."""


@dataclass(frozen=True, eq=False)
class Way:
    """One way to add the noise.

    Attributes:
        label: What it is called.
        right: The median share of right answers.
        filters: Its first filters, shape (k, h, w); empty where none are kept.
        marks: What is claimed, proved and attacked; None while that is being worked out.
    """

    label: str
    right: float
    filters: Floats
    marks: Sequence[Mark] | None

    @property
    def proof(self) -> bool:
        """Whether a finite budget is proved."""
        return any(one.kind == "proved" and math.isfinite(one.epsilon) for one in self.marks or ())


def story(view: View) -> Told | None:
    """The three ways under each other; None while one of them is not trained."""
    own = {str(one.job.values[CALIBRATION]): one for one in view.watched.values()
           if one.job.method == OWN}  # fmt: skip
    ways = [_way(view, own[way], label) for way, label in WAYS.items() if way in own]
    told = [one for one in ways if one is not None]
    return None if len(told) < len(WAYS) else Told(_said(told, view.budget), _drawn(told), NOTE)


NOTE = (
    "Rows: the filters that the network reads digits with, and on one line what is claimed (◆), "
    "proved (■) and shown by an attack (▲). Filters are computed from the raw data where there is "
    "no proof."
)


def _way(view: View, one: live.Watched, label: str) -> Way | None:
    """What has come of one way at the budget under the slider."""
    if one.results is None:
        return None
    rows = one.results.rows(**{BUDGET: view.budget})
    right = one.results.gauges["accuracy"][rows]
    if not np.isfinite(right).any():
        return None
    pictures = np.asarray(one.arrays.get("filters", np.zeros((len(rows), 0, 1, 1))), np.float64)
    pictures = pictures[rows]
    pictures = pictures[np.isfinite(pictures).reshape(len(pictures), -1).all(axis=1)]
    card = known(one.job, view.budget, view.data)
    found = attack.found(one.job, view.budget)
    return Way(
        label,
        float(np.nanmedian(right)),
        pictures[0][: figures.ROW] if len(pictures) else np.zeros((0, 1, 1)),
        None if card is None else ruler.marks(card, found.bound if found and found.bound else None),
    )


def _said(ways: Sequence[Way], budget: float) -> str:
    """How many digits each way reads, and which of them have no proof."""
    first, *others = sorted(ways, key=lambda one: (not one.proof, -one.right))
    rest = listed([f"{NAMED[one.label]} {100.0 * one.right:.0f}" for one in others])
    bare = all(one.marks is not None and not one.proof for one in others)
    only = " Nothing is proved of the others." if first.proof and bare else ""
    return (
        f"At ε = {budget:g}, {NAMED[first.label]} leaves **{100.0 * first.right:.0f} of 100 "
        f"digits** right, {rest}.{only}"
    )


def _drawn(ways: Sequence[Way]) -> Figure:
    """The rows from top to bottom, over one line from nothing leaks to everything leaks."""
    places = {one.label: float(len(ways) - 1 - i) for i, one in enumerate(ways)}
    marks = [(places[one.label], mark) for one in ways for mark in one.marks or ()]
    bare = {"showticklabels": False, "showgrid": False, "ticks": ""}
    strips = [_strip(one.filters, places[one.label]) for one in ways if len(one.filters)]
    return figure(
        [*strips, *(_signs(kind, marks) for kind in SYMBOLS)],
        margin={"l": 8, "r": 8, "t": 10, "b": 24},
        showlegend=False,
        uirevision="ways",
        xaxis=axis("", range=[0.0, 1.0], **bare),
        yaxis=axis("", range=[0.0, float(len(ways))], **bare),
        shapes=[level(place + SYMBOLS["proved"][1], MUTED, dash=None, width=1.2, xref=None)
                for place in places.values()],
        annotations=[
            *(note for one in ways for note in _words(one, places[one.label])),
            *(_edge(text, x) for x, text in enumerate(("nothing leaks", "everything leaks"))),
        ],
    )  # fmt: skip


def _strip(filters: Floats, place: float) -> dict[str, Any]:
    """The filters side by side, each scaled by its own largest weight."""
    row, (low, top) = figures.tiled(filters), STRIP
    return pixels(
        row[::-1], "", signed=True, hoverongaps=False,
        x=brief((np.arange(row.shape[1]) + 0.5) / row.shape[1]),
        y=brief(place + low + (top - low) * (np.arange(len(row)) + 0.5) / len(row)),
    )  # fmt: skip


def _signs(kind: str, marks: Sequence[tuple[float, Mark]]) -> dict[str, Any]:
    """The marks of one kind in all rows."""
    symbol, height = SYMBOLS[kind]
    own = [(place, one) for place, one in marks if one.kind == kind and math.isfinite(one.epsilon)]
    look = {
        "symbol": symbol, "size": 10, "opacity": 1.0,
        "color": [BROKEN if one.broken else INK for _, one in own],
    }  # fmt: skip
    x, y = (brief(one.place for _, one in own), brief(place + height for place, _ in own))
    return dots(
        kind, x, y, None, None, f"{kind} ε = %{{customdata:.3g}}", marker=look, cliponaxis=False,
        showlegend=False, customdata=[one.epsilon for _, one in own],
    )  # fmt: skip


def _edge(words: str, x: int) -> dict[str, Any]:
    """What an end of the line means, below the lowest row."""
    side = "right" if x else "left"
    return text(words, x, 0, size=13, colour=MUTED, xanchor=side, yref="paper", yanchor="top")


def _words(one: Way, place: float) -> list[dict[str, Any]]:
    """What a row is called, how many digits are right, and whether there is no proof."""
    right = f"{100.0 * one.right:.0f} of 100 right"
    above, middle = place + 0.88, {"yanchor": "middle"}
    words = [
        text(f"<b>{one.label}</b>", 0, above, size=14, xanchor="left", **middle),
        text(right, 1, above, size=14, xanchor="right", **middle),
    ]
    if one.marks is not None and not one.proof:
        low = place + SYMBOLS["claimed"][1]
        words.append(text("no proof", 1, low, size=13, colour=BROKEN, xanchor="right", **middle))
    return words
