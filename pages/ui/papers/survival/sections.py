"""Sections of the page on survival regression: people, noise, ratios."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.intervals import Estimate
from engine.papers.survival.evaluation import curves
from engine.papers.survival.evaluation import estimates as bands
from engine.papers.survival.evaluation.curves import Scale
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.runs.estimates import estimates
from pages.ui import words
from pages.ui.charts.figure import Floats
from pages.ui.charts.measured import INNER
from pages.ui.jobs.live import BUDGET
from pages.ui.paper.parts import Chart, Note, Part, Table, Widgets
from pages.ui.paper.said import Named
from pages.ui.paper.series import chosen, look, needed, product, waiting
from pages.ui.paper.view import Told, View
from pages.ui.papers.survival import figures
from pages.ui.papers.survival.figures import DRAWS, EVERY, INTERVAL, Ends, Person
from pages.ui.papers.survival.people import profiles, unit_of

FEW = 5
"""Of fewer releases, the bands hold all."""
YEAR = 365.25
"""Days of a year."""
EVERYONE = "km_dp"
"""The method whose answer is one curve of everyone."""
NONE = "This method releases no coefficients, so it says nothing about single people or covariates."
HELD = "One release (95 % interval)"
NAIVE = "The same, as if there were no noise"
RATIOS = {"logit": "odds", "cloglog": "hazard"}
"""What the exponential of a coefficient is a ratio of, by the link; with others it is none."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What the runs have left so far, at the budget under the slider.

    Attributes:
        scale: How covariates and time were scaled.
        draws: Private parameters, one row per repetition, shape (s, d).
        noise: Standard deviation of the noise in each parameter, shape (d,).
        reference: Arrays of the fit without privacy; empty while there is none.
    """

    scale: Scale
    draws: Floats
    noise: Floats
    reference: Mapping[str, NDArray[Any]]


def fit(view: View) -> Fit | None:
    """Reads the arrays of the method that is looked at; None before the first."""
    one = view.watched[view.method]
    arrays, results = one.arrays, one.results
    if "coefficients" not in arrays or results is None:
        return None
    rows = results.rows(**{BUDGET: view.budget})
    draws = np.asarray(arrays["coefficients"][rows], np.float64)
    kept = np.isfinite(draws).all(axis=1)
    if not kept.any():
        return None
    noise = np.asarray(arrays["noise"][rows], np.float64)[kept].mean(axis=0)
    scale = Scale.read(arrays, int(np.flatnonzero(rows)[kept][0]))
    return Fit(scale, draws[kept], noise, view.watched["non_private"].arrays)


def people(view: View) -> Chart | str:
    """Survival curves of one to three people that the user describes."""
    if view.method == EVERYONE:
        return everyone(view)
    fitted = fit(view)
    if fitted is None:
        return _no_coefficients(view)
    described = profiles(view.data, fitted.scale)
    one = _release(view, list(described.values()))
    drawn, exact = _described(view, fitted)
    band, ends = (curves.band(drawn, *INNER), DRAWS) if one is None else (one, INTERVAL)
    time, shown = persons(view, fitted, band, ends, exact)
    facts = {
        "medians": "" if one is None else _medians(view, described, one),
        "count": f"{len(shown)} {'person' if len(shown) == 1 else 'people'}",
        "draws": words.plural(len(fitted.draws), "draw"),
        "band": Named("MANY" if one is None else "ONE"),
        "BANDLESS": bool(_estimates(view)),
    }
    return _curves(view, time, shown, fitted.reference, facts, "persons")


def _curves(
    view: View, time: Floats, shown: list[Person], reference: Mapping[str, NDArray[Any]],
    facts: Mapping[str, object], part: str,
) -> Chart:  # fmt: skip
    """Curves with their bands, against Kaplan-Meier's."""
    unit = view.data.time_unit
    steps = None
    if "km_time" in reference:
        steps = reference["km_time"][0], reference["km_survival"][0]
    rows = figures.survival_rows(time, shown, unit)
    zoom = f"survival/{unit}/{time[-1]:g}"
    picture = figures.survival(time, shown, steps, unit, words.surviving(view.data.name))
    return Chart(picture, rows, {**facts, "zoom": zoom}, part)


