"""Sections of the page on survival regression about its two samplers: bend, course, draws."""

import numpy as np

from engine.papers.survival.price import sampler
from pages.ui import words
from pages.ui.charts.figure import Floats
from pages.ui.charts.lines import Line
from pages.ui.jobs.live import BUDGET
from pages.ui.paper.parts import Chart, Lines, Note, Part, Table
from pages.ui.paper.said import Named
from pages.ui.paper.series import SLOW, drawn, history, look, product, waiting
from pages.ui.paper.view import View
from pages.ui.papers.survival import sampler_figures as figures
from pages.ui.papers.survival.sampler_figures import Drawn, Normal
from pages.ui.words import number

LANGEVIN, EXACT = "psgld", "exact"
SAMPLERS = (EXACT, LANGEVIN)
AGREE, ENOUGH = 1.01, 400.0
"""Split R-hat up to which chains agree, and the effective draws that are enough (Vehtari et al.
2021)."""


def _waiting(view: View) -> str:
    """Why there is nothing to draw."""
    if all(view.watched[name].run is None for name in SAMPLERS):
        return SLOW
    return waiting(view, LANGEVIN)


def sanitiser(view: View) -> Chart:
    """The loss of one record, and what the sanitiser leaves of it."""
    own, n = view.setting(EXACT), view.data.records
    bound, heat = sampler.loss_bound(own, n), sampler.sanitised(own, n).temperature
    facts = {
        "bound": bound,
        "how": Named("PAPER" if own.bound == 0.0 else "SET"),
        "heat": 100 * heat,
        "least": 100.0 * (1.0 - float(figures.sanitised(np.array(bound), bound)) / bound),
    }
    return Chart(figures.sanitiser(bound), figures.sanitiser_rows(bound), facts)


def trace(view: View) -> Lines | Note | str:
    """The error of the Langevin chain by epoch, live, and where the corrected one ends."""
    steps, values = history(view, LANGEVIN, "mre")
    if not len(steps):
        return _waiting(view)
    own = view.setting(LANGEVIN)
    epochs = steps / sampler.psgld_steps(own, view.data.records) * own.sampler_epochs
    chain = drawn(view, LANGEVIN, epochs, values)
    if chain is None:
        return Note("BEGUN")
    lines = [line for line in (chain, _level(view, epochs[-1])) if line is not None]
    errors = (f"{number(float(line.middle[-1]))} ({line.label})" for line in lines)
    return Lines(lines, {"last": chain.x[-1], "errors": ", ".join(errors)})


def _level(view: View, last: float) -> Line | None:
    """The corrected sampler's error as a level."""
    results = view.watched[EXACT].results
    if results is None:
        return None
    values = results.values("mre", **{BUDGET: view.budget})
    return drawn(view, EXACT, np.array([0.0, last]), np.stack([values, values]))


def names(view: View) -> list[str]:
    """The parameters: baseline first, then the covariates."""
    knots = view.setting(EXACT).knots
    subscript = "₁₂₃₄₅₆₇₈₉"
    baseline = [f"α{subscript[i] if i < 9 else i + 1} baseline" for i in range(knots)]
    return [*baseline, *(words.column(name) for name in view.data.features)]


def posterior(view: View) -> list[Part]:
    """What the samplers draw, the Laplace approximation over it, and how well they mixed."""
    samplers = [
        Drawn(view.watched[name].label, look(view, name), draws.reshape(-1, draws.shape[2]))
        for name in SAMPLERS
        if (draws := product(view, name, "draws")) is not None
    ]
    return [_posterior(view, samplers) if samplers else _waiting(view), *_agreement(view)]


def _posterior(view: View, samplers: list[Drawn]) -> Chart:
    """What the samplers draw."""
    mode, spread = (product(view, EXACT, name) for name in ("mode", "laplace"))
    laplace = None if mode is None or spread is None else Normal(mode[0], spread[0])
    best = view.watched["non_private"].arrays.get("optimum")
    same = best is not None and view.setting(EXACT).link == "logit"
    optimum = np.asarray(best[0], np.float64) if best is not None and same else None
    called = names(view)
    widest = max(samplers, key=lambda one: float(figures.thinned(one.draws).std(axis=0).max()))
    facts = {
        "parameters": words.plural(len(called), "parameter"),
        "drawn": " and ".join(one.label for one in samplers),
        "widest": widest.label,
    }
    drawn = (called, samplers, laplace, optimum)
    return Chart(figures.posterior(*drawn), figures.posterior_rows(*drawn), facts, "draws")


def _agreement(view: View) -> list[Part]:
    """Split R-hat, effective sample size and acceptance rate of both samplers."""
    rows = [row for name in SAMPLERS if (row := _mixing(view, name)) is not None]
    facts = {"agree": AGREE, "enough": ENOUGH}
    return [Table(rows, facts, bare=True, part="agreement")] if rows else []


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


def _apart(values: Floats) -> str:
    """The largest estimated distance from the target."""
    known = _finite(values)
    return f"about {number(float(known.max()), 1)}" if len(known) else "not known yet"


def _finite(values: Floats) -> Floats:
    return values[np.isfinite(values)]
