"""Sections of the page on deep belief networks: epochs, budget, calibrations, filters, noise."""

import functools
from dataclasses import replace

import numpy as np
import streamlit as st

from engine.core.spec import Choice, Knob, knobs
from engine.papers.dbn import price
from engine.papers.dbn.pcdbn.price import NAMES, SKETCH
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.runs.job import Job
from pages.ui.charts.lines import Line
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card
from pages.ui.paper.parts import Abreast, Chart, Lines, Part
from pages.ui.paper.said import Named
from pages.ui.paper.series import drawn, history, product, waiting
from pages.ui.paper.view import View
from pages.ui.papers.pcdbn import figures
from pages.ui.words import number

OWN, STEPWISE, EXACT = "pcdbn", "psgd", "tcdbn"
POINTS = 6
"""The accountant of pSGD is asked after so many numbers of epochs."""
SHOWN = 16
"""Filters that are drawn."""
PARTS = {
    "patches": "pairs of pixels (second moments)",
    "quartic": "fours of pixels (fourth moments)",
    **{
        f"order_{order}": f"{name} moments along {SKETCH} directions"
        for order, name in NAMES.items()
    },
    "maps": "pairs in the first layer's maps",
    "mean": "mean of the features",
    "channels": "pairs of channels",
    "positions": "pairs of positions",
    "matrix": "classifier: Σpp′",
    "vector": "classifier: Σpy′",
    "layer_1": "first layer's coefficients",
    "layer_2": "second layer's coefficients",
    "softmax": "softmax layer's coefficients",
    "constants": "constants of the polynomial",
    "features": "features at a step",
    "gradient": "gradient of a batch",
}
WAYS = {
    "released": "what the published code does",
    "paper": "the text of the paper, as far as it can be run",
    "rigorous": "what can be proved",
}


def _at_once(view: View, method: str) -> bool:
    """Whether a method solves in closed form, so that it has no course."""
    own = view.setting(OWN)
    return method == OWN and own.calibration == "rigorous" and own.solver == "closed_form"


def orders(job: Job) -> tuple[int, ...]:
    """The degrees at which a method is compared."""
    degree = knobs(type(job.spec()))["degree"]
    assert isinstance(degree, Knob)
    return tuple(int(order) for order in degree.grid)


def _course(view: View, method: str) -> Line | None:
    """Accuracy of a method by epoch; a closed form is as good at every number of epochs."""
    epochs, values = history(view, method, "accuracy")
    own = view.setting(method)
    if method == STEPWISE:
        epochs *= own.sample_rate
    elif _at_once(view, method):
        epochs, values = np.array([1.0, float(own.epochs)]), np.repeat(values[-1:], 2, axis=0)
    elif not (method == OWN and own.calibration == "rigorous"):
        epochs -= 2 * own.pretraining
    return drawn(view, method, epochs, 100.0 * values)


def learning(view: View) -> Lines:
    """Figure 5b, live: accuracy by epoch; pSGD ends where its budget is spent."""
    methods = list(dict.fromkeys((OWN, STEPWISE, view.method, EXACT)))
    courses = {method: _course(view, method) for method in methods}
    last = courses[STEPWISE]
    over = last is not None and last.x[-1] >= 0.99 * view.setting(STEPWISE).sgd_epochs
    reached = ", ".join(
        f"{one.label} {one.middle[-1]:.0f} % after {number(float(one.x[-1]))}"
        for one in courses.values()
        if one is not None
    )
    facts = {"reached": reached, "LEVEL": _at_once(view, OWN)}
    ends = [last] if last is not None and over else []
    return Lines(list(courses.values()), facts, change=figures.crosses(ends))