def _release(view: View, profiles: list[list[float]]) -> tuple[Floats, Floats, Floats] | None:
    """The persons' curves by one release between the ends of their bands, (m, q + 1) each."""
    one, row = view.watched[view.method], _first(view)
    if row is None:
        return None
    spec = one.job.spec()
    assert isinstance(spec, SurvivalSpec)
    people, found = np.array(profiles, np.float64), _estimates(view)
    return bands.persons(one.arrays, row, people, spec, found)


def _first(view: View) -> int | None:
    """The first release at the budget that is over and knows its own error; None before it."""
    arrays = view.watched[view.method].arrays
    if "uncertainty" not in arrays:
        return None
    rows = chosen(view, view.method)
    over = rows[np.isfinite(arrays["horizon"][rows])]
    return int(over[0]) if len(over) else None


def _medians(view: View, names: Iterable[str], ends: tuple[Floats, Floats, Floats]) -> str:
    """When half of those like each person will have had the event, with intervals."""
    horizon = float(needed(view, view.method, "horizon")[0][0])
    low, middle, high = ends
    return ". ".join(
        _median(bands.median(middle[i], low[i], high[i], horizon, view.data.time_unit, name))
        for i, name in enumerate(names)
    ) + "."  # fmt: skip


def _median(one: Estimate) -> str:
    """A median with its interval, in words."""
    if one.low is None:
        return f"{one.name}: {one.why}"
    last = "the end of the study" if one.high is None else words.number(one.high)
    first = f"from {words.number(one.low)} to {last} {one.unit}"
    if not math.isfinite(one.estimate):
        return f"{one.name}: the median lies beyond the study (95 % interval {first})"
    return f"{one.name}: half by {words.number(one.estimate)} {one.unit} (95 % interval {first})"


def persons(
    view: View,
    fitted: Fit,
    band: tuple[Floats, Floats, Floats],
    ends: Ends,
    exact: Floats | None,
) -> tuple[Floats, list[Person]]:
    """When the curves of the people are drawn, shape (k,), and their curves.

    Args:
        view: The page.
        fitted: What the runs have left.
        band: The curves between the ends of their bands, (m, q + 1) each.
        ends: What these ends are.
        exact: The same without noise, (m, q + 1); None while that is not there.
    """
    time = curves.times(fitted.scale, view.spec.intervals)
    kept = figures.thin(len(time))
    low, middle, high = band
    people = [
        Person(
            name, middle[i][kept], low[i][kept], high[i][kept], ends,
            None if exact is None else exact[i][kept],
        )
        for i, name in enumerate(profiles(view.data, fitted.scale))
    ]  # fmt: skip
    return time[kept], people


def _described(view: View, fitted: Fit) -> tuple[Floats, Floats | None]:
    """The people's curves by every release, (s, m, q + 1), and without noise, (m, q + 1)."""
    q, knots = view.spec.intervals, view.spec.knots
    x = fitted.scale.covariates(list(profiles(view.data, fitted.scale).values()))
    link = str(view.watched[view.method].job.values["link"])
    drawn = curves.survival(fitted.draws, x, q, knots, link)
    return drawn, without_noise(fitted, x, q, knots)


def farthest(drawn: Floats, exact: Floats, share: float) -> float:
    """How far a share of releases stays from the exact curves: of every person, at all times.

    Args:
        drawn: Curves by release, shape (s, m, q + 1).
        exact: The same without noise, shape (m, q + 1).
        share: Between 0 and 1; at least so many releases stay within what is returned.
    """
    return float(np.quantile(np.abs(drawn - exact).max(axis=(1, 2)), share, method="higher"))


