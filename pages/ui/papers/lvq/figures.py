"""Figures of learned prototypes: greys, lines, regions on a plane, bounds, nearest records."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import among, dots, path, pixels
from pages.ui.charts.theme import GROUND, INK, MUTED, SERIES, axis, brief, figure, log_axis, style
from pages.ui.words import number

NAMED = 40
"""Up to so many features are named on an axis; more are counted."""
Integers = NDArray[np.int64]
FAR = 20.0
"""From this ratio on, distances are drawn on a logarithmic axis."""
FINE = 90
"""Points of the plane in each direction whose region is worked out."""


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


def plane(
    points: Floats, classes: Integers, anchors: Floats, labels: Integers, tags: Mapping[int, str]
) -> Figure:
    """Records and prototypes on a plane whose regions belong to the nearest prototype.

    Args:
        points: Held-out records, shape (s, 2).
        classes: Their classes, shape (s,).
        anchors: Prototypes, shape (p, 2).
        labels: Their classes, shape (p,).
        tags: What stands for each class.
    """
    sides = [_side(np.concatenate([points[:, i], anchors[:, i]])) for i in (0, 1)]
    return figure(
        [
            _regions(sides, anchors, labels), *_records(points, classes, tags),
            _anchors(anchors, labels, tags),
        ],
        height=480,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        xaxis=axis("First direction [distance of the metric]", showgrid=False,
                   range=[float(sides[0][0]), float(sides[0][-1])]),
        yaxis=axis("Second direction [distance of the metric]", showgrid=False,
                   range=[float(sides[1][0]), float(sides[1][-1])]),
    )  # fmt: skip


def nearest(places: Floats, anchors: Floats, labels: Integers) -> Integers:
    """Class of the nearest prototype of each place, shape (m,)."""
    apart = ((places[:, None] - anchors[None]) ** 2).sum(axis=2)
    owners: Integers = labels[apart.argmin(axis=1)]
    return owners


def _side(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 1.0
    return np.linspace(low - room, high + room, FINE)


def _colour(label: int) -> str:
    return SERIES[label % len(SERIES)]


def _regions(sides: Sequence[Floats], anchors: Floats, labels: Integers) -> dict[str, Any]:
    """Which class each place belongs to."""
    x, y = np.meshgrid(*sides)
    owners = nearest(np.stack([x.ravel(), y.ravel()], axis=1), anchors, labels).reshape(x.shape)
    count = int(labels.max()) + 1
    scale = [[edge / count, _colour(k)] for k in range(count) for edge in (k, k + 1)]
    return {
        "type": "heatmap", "x": brief(sides[0]), "y": brief(sides[1]), "z": owners.tolist(),
        "zmin": -0.5, "zmax": count - 0.5, "colorscale": scale, "showscale": False,
        "opacity": 0.22, "hoverinfo": "skip",
    }  # fmt: skip


def _records(points: Floats, classes: Integers, tags: Mapping[int, str]) -> list[dict[str, Any]]:
    """Each record as the tag of its class."""
    return [
        path(
            "", points[classes == k, 0], points[classes == k, 1], _colour(k),
            f"a record of class {tags[k]}", mode="text",
            text=[tags[k]] * int((classes == k).sum()), textfont={"size": 11, "color": _colour(k)},
        )
        for k in np.unique(classes).tolist()
    ]  # fmt: skip


def _anchors(anchors: Floats, labels: Integers, tags: Mapping[int, str]) -> dict[str, Any]:
    """The prototypes, each with the tag of its class in a circle."""
    rings = {"width": 2.5, "color": [_colour(k) for k in labels.tolist()]}
    return dots(
        "", anchors[:, 0], anchors[:, 1], None, None, "the prototype of class %{text}",
        mode="markers+text", marker={"size": 24, "color": GROUND, "line": rings},
        text=[f"<b>{tags[k]}</b>" for k in labels.tolist()], textfont={"size": 14, "color": INK},
    )  # fmt: skip


def norms(
    counts: Sequence[tuple[str, Floats]],
    edges: Floats,
    bounds: Sequence[tuple[str, float]],
    *,
    together: bool = False,
) -> Figure:
    """How long the records' gradients are, the bounds that cut them, and what others would cut.

    Args:
        counts: Names of the parts, and records in each bin (b,).
        edges: Ends of the bins, shape (b + 1,).
        bounds: Names and values of the bounds.
        together: Whether one bound holds for all parts as one vector: what another would cut is
            then not known from each part's norms.
    """
    used = np.flatnonzero(np.sum([values for _, values in counts], axis=0))
    first, last = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, len(edges) - 1)
    shown = [*edges[first : last + 1].tolist(), *(value for _, value in bounds)]
    traces = [_steps(*one, edges, i) for i, one in enumerate(counts)]
    top = max((max(trace["y"]) for trace in traces), default=1.0)
    traces += [] if together else [_longer(*one, edges, i) for i, one in enumerate(counts)]
    traces += [_bound(*one, top * 1.05, i) for i, one in enumerate(bounds)]
    low, high = np.log10(min(shown)), np.log10(max(shown))
    return figure(
        traces,
        height=400,
        xaxis=log_axis("Gradient norm [scaled features]", shown,
                       range=[float(low) - 0.1, float(high) + 0.1]),
        yaxis=axis("Records [%]", rangemode="tozero"),
        **({} if together else {"yaxis2": _beyond()}),
    )  # fmt: skip


def _beyond() -> dict[str, Any]:
    """The axis of what another bound would cut."""
    return axis(
        "Clipped by a bound there [%]", overlaying="y", side="right", range=[0, 105],
        showgrid=False, tickmode="array", tickvals=[0, 25, 50, 75, 100],
    )  # fmt: skip


def longer(values: Floats) -> Floats:
    """Per cent of the records beyond each end of the bins, (b,) to (b + 1,)."""
    beyond = np.concatenate([[0.0], np.cumsum(values[::-1])])[::-1]
    share: Floats = 100.0 * beyond / max(float(values.sum()), 1.0)
    return share


def _steps(name: str, values: Floats, edges: Floats, position: int) -> dict[str, Any]:
    """A histogram as an outline."""
    share = 100.0 * values / max(float(values.sum()), 1.0)
    return path(
        name, edges, np.append(share, share[-1]), SERIES[position],
        f"<b>{name}</b><br>%{{x:.3g}}: %{{y:.1f}} % of the records", width=2, shape="hv",
        fill="tozeroy",
    )  # fmt: skip


def _longer(name: str, values: Floats, edges: Floats, position: int) -> dict[str, Any]:
    """What each bound would cut."""
    return path(
        f"{name}, clipped by a bound there", edges, longer(values), SERIES[position],
        f"<b>{name}</b><br>a bound of %{{x:.3g}} clips %{{y:.1f}} %", width=2, dash="dot",
        yaxis="y2",
    )  # fmt: skip


def _bound(name: str, value: float, top: float, position: int) -> dict[str, Any]:
    dash, said = ("dash", "dot")[position % 2], f"<b>{name}</b><br>{number(value)}"
    called = f"{name} = {number(value)}"
    return path(called, [value, value], [0.0, top], INK, said, width=2, dash=dash)


def memory(words: Sequence[str], private: Floats, exact: Floats | None, typical: Floats) -> Figure:
    """How near each prototype is to a record that it was trained on.

    Args:
        words: What each prototype is called, p of them.
        private: Distance to the nearest training record of its class, shape (p,).
        exact: The same without noise, shape (p,); None while there is none.
        typical: Median distance of the noise-free prototype (or else the private one) to the
            records of its class, shape (p,).
    """
    kinds = [
        ("typical record of the class", typical, MUTED, "line-ns-open"),
        ("nearest, with noise", private, SERIES[0], "circle"),
    ]
    if exact is not None:
        kinds.append(("nearest, without noise", exact, SERIES[1], "diamond-open"))
    values = [value for _, x, *_ in kinds for value in brief(x)]
    title = "Distance [largest norm = 1]"
    far = max(values) > FAR * max(min(values), 1e-12)
    return figure(
        [among(name, x, words, *look) for name, x, *look in kinds],
        height=150 + 28 * len(words),
        xaxis=log_axis(title, values, showgrid=True) if far else axis(title, rangemode="tozero"),
        yaxis=axis("", autorange="reversed", showgrid=True),
    )
