"""Sections of the page on deep belief networks: epochs, budget, calibrations, filters, noise."""

import functools
from dataclasses import replace
from typing import Any, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.spec import Choice, knobs
from engine.papers.dbn import price
from engine.papers.dbn.pcdbn.price import NAMES, SKETCH
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from pages.ui.charts import lines as shared
from pages.ui.charts.lines import Line
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.series import SPREAD, chosen, look, product, waiting
from pages.ui.paper.view import View
from pages.ui.papers.pcdbn import figures
from pages.ui.words import number

Floats = NDArray[np.float64]

OWN, STEPWISE, EXACT = "pcdbn", "psgd", "tcdbn"
EPOCH = "Epochs [visits of every record]"
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
    "paper": "the text of the paper",
    "rigorous": "what can be proved",
}


def spec(view: View, method: str = OWN) -> PcdbnSpec:
    """The setting of a method, at the budget under the slider."""
    return cast(PcdbnSpec, view.watched[method].job.spec().replace(**{BUDGET: view.budget}))


def setting(view: View, field: str) -> Any:
    """What the sidebar says of one field of pCDBN."""
    return vars(spec(view))[field]


def _at_once(view: View, method: str) -> bool:
    """Whether a method solves in closed form, so that it has no course."""
    own = spec(view)
    return method == OWN and own.calibration == "rigorous" and own.solver == "closed_form"


def _label(view: View, method: str) -> str:
    return view.watched[method].label


def _course(view: View, method: str) -> Line | None:
    """Accuracy of a method by epoch; a closed form is as good at every number of epochs."""
    steps, values = live.history(view.watched[method], "accuracy")
    if not len(steps):
        return None
    own, values = spec(view, method), values[:, chosen(view, method)]
    epochs = steps.astype(np.float64)
    if method == STEPWISE:
        epochs *= own.sample_rate
    elif _at_once(view, method):
        epochs, values = np.array([1.0, float(own.epochs)]), np.repeat(values[-1:], 2, axis=0)
    elif not (method == OWN and own.calibration == "rigorous"):
        epochs -= 2 * own.pretraining
    course = shared.line(_label(view, method), look(view, method), epochs, 100.0 * values)
    return course


def learning(view: View) -> None:
    """Figure 5b, live: accuracy by epoch; pSGD ends where its budget is spent."""
    methods = list(dict.fromkeys((OWN, STEPWISE, view.method, EXACT)))
    courses = {method: _course(view, method) for method in methods}
    drawn = [one for one in courses.values() if one is not None]
    if not drawn:
        st.markdown(waiting(view))
        return
    last = courses[STEPWISE]
    over = last is not None and last.x[-1] >= 0.99 * spec(view, STEPWISE).sgd_epochs
    figure = figures.course(
        drawn, [last] if last is not None and over else [], (EPOCH, "Test accuracy [%]"),
        f"learning/{view.watched[OWN].job.id}",
    )  # fmt: skip
    ends = ", ".join(
        f"{one.label} {one.middle[-1]:.0f} % after {number(float(one.x[-1]))}" for one in drawn
    )
    said = f"Test accuracy by epochs at ε = {view.budget:g}: {ends}."
    chart("pcdbn.learning", figure, said, shared.rows(drawn, "Epochs"), view.budget)
    level = (
        " pCDBN solves its noisy objective at once here, so its line is level. Choose "
        "*Gradient descent* under *Solution* to see it learn."
        if _at_once(view, OWN)
        else ""
    )
    st.caption(
        "pSGD spends budget at every training step and stops when nothing is left. pCDBN spends it "
        f"once, before it learns.{level} {SPREAD} {RAW}"
    )


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


def spent(view: View) -> None:
    """What has been paid after so many epochs, by pSGD and by pCDBN."""
    n, own = view.data.records, spec(view)
    with st.spinner("Working out the budget of every epoch"):
        epochs, paid = stepwise(spec(view, STEPWISE), n)
        proved = card.guarantee(view.paper.entry(OWN), own, view.data).epsilon_proved
    shown = [_paid(view, STEPWISE, epochs, paid)]
    if proved is not None:
        shown.append(_paid(view, OWN, (min(1.0, epochs[0]), float(own.epochs)), (proved, proved)))
    drawn = [one for one in shown if one is not None]
    figure = figures.course(
        drawn, drawn[:1], (EPOCH, "Spent privacy budget ε"), f"spent/{view.watched[OWN].job.id}",
        rangemode="tozero",
    )  # fmt: skip
    said = f"pSGD has spent ε = {number(paid[-1])} after {number(epochs[-1])} epochs; " + (
        "pCDBN spends its budget before the first epoch and no more later."
        if proved is not None
        else "for pCDBN as chosen no finite budget can be proved, so it has no line."
    )
    st.markdown(said)
    chart("pcdbn.spent", figure, said, shared.rows(drawn, "Epochs"), view.budget)
    st.caption(
        "An accountant adds up what all training steps reveal about one image. The noise of pSGD "
        "is chosen so that its budget lasts exactly for the *Epochs of pSGD* under *More settings*."
    )


