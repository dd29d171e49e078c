"""Sections of the page on survival regression about its two samplers: bend, course, draws."""

from typing import cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.papers.survival.price import sampler
from engine.papers.survival.spec import SurvivalSpec
from pages.ui import words
from pages.ui.charts import lines as course
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.series import SPREAD, chosen, look, product, waiting
from pages.ui.paper.view import View
from pages.ui.papers.survival import sampler_figures as figures
from pages.ui.papers.survival.sampler_figures import Drawn, Normal
from pages.ui.words import number

Floats = NDArray[np.float64]

LANGEVIN, EXACT = "psgld", "exact"
SAMPLERS = (EXACT, LANGEVIN)
AGREE, ENOUGH = 1.01, 400.0
"""Split R-hat up to which chains agree, and the effective draws that are enough (Vehtari et al.
2021)."""


def spec(view: View, method: str) -> SurvivalSpec:
    """The setting of a sampler, at the budget under the slider."""
    return cast(SurvivalSpec, view.watched[method].job.spec().replace(**{BUDGET: view.budget}))


def _waiting(view: View) -> str:
    """Why there is nothing to draw."""
    if all(view.watched[name].run is None for name in SAMPLERS):
        return (
            ":material/hourglass_empty: These samplers take minutes. "
            "Press *Train these too* on the *Cost* tab to start them."
        )
    return waiting(view, LANGEVIN)


def sanitiser(view: View) -> None:
    """The loss of one record, and what the sanitiser leaves of it."""
    own, n = spec(view, EXACT), view.data.records
    bound, heat = sampler.loss_bound(own, n), sampler.sanitised(own, n).temperature
    least = number(100.0 * (1.0 - float(figures.sanitised(np.array(bound), bound)) / bound), 2)
    how = f"2 log n for n = {n:,}, the paper's choice" if own.bound == 0.0 else "set in the sidebar"
    said = (
        f"With v = {number(bound)} ({how}) and ε = {view.budget:g}, each record's influence is "
        f"scaled down to ε/2v = {100 * heat:.2g} %."
    )
    st.markdown(said)
    chart(
        "survival.sanitiser.chart",
        figures.sanitiser(bound, f"sanitiser/{bound:g}"),
        said,
        figures.sanitiser_rows(bound),
        view.budget,
    )
    st.caption(
        "The sanitiser v·tanh(loss/v) limits what one record can add to the log-likelihood; that "
        f"makes a draw private. A loss of v counts {least} % less. A larger v distorts less, but "
        "scales every record down further. Change *Largest loss of one record* in the sidebar. "
        "From the formula alone."
    )


def trace(view: View) -> None:
    """The error of the Langevin chain by epoch, live, and where the corrected one ends."""
    one = view.watched[LANGEVIN]
    steps, values = live.history(one, "mre")
    if not len(steps):
        st.markdown(_waiting(view))
        return
    own = spec(view, LANGEVIN)
    epochs = steps / sampler.psgld_steps(own, view.data.records) * own.sampler_epochs
    drawn = [
        course.line(one.label, look(view, LANGEVIN), epochs, values[:, chosen(view, LANGEVIN)])
    ]
    level = _level(view, float(epochs[-1]))
    lines = [line for line in (*drawn, level) if line is not None]
    if drawn[0] is None:
        st.markdown(":material/hourglass_empty: The chains at this budget have not begun.")
        return
    figure = course.lines(
        lines, ("Epochs of the sampler [n steps each]", "Mean relative error [times the optimum]"),
        f"trace/{one.job.id}", log=True, height=360,
    )  # fmt: skip
    said = f"After {number(float(drawn[0].x[-1]))} epochs the mean relative error is " + ", ".join(
        f"{number(float(line.middle[-1]))} ({line.label})" for line in lines
    )
    st.markdown(f"{said}.")
    chart("survival.trace.chart", figure, f"{said}.", course.rows(lines, "Epochs"), view.budget)
    st.caption(
        "After the burn-in: error of the mean of all draws so far. During the burn-in: error of "
        f"the current draw. Level line: where the corrected chains end. {SPREAD} {RAW}"
    )


def _level(view: View, last: float) -> course.Line | None:
    """The corrected sampler's error as a level."""
    results = view.watched[EXACT].results
    if results is None:
        return None
    values = results.values("mre", **{BUDGET: view.budget})
    style = look(view, EXACT)
    return course.line(
        view.watched[EXACT].label, style, np.array([0.0, last]), np.stack([values, values])
    )


