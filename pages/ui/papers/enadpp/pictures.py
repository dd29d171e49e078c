"""Sections of the page on noise in training: classes, heat maps, and ten relevances to drag."""

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from datasets import catalog as data_catalog
from engine.papers.enadpp import ratios
from engine.papers.enadpp.exhibits import FIGURE1
from pages.ui import words
from pages.ui.charts import lines
from pages.ui.charts.heat import heat
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.series import look, product, waiting
from pages.ui.paper.view import Page, View
from pages.ui.papers.enadpp import figures
from pages.ui.papers.enadpp import regions as enadpp_regions
from pages.ui.papers.enadpp.sections import ADAPTIVE, EXACT


def classes(view: View) -> None:
    """Share of right answers for each class, with and without privacy."""
    shares = product(view, view.method, "accuracy_by_class")
    if shares is None:
        st.markdown(waiting(view))
        return
    label, at = view.entry.label, np.arange(shares.shape[1])
    private = lines.line(label, look(view, view.method), at, shares.T)
    assert private is not None
    exact = product(view, EXACT, "accuracy_by_class")
    plain = None if exact is None else np.median(exact, axis=0)
    least, most = float(private.middle.min()), float(private.middle.max())
    worst, best = (_classes(private.middle, share) for share in (least, most))
    said = (
        f"{label} at ε = {view.budget:g} is right most often for {best} "
        f"({100 * most:.0f}\u00a0%), least often for {worst} ({100 * least:.0f}\u00a0%)."
    )
    st.markdown(said)
    figure = figures.classes(private, plain, 1.0 / shares.shape[1])
    chart("enadpp.classes", figure, said, lines.rows([private], "Class"), view.budget)
    shown = "One repetition." if len(shares) == 1 else "Whiskers: the middle 80 % of them."
    st.caption(
        f"Share of each class's test records that are classified correctly. {shown} Noise often "
        f"costs some classes more than others. {RAW}"
    )


RULE = "enadpp.looks"
RULES = {"Positive parts": "relevance_z_plus", "All parts": "relevance_epsilon"}


def rules(dataset: str) -> tuple[str, ...]:
    """What the choice of rule is called in the address."""
    return ("looks",)


def choose_rule(page: Page) -> None:
    """The choice of rule, in the sidebar."""
    seen = "Connections" if data_catalog.card(page.chosen.dataset).image is None else "Pixels"
    st.segmented_control(
        f"{seen} behind an answer", list(RULES), default=next(iter(RULES)), required=True,
        key=RULE, bind="query-params",
        help="Positive parts: what supported the answer (z-plus rule). All parts: also what "
        "counted against it (epsilon rule).",
    )  # fmt: skip


def _classes(shares: NDArray[Any], share: float) -> str:
    """The classes with this share of correct answers, listed."""
    return words.listed([str(k) for k in np.flatnonzero(shares == share)])


def looks(view: View) -> None:
    """Where the answer came from: pixels of an image of each class, or connections."""
    rule = str(st.session_state.get(RULE) or next(iter(RULES)))
    private = product(view, view.method, RULES[rule])
    images, said = (product(view, view.method, name) for name in ("images", "predicted"))
    if said is None:
        st.markdown(waiting(view))
        return
    if view.data.image is None:
        enadpp_regions.show(view, RULES[rule])
        return
    if private is None or images is None:
        st.markdown(
            f":material/image_not_supported: {view.entry.label} uses wavelet features here, which "
            "cannot be drawn as an image. Choose pixels under *More settings*, or another method."
        )
        return
    exact = product(view, EXACT, RULES[rule])
    maps = [("private", private[0]), *([("exact", exact[0])] if exact is not None else [])]
    shown = "One repetition" if len(private) == 1 else f"One of {len(private)} repetitions"
    right = int((said[0] == np.arange(len(said[0]))).sum())
    text = [f"{k} → {v:.0f} {'✓' if v == k else '✗'}" for k, v in enumerate(said[0])]
    alt = (
        f"One test digit of each class above the pixels that its answer came from; "
        f"{right} of {len(text)} are classified correctly."
    )
    signed = RULES[rule] == "relevance_epsilon"
    colour = (
        "One colour marks pixels for it, the other pixels against it."
        if signed
        else "Colour: how much a pixel supported the answer."
    )
    rows = [{"Digit": k, "Read as": int(v)} for k, v in enumerate(said[0])]
    chart("enadpp.heat", heat(images[0], maps, text, f"heat/{rule}"), alt, rows, view.budget)
    st.caption(
        f"Above each digit: its class → the answer of {view.entry.label}. Below it: the pixels "
        f"behind this answer, with privacy and without. {colour} {shown}. {RAW}"
    )


def relevances(dataset: str) -> tuple[str, ...]:
    """What the ten sliders are called in the address."""
    return tuple(f"feature{i + 1}" for i in range(len(FIGURE1)))


def drag(page: Page) -> None:
    """Ten relevances to drag, in the sidebar."""
    with st.expander("Ten relevances to try", icon=":material/equalizer:"):
        for i, name in enumerate(relevances(page.chosen.dataset)):
            st.slider(
                f"Feature {i + 1}", 0.0, 1.0, float(FIGURE1[i]), 0.01, key=f"enadpp.{name}",
                bind="query-params",
            )  # fmt: skip


def figure1(view: View) -> None:
    """Ten relevances, and what both methods make of them."""
    keys = [f"enadpp.{name}" for name in relevances(view.data.name)]
    values = [
        float(st.session_state.get(key, start)) for key, start in zip(keys, FIGURE1, strict=True)
    ]
    budgets = ratios.figure(np.array(values))
    names = {view.paper.entry(method).label: look(view, method) for method in ADAPTIVE}
    shown = {name: f"{budgets[name].min():.2f} to {budgets[name].max():.2f}" for name in names}
    said = "Budget ratios range " + ", ".join(f"from {r} in {name}" for name, r in shown.items())
    rows = [
        {"Feature": i + 1, "Relevance": values[i]} | {k: float(v[i]) for k, v in budgets.items()}
        for i in range(len(values))
    ]
    st.markdown(f"{said}. Change the ten relevances in the sidebar.")
    figure = figures.budget_ratios(budgets, names)
    chart("enadpp.figure1", figure, f"{said}.", rows, view.budget)
    st.caption(
        "Figure 1 of the paper, computed from the ten relevances alone. Both methods rank features "
        "in the same order (unless one holds more than 37 % of all relevance). EnADPP always "
        "stretches the ratios from 0 to 1. A ratio of 0 would need infinite noise, so the settings "
        "have a smallest ratio."
    )
