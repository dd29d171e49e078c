"""The share of releases that fail: a median hides them where a method either works or does not."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.ui.charts import lines
from pages.ui.charts.figure import Figure
from pages.ui.charts.lines import Line
from pages.ui.charts.measured import Curve
from pages.ui.kit.chart import chart
from pages.ui.paper import drawing
from pages.ui.paper.view import View
from pages.ui.words import listed

TITLE = "Releases that fail"
NOTE = (
    "A release fails if it is no better than guessing. The cost curve has a cross where one in ten "
    "or more fails: the median there hides that some releases work and others do not."
)


def section(view: View) -> None:
    """The share by privacy budget, for the lines in colour of which a part fails somewhere."""
    curves, _ = drawing.shown(view)
    some = [one for one in curves.values() if one.focus and one.before is None and any(one.partly)]
    if not some:
        return
    st.subheader(TITLE, anchor=False)
    said = _said(some, view.budget)
    st.markdown(said)
    drawn = [_line(one) for one in some]
    chart(f"{view.paper.slug}.failing", _figure(drawn), said, lines.rows(drawn, "ε"), view.budget)
    st.caption(NOTE)


def _said(some: Sequence[Curve], budget: float) -> str:
    """How many releases of each fail at the budget."""
    at = [(one.label, one.failed[i]) for one in some if (i := one.at(budget)) is not None]
    counts = [f"{label} **{100.0 * share:.0f}**" for label, share in at]
    return f"At ε = {budget:g}, of 100 releases so many fail: {listed(counts)}."


def _line(one: Curve) -> Line:
    share = 100.0 * np.array(one.failed)
    return Line(one.label, one.style, np.array(one.epsilon), share, share, share)


def _figure(drawn: Sequence[Line]) -> Figure:
    titles = "", "Releases that fail [%]"
    made = lines.lines(drawn, titles, across="budgets", range=[-2.0, 102.0])
    made.layout["uirevision"] = "failing"
    return made