def story(view: View) -> Told | None:
    """The people's curves as the method that is looked at releases them, against the exact ones."""
    fitted = fit(view)
    if fitted is None or "optimum" not in fitted.reference:
        return None
    few = len(fitted.draws) < FEW
    drawn, exact = _described(view, fitted)
    assert exact is not None
    within, ends = ((0.0, 1.0), EVERY) if few else (INNER, DRAWS)
    time, people = persons(view, fitted, curves.band(drawn, *within), ends, exact)
    unit = view.data.time_unit
    if unit == "days" and time[-1] > 2 * YEAR:
        time, unit = time / YEAR, "years"
    ages = [values[0] for values in profiles(view.data, fitted.scale).values()]
    first = words.column(view.data.features[0])
    people = [
        replace(one, label=f"{one.label}, {first} {words.number(age)}")
        for one, age in zip(people, ages, strict=True)
    ]
    off = 100.0 * farthest(drawn, exact, 1.0 if few else 0.8)
    count = words.plural(len(fitted.draws), "release")
    often = f"in {count}" if few else "in four out of five releases"
    band = "all of them" if few else "four out of five releases at each time"
    return Told(
        f"At ε = {view.budget:g}, {view.watched[view.method].label} changes the answer for "
        f"{_how_many(len(people))} by at most **{words.number(off, 2)} points** {often}.",
        figures.two(time, people, look(view, view.method), unit, words.surviving(view.data.name)),
        f"Line: median of {count}. Band: {band}. Dotted: the same person "
        "without privacy, computed from the raw data. Describe others under *People to draw*.",
    )


def _how_many(count: int) -> str:
    return "this person" if count == 1 else f"these {'two' if count == 2 else 'three'} people"


def everyone(view: View) -> Chart:
    """The private curve of everyone, beside the one of the raw records."""
    curve, horizons = needed(view, EVERYONE, "km_private", "horizon")
    low, high = (product(view, EVERYONE, name) for name in ("km_low", "km_high"))
    one = low is not None and high is not None and bool(np.isfinite(low[0]).all())
    if low is not None and high is not None and one:
        below, middle, above, ends = low[0], curve[0], high[0], INTERVAL
    else:
        below, middle, above, ends = *curves.band(curve, *INNER), DRAWS
    horizon = float(horizons[0])
    time = np.linspace(0.0, horizon, len(middle))
    kept = figures.thin(len(time))
    shown = [Person("Everyone, private", middle[kept], below[kept], above[kept], ends, None)]
    found = bands.median(middle, below, above, horizon, view.data.time_unit, "Everyone")
    facts = {
        "medians": f"{_median(found)}." if one else "",
        "band": Named("ONE" if one else "MANY"),
    }
    exact = view.watched["non_private"].arrays
    return _curves(view, time[kept], shown, exact, facts, "everyone")


def _no_coefficients(view: View) -> str:
    """Why there are no coefficients to draw."""
    return waiting(view) if issubclass(view.entry.info, Utility) else NONE


def without_noise(estimate: Fit, x: Floats, q: int, knots: int) -> Floats | None:
    """The people's curves without noise, shape (m, q + 1)."""
    if "optimum" not in estimate.reference:
        return None
    fitted = np.asarray(estimate.reference["optimum"][:1], np.float64)
    exact: Floats = curves.survival(fitted, x, q, knots)[0]
    return exact


def noise(view: View) -> Chart | str:
    """The noise scale beside each coefficient's size."""
    fitted = fit(view)
    if fitted is None or "optimum" not in fitted.reference:
        return _no_coefficients(view)
    knots = view.spec.knots
    size = np.abs(np.asarray(fitted.reference["optimum"][0][knots:], np.float64))
    found = (tuple(words.column(name) for name in view.data.features), size, fitted.noise[knots:])
    return Chart(figures.noise(*found), figures.noise_rows(*found), figures.noise_facts(*found))


