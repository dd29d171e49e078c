"""Sections of the page on noise in training: curves by step, clipping, ratios."""

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.gauges import gauges
from pages.ui import words
from pages.ui.charts import lines
from pages.ui.charts.lines import Line
from pages.ui.charts.theme import DASHES, MARKERS, Style, style
from pages.ui.jobs import live
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.series import SPREAD, course, look, product, waiting
from pages.ui.paper.view import View
from pages.ui.papers.enadpp import figures

Floats = NDArray[np.float64]

STEP = "Training step"
ADAPTIVE = ("enadpp", "adppl")
EXACT = "non_private"
SILENT = 1e8
"""Noise over signal beyond which there is no signal to speak of: all gradients are zero."""


def _revision(view: View, what: str) -> str:
    return f"{what}/{view.watched[view.method].job.id}"


def _last(drawn: list[Line], what: str, view: View) -> str:
    """Where the lines end, in one sentence."""
    ends = ", ".join(f"{one.label} {words.number(float(one.middle[-1]))}" for one in drawn)
    return f"{what} by step at epsilon {view.budget:g}; at the end: {ends}."


def learning(view: View) -> None:
    """Accuracy and loss by step, live."""
    for name in ("accuracy", "loss"):
        gauge = gauges(view.entry.info)[name]
        courses = [course(view, method, name) for method in (view.method, EXACT)]
        drawn = [one for one in courses if one is not None]
        if not drawn:
            st.markdown(waiting(view))
            return
        share: dict[str, Any] = {"tickformat": ".0%"} if gauge.unit == words.SHARE else {}
        figure = lines.lines(
            drawn, (STEP, f"{gauge.label}{words.unit(gauge)}"), _revision(view, name),
            log=gauge.scale == "log", **share,
        )  # fmt: skip
        rows = lines.rows(drawn, "Step")
        chart(f"enadpp.{name}", figure, _last(drawn, gauge.label, view), rows, view.budget)
    st.caption(f"{SPREAD} {RAW}")


def clipping(view: View) -> None:
    """How long gradients are, and how many of them are cut, step by step."""
    counts = product(view, view.method, "gradient_norm_counts")
    cut = course(view, view.method, "fraction_clipped")
    if cut is None:
        st.markdown(waiting(view))
        return
    if counts is not None:
        edges = view.watched[view.method].arrays["gradient_norm_edges"][0]
        _norms(view, counts.sum(axis=0), np.asarray(edges, np.float64))
    figure = lines.lines(
        [cut], (STEP, "Clipped gradients [%]"), _revision(view, "cut"), range=[-0.02, 1.02],
        tickformat=".0%", height=260,
    )  # fmt: skip
    said = _last([cut], "Fraction of clipped gradients", view)
    chart("enadpp.cut", figure, said, lines.rows([cut], "Step"), view.budget)
    st.caption(
        "Each record's gradient is clipped to the bound C. A small C loses information; a large C "
        "needs more noise. The first bar of the histogram holds all gradients that are shorter "
        f"than its right edge. {RAW}"
    )


def _norms(view: View, counts: Floats, edges: Floats) -> None:
    """The histogram of lengths at the end of training."""
    share = 100.0 * counts / max(float(counts.sum()), 1.0)
    long = float(share[edges[:-1] >= 1.0].sum())
    rows = [
        {"From [C]": float(edges[i]), "To [C]": float(edges[i + 1]), "Records [%]": float(share[i])}
        for i in np.flatnonzero(share)
    ]
    said = f"After training, {long:.0f} of 100 records have a gradient above the bound."
    st.markdown(said)
    figure = figures.norms(counts, edges, _bound(view), _revision(view, "norms"))
    chart("enadpp.norms", figure, said, rows, view.budget)


def _bound(view: View) -> str:
    """The bound of the chosen method, in words."""
    values = vars(view.spec)
    absolute = view.method in ADAPTIVE and (
        values["calibration"] == "paper" or values["noise"] == "laplace"
    )
    bound, norm = (values["clip_l1"], "L1") if absolute else (values["clip"], "L2")
    return f"bound C = {words.number(bound)} ({norm})"


