"""Sections of the page on noise in training: classes, heat maps, and ten relevances to drag."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from datasets import catalog as data_catalog
from datasets import own
from engine.papers.enadpp import ratios
from engine.papers.enadpp.exhibits import FIGURE1
from engine.training.split import held_out_rows
from pages.ui import words
from pages.ui.charts import lines
from pages.ui.charts.figure import by_row
from pages.ui.charts.tiles import Layer, signed, tiles
from pages.ui.kit import fold
from pages.ui.paper.parts import Chart, Note
from pages.ui.paper.said import Named
from pages.ui.paper.series import look, needed, product
from pages.ui.paper.view import Page, View
from pages.ui.papers.enadpp import figures
from pages.ui.papers.enadpp import regions as enadpp_regions
from pages.ui.papers.enadpp.sections import ADAPTIVE, EXACT

CONNECTED = "adni"
"""The data set whose records are connections between regions of a brain."""
RULE = "enadpp.looks"
RULES = {"Positive parts": "relevance_z_plus", "All parts": "relevance_epsilon"}


def classes(view: View) -> Chart:
    """Share of right answers for each class, with and without privacy."""
    (shares,) = needed(view, view.method, "accuracy_by_class")
    at = _tested(view, shares.shape[1])
    private = lines.line(view.entry.label, look(view, view.method), at, shares.T[at])
    assert private is not None
    exact = product(view, EXACT, "accuracy_by_class")
    drawn = private.x.astype(np.int64)
    plain = None if exact is None else np.median(exact[:, drawn], axis=0)
    least, most = float(private.middle.min()), float(private.middle.max())
    facts = {
        "best": words.listed([str(k) for k in drawn[private.middle == most]]),
        "most": most,
        "worst": words.listed([str(k) for k in drawn[private.middle == least]]),
        "least": least,
        "LEFT": len(at) < shares.shape[1],
        "shown": Named("ONE" if len(shares) == 1 else "MANY"),
    }
    figure = figures.classes(private, plain, 1.0 / shares.shape[1])
    return Chart(figure, lines.rows([private], "Class"), facts)


def choose_rule(page: Page) -> None:
    """The choice of rule, in the sidebar."""
    data = data_catalog.card(page.chosen.dataset)
    if data.image is None and data.name != CONNECTED:
        return
    name = f"{'Connections' if data.image is None else 'Pixels'} behind an answer"
    place = fold.fold(name, ":material/image_search:", "enadpp.rules", [RULE])
    if place is None:
        return
    with place:
        st.segmented_control(
            name, list(RULES), default=next(iter(RULES)), required=True, key=RULE,
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
        st.caption(
            "Positive parts: what supported the answer (z-plus rule). All parts: also what counted "
            "against it (epsilon rule)."
        )


def _tested(view: View, count: int) -> NDArray[np.int64]:
    """The classes that have test records: all of a published table, not always all of one's own."""
    if not own.mine(view.data.name):
        return np.arange(count)
    y, beside = own.labels(view.data.name)
    tested = np.concatenate([beside, y[held_out_rows(len(y))]])
    return np.flatnonzero(np.bincount(tested, minlength=count)[:count])


def looks(view: View) -> Chart | Note:
    """Where the answer came from: pixels of an image of each class, or connections."""
    rule = RULES[str(st.session_state.get(RULE) or next(iter(RULES)))]
    (said,) = needed(view, view.method, "predicted")
    if view.data.image is None:
        connected = view.data.name == CONNECTED
        return enadpp_regions.connected(view, rule) if connected else Note("PLAIN")
    private, images = (product(view, view.method, name) for name in (rule, "images"))
    if private is None or images is None:
        return Note("WAVELETS")
    exact = product(view, EXACT, rule)
    maps = [("private", private[0]), *([("exact", exact[0])] if exact is not None else [])]
    side = view.data.image
    layers = [Layer("digit", signed(images[0]).reshape(-1, *side), hover="grey %{z:.2f}")] + [
        Layer(name, signed(one).reshape(-1, *side), True, "relevance %{z:.2f} of the largest")
        for name, one in maps
    ]
    text = [f"{k} → {v:.0f} {'✓' if v == k else '✗'}" for k, v in enumerate(said[0])]
    many = len(private)
    facts = {
        "rule": rule,
        "right": int((said[0] == np.arange(len(said[0]))).sum()),
        "of": len(text),
        "colour": Named("SIGNED" if rule == "relevance_epsilon" else "POSITIVE"),
        "shown": "One repetition" if many == 1 else f"One of {many} repetitions",
    }
    rows = by_row({"Digit": range(len(text)), "Read as": said[0].astype(int)})
    figure = tiles(layers, text, head=0.45, cell=74, size=13, toward=None)
    return Chart(figure, rows, facts, "heat")


def relevances(dataset: str) -> tuple[str, ...]:
    """What the ten sliders are called in the address."""
    return tuple(f"feature{i + 1}" for i in range(len(FIGURE1)))


def drag(page: Page) -> None:
    """Ten relevances to drag, in the sidebar."""
    names = relevances(page.chosen.dataset)
    for i, (name, start) in enumerate(zip(names, FIGURE1, strict=True)):
        st.slider(
            f"Feature {i + 1}", 0.0, 1.0, float(start), 0.01, key=f"enadpp.{name}",
            bind="query-params",
        )  # fmt: skip


def figure1(view: View) -> Chart:
    """Ten relevances, and what both methods make of them."""
    keys = [f"enadpp.{name}" for name in relevances(view.data.name)]
    values = [
        float(st.session_state.get(key, start)) for key, start in zip(keys, FIGURE1, strict=True)
    ]
    budgets = ratios.figure(np.array(values))
    names = {view.paper.entry(method).label: look(view, method) for method in ADAPTIVE}
    ends = {"ADPPL": budgets["share"], "EnADPP": budgets["EnADPP"]}
    shown = {name: f"{ends[name].min():.2f} to {ends[name].max():.2f}" for name in names}
    said = "Budget ratios range " + ", ".join(f"from {r} in {name}" for name, r in shown.items())
    rows = by_row({
        "Feature": range(1, len(values) + 1), "Relevance": values, **ends,
        "ADPPL as it is trained here": budgets["ADPPL"],
    })  # fmt: skip
    return Chart(figures.budget_ratios(budgets, names), rows, {"said": said})
