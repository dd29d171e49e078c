"""Sections of the page on behaviour models: epochs, calibration, friends, t-tests, units."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.spec import Choice, knobs
from engine.papers.dbn.yesiwell import price
from engine.papers.dbn.yesiwell.exhibits import SHEET, p_value
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.runs.job import Job
from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.lines import Line
from pages.ui.charts.theme import MUTED
from pages.ui.paper.parts import Lines, Note, Table
from pages.ui.paper.series import chosen, drawn, history, product
from pages.ui.paper.view import View
from pages.ui.words import number

OWN = "pcdbn"
NETWORKS = ("pcdbn", "pcdbn_te", "pcdbn_pw")
LAYERS = 2
"""Layers of these that are trained before the output layer."""
TIMES = {"yesiwell": (6, 12, 28, 54), "yesiwell_weekly": (6, 12, 18, 24)}
"""Values of M by data set; the page's own is added."""
NEAR = (25.0, 75.0)
"""Predicted chances in per cent for which the text of a chart says how many came true."""


def times(job: Job) -> tuple[int, ...]:
    """Those that a window fits into."""
    least = int(job.values["window"])
    return tuple(many for many in TIMES.get(job.dataset, ()) if many >= least)


def learning(view: View) -> Lines | None:
    """Figure 4, live: accuracy by epoch with a power fit for each polynomial."""
    courses = [one for name in NETWORKS if (one := _course(view, name)) is not None]
    if not courses:
        return None
    fits = [_power(one) for one in courses]
    said = "; ".join(
        f"{one.label} {one.middle[-1]:.1f} % after {one.x[-1]:g} epochs, power fit {words}"
        for one, (_, words) in zip(courses, fits, strict=True)
    )
    lines = [*courses, *(fit for fit, _ in fits)]
    return Lines(lines, {"said": said, "gained": _gained(courses)})


def _course(view: View, method: str) -> Line | None:
    """Accuracy by epoch of the output layer; the steps before it are left out."""
    steps, values = history(view, method, "accuracy")
    own = view.setting(method)
    before = 0 if own.calibration == "rigorous" else LAYERS * own.pretraining
    return drawn(view, method, steps - before, 100.0 * values)


def _gained(courses: list[Line]) -> str:
    """What more epochs gained each polynomial."""
    if all(abs(one.middle[-1] - one.middle[0]) < 0.05 for one in courses):
        ends = f"{courses[0].x[0]:g} and at epoch {courses[0].x[-1]:g}"
        return f"Accuracy is the same at epoch {ends}: more epochs change nothing here."
    each = "; ".join(
        f"{one.label} {one.middle[-1] - one.middle[0]:+.1f}".replace("-", "\N{MINUS SIGN}")
        for one in courses
    )
    epochs = f"{courses[0].x[0]:g} to {courses[0].x[-1]:g}"
    return f"Points of accuracy gained from epoch {epochs}: {each}."


def _power(one: Line) -> tuple[Line | None, str]:
    """The power curve that is nearest in logarithms, and its formula."""
    inside = (one.x > 0) & (one.middle > 0)
    if inside.sum() < 3:
        return None, "not yet"
    b, a = np.polyfit(np.log(one.x[inside]), np.log(one.middle[inside]), 1)
    x = one.x[inside]
    y = np.exp(a) * x**b
    style = replace(one.style, dash="dot")
    return Line(f"{one.label}, fit", style, x, y, y, y), f"{np.exp(a):.1f} x^{b:.3f}"


def calibration(view: View) -> Lines:
    """How often what was predicted with some chance came true."""
    lines = []
    for name, bins in _each(view, "calibration"):
        total, weight = bins.sum(axis=0), bins[:, :, 2]
        mean = (bins[:, :, 0] * weight).sum(0) / np.maximum(total[:, 2], 1.0)
        kept = total[:, 2] > 0
        shares = np.where(weight > 0, bins[:, :, 1], np.nan)[:, kept].T
        lines.append(drawn(view, name, 100.0 * mean[kept], 100.0 * shares))
    came = "; ".join(_came(one) for one in lines if one is not None)
    return Lines(lines, {"came": came}, change=_diagonal)


