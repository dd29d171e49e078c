"""The Compare page: finished runs of any papers and methods on one chart of utility and privacy."""

import streamlit as st

from engine.catalog import catalog
from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.charts import curves
from pages.ui.compare import candidates as contenders
from pages.ui.compare.candidates import Contender
from pages.ui.jobs.runs_table import MOST
from pages.ui.kit import address, card
from pages.ui.kit.access import client, troubles
from pages.ui.kit.card import ICONS
from pages.ui.kit.chart import chart
from pages.ui.kit.offers import Offer, figure
from pages.ui.paper.panels import RAW

PAGE, PREFIX = "pages/compare.py", "compare"
INTRODUCTION = (
    "Finished runs of any papers and methods on one chart, with what is guaranteed for each. Only "
    "what is measured in the same way can share a chart, so first choose the measure."
)
EMPTY = (
    "There is nothing to compare yet: no run over privacy budgets has finished. Open a paper, "
    "where the first runs start by themselves, and come back."
)
FIRST, AT_MOST = 6, 10
"""Runs that are drawn unasked, and at most."""
USUAL = 1.0
"""The budget that is looked at first, or the offered one that is nearest."""
RELATIONS_DIFFER = (
    "These guarantees speak of different neighbours. Replacing one record may count as much as "
    "removing one and adding another, so the same ε promises more where a record is replaced."
)
DATA_DIFFER = (
    "These runs are on different data, some of it harder than other: compare how the lines bend "
    "rather than how high they lie."
)


def show() -> None:
    """Draws the page."""
    st.title("Compare")
    st.markdown(INTRODUCTION)
    with troubles():
        found = contenders.found(client().runs(MOST))
        if not found:
            _empty()
            return
        _draw(found)


def _empty() -> None:
    """What to do while there is nothing."""
    st.info(EMPTY, icon=":material/lightbulb:")
    for slug, paper in catalog().items():
        if (contenders.PAGES / f"{slug}.py").exists():
            st.page_link(f"pages/{slug}.py", label=paper.title, icon=":material/arrow_forward:")


def _draw(found: list[Contender]) -> None:
    """The choices, the chart and the guarantees."""
    gauges = contenders.gauges(found)
    offers = _measures(gauges), _budgets(found)
    address.settle(PAGE, PREFIX, offers, [f"runs.{name}" for name in gauges])
    measure = offers[0]
    key = f"{PREFIX}.{measure.field}"
    text = st.selectbox("Measured by", measure.texts, key=key, bind="query-params")
    name = str(measure.value(str(text)))
    chosen = _choose(found, name)
    if not chosen:
        st.info("Choose at least one run.", icon=":material/lightbulb:")
        return
    offer = offers[1]
    at = st.select_slider(
        r"Privacy budget $\varepsilon$", offer.texts, offer.default, key=f"{PREFIX}.epsilon",
        bind="query-params",
    )  # fmt: skip
    _chart(chosen, name, gauges[name], float(offer.value(str(at))))


def _measures(gauges: dict[str, Gauge]) -> Offer:
    """The measures, by what the papers call them; a name that two share gets its key."""
    labels = [gauge.label for gauge in gauges.values()]
    texts = tuple(
        gauge.label if labels.count(gauge.label) == 1 else f"{gauge.label} ({name})"
        for name, gauge in gauges.items()
    )
    return Offer("gauge", texts, tuple(gauges), texts[0])


def _budgets(found: list[Contender]) -> Offer:
    """Every budget that one of the runs was trained with."""
    values = tuple(sorted({value for one in found for value in one.budgets})) or (USUAL,)
    if len(values) == 1:
        values = (values[0], 2.0 * values[0])  # a slider needs two ends
    nearest = min(values, key=lambda value: abs(value - USUAL))
    return Offer("epsilon", tuple(map(figure, values)), values, figure(nearest))


def _choose(found: list[Contender], gauge: str) -> list[Contender]:
    """The runs to draw; first the latest of each method on each data set."""
    able = {one.text: one for one in found if gauge in one.gauges}
    latest: dict[tuple[str, str, str], str] = {}
    for text, one in able.items():
        latest.setdefault((one.job.paper, one.job.method, one.job.dataset), text)
    texts = st.multiselect(
        "Runs", list(able), list(latest.values())[:FIRST], key=f"{PREFIX}.runs.{gauge}",
        max_selections=AT_MOST, bind="query-params",
    )  # fmt: skip
    return [able[text] for text in texts]


def _chart(chosen: list[Contender], name: str, gauge: Gauge, epsilon: float) -> None:
    """The chart, the readings at one budget, and what must not be read into them."""
    lines, levels = contenders.drawn(chosen, name)
    grid = [value for one in chosen for value in one.budgets] + [epsilon]
    bounds = (min(grid), max(grid))
    if bounds[0] == bounds[1]:
        bounds = (bounds[0] / 2.0, bounds[1] * 2.0)
    drawn = curves.utility(lines, levels, gauge, epsilon, name, bounds)
    alt = curves.reading(lines, gauge, epsilon)
    chart(f"{PREFIX}.chart", drawn, alt, curves.rows(lines, levels), epsilon)
    if gauge.help or not gauge.released:
        st.caption(f"{gauge.help} {'' if gauge.released else RAW}")
    st.header(f"What is guaranteed at ε = {words.number(epsilon)}")
    st.table(
        [_row(one, name, epsilon) for one in chosen], hide_index=True, border="horizontal",
        alt="The runs with their readings and guarantees.",
    )  # fmt: skip
    private = [one.guarantee(epsilon) for one in chosen if one.spends]
    if len({found.relation for found in private}) > 1:
        st.warning(RELATIONS_DIFFER, icon=":material/group:")
    if len({one.job.dataset for one in chosen}) > 1:
        st.caption(DATA_DIFFER)
    if any(one.job.simulated for one in chosen):
        st.badge("Some of these data are simulated", icon=":material/casino:", color="violet")


def _row(one: Contender, name: str, epsilon: float) -> dict[str, str]:
    """One run: its reading, and its guarantee in words; three columns fit a telephone."""
    value, found = one.median(name, epsilon), one.guarantee(epsilon)
    reading = "not measured at this ε" if value is None else words.number(value)
    verb = "Meant to protect" if found.epsilon_proved is None else "Protects"
    protects = "" if found.status == "not_private" else f"  \n{verb} {found.unit}"
    return {
        "Run": f"**{one.label}**  \n{one.paper.title}; {one.settings or 'all at their defaults'}",
        "Median": reading,
        "Guarantee": f"{ICONS[found.status]} {card.line(found)}{protects}",
    }
