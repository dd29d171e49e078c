"""The section on two groups: their private survival, the log-rank test, and its power."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.papers.survival.price.compared import power
from engine.papers.survival.spec import SurvivalSpec
from pages.ui import words
from pages.ui.charts.lines import Line, lines, rows
from pages.ui.charts.theme import budget_axis, style
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import chart
from pages.ui.paper.series import chosen
from pages.ui.paper.view import View
from pages.ui.papers.survival.people import unit_of

METHOD = "log_rank"
RATIOS = (1.25, 1.5, 2.0)
"""Hazard ratios whose detection is drawn."""
LEVEL = 0.05


def compared(view: View) -> None:
    """What the test found, and how often it finds a difference at each budget."""
    st.markdown(_found(view))
    spec = view.watched[METHOD].job.spec()
    assert isinstance(spec, SurvivalSpec)
    budgets = [float(one) for one in view.watched[METHOD].job.axes.get(BUDGET, (view.budget,))]
    drawn = [_line(view, spec, ratio, i, budgets) for i, ratio in enumerate(RATIOS)]
    figure = lines(
        drawn, ("Privacy budget ε", "Finds the difference in [% of studies]"), "power", height=380
    )
    figure.layout["xaxis"] = budget_axis(min(budgets), max(budgets))
    at = [
        power(spec.replace(epsilon=view.budget), view.data.records, _events(view), ratio)
        for ratio in RATIOS
    ]
    said = f"At ε = {view.budget:g} the test finds " + words.listed([
        f"a hazard ratio of {ratio:g} in {100.0 * one:.0f} %"
        for ratio, one in zip(RATIOS, at, strict=True) if np.isfinite(one)
    ]) + " of studies."  # fmt: skip
    if not np.isfinite(at).all():
        said = (
            f"At ε = {view.budget:g} there are too few records for a test with so many intervals."
        )
    chart("survival.power", figure, said, rows(drawn, "ε"), view.budget)
    st.markdown(said)
    st.caption(
        "For two groups of equal size, as many records and events as this table has, and a test at "
        "the level of 5 %. It is worked out before any record is looked at."
    )


def _found(view: View) -> str:
    """The private test of the two groups, in a sentence."""
    one = view.watched[METHOD]
    column = int(one.job.values.get("group", 2)) - 1
    if column >= len(view.data.features):
        return "There is no such covariate: choose another one for the two groups."
    name, at = unit_of(view.data, column), chosen(view, METHOD)
    if one.results is None or not len(at):
        return f"The groups differ in {name}. The test appears as soon as it is run."
    p, score = (float(one.results.gauges[kind][at[0]]) for kind in ("p_value", "statistic"))
    if not np.isfinite(p):
        return "Noise hides too much for a test: use fewer intervals or a larger ε."
    differs = "differ" if p < LEVEL else "are not shown to differ"
    return (
        f"By one private release at ε = {view.budget:g}, groups above and below the middle of "
        f"{name} **{differs}** in survival: p = {words.number(p, 2)}, {abs(score):.1f} standard "
        "errors, which count the noise."
    )


def _line(view: View, spec: SurvivalSpec, ratio: float, place: int, budgets: list[float]) -> Line:
    """How often a hazard ratio is found at each budget."""
    found: NDArray[np.float64] = 100.0 * np.array([
        power(spec.replace(epsilon=at), view.data.records, _events(view), ratio) for at in budgets
    ])  # fmt: skip
    kept = np.isfinite(found)
    x, y = np.array(budgets)[kept], found[kept]
    return Line(f"Hazard ratio {ratio:g}", style(place), x, y, y, y)


def _events(view: View) -> int:
    """The events of the table, which its card lists; half of the records where it does not."""
    return view.data.events or view.data.records // 2