def _came(one: Line) -> str:
    """How many of a method's chances came true, near those of `NEAR`."""
    places = dict.fromkeys(int(np.abs(one.x - near).argmin()) for near in NEAR)
    each = (f"{one.middle[at]:.0f} % of those near {one.x[at]:.0f} %" for at in places)
    return f"{one.label} {' and '.join(each)}"


def _each(view: View, array: str) -> Iterator[tuple[str, Floats]]:
    """An array of the method that is looked at, of pCDBN and of the same without noise."""
    for name in dict.fromkeys((view.method, OWN, "cdbn")):
        if (found := product(view, name, array)) is not None:
            yield name, found


def _diagonal(figure: Figure, drawn: Sequence[Line]) -> None:
    figure.layout["shapes"] = [{
        "type": "line", "x0": 0, "x1": 100, "y0": 0, "y1": 100, "layer": "below",
        "line": {"color": MUTED, "dash": "dot", "width": 1.4},
    }]  # fmt: skip


def by_friends(view: View) -> Lines | None:
    """Accuracy in five groups of users by number of friends."""
    lines = []
    for name, groups in _each(view, "by_friends"):
        kept = (groups[:, :, 2] > 0).all(0)  # of fewer than five users some groups are empty
        if kept.any():
            friends, right = groups[:, kept, 0].mean(0), groups[:, kept, 1]
            lines.append(drawn(view, name, friends, 100.0 * right.T))
    first = next((one for one in lines if one is not None), None)
    if first is None:
        return None
    facts = {
        "who": first.label, "least": first.middle[0], "few": first.x[0], "most": first.middle[-1],
        "many": first.x[-1],
    }  # fmt: skip
    return Lines(lines, facts)


def tests(view: View) -> Table | None:
    """Paired t-tests of pCDBN against every other method over the repetitions."""
    mine = _accuracies(view, OWN)
    rows: list[dict[str, Any]] = []
    exhibits = {"dpah": "Figure 3: pCDBN against dPAH", "sctrbm": "Figure 2: pCDBN against SctRBM"}
    exhibits |= dict.fromkeys(("pcdbn_te", "pcdbn_pw"), "Figure 4: pCDBN against TE and PW")
    for entry in view.paper.methods:
        theirs = _accuracies(view, entry.name)
        if entry.name == OWN or mine is None or theirs is None or len(theirs) != len(mine):
            continue
        p, gain = p_value(mine, theirs)
        if np.isfinite(gain):
            paper = SHEET.printed["p"].get(exhibits.get(entry.name, ""))
            rows.append(
                {
                    "pCDBN against": entry.label,
                    "Mean gain [points]": f"{100 * gain:+.1f}".replace("-", "\N{MINUS SIGN}"),
                    "p here": number(p) if np.isfinite(p) else "one repetition",
                    "p in the paper": number(paper) if paper else "not given",
                }
            )
    return Table(rows) if rows else None


def _accuracies(view: View, method: str) -> Floats | None:
    """Accuracy of every repetition at this budget."""
    results = view.watched[method].results
    if results is None:
        return None
    values = results.gauges["accuracy"][chosen(view, method)]
    return values if np.isfinite(values).any() else None


def units(view: View) -> Table:
    """What each unit of protection counts, and what friends' influence adds to the noise."""
    own = view.setting(OWN)
    choice = knobs(YesiwellSpec)["unit"]
    assert isinstance(choice, Choice)
    rows = []
    for unit in choice.options:
        one = own.replace(unit=unit)
        matrix, counted = price.matrix_sensitivity(one), price.own_windows(one)
        rows.append(
            {
                "ε is for": choice.text(unit),
                "Own windows": str(counted),
                "Friends' windows": str(price.group(one) - counted),
                "Sensitivity of Σpp′": f"{matrix:.3g}",
                "Part of it from friends": f"{100 * (1 - counted / matrix):.0f} %",
                "Sensitivity of Σp(y − ½)": f"{price.vector_sensitivity(one):.3g}",
            }
        )
    return Table(rows, {"own": own})


def ceiling(view: View) -> Note:
    """What the best predictor reaches, and why it is known."""
    results = view.watched["cdbn"].results
    if not view.data.simulated:
        return Note("OWN")
    best = np.zeros(0) if results is None else results.gauges["best_possible"]
    best = best[np.isfinite(best)]
    shown = f"**{100 * best.mean():.1f} %**" if len(best) else "shown once a run has measured it"
    return Note("SIMULATED", {"shown": shown})
