"""Sections of the page on noise in training: curves by step, clipping, ratios, other tables."""

from dataclasses import replace
from html import escape

import numpy as np
import streamlit as st

from engine.core.gauges import gauges
from engine.papers.enadpp.variants import VARIANTS
from engine.runs import reference
from engine.runs.exhibit import Exhibit, exhibits
from pages.ui import words
from pages.ui.charts import lines
from pages.ui.charts.figure import Floats, by_row
from pages.ui.charts.lines import Line
from pages.ui.charts.theme import DASHES, MARKERS, Style, style
from pages.ui.jobs import live
from pages.ui.kit import address
from pages.ui.kit.access import troubles
from pages.ui.kit.root import rooted
from pages.ui.paper.parts import Chart, Lines, Part, Widgets
from pages.ui.paper.said import Named
from pages.ui.paper.series import course, look, product
from pages.ui.paper.view import View
from pages.ui.papers.enadpp import figures

ADAPTIVE = ("enadpp", "adppl")
EXACT = "non_private"
SILENT = 1e8
"""Noise over signal beyond which there is no signal to speak of: all gradients are zero."""
SLUG = "enadpp"


def learning(view: View) -> list[Lines]:
    """Accuracy and loss by step, live."""
    return [_learned(view, name) for name in ("accuracy", "loss")]


def _learned(view: View, name: str) -> Lines:
    gauge = gauges(view.entry.info)[name]
    share = {"tickformat": ".0%"} if gauge.unit == words.SHARE else {}
    return Lines(
        [course(view, method, name) for method in (view.method, EXACT)],
        {"gauge": gauge.label, "unit": words.unit(gauge)},
        name,
        {"log": gauge.scale == "log", **share},
    )


def clipping(view: View) -> list[Part] | None:
    """How long gradients are, and how many of them are cut, step by step."""
    counts = product(view, view.method, "gradient_norm_counts")
    cut = course(view, view.method, "fraction_clipped")
    if cut is None:
        return None
    parts: list[Part] = []
    if counts is not None:
        edges = view.watched[view.method].arrays["gradient_norm_edges"][0]
        parts.append(_norms(view, counts.sum(axis=0), np.asarray(edges, np.float64)))
    return [*parts, Lines([cut], {"what": Named(_rule(view))}, "cut")]


def _norms(view: View, counts: Floats, edges: Floats) -> Chart:
    """The histogram of lengths at the end of training."""
    share = 100.0 * counts / max(float(counts.sum()), 1.0)
    held = np.flatnonzero(share)
    rows = by_row({"From [C]": edges[held], "To [C]": edges[held + 1], "Records [%]": share[held]})
    facts = {"long": share[edges[:-1] >= 1.0].sum()}
    figure = figures.norms(counts, edges, _bound(view), rescaled=_rule(view) == "RESCALED")
    return Chart(figure, rows, facts, "norms")


def _rule(view: View) -> str:
    """How the chosen method treats a record's gradient, as the layout names it."""
    rule = VARIANTS[view.method].clipping(view.spec.clipping)
    return {"automatic": "RESCALED", "adaptive": "MOVING"}.get(rule, "FIXED")


def _bound(view: View) -> str:
    """The bound of the chosen method, in words."""
    spec = view.spec
    if (final := product(view, view.method, "clipping_bound")) is not None:
        return f"final bound C = {words.number(float(np.median(final)), 2)} (L2)"
    absolute = view.method in ADAPTIVE and (spec.calibration == "paper" or spec.noise == "laplace")
    bound, norm = (spec.clip_l1, "L1") if absolute else (spec.clip, "L2")
    return f"bound C = {words.number(bound)} ({norm})"


def neurons(view: View) -> Lines:
    """The budget ratios of both adaptive methods, sorted."""
    drawn = [one for method in ADAPTIVE for one in _ratios(view, method)]
    floor = float(view.spec.alpha_min)
    least = (f"{one.label} {words.number(float(one.middle[-1]), 2)}" for one in drawn)
    facts = {
        "least": ", ".join(least),
        "FLOOR": view.spec.calibration == "paper",
        "floor": floor,
        "OTHER": view.method not in ADAPTIVE,
        "CLEAR": view.spec.calibration == "paper",  # then no noise is in the ratios
    }
    return Lines(drawn, facts, more={"rule": (floor, f"smallest allowed: {floor:g}")})


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


def layers(view: View) -> Lines | None:
    """Noise over signal by step, in all layers together and in each."""
    whole = course(view, view.method, "noise_to_signal")
    if whole is None:
        return None
    drawn: list[Line | None] = [replace(whole, label="all layers")]
    parts = product(view, view.method, "noise_to_signal_layers")
    steps, _ = live.history(view.watched[view.method], "noise_to_signal")
    if parts is not None and parts.shape[1] == len(steps) and parts.shape[2] > 1:
        for k in range(parts.shape[2]):
            own = Style(style(k + 6).colour, DASHES[(k + 1) % len(DASHES)], MARKERS[k + 1])
            name = f"layer {k + 1}" + (" (output)" if k + 1 == parts.shape[2] else "")
            heard = np.where(parts[:, :, k] > SILENT, np.nan, parts[:, :, k])
            drawn.append(lines.line(name, own, steps, heard.T))
    silent = parts is not None and bool((parts > SILENT).any())
    return Lines(drawn, {"end": whole.middle[-1], "SILENT": silent})


def beside(view: View) -> list[Widgets]:
    """A line for each table that is not the paper's own."""
    return [Widgets(_lines)]


def _lines() -> None:
    for exhibit in exhibits(SLUG).values():
        if exhibit.beside:
            link = rooted(address.exhibit(SLUG, exhibit.title))
            anchor = f'<a href="{link}" target="_self">{escape(exhibit.title)}</a>'
            st.markdown(f"{anchor}: {_said(exhibit)}", unsafe_allow_html=True)


def _said(exhibit: Exhibit) -> str:
    """Its result, from what ships."""
    ships = None
    with troubles():
        ships = reference.load(SLUG, exhibit.name, reference.FOLDER)
    return exhibit.says(ships.cells if ships else ())
