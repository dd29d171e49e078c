"""Sections of the page on learned prototypes: pictures, metric, map, training."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets import own
from engine.core.gauges import gauges
from engine.papers.lvq import PAPER
from pages.ui.charts.figure import Floats, by_row
from pages.ui.charts.tiles import Layer, signed, tiles
from pages.ui.jobs.live import BUDGET
from pages.ui.paper.panels import raw_note
from pages.ui.paper.parts import Chart, Lines
from pages.ui.paper.series import DIVERGED, NotYetError, course, waiting
from pages.ui.paper.view import View
from pages.ui.papers.lvq import figures

Kept = Mapping[str, NDArray[Any]]

LOST = f"{DIVERGED} Try a smaller learning rate or a larger ε."
MATRIX = "gmlvq_dp"
METRIC = ("relevance", "eigenvalues", "eigenvectors")
"""The arrays that show what the metric looks at."""
SHORT = 3
"""Characters of a word that fits into a circle."""
FEATURES = 24
"""So many of the most relevant features are drawn where records are no images."""


def free(method: str) -> str:
    """The same descent without noise."""
    return PAPER.entry(method).twin or method


def kept(view: View, method: str) -> Kept | None:
    """A method's arrays at this budget, converged repetitions only; None if there are none."""
    sane = converged(view, method)
    arrays = view.watched[method].arrays
    return None if sane is None else {name: rows[sane] for name, rows in arrays.items()}


def converged(view: View, method: str) -> NDArray[np.bool_] | None:
    """The repetitions at this budget whose training converged; None if there are none."""
    one = view.watched[method]
    if not one.arrays or one.results is None:
        return None
    at = {BUDGET: view.budget} if view.spends(method) else {}
    points = np.asarray(one.arrays["prototypes"], np.float64)
    sane = one.results.rows(**at) & np.isfinite(points).all(axis=(1, 2))
    return sane if sane.any() else None


def both(view: View, method: str) -> tuple[Kept, Kept | None]:
    """A method's arrays, and those of the same without noise.

    Raises:
        NotYetError: The method has none.
    """
    private = kept(view, method)
    if private is None:
        raise NotYetError(missing(view, method))
    return private, kept(view, free(method))


def missing(view: View, method: str) -> str:
    """Why there is nothing to draw."""
    run = view.watched[method].run
    if run is not None and run.state == "completed" and not run.shipped:
        return LOST
    return waiting(view, method)


def tags(called: Sequence[str], labels: Iterable[int]) -> dict[int, str]:
    """What stands for each class on a chart: its word where all are short, or else its number."""
    short = called and max(map(len, called)) <= SHORT
    return {label: called[label] if short else str(label) for label in labels}


def named(labels: Sequence[int], called: Sequence[str] = ()) -> list[str]:
    """What each prototype is called, from its class and the words of the classes."""
    seen: dict[int, int] = {}
    names, drawn = [], tags(called, labels)
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        word = f", {called[label]}" if called and drawn[label] != called[label] else ""
        more = f" ({seen[label]})" if list(labels).count(label) > 1 else ""
        names.append(f"Class {drawn[label]}{word}{more}")
    return names


def learning(view: View) -> Lines:
    """The test error by step, live."""
    drawn = [course(view, method, "error") for method in (view.method, free(view.method))]
    if not any(drawn):
        raise NotYetError(missing(view, view.method))
    return Lines(drawn, {"gauge": gauges(view.entry.info)["error"].label})


def prototypes(view: View) -> Chart:
    """What the private method learned, beside the same without noise."""
    private, exact = both(view, view.method)
    ours = np.asarray(private["prototypes"][0], np.float64)
    theirs = None if exact is None else np.asarray(exact["prototypes"][0], np.float64)
    called = named(private["labels"][0].astype(int).tolist(), own.classes(view.data.name))
    pictured = view.data.image is not None
    if pictured:
        figure = _pictures(view, ours, theirs, called)
    elif theirs is not None:
        figure = figures.parallel(_features(view, ours.shape[1]), ours, theirs, called)
    else:
        raise NotYetError(waiting(view))
    facts = {"OFF": theirs is not None, "moved": _off(ours, theirs), "DOTTED": not pictured}
    apart = None if theirs is None else np.linalg.norm(ours - theirs, axis=1).round(3)
    rows = by_row({
        "Prototype": called,
        "Distance to the one without noise": [None] * len(called) if apart is None else apart,
        "Smallest value": ours.min(axis=1).round(3),
        "Largest value": ours.max(axis=1).round(3),
    })  # fmt: skip
    return Chart(figure, rows, facts)


