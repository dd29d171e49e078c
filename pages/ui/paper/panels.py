"""The parts that every paper's page has: budget, utility curve, readings, guarantees."""

import math
from dataclasses import replace

import streamlit as st

from engine.core.spec import knobs
from pages.ui import words
from pages.ui.charts import curves
from pages.ui.charts.curves import Curve, Level
from pages.ui.charts.dots import dots
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card
from pages.ui.kit.chart import chart
from pages.ui.kit.knobs import explain, label
from pages.ui.paper.view import Page, View, measures

CHOOSE = (
    "Whoever is chosen under *Look closely at* has its card shown in full. Methods that are not "
    "private are yardsticks: their results must not be published for real records."
)
RAW = (
    ":material/visibility_lock: Computed from the raw records: a yardstick for this experiment, "
    "not something that could be published."
)


def budget(page: Page) -> float:
    """The budget slider, which says at both ends what it does."""
    knob, offer = knobs(page.paper.spec)[BUDGET], page.offers.knobs[BUDGET]
    chosen = st.select_slider(
        label(knob), offer.texts, offer.default, key=f"{page.prefix}.{BUDGET}", help=explain(knob),
        bind="query-params",
    )  # fmt: skip
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.caption(":material/lock: more private, more noise", width="content")
        st.caption("less noise, less private :material/lock_open_right:", width="content")
    return float(offer.value(chosen))


def meaning(view: View) -> None:
    """What the chosen budget means, in a picture and a sentence."""
    found = view.guarantee()
    epsilon = found.epsilon_proved
    if epsilon is None:
        st.markdown(words.odds(None, 0.0, found.relation, found.unit))
        return
    chance = words.best_guess(epsilon, found.delta)
    count = min(99, round(100 * chance))
    st.image(
        dots(count), width="stretch", alt=f"{count} of 100 dots are filled, 50 of them in grey."
    )
    st.markdown(words.odds(epsilon, found.delta, found.relation, found.unit))


def drawn(view: View, gauge: str) -> tuple[dict[str, Curve], list[Level]]:
    """What has been measured of one gauge: curves by method, and levels of the references."""
    found: dict[str, Curve] = {}
    levels: list[Level] = []
    for position, entry in enumerate(view.paper.methods):
        results = view.watched[entry.name].results
        if results is None:
            continue
        look = view.looks.get(entry.name)
        if view.spends(entry.name):
            curve = curves.curve(results, gauge, entry.label, position)
            found[entry.name] = replace(curve, style=look or curve.style, brief=entry.brief)
        elif (level := curves.level(results, gauge, entry.label, position)) is not None:
            levels.append(replace(level, style=look or level.style, brief=entry.brief))
    return found, levels


def utility(page: Page, view: View) -> None:
    """The utility curve with its caption."""
    gauge = measures(view.paper)[view.gauge]
    found, levels = drawn(view, view.gauge)
    lines = list(found.values())
    grid = [float(value) for value in page.offers.knobs[BUDGET].values]
    revision = f"{view.gauge}/{view.watched[view.method].job.id}"
    figure = curves.utility(lines, levels, gauge, view.budget, revision, (min(grid), max(grid)))
    chart(
        f"{page.prefix}.utility",
        figure,
        curves.reading(lines, gauge, view.budget),
        curves.rows(lines, levels),
        view.budget,
    )


def caption(view: View) -> None:
    """How to read the gauge, and what stands behind the line that is looked at."""
    gauge = measures(view.paper)[view.gauge]
    raw = "" if gauge.released else f" {RAW}"
    st.caption(
        f"{gauge.help}{raw}\n\n{view.entry.label}, {card.line(view.guarantee())}. "
        "Bands: four of five repetitions."
    )


def readings(view: View) -> None:
    """Every gauge of the method that is looked at, beside the same without privacy."""
    names = list(measures(view.paper).items())
    found = [drawn(view, name) for name, _ in names]
    table = {
        "Measured": [gauge.label for _, gauge in names],
        f"{view.entry.label}, ε = {view.budget:g}": [
            words.number(curves.medians(lines, view.budget).get(view.method, math.nan))
            for lines, _ in found
        ],
    }
    for name in dict.fromkeys(level.label for _, levels in found for level in levels):
        values = [{one.label: one.value for one in levels} for _, levels in found]
        table[name] = [words.number(value.get(name, math.nan)) for value in values]
    st.table(table, border="horizontal")
    with st.expander("What these measures mean", icon=":material/straighten:"):
        st.markdown("\n".join(f"- **{gauge.label}**: {gauge.help}" for _, gauge in names))
    st.caption(f"{RAW}{words.sideways(len(table))}")


def guarantees(view: View) -> None:
    """The whole card of the method that is looked at, and all methods' in a line each."""
    left, right = st.columns([5, 6], gap="large")
    with left:
        card.show(view.entry.label, view.guarantee())
    with right:
        entries = view.paper.methods
        cards = [view.guarantee(entry.name) for entry in entries]
        st.table(card.lines([entry.label for entry in entries], cards), border="horizontal")
        st.caption(CHOOSE)
        others = st.expander(
            "Every method's card", icon=":material/badge:", on_change="rerun",
            key=f"{view.paper.slug}.cards",
        )  # fmt: skip
        if others.open:
            with others:
                for entry, one in zip(entries, cards, strict=True):
                    if entry.name != view.method:
                        card.show(entry.label, one)
