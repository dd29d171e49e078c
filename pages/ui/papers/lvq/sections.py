"""Sections of the page on learned prototypes: pictures, metric, map, training."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.gauges import gauges
from engine.papers.lvq import PAPER
from pages.ui import words
from pages.ui.charts import lines as course
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW, raw_note
from pages.ui.paper.series import SPREAD, look, waiting
from pages.ui.paper.view import View
from pages.ui.papers.lvq import figures, space

Floats = NDArray[np.float64]
Kept = Mapping[str, NDArray[Any]]

LOST = (
    ":material/trending_up: Training diverged at this ε in every repetition. "
    "Try a smaller learning rate or a larger ε."
)
MATRIX = "gmlvq_dp"
METRIC = ("relevance", "eigenvalues", "eigenvectors")
"""The arrays that show what the metric looks at."""
FEATURES = 24
"""So many of the most relevant features are drawn where records are no images."""


def free(method: str) -> str:
    """The same descent without noise."""
    return f"{method.split('_')[0]}_sgd"


def kept(view: View, method: str) -> Kept | None:
    """A method's arrays at this budget, converged repetitions only; None if there are none."""
    one = view.watched[method]
    if not one.arrays or one.results is None:
        return None
    at = {BUDGET: view.budget} if view.spends(method) else {}
    points = np.asarray(one.arrays["prototypes"], np.float64)
    sane = one.results.rows(**at) & np.isfinite(points).all(axis=(1, 2))
    return {name: rows[sane] for name, rows in one.arrays.items()} if sane.any() else None


def missing(view: View, method: str) -> str:
    """Why there is nothing to draw."""
    run = view.watched[method].run
    if run is not None and run.state == "completed" and not run.shipped:
        return LOST
    return waiting(view, method)


def revision(view: View, what: str) -> str:
    """Changes when a zoom should be forgotten."""
    return f"{what}/{view.watched[view.method].job.id}"


def named(labels: Sequence[int]) -> list[str]:
    """What each prototype is called, from its class."""
    seen: dict[int, int] = {}
    names = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        more = f" ({seen[label]})" if list(labels).count(label) > 1 else ""
        names.append(f"Class {label}{more}")
    return names


def learning(view: View) -> None:
    """The test error by step, live."""
    gauge = gauges(view.entry.info)["error"]
    drawn = []
    for method in (view.method, free(view.method)):
        one = view.watched[method]
        steps, values = live.history(one, "error")
        if len(steps) and one.results is not None:
            at = {BUDGET: view.budget} if view.spends(method) else {}
            rows = np.flatnonzero(one.results.rows(**at))
            drawn.append(course.line(one.label, look(view, method), steps, values[:, rows]))
    lines = [line for line in drawn if line is not None]
    if not lines:
        st.markdown(missing(view, view.method))
        return
    ends = ", ".join(f"{line.label} {words.number(float(line.middle[-1]))}" for line in lines)
    chart(
        "lvq.learning.chart",
        course.lines(
            lines,
            ("Training step", f"{gauge.label} [%]"),
            revision(view, "steps"),
            tickformat=".0%",
        ),
        f"{gauge.label} by step at epsilon {view.budget:g}; at the end: {ends}.",
        course.rows(lines, "Step"),
        view.budget,
    )
    st.caption(f"{SPREAD} {RAW}")


def prototypes(view: View) -> None:
    """What the private method learned, beside the same without noise."""
    private, exact = kept(view, view.method), kept(view, free(view.method))
    if private is None:
        st.markdown(missing(view, view.method))
        return
    ours = np.asarray(private["prototypes"][0], np.float64)
    theirs = None if exact is None else np.asarray(exact["prototypes"][0], np.float64)
    called = named(private["labels"][0].astype(int).tolist())
    off = "" if theirs is None else f" {_off(ours, theirs)}"
    if view.data.image is not None:
        figure = _pictures(view, ours, theirs, called)
    elif theirs is not None:
        names = _features(view, ours.shape[1])
        figure = figures.parallel(names, ours, theirs, called, revision(view, "prototypes"))
    else:
        st.markdown(waiting(view))
        return
    dots = "" if view.data.image is not None else "; dotted: the same without noise"
    alt = f"Prototypes of {view.entry.label} at epsilon {view.budget:g}.{off}"
    chart("lvq.prototypes.chart", figure, alt, _distances(called, ours, theirs), view.budget)
    st.caption(
        f"{view.entry.label}, one repetition{dots}. Each record gets the class of the nearest "
        f"prototype.{off} Prototypes without noise can reveal training records and are not private."
    )


def _pictures(view: View, ours: Floats, theirs: Floats | None, called: list[str]) -> Any:
    """Prototypes as images, the private ones above the noise-free ones."""
    assert view.data.image is not None
    shape = (len(ours), *view.data.image)
    private, exact = figures.grey(ours, theirs)
    layers = [("with noise", private.reshape(shape))]
    if exact is not None:
        layers.append(("no noise", exact.reshape(shape)))
    return figures.tiles(layers, called, revision(view, "prototypes"))


