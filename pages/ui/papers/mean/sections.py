"""Sections of the page on the private mean: the histogram, and bias against noise."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.gauges import gauges
from engine.intervals import SHARE
from engine.papers.mean.spec import UNIT
from pages.ui import words
from pages.ui.charts.measured import curve
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.pays import quoted
from pages.ui.paper.series import product, waiting
from pages.ui.paper.view import View
from pages.ui.papers.mean import figures

Floats = NDArray[np.float64]

PARTS = ("bias", "deviation", "expected")


def histogram(view: View) -> None:
    """The counts of one repetition, with and without noise."""
    arrays = [
        product(view, view.method, name) for name in ("histogram", "histogram_exact", "edges")
    ]
    if any(one is None for one in arrays):
        st.markdown(waiting(view))
        return
    noisy, exact, edges = (one[0] for one in arrays if one is not None)
    wrong = float(np.abs(noisy - exact).mean())
    said = (
        f"At ε = {view.budget:g} a bin is off by {words.number(wrong, 2)} of "
        f"{words.number(float(exact.sum()))} records on average."
    )
    st.markdown(said)
    run = view.watched[view.method].job.id
    low, high = (float(exact.sum()) * end for end in _ends(view))
    drawn = figures.histogram(noisy, exact, edges, f"histogram/{run}", (low, high))
    rows = [
        {"From": float(edges[i]), "To": float(edges[i + 1]), "Published": float(noisy[i]),
         "At least": float(low[i]), "At most": float(high[i]), "Without noise": float(exact[i])}
        for i in range(len(noisy))
    ]  # fmt: skip
    chart("mean.histogram", drawn, said, rows, view.budget)
    st.caption(
        "Bars: the published counts of one repetition; noise can make them negative. Outline: "
        "the counts without noise. Whiskers: 95 % intervals for as many records of the population, "
        "which count who happened to be drawn and the noise. The last bin includes the values that "
        f"are clipped to B. {RAW}"
    )


def _ends(view: View) -> tuple[Floats, Floats]:
    """Where the interval of each bin's share begins and ends, of the repetition that is drawn."""
    found = [one for one in quoted(view) if one.unit == SHARE]
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    return low, high


def parts(view: View) -> None:
    """The two parts of the expected error over all budgets: bias by clipping, and noise."""
    results = view.watched[view.method].results
    kinds = gauges(view.entry.info)
    bands = [] if results is None else [
        curve(results, name, kinds[name].label, i) for i, name in enumerate(PARTS)
    ]  # fmt: skip
    at = bands[0].at(view.budget) if bands else None
    if at is None:
        st.markdown(waiting(view))
        return
    bias, noise, _ = (words.amount(one.middle[at], kinds[PARTS[0]]) for one in bands)
    said = (
        f"At ε = {view.budget:g} clipping lowers the mean by {bias} {UNIT}; the noise has a "
        f"standard deviation of {noise} {UNIT}."
    )
    st.markdown(said)
    run = view.watched[view.method].job.id
    drawn = figures.parts(bands, view.budget, f"parts/{run}")
    rows = [
        {"Part": one.label, "ε": epsilon, f"Median [{UNIT}]": middle}
        for one in bands
        for epsilon, middle in zip(one.epsilon, one.middle, strict=True)
    ]
    chart("mean.parts", drawn, said, rows, view.budget)
    st.caption(
        "The expected error is the root of bias² + variance. Where the bias is larger, raise B; "
        f"where the noise is larger, lower B or use more records. {RAW}"
    )