@functools.lru_cache(maxsize=256)
def stepwise(own: PcdbnSpec, n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Epochs of pSGD, and what has been spent after them."""
    from engine.privacy import accounting
    from engine.privacy.releases import cost

    total = price.gradient_steps(own, n)
    steps = sorted({max(1, round(total * k / POINTS)) for k in range(1, POINTS + 1)})
    costs = [cost(price.gradient_releases(own, n), step) for step in steps]
    epsilons = [accounting.epsilon(c, own.delta, price.RELATION, tight=False) for c in costs]
    return tuple(step * own.sample_rate for step in steps), tuple(epsilons)


def spent(view: View) -> Lines:
    """What has been paid after so many epochs, by pSGD and by pCDBN."""
    n, own = view.data.records, view.setting(OWN)
    with st.spinner("Working out the budget of every epoch"):
        epochs, paid = stepwise(view.setting(STEPWISE), n)
        proved = card.guarantee(view.paper.entry(OWN), own, view.data).epsilon_proved
    lines = [drawn(view, STEPWISE, np.array(epochs), np.array(paid)[:, None])]
    ends = [one for one in lines if one is not None]
    if proved is not None:
        whole = np.array([min(1.0, epochs[0]), float(own.epochs)])
        lines.append(drawn(view, OWN, whole, np.full((2, 1), proved)))
    then = Named("NEVER" if proved is None else "ONCE")
    facts = {"paid": paid[-1], "epochs": epochs[-1], "then": then}
    return Lines(lines, facts, change=figures.crosses(ends))


def calibrations(view: View) -> Abreast:
    """What each calibration of pCDBN guarantees, the chosen one marked."""
    own, choice = view.setting(OWN), knobs(PcdbnSpec)["calibration"]
    assert isinstance(choice, Choice)
    said = []
    for name, whose in WAYS.items():
        guarantee = card.guarantee(view.paper.entry(OWN), own.replace(calibration=name), view.data)
        now = " (chosen)" if name == own.calibration else ""
        said.append(
            f"**{choice.text(name)}**{now}: {whose}\n\n{card.badge(guarantee)}\n\n"
            f"Claims ε = {view.budget:g}; {card.line(guarantee)}. {guarantee.reasons[0]}"
        )
    return Abreast(said, gap="large", border=True)


def pictures(view: View) -> Abreast | None:
    """Filters and maps of the method that is looked at, beside those with the largest budget."""
    results = view.watched[view.method].results
    if results is None or product(view, view.method, "filters") is None:
        return None
    largest = view.budget if not view.spends(view.method) else float(results.axes[BUDGET].max())
    columns = [_pictures(view, budget) for budget in dict.fromkeys((view.budget, largest))]
    return Abreast([*columns, *[()] * (2 - len(columns))], gap="large")


def _pictures(view: View, budget: float) -> list[Part]:
    """Filters and maps at one budget."""
    title = f"{view.watched[view.method].label}, ε = {budget:g}"
    there = replace(view, budget=budget)
    filters, maps = (product(there, view.method, name) for name in ("filters", "maps"))
    if filters is None or maps is None:
        return [f"**{title}**", waiting(view)]
    few, seen = filters[0][:SHOWN], maps[0].reshape(-1, *maps.shape[-2:])
    each = maps.shape[2]  # of one image: a row
    parts: list[Part] = [f"**{title}**"]
    for name, what, row in (("filters", few, figures.ROW), ("maps", seen, each)):
        count, high, across = what.shape
        facts = {
            "title": title, "count": count, "high": high, "across": across,
            "place": "own" if budget == view.budget else "largest",
        }  # fmt: skip
        rows = [{"Picture": i + 1, "Largest": number(float(np.abs(one).max()))}
                for i, one in enumerate(what)]  # fmt: skip
        parts.append(
            Chart(figures.mosaic(what, signed=name == "filters", across=row), rows, facts, name)
        )
    return parts


def ratios(view: View) -> Chart | None:
    """Noise over signal of each release, coefficient or gradient of the chosen method."""
    by_layer = {
        title: values
        for name, title in PARTS.items()
        if (values := product(view, view.method, f"noise_{name}")) is not None
    }
    if not by_layer:
        return None
    middle = {title: float(np.median(values)) for title, values in by_layer.items()}
    worst = max(middle, key=lambda title: middle[title])
    rows = [{"Noise on": title, "Noise / signal": number(value)} for title, value in middle.items()]
    single = all(len(values) == 1 for values in by_layer.values())
    repeated = Named("ONE" if single else "MANY")
    facts = {"worst": worst, "most": middle[worst], "repeated": repeated}
    return Chart(figures.ratios(by_layer), rows, facts)
