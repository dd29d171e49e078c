"""The section on two groups: their private survival, the log-rank test, and its power."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from datasets import own
from engine.papers.survival.price.compared import power
from engine.papers.survival.spec import SurvivalSpec
from engine.runs.job import refusal
from pages.ui import words
from pages.ui.charts.figure import Figure
from pages.ui.charts.lines import Line
from pages.ui.charts.theme import budget_axis, style
from pages.ui.jobs.live import BUDGET
from pages.ui.paper.parts import Lines, Note, Part
from pages.ui.paper.said import Named
from pages.ui.paper.series import chosen
from pages.ui.paper.view import View
from pages.ui.papers.survival.people import unit_of

METHOD = "log_rank"
RATIOS = (1.25, 1.5, 2.0)
"""Hazard ratios whose detection is drawn."""
LEVEL = 0.05


def compared(view: View) -> list[Part] | Note:
    """What the test found, and how often it finds a difference at each budget."""
    if refusal(view.paper.entry(METHOD), view.data.name):
        return Note("VARYING")
    spec = view.setting(METHOD)
    budgets = [float(one) for one in view.watched[METHOD].job.axes.get(BUDGET, (view.budget,))]
    drawn = [_line(view, spec, ratio, i, budgets) for i, ratio in enumerate(RATIOS)]
    found = [one for one in drawn if len(one.x)]
    at = [_power(view, spec, view.budget, ratio) for ratio in RATIOS]
    ratios = words.listed([
        f"a hazard ratio of {ratio:g} in {100.0 * one:.0f} %"
        for ratio, one in zip(RATIOS, at, strict=True) if np.isfinite(one)
    ])  # fmt: skip
    facts = {"ratios": ratios, "result": Named("FOUND" if np.isfinite(at).all() else "FEW")}

    def change(figure: Figure, drawn: Sequence[Line]) -> None:
        figure.layout["xaxis"] = budget_axis(min(budgets), max(budgets))

    told = _found(view, hidden=not np.isfinite(at).all())
    return [told, Lines(found, facts, change=change) if found else Note("FEW")]


def _found(view: View, *, hidden: bool) -> Note:
    """The private test of the two groups, in a sentence.

    Args:
        view: The page.
        hidden: Whether there are too few records for the noise, by a rule that reads none.
    """
    one = view.watched[METHOD]
    column = int(one.job.values.get("group", 2)) - 1
    if column >= len(view.data.features):
        return Note("COLUMN")
    name, at = unit_of(view.data, column), chosen(view, METHOD)
    if hidden:
        return Note("NOISY")
    if one.results is None or not len(at):
        return Note("SOON", {"name": name})
    p, score = (float(one.results.gauges[kind][at[0]]) for kind in ("p_value", "statistic"))
    if not np.isfinite(p):
        return Note("SOON", {"name": name})
    differs = "differ" if p < LEVEL else "are not shown to differ"
    return Note("TESTED", {"name": name, "differs": differs, "p": p, "score": abs(score)})


def _line(view: View, spec: SurvivalSpec, ratio: float, place: int, budgets: list[float]) -> Line:
    """How often a hazard ratio is found at each budget."""
    found: NDArray[np.float64] = 100.0 * np.array([
        _power(view, spec, at, ratio) for at in budgets
    ])  # fmt: skip
    kept = np.isfinite(found)
    x, y = np.array(budgets)[kept], found[kept]
    return Line(f"Hazard ratio {ratio:g}", style(place), x, y, y, y)


def _power(view: View, spec: SurvivalSpec, budget: float, ratio: float) -> float:
    """How often it is found; half of the records are events where their number is not public."""
    events = own.events(view.data) or view.data.records // 2
    return power(spec.replace(epsilon=budget), view.data.records, events, ratio)