def _off(ours: Floats, theirs: Floats) -> str:
    """How far noise moved the prototypes, in a sentence."""
    moved = np.linalg.norm(ours - theirs, axis=1).mean()
    apart = np.linalg.norm(theirs - theirs.mean(axis=0), axis=1).mean() or 1.0
    return (
        f"The noise moved them by {words.number(float(moved / apart), 2)} times the spread of the "
        "prototypes without noise."
    )


def _distances(called: list[str], ours: Floats, theirs: Floats | None) -> list[dict[str, Any]]:
    """Each prototype's distance to its noise-free twin."""
    return [
        {
            "Prototype": name,
            "Distance to the one without noise": None
            if theirs is None
            else round(float(np.linalg.norm(ours[k] - theirs[k])), 3),
            "Smallest value": round(float(ours[k].min()), 3),
            "Largest value": round(float(ours[k].max()), 3),
        }
        for k, name in enumerate(called)
    ]


def _features(view: View, d: int) -> list[str]:
    """Names of the features, or their numbers where the card has none."""
    known = view.data.features
    return list(known) if len(known) == d else [f"feature {i + 1}" for i in range(d)]


def relevance(view: View) -> None:
    """Which features GMLVQ's metric looks at, and its leading directions."""
    private, exact = kept(view, MATRIX), kept(view, free(MATRIX))
    if private is None:
        st.markdown(missing(view, MATRIX))
        return
    layers = [("with noise", private)] + ([("no noise", exact)] if exact is not None else [])
    names = _features(view, private["relevance"].shape[1])
    share = np.asarray(private["eigenvalues"][0], np.float64)
    titles = ["weight", *(f"direction {i + 1}" for i in range(private["eigenvectors"].shape[1]))]
    rows = _relevances(names, private, exact)
    if view.data.image is not None:
        drawn = [(name, _parts(one).reshape(-1, *view.data.image)) for name, one in layers]
        many = len(titles) - 2  # in a narrow column the same word twice would touch itself
        heads = ["weight", "direction<br>1", *(f"<br>{i + 2}" for i in range(many))]
        figure = figures.tiles(drawn, heads, revision(view, "relevance"), signed=True)
    else:
        top = np.argsort(-private["relevance"][0])[:FEATURES]
        columns = [
            (name, title.removeprefix("direction "), part[top])
            for name, one in layers
            for title, part in zip(titles, _parts(one), strict=True)
        ]
        figure = figures.weights([names[i] for i in top], columns, revision(view, "relevance"))
    alt = (
        f"Weights of the features and leading directions of GMLVQ at epsilon {view.budget:g}; "
        f"the first direction holds {100 * share[0]:.0f} % of the metric."
    )
    chart("lvq.relevance.chart", figure, alt, rows, view.budget)
    st.caption(
        "GMLVQ, private, one repetition. Weight: how much a feature counts when a record is "
        "compared with a prototype. Directions 1 to 3: the combinations of features that count "
        f"most, with {', '.join(f'{100 * v:.1f}' for v in share[:3])} % of the whole metric. The "
        "two colours are opposite signs. GLVQ gives every feature the same weight."
        f"{raw_note(PAPER.arrays, METRIC, without_noise=exact is not None)}"
    )


def _parts(one: Kept) -> Floats:
    """Relevances and directions as rows between -1 and 1."""
    rows = np.concatenate([one["relevance"][:1], one["eigenvectors"][0]]).astype(np.float64)
    return figures.signed(rows)


def _relevances(names: list[str], private: Kept, exact: Kept | None) -> list[dict[str, Any]]:
    """The diagonal of Lambda as a table."""
    return [
        {
            "Feature": name,
            "Weight with noise": float(private["relevance"][0][i]),
            "Weight without noise": None if exact is None else float(exact["relevance"][0][i]),
        }
        for i, name in enumerate(names)
    ]


def plane(view: View) -> None:
    """Records and prototypes as GMLVQ's metric sees them, flattened to two directions."""
    private = kept(view, MATRIX)
    if private is None:
        st.markdown(missing(view, MATRIX))
        return
    points, anchors = (np.asarray(private[name][0], np.float64) for name in ("points", "anchors"))
    classes, labels = (private[name][0].astype(np.int64) for name in ("classes", "labels"))
    right = float((space.nearest(points, anchors, labels) == classes).mean())
    reading = (
        f"On this plane alone, {100 * right:.0f}\u00a0% of the records shown lie in the right "
        "region."
    )
    chart(
        "lvq.plane.chart",
        space.plane(points, classes, anchors, labels, revision(view, "plane")),
        f"Records and prototypes of GMLVQ on its two leading directions at epsilon "
        f"{view.budget:g}. {reading}",
        [
            {"Class": int(label), "First direction": float(x), "Second direction": float(y)}
            for label, (x, y) in zip(labels, anchors, strict=True)
        ],
        view.budget,
    )
    st.caption(
        f"GMLVQ, private, one repetition. Numbers: test records by class. Circles: prototypes. "
        f"Background: the colour of the nearest prototype. {reading} The whole metric uses more "
        f"directions and does better. {RAW}"
    )