def _pictures(view: View, ours: Floats, theirs: Floats | None, called: list[str]) -> Any:
    """Prototypes as images, the private ones above the noise-free ones."""
    assert view.data.image is not None
    shape = (len(ours), *view.data.image)
    private, exact = figures.grey(ours, theirs)
    layers = [Layer("with noise", private.reshape(shape))]
    if exact is not None:
        layers.append(Layer("no noise", exact.reshape(shape)))
    return tiles(layers, called)


def _off(ours: Floats, theirs: Floats | None) -> float:
    """How far noise moved the prototypes, in spreads of the noise-free ones."""
    if theirs is None:
        return 0.0
    moved = np.linalg.norm(ours - theirs, axis=1).mean()
    apart = np.linalg.norm(theirs - theirs.mean(axis=0), axis=1).mean() or 1.0
    return float(moved / apart)


def _features(view: View, d: int) -> list[str]:
    """Names of the features, or their numbers where the card has none."""
    known = view.data.features
    return list(known) if len(known) == d else [f"feature {i + 1}" for i in range(d)]


def relevance(view: View) -> Chart:
    """Which features GMLVQ's metric looks at, and its leading directions."""
    private, exact = both(view, MATRIX)
    layers = [("with noise", private)] + ([("no noise", exact)] if exact is not None else [])
    names = _features(view, private["relevance"].shape[1])
    share = np.asarray(private["eigenvalues"][0], np.float64)
    titles = ["weight", *(f"direction {i + 1}" for i in range(private["eigenvectors"].shape[1]))]
    if view.data.image is not None:
        drawn = [
            Layer(name, _parts(one).reshape(-1, *view.data.image), True) for name, one in layers
        ]
        many = len(titles) - 2  # in a narrow column the same word twice would touch itself
        figure = tiles(drawn, ["weight", "direction<br>1", *(f"<br>{i + 2}" for i in range(many))])
    else:
        top = np.argsort(-private["relevance"][0])[:FEATURES]
        columns = [
            (name, title.removeprefix("direction "), part[top])
            for name, one in layers
            for title, part in zip(titles, _parts(one), strict=True)
        ]
        figure = figures.weights([names[i] for i in top], columns)
    facts = {
        "share": share[0],
        "shares": ", ".join(f"{100 * v:.1f}" for v in share[:3]),
        "RAW": raw_note(PAPER.arrays, METRIC, without_noise=exact is not None),
    }
    rows = by_row({
        "Feature": names,
        "Weight with noise": private["relevance"][0],
        "Weight without noise": [None] * len(names) if exact is None else exact["relevance"][0],
    })  # fmt: skip
    return Chart(figure, rows, facts)


def _parts(one: Kept) -> Floats:
    """Relevances and directions as rows between -1 and 1."""
    rows = np.concatenate([one["relevance"][:1], one["eigenvectors"][0]]).astype(np.float64)
    return signed(rows)


def plane(view: View) -> Chart:
    """Records and prototypes as GMLVQ's metric sees them, flattened to two directions."""
    private, _ = both(view, MATRIX)
    points, anchors = (np.asarray(private[name][0], np.float64) for name in ("points", "anchors"))
    classes, labels = (private[name][0].astype(np.int64) for name in ("classes", "labels"))
    right = float((figures.nearest(points, anchors, labels) == classes).mean())
    called = own.classes(view.data.name)
    rows = [
        {
            "Class": called[label] if called else int(label),
            "First direction": float(x),
            "Second direction": float(y),
        }
        for label, (x, y) in zip(labels, anchors, strict=True)
    ]
    drawn = tags(called, {*classes.tolist(), *labels.tolist()})
    figure = figures.plane(points, classes, anchors, labels, drawn)
    wrong = _wrong(view, MATRIX)
    facts = {"READING": True, "right": right, "WHOLE": math.isfinite(wrong), "whole": 1.0 - wrong}
    return Chart(figure, rows, facts)


def _wrong(view: View, method: str) -> float:
    """The test error of the repetition that is drawn; not a number where it is not measured."""
    sane, results = converged(view, method), view.watched[method].results
    if sane is None or results is None:
        return float("nan")
    return float(results.gauges["error"][sane][0])