def neurons(view: View) -> None:
    """The budget ratios of both adaptive methods, sorted."""
    drawn = [one for method in ADAPTIVE for one in _ratios(view, method)]
    if not drawn:
        st.markdown(waiting(view))
        return
    floor = float(vars(view.spec)["alpha_min"])
    figure = lines.lines(
        drawn, ("Neurons of the layer by rank [%]", "Budget ratio α"), _revision(view, "alpha"),
        height=380, range=[0, 1.05], under=True,
        rule=(floor, f"smallest allowed: {floor:g}"),
    )  # fmt: skip
    least = ", ".join(f"{one.label} {words.number(float(one.middle[-1]), 2)}" for one in drawn)
    said = f"Budget ratios from the largest to the smallest neuron; the smallest are {least}."
    chart("enadpp.alpha", figure, said, lines.rows(drawn, "Rank [%]"), view.budget)
    other = "" if view.method in ADAPTIVE else f" {view.entry.label} uses α = 1 for all neurons."
    st.caption(
        "A neuron with budget ratio α gets 1/α times the noise. Both methods rank neurons by their "
        "share in the answer; EnADPP stretches the ratios from 0 to 1, and both stop at the "
        "smallest one allowed. The output layer has α = 1."
        f"{other} {SPREAD}{_clear(view)}"
    )


def _clear(view: View) -> str:
    """As printed, the ratios come from the records without noise."""
    return f" {RAW}" if vars(view.spec)["calibration"] == "paper" else ""


def _ratios(view: View, method: str) -> list[Line]:
    """One line for each hidden layer of a method."""
    courses, layer = [], 1
    while (alpha := product(view, method, f"alpha_{layer}")) is not None:
        ranked = np.sort(alpha, axis=1)[:, ::-1].T
        x = 100.0 * (np.arange(len(ranked)) + 1) / len(ranked)
        label = f"{view.watched[method].label}, layer {layer}"
        own = Style(look(view, method).colour, DASHES[layer - 1], MARKERS[layer - 1])
        courses.append(lines.line(label, own, x, ranked))
        layer += 1
    return [one for one in courses if one is not None]


def layers(view: View) -> None:
    """Noise over signal by step, in all layers together and in each."""
    whole = course(view, view.method, "noise_to_signal")
    if whole is None:
        st.markdown(waiting(view))
        return
    drawn = [Line("all layers", *(vars(whole)[k] for k in ("style", "x", "middle", "low", "high")))]
    parts = product(view, view.method, "noise_to_signal_layers")
    steps, _ = live.history(view.watched[view.method], "noise_to_signal")
    silent = parts is not None and bool((parts > SILENT).any())
    if parts is not None and parts.shape[1] == len(steps) and parts.shape[2] > 1:
        for k in range(parts.shape[2]):
            own = Style(style(k + 6).colour, DASHES[(k + 1) % len(DASHES)], MARKERS[k + 1])
            name = f"layer {k + 1}" + (" (output)" if k + 1 == parts.shape[2] else "")
            heard = np.where(parts[:, :, k] > SILENT, np.nan, parts[:, :, k])
            one = lines.line(name, own, steps, heard.T)
            drawn += [one] if one is not None else []
    figure = lines.lines(
        drawn, (STEP, "Noise to signal [times]"), _revision(view, "layers"), log=True, height=380,
        rule=(1.0, "noise = signal"),
    )  # fmt: skip
    end = words.number(float(whole.middle[-1]), 2)
    said = (
        f"{view.entry.label} at ε = {view.budget:g}: the noise in the last step is {end} times "
        "the signal."
    )
    st.markdown(said)
    chart("enadpp.layers", figure, said, lines.rows(drawn, "Step"), view.budget)
    st.caption(
        "Length of the noise over the length of the batch's clipped gradients. Above the line "
        "*noise = signal* a single step is mostly noise; over many steps some of it averages out. "
        + ("Layers without any gradient are not drawn. " if silent else "")
        + f"{SPREAD} {RAW}"
    )