def _paid(
    view: View, method: str, epochs: tuple[float, ...], paid: tuple[float, ...]
) -> Line | None:
    return shared.line(
        _label(view, method), look(view, method), np.array(epochs), np.array(paid)[:, None]
    )


def calibrations(view: View) -> None:
    """What each calibration of pCDBN guarantees, the chosen one marked."""
    own, choice = spec(view), knobs(PcdbnSpec)["calibration"]
    assert isinstance(choice, Choice)
    for column, (name, whose) in zip(st.columns(3, gap="large"), WAYS.items(), strict=True):
        other = own.replace(calibration=name)
        guarantee = card.guarantee(view.paper.entry(OWN), other, view.data)
        now = " (chosen)" if name == own.calibration else ""
        with column.container(border=True, height="stretch"):
            st.markdown(
                f"**{choice.text(name)}**{now}: {whose}\n\n{card.badge(guarantee)}\n\n"
                f"Claims ε = {view.budget:g}; {card.line(guarantee)}. {guarantee.reasons[0]}"
            )
    st.caption(
        "Good accuracy without a proof is not private learning: the noise of the published program "
        "does not hide the records. Change *Calibration* in the sidebar to train another one; the "
        "card above holds all reasons for the chosen one."
    )


def pictures(view: View) -> None:
    """Filters and maps of the method that is looked at, beside those with the largest budget."""
    results = view.watched[view.method].results
    if results is None or product(view, view.method, "filters") is None:
        st.markdown(waiting(view))
        return
    largest = view.budget if not view.spends(view.method) else float(results.axes[BUDGET].max())
    budgets = list(dict.fromkeys((view.budget, largest)))
    columns = st.columns(2, gap="large")
    for column, budget in zip(columns, budgets, strict=False):
        with column:
            _pictures(view, budget, "own" if budget == view.budget else "largest")
    st.caption(
        "Filters: the two colours are weights of opposite sign; each picture is scaled by its "
        "largest weight. Maps: where each of eight filters responds in a 0, a 1 and a 2 (one per "
        "row). With proof, filters come from noisy moments: clear at a large ε, random at a small "
        "one. The other networks start from random filters and change them little. One "
        f"repetition. {RAW}"
    )


def _pictures(view: View, budget: float, key: str) -> None:
    """Filters and maps at one budget."""
    title = f"{_label(view, view.method)}, ε = {budget:g}"
    st.markdown(f"**{title}**")
    there = replace(view, spec=view.spec.replace(**{BUDGET: budget}))
    filters, maps = (product(there, view.method, name) for name in ("filters", "maps"))
    if filters is None or maps is None:
        st.markdown(waiting(view))
        return
    few, seen = filters[0][:SHOWN], maps[0].reshape(-1, *maps.shape[-2:])
    for name, what, signed in (("filters", few, True), ("maps", seen, False)):
        said = f"{title}: {len(what)} {name} of {what.shape[1]} by {what.shape[2]} pixels."
        rows = [{"Picture": i + 1, "Largest": number(float(np.abs(one).max()))}
                for i, one in enumerate(what)]  # fmt: skip
        st.caption(f"First layer's {name}")
        figure = figures.mosaic(what, signed=signed, revision=f"{name}/{view.method}")
        chart(f"pcdbn.{name}.{key}", figure, said, rows, view.budget)


def ratios(view: View) -> None:
    """Noise over signal of each release, coefficient or gradient of the chosen method."""
    arrays = view.watched[view.method].arrays
    by_layer = {
        title: values
        for name, title in PARTS.items()
        if f"noise_{name}" in arrays
        and (values := product(view, view.method, f"noise_{name}")) is not None
    }
    if not by_layer:
        st.markdown(waiting(view))
        return
    middle = {title: float(np.median(values)) for title, values in by_layer.items()}
    worst = max(middle, key=lambda title: middle[title])
    said = (
        f"{_label(view, view.method)} at ε = {view.budget:g}: the noise is largest on "
        f"“{worst}”, {number(middle[worst], 2)} times the signal."
    )
    rows = [{"Noise on": title, "Noise / signal": number(value)} for title, value in middle.items()]
    single = all(len(values) == 1 for values in by_layer.values())
    repeated = "One repetition." if single else "Whiskers: the middle 80 % of the repetitions."
    st.markdown(said)
    chart("pcdbn.ratios", figures.ratios(by_layer, "ratios"), said, rows, view.budget)
    st.caption(
        "Length of the noise over the length of what it is added to. Right of the dotted line "
        "there is more noise than signal; the strongest directions may still be visible. "
        f"{repeated} {RAW}"
    )