def ratios(view: View) -> list[Part] | Note | str:
    """What one unit more of each covariate does to the odds or the hazard, and Cox's ratios.

    With the probit link a coefficient is no ratio.
    """
    fitted = fit(view)
    if fitted is None:
        return _no_coefficients(view)
    link = str(view.watched[view.method].job.values["link"])
    if link not in RATIOS:
        return Note("NO_RATIO")
    knots = view.spec.knots
    low, middle, high = curves.band(curves.ratios(fitted.draws[:, knots:], fitted.scale), *INNER)
    table: dict[str, list[str]] = {
        "One unit more of": [unit_of(view.data, i) for i in range(len(view.data.features))],
        f"Private {RATIOS[link]} ratio (four out of five draws)": _with_range(middle, low, high),
    }
    found = _estimates(view)
    if found:
        table[HELD] = [_interval(one, one.low, one.high) for one in found]
        if st.toggle("Beside it, the interval that ignores the noise", key="survival.naive"):
            table[NAIVE] = [_interval(one, *(one.naive or (None, None))) for one in found]
    if "coefficients" in fitted.reference:
        table |= _yardsticks(fitted, knots)
    facts = {"kind": Named("ODDS" if link == "logit" else "HAZARD")}
    return [Table(table, facts), Widgets(lambda: _held(view, found))]


def _held(view: View, found: tuple[Estimate, ...]) -> None:
    """What the interval of one release holds, or why there is none."""
    if found and all(one.low is None for one in found):
        st.caption(f"One release has no interval here.{_why(found)}")
    elif found:
        st.caption(
            "The interval of one release contains the true ratio in 95 of 100 such studies: it "
            "covers sampling and noise, and costs no further budget."
            f"{_why(found)}"
        )
    elif view.entry.unsure:
        st.caption(f"One release has no interval here: {view.entry.unsure}.")


def _estimates(view: View) -> tuple[Estimate, ...]:
    """The coefficients of the first release at the budget, if it knows its own error."""
    row = _first(view)
    if row is None:
        return ()
    return estimates(view.watched[view.method].arrays, row, view.data, view.spec)


def _why(found: Iterable[Estimate]) -> str:
    """Which coefficients have no interval, and why."""
    reasons: dict[str, list[str]] = {}
    for one in found:
        if one.why:
            reasons.setdefault(one.why, []).append(words.column(one.name))
    told = "; ".join(f"{words.listed(names)}: {why}" for why, names in reasons.items())
    return f" No interval for {told}." if told else ""


def _interval(one: Estimate, low: float | None, high: float | None) -> str:
    """A ratio with its interval, or why there is none."""
    middle = words.number(math.exp(min(one.estimate, 50.0)))
    if low is None or high is None:
        return f"{middle} (no interval)"
    ends = (words.number(math.exp(min(end, 50.0))) for end in (low, high))
    return f"{middle} ({' to '.join(ends)})"


def _yardsticks(fitted: Fit, knots: int) -> dict[str, list[str]]:
    """The ratios without noise, and Cox's with their confidence limits."""
    exact = curves.ratios(fitted.reference["optimum"][0, knots:], fitted.scale)
    beta, errors = fitted.reference["cox"][0], fitted.reference["cox_errors"][0]
    cox = curves.ratios(beta, fitted.scale)
    below, above = curves.confidence(beta, errors, fitted.scale)
    return {
        "Odds ratio without privacy": [words.number(value) for value in exact],
        "Cox hazard ratio (95 % confidence)": _with_range(cox, below, above),
    }


def _with_range(middle: Floats, low: Floats, high: Floats) -> list[str]:
    """Values with their ranges: "1.02 (0.9 to 1.1)"."""
    return [
        f"{words.number(float(m))} ({words.number(float(a))} to {words.number(float(b))})"
        for m, a, b in zip(middle, low, high, strict=True)
    ]
