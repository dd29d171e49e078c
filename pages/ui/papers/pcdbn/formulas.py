"""Sections of the page on deep belief networks that are formulas alone: nothing is trained."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from engine.papers.dbn.pcdbn import sensitivity
from engine.papers.dbn.pcdbn.sensitivity import Layer
from engine.papers.dbn.price import layer_budgets
from engine.training import polynomials as poly
from engine.training.split import trained
from pages.ui.charts.figure import by_row
from pages.ui.charts.size import against
from pages.ui.paper.parts import Abreast, Chart, Part, Table
from pages.ui.paper.view import Page, View
from pages.ui.papers.pcdbn import figures
from pages.ui.papers.pcdbn.figures import Shape
from pages.ui.papers.pcdbn.sections import OWN
from pages.ui.words import number

FUNCTION = "pcdbn.try_f"
ORDERS, COUNTS, WINDOWS = (1, 2, 3, 5, 7), (1, 2, 4, 8, 16, 32, 64), (3, 5, 7)
"""What sensitivities are drawn against, besides what is chosen."""
LAYERS = 2
"""Convolution layers, which share their part of ε."""
LONGEST = 9
"""Lemma 3 is drawn up to this degree."""
ROUNDING = 1e-14
"""Coefficients below are zero by symmetry."""
LEMMA2, EVERY, STATES, PROGRAM = (
    "Lemma 2", "Lemma 2, all K groups", "Equation 28", "Published program"
)  # fmt: skip


def try_out(page: Page) -> None:
    """An activation, in the sidebar; it trains nothing."""
    st.selectbox(
        "Activation function", list(poly.ACTIVATIONS), key=FUNCTION, bind="query-params",
        help="Changes the charts of polynomials on the *Why* tab. Nothing is trained.",
    )  # fmt: skip


def _tried() -> str:
    """The activation that is tried."""
    return str(st.session_state.get(FUNCTION) or "sigmoid")


def polynomials(view: View) -> Chart:
    """Every approximation of the chosen activation, and its error."""
    name, degree = _tried(), view.setting(OWN).degree
    x = np.linspace(-1.0, 1.0, 121)
    fits = poly.fits(name, degree)
    shapes = [
        Shape(fit.name, np.polynomial.Polynomial(fit.coefficients)(x), fit.error) for fit in fits
    ]
    worst, best = max(fits, key=lambda f: f.error), min(fits, key=lambda f: f.error)
    rows = by_row({
        "Polynomial": [fit.name for fit in fits],
        "Largest error": [fit.error for fit in fits],
        "Coefficients, constant first": [", ".join(map(number, fit.coefficients)) for fit in fits],
    })  # fmt: skip
    facts = {
        "name": name, "best": best.name, "least": best.error, "worst": worst.name,
        "most": worst.error,
    }  # fmt: skip
    figure = figures.polynomials(x, name, poly.activation(name)(x), shapes)
    return Chart(figure, rows, facts)


def bounds(view: View) -> Chart:
    """Lemma 3's bounds beside the measured error, by degree."""
    name, degree = _tried(), view.setting(OWN).degree
    orders = list(range(1, LONGEST + 1))
    lemmas = [poly.lemma3(name, order) for order in orders]
    parts = {
        "upper bound": [one.upper for one in lemmas],
        "measured": [one.measured for one in lemmas],
        "lower bound": [one.lower if one.lower > ROUNDING else 0.0 for one in lemmas],
    }
    here = lemmas[degree - 1]
    rows = by_row({"L": orders, **parts})
    facts = {"name": name, "degree": degree, "measured": here.measured, "upper": here.upper}
    titles = ("Degree L", "Largest error of one unit")
    return Chart(against(orders, parts, titles, degree, height=560), rows, facts)


def _layer(view: View) -> Layer:
    """The first layer on this data set, with the sizes that are chosen."""
    own, (side, _) = view.setting(OWN), view.data.image or (28, 28)
    return Layer(side, own.filter_size, own.degree, own.polynomial)


