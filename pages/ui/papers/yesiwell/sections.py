"""Sections of the page on behaviour models: epochs, calibration, friends, t-tests, units."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.spec import Choice, knobs
from engine.papers.dbn.yesiwell import price
from engine.papers.dbn.yesiwell.exhibits import SHEET, p_value
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from pages.ui.charts import lines as shared
from pages.ui.charts.lines import Line
from pages.ui.charts.theme import MUTED, log_axis
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.series import SPREAD, chosen, look, product, waiting
from pages.ui.paper.view import View
from pages.ui.words import number

Floats = NDArray[np.float64]
OWN = "pcdbn"
NETWORKS = ("pcdbn", "pcdbn_te", "pcdbn_pw")
LAYERS = {"sctrbm": 1, "dpah": 1}
"""Layers that are trained before the output layer; two elsewhere."""

BANDS = f"{SPREAD} A line without a band is one repetition."


def spec(view: View, method: str = OWN) -> YesiwellSpec:
    """The setting of a method, at the budget under the slider."""
    return cast(YesiwellSpec, view.watched[method].job.spec().replace(**{BUDGET: view.budget}))


def learning(view: View) -> None:
    """Figure 4, live: accuracy by epoch with a power fit for each polynomial."""
    courses = [(name, one) for name in NETWORKS if (one := _course(view, name)) is not None]
    if not courses:
        st.markdown(waiting(view))
        return
    fits = [_power(one) for _, one in courses]
    drawn = [one for _, one in courses] + [fit for fit, _ in fits if fit is not None]
    figure = shared.lines(
        drawn, ("Epochs of the output layer", "Test accuracy [%]"),
        f"learning/{view.watched[OWN].job.id}", height=380,
    )  # fmt: skip
    figure.layout["xaxis"] = log_axis("Epochs of the output layer", [float(x) for one in drawn
                                                                 for x in one.x])  # fmt: skip
    said = "Accuracy by epoch: " + "; ".join(
        f"{one.label} {one.middle[-1]:.1f} % after {one.x[-1]:g} epochs, power fit {words}"
        for (_, one), (_, words) in zip(courses, fits, strict=True)
    )
    chart("yesiwell.learning", figure, f"{said}.", shared.rows(drawn, "Epoch"), view.budget)
    st.markdown(_gained([one for _, one in courses]))
    st.caption(
        "Dotted: power fits, a times epochs to the power b, as in the paper's Figure 4. The paper "
        "gives 88, 92 and 94 % after 600 epochs at ε = 0.1, 2 and 8, for classification on the "
        f"study's data; ours are simulated. {SPREAD} {RAW}"
    )


def _course(view: View, method: str) -> Line | None:
    """Accuracy by epoch of the output layer; the steps before it are left out."""
    steps, values = live.history(view.watched[method], "accuracy")
    if not len(steps):
        return None
    own = spec(view, method)
    before = 0 if own.calibration == "rigorous" else LAYERS.get(method, 2) * own.pretraining
    return shared.line(
        view.watched[method].label, look(view, method), steps.astype(np.float64) - before,
        100.0 * values[:, chosen(view, method)],
    )  # fmt: skip


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


def calibration(view: View) -> None:
    """How often what was predicted with some chance came true."""
    drawn = []
    for name in dict.fromkeys((view.method, OWN, "cdbn")):
        bins = product(view, name, "calibration")
        if bins is None:
            continue
        total = bins.sum(axis=0)
        weight = bins[:, :, 2]
        mean = (bins[:, :, 0] * weight).sum(0) / np.maximum(total[:, 2], 1.0)
        kept = total[:, 2] > 0
        shares = np.where(weight > 0, bins[:, :, 1], np.nan)[:, kept].T
        one = shared.line(
            view.watched[name].label, look(view, name), 100.0 * mean[kept], 100.0 * shares
        )
        if one is not None:
            drawn.append(one)
    if not drawn:
        st.markdown(waiting(view))
        return
    figure = shared.lines(
        drawn, ("Predicted chance [%]", "Came true [%]"), f"calibration/{view.method}", height=380
    )
    figure.layout["shapes"] = [{
        "type": "line", "x0": 0, "x1": 100, "y0": 0, "y1": 100, "layer": "below",
        "line": {"color": MUTED, "dash": "dot", "width": 1.4},
    }]  # fmt: skip
    chart(
        "yesiwell.chances", figure, "How often predicted chances came true.",
        shared.rows(drawn, "Predicted chance"), view.budget,
    )  # fmt: skip
    st.caption(f"On the diagonal, events happen as often as predicted. {BANDS} {RAW}")


def by_friends(view: View) -> None:
    """Accuracy in five groups of users by number of friends."""
    drawn = []
    for name in dict.fromkeys((view.method, OWN, "cdbn")):
        groups = product(view, name, "by_friends")
        if groups is not None:
            x, values = groups[:, :, 0].mean(0), 100.0 * groups[:, :, 1].T
            one = shared.line(view.watched[name].label, look(view, name), x, values)
            drawn += [one] if one is not None else []
    if not drawn:
        st.markdown(waiting(view))
        return
    first = drawn[0]
    said = (
        f"{first.label}: {first.middle[0]:.1f} % for users with {first.x[0]:.0f} friends, "
        f"{first.middle[-1]:.1f} % for users with {first.x[-1]:.0f}."
    )
    figure = shared.lines(
        drawn, ("Friends of a user", "Test accuracy [%]"), f"friends/{view.method}", height=380
    )
    chart("yesiwell.friends", figure, said, shared.rows(drawn, "Friends"), view.budget)
    st.markdown(said)
    st.caption(f"Users in five equal groups by their number of friends. {BANDS} {RAW}")


def tests(view: View) -> None:
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
    if not rows:
        st.markdown(waiting(view))
        return
    st.table(rows, border="horizontal")
    st.caption(
        f"Paired over the repetitions at ε = {view.budget:g}. Repetitions overlap in time, so a "
        "small p says less than it seems to; the paper says the same of its own. Simulated data "
        "can show how methods compare on data of this kind, not how the study's users behave. "
        f"{RAW}"
    )


def _accuracies(view: View, method: str) -> Floats | None:
    """Accuracy of every repetition at this budget."""
    results = view.watched[method].results
    if results is None:
        return None
    values = results.gauges["accuracy"][chosen(view, method)]
    return values if np.isfinite(values).any() else None


def units(view: View) -> None:
    """What each unit of protection counts, and what friends' influence adds to the noise."""
    own = spec(view)
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
    st.table(rows, border="horizontal")
    st.caption(
        f"M = {own.history}, N = {own.window}, at most D = {own.most_friends} friends, weight of "
        f"friends' influence κ = {own.social:g}. A user has M − N + 1 windows, and through "
        "friends' influence one user's data reach the windows of D friends; each such window "
        "changes by at most κ/D. With the friendships secret the noise is the same, and D is an "
        "assumption."
    )


def ceiling(view: View) -> None:
    """What the best predictor reaches, and why it is known."""
    results = view.watched["cdbn"].results
    if not view.data.simulated:
        st.markdown("These are your own files: nobody knows the best possible accuracy.")
        return
    best = np.nan if results is None else np.nanmean(
        results.gauges["best_possible"]
    ) if np.isfinite(results.gauges["best_possible"]).any() else np.nan  # fmt: skip
    shown = f"**{100 * best:.1f} %**" if np.isfinite(best) else "shown once a run has measured it"
    st.markdown(
        f"Simulated: no record is a real person. The best possible accuracy here is {shown}. "
        "Motivation follows a linear rule with normal noise, so a Kalman filter on the friendships "
        "gives the best prediction from everything that all users have shown so far. In the "
        "classification task the label follows from one attribute, so the best is 100 %."
    )