def names(view: View) -> list[str]:
    """The parameters: baseline first, then the covariates."""
    knots = int(vars(spec(view, EXACT))["knots"])
    subscript = "₁₂₃₄₅₆₇₈₉"
    baseline = [f"α{subscript[i] if i < 9 else i + 1} baseline" for i in range(knots)]
    return [*baseline, *(words.column(name) for name in view.data.features)]


def posterior(view: View) -> None:
    """What the samplers draw, the Laplace approximation over it, and how well they mixed."""
    samplers = [
        Drawn(view.watched[name].label, look(view, name), draws.reshape(-1, draws.shape[2]))
        for name in SAMPLERS
        if (draws := product(view, name, "draws")) is not None
    ]
    if not samplers:
        st.markdown(_waiting(view))
        _agreement(view)
        return
    mode, spread = (product(view, EXACT, name) for name in ("mode", "laplace"))
    laplace = None if mode is None or spread is None else Normal(mode[0], spread[0])
    best = view.watched["non_private"].arrays.get("optimum")
    same = best is not None and spec(view, EXACT).link == "logit"
    optimum = np.asarray(best[0], np.float64) if best is not None and same else None
    called = names(view)
    widest = max(samplers, key=lambda one: float(figures.thinned(one.draws).std(axis=0).max()))
    said = (
        f"At ε = {view.budget:g}, {words.plural(len(called), 'parameter')} as drawn by "
        f"{' and '.join(one.label for one in samplers)}; the widest are those of {widest.label}."
    )
    figure = figures.posterior(
        called, samplers, laplace, optimum, f"posterior/{view.watched[EXACT].job.id}"
    )
    rows = figures.posterior_rows(called, samplers, laplace, optimum)
    chart("survival.posterior.chart", figure, said, rows, view.budget)
    st.caption(
        "Each row is one parameter. One draw from this posterior is the private answer, so its "
        "width is the noise. Thin line: a normal distribution at the mode; where the draws follow "
        "it, the sanitiser distorts little. Diamond: the answer without privacy; at a small ε the "
        f"prior pulls the posterior away from it. All repetitions together. {RAW}"
    )
    _agreement(view)


def _agreement(view: View) -> None:
    """A table: split R-hat, effective sample size and acceptance rate of both samplers."""
    rows = [row for name in SAMPLERS if (row := _mixing(view, name)) is not None]
    if not rows:
        return
    st.table(rows, border="horizontal", hide_index=True)
    st.caption(
        f"The worst parameter of the worst repetition at this budget. Chains count as in agreement "
        f"if R̂ is at most {AGREE:g} with at least {ENOUGH:g} effective draws. η is how far a "
        "chain's last draw is from the target, and ε fails with probability (1 + e^ε)·η. It is "
        "unknown: the table's value is estimated from the largest ratio of target to proposal "
        "that was seen on these records. This makes the guarantee plausible but does not prove "
        "it: see the *Proof* tab."
    )


def _mixing(view: View, name: str) -> dict[str, str] | None:
    """One sampler's row; None before it has measured."""
    results = view.watched[name].results
    if results is None:
        return None
    at = {BUDGET: view.budget}
    r_hat, ess = (_finite(results.values(gauge, **at)) for gauge in ("r_hat", "ess"))
    if not len(r_hat):
        return None
    worst, least = float(r_hat.max()), float(ess.min()) if len(ess) else 0.0
    agree = worst <= AGREE and least >= ENOUGH
    rate = results.mean("acceptance", **at) if "acceptance" in results.gauges else None
    return {
        "Sampler": view.watched[name].label,
        "Split R̂": number(worst, 4),
        "Effective draws": number(least),
        "Accepted": "every step, no test" if rate is None else f"{100 * rate:.0f} %",
        "Estimated η": _apart(results.values("apart", **at)) if rate is not None else "none",
        "Chains": ":material/check: agree" if agree else ":material/warning: do not agree yet",
    }


def _apart(values: NDArray[np.float64]) -> str:
    """The largest estimated distance from the target."""
    known = _finite(values)
    return f"about {number(float(known.max()), 1)}" if len(known) else "not known yet"


def _finite(values: NDArray[np.float64]) -> Floats:
    return values[np.isfinite(values)]