def _deltas(layer: Layer, filters: int) -> dict[str, float]:
    return {
        LEMMA2: sensitivity.lemma2(layer),
        EVERY: sensitivity.groups(layer, filters),
        STATES: sensitivity.equation28(layer),
        PROGRAM: sensitivity.released(layer),
    }


def sensitivities(view: View) -> list[Part]:
    """Each reading of the sensitivity against L, K and N_W, and what signal it leaves."""
    layer, filters = _layer(view), view.setting(OWN).filters
    degree, size = layer.degree, layer.size
    sweeps = {
        "L": ("Degree L", degree, {o: (replace(layer, degree=o), filters)
                                   for o in sorted({*ORDERS, degree})}),
        "K": ("Filters K", filters, {k: (layer, k) for k in sorted({*COUNTS, filters})}),
        "N": ("Filter size [pixels]", size, {s: (replace(layer, size=s), filters)
                                             for s in sorted({*WINDOWS, size})}),
    }  # fmt: skip
    drawn = [_swept(place, *sweep) for place, sweep in sweeps.items()]
    return [Abreast(drawn), _implied(view, layer, filters)]


def _swept(place: str, title: str, chosen: int, cases: Mapping[int, tuple[Layer, int]]) -> Chart:
    """Each reading against one size."""
    by_case = {at: _deltas(*case) for at, case in cases.items()}
    lines = {name: [one[name] for one in by_case.values()] for name in by_case[chosen]}
    titles = (title, "Sensitivity Δ")
    figure = against(list(by_case), lines, titles, chosen, height=400, log=place == "K")
    deltas = ", ".join(f"{name} {number(value)}" for name, value in by_case[chosen].items())
    rows = [{title: at} | one for at, one in by_case.items()]
    facts = {"place": place, "title": title, "chosen": chosen, "deltas": deltas}
    return Chart(figure, rows, facts, "delta")


def _implied(view: View, layer: Layer, filters: int) -> Table:
    """Each sensitivity, its noise, and the largest signal over it.

    By the text each convolution layer has its share of ε; the program gives all of it to each.
    """
    own, n = view.setting(OWN), trained(view.data.records)
    share, _ = layer_budgets(view.budget, own.layer_share, LAYERS)
    rows = []
    for name, delta in _deltas(layer, filters).items():
        budget, many = (view.budget, min(own.batch, n)) if name == PROGRAM else (share, n)
        signal = _largest_numerator(layer) if name == PROGRAM else _largest_coefficient(layer)
        noise = math.sqrt(2.0) * delta / (budget * many)
        rows.append({
            "Reading": name, "Sensitivity Δ": number(delta),
            "Noise on the average": number(noise), "Signal over noise": number(signal / noise),
        })  # fmt: skip
    many = sensitivity.monomials(layer.size, layer.degree)
    facts = {
        "side": layer.side, "degree": layer.degree, "size": layer.size, "many": many,
        "records": n, "share": share, "whole": view.data.records,
        "ACTIVATION": own.activation != "sigmoid",
    }  # fmt: skip
    return Table(rows, facts, bare=True)


def _largest_coefficient(layer: Layer) -> float:
    r"""The largest of the coefficients that have noise as printed, of a white image at |X| = 1.

    Each of the N_H^2 positions adds \alpha_l to that of order l.
    """
    alpha = np.abs(poly.coefficients(layer.polynomial, layer.degree))
    return float(layer.hidden**2 * alpha.max())


def _largest_numerator(layer: Layer) -> float:
    """The largest of the constants that the published program adds noise to.

    Those of a printed polynomial are written over a power of two, and the noise goes above it.
    """
    alpha = np.abs(poly.coefficients(layer.polynomial, layer.degree))
    if layer.polynomial != "printed":
        return float(alpha.max())
    over = next(2.0**k for k in range(1, 10) if np.allclose(alpha * 2.0**k % 1.0, 0.0))
    return float(alpha.max() * over)
