"""The Compare page: runs of any papers on one task, on one chart of utility and privacy."""

from collections.abc import Callable
from urllib.parse import urlencode

import streamlit as st

from datasets import own
from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.charts import curves
from pages.ui.charts.measured import Curve, Level
from pages.ui.compare import (
    PREFIX,
    answers,
    asked,
    candidates,
    difference,
    library,
    recorded,
    shown,
)
from pages.ui.compare.answers import Best
from pages.ui.compare.candidates import Candidate
from pages.ui.jobs.runs_table import MOST
from pages.ui.kit import address, shell, source, visitors
from pages.ui.kit.access import client, troubles
from pages.ui.kit.chart import chart
from pages.ui.kit.chart import show as show_picture
from pages.ui.kit.offers import Offer
from pages.ui.paper import foot, kinds
from pages.ui.paper.choice import FEW_LINES, MAIN, PROOF_FIRST
from pages.ui.paper.page import scales

PAGE = "pages/compare.py"
INTRODUCTION = (
    "One line for each method, of the runs that ship with the app and of your own finished runs."
)
EMPTY = "There is nothing to compare yet. Open a paper and train a method first."
AT_MOST = 10
"""Runs that are drawn at most."""
BROAD = 220
"""Pixels of a list below the chart."""
LABEL = 28
"""Pixels of the label above a list."""
MAIN_HELP = (
    "Main lines: four lines in colour, first those that the answer names; the others are thin and "
    "grey. All lines: every run in its colour."
)
DATA_DIFFER = (
    "These runs use different data sets: compare the shapes of the curves, not their heights."
)
FREE = "The app treats these data as public, so the answer is exact and costs no privacy."
TABS = ("Guarantees", "Best proved", "Which ε do I need?", "Can two be told apart?")
TAB = Offer("tab", TABS, TABS, TABS[0])
"""The open tab, which the address holds."""
LINES = (FEW_LINES, "All lines")
FOCUS = Offer("lines", LINES, LINES, FEW_LINES)
"""Which lines are in colour."""


def show() -> None:
    """Draws the page."""
    st.title("Compare", anchor=False)
    st.html(foot.STYLE + foot.BELOW_LOGO)
    brought: list[recorded.Recorded] = []
    with troubles():
        trained = candidates.listed([r for r in client().at_hand(MOST) if visitors.sees(r.job)])
        brought = recorded.listed(candidates.gauges(trained))
        if trained or brought:
            _draw([*trained, *brought])
        else:
            _empty()
    with troubles():
        library.show(brought)


def _empty() -> None:
    """What to do while there is nothing."""
    st.info(EMPTY, icon=":material/lightbulb:")
    for slug, paper in shell.papers().items():
        st.page_link(shell.script(slug), label=paper.title, icon=":material/arrow_forward:")


def _draw(comparable: list[Candidate]) -> None:
    """The question, its answer, the slider and the chart; below them what they depend on."""
    answer, moved, figure = st.container(), st.container(), st.container()
    data = shown.data(comparable)
    gauges = candidates.gauges(comparable)
    budgets = shown.budgets(comparable)
    free = [*(f"runs.{name}" for name in gauges), "by", "measure", *difference.FIELDS]
    address.settle(PAGE, PREFIX, [data, shown.measures(gauges), budgets, TAB, FOCUS], free)
    at = moved.select_slider(
        "Privacy budget ε", budgets.texts, budgets.default, key=f"{PREFIX}.epsilon",
        bind="query-params",
    )  # fmt: skip
    row = st.container(horizontal=True, vertical_alignment="top")
    places = [row.container(width=BROAD) for _ in range(3)]
    axes = row.container(width="content", gap=None)
    dataset = str(data.value(_choose("Data set", data, places[0])))
    here = [one for one in comparable if dataset in ("", one.dataset)]
    measure = shown.measures({n: g for n, g in gauges.items() if any(n in o.gauges for o in here)})
    name = str(measure.value(_choose("Measured by", measure, places[1])))
    with axes:
        st.space(LABEL)
        with st.popover("Axes", icon=":material/straighten:", type="tertiary"):
            by, how = scales(PREFIX)
    runs = candidates.shortened(_runs(here, name, dataset))
    if not runs:
        st.info("Choose at least one run.", icon=":material/lightbulb:")
        return
    epsilon = float(budgets.value(str(at)))
    lines, levels = candidates.drawn(runs, name, epsilon)
    rows = shown.ranked(runs, lines, gauges[name])
    told, best = shown.finding(runs, rows, gauges[name], epsilon)
    with answer:
        place = data.texts[data.values.index(dataset)]
        st.subheader(shown.QUESTION.format(place), anchor=False)
        with st.container(key=f"{PREFIX}-finding", gap=None):
            st.markdown(told)
    with places[2]:
        lines = _focused(runs, lines, best)
    source.publish(_published(runs, list(measure.texts), here))
    with figure:
        _chart(runs, lines, levels, name, gauges[name], epsilon, by, how)
    if how == kinds.BUDGET:
        cards = shown.cards(runs, epsilon)
        st.caption(f"{shown.caption(gauges[name])}{kinds.note(cards, how)}")
    _tabs(runs, rows, lines, name, gauges[name], epsilon)


def _published(runs: dict[str, Candidate], measures: list[str], here: list[Candidate]) -> str:
    """The static page with these settings: of runs that ship, as the page opens; else empty."""
    texts = {key: st.query_params[key] for key in st.query_params if key.startswith(PREFIX)}
    fixed = [f"{PREFIX}.{offer}" for offer in ("data", "gauge", "epsilon", "tab")]
    ours = all(isinstance(one, candidates.Trained) and one.ships for one in here)
    shown_first = texts.get(f"{PREFIX}.gauge", measures[0]) in measures[: shown.PUBLISHED]
    if set(texts) - set(fixed) or not ours or not shown_first or not runs:
        return ""
    if texts.get(f"{PREFIX}.data") == shown.ALL:
        return ""
    return f"{PREFIX}/index.html{f'?{urlencode(texts)}' if texts else ''}"


def _focused(
    chosen: dict[str, Candidate], lines: dict[str, Curve], best: tuple[str, ...]
) -> dict[str, Curve]:
    """The same lines, the best and the papers' own in colour, unless all are asked for."""
    if len(lines) <= MAIN:
        return lines
    few = st.segmented_control(
        "Lines", FOCUS.texts, default=FOCUS.default, required=True, help=MAIN_HELP,
        key=f"{PREFIX}.{FOCUS.field}", bind="query-params",
    )  # fmt: skip
    return shown.focused(chosen, lines, best, few=few == FEW_LINES)


def _choose(title: str, offer: Offer, place: st.delta_generator.DeltaGenerator) -> str:
    """One of the offered texts."""
    key = f"{PREFIX}.{offer.field}"
    if st.session_state.get(key) not in (None, *offer.texts):
        st.session_state[key] = offer.default  # what was chosen is not measured on these data
    return str(place.selectbox(title, offer.texts, key=key, bind="query-params"))


def _runs(here: list[Candidate], gauge: str, dataset: str) -> dict[str, Candidate]:
    """The runs to draw; first the latest of each method."""
    able, key = shown.able(here, gauge, dataset), f"{PREFIX}.runs.{gauge}"
    begins = candidates.first(able, gauge, shown.FIRST)
    chosen = st.session_state.get(key, ())
    left = [one for one in chosen if one in able]
    if len(left) < len(chosen):  # some are gone, or most were chosen among other data's runs
        st.session_state[key] = left if 2 * len(left) > len(chosen) else begins
    texts = st.multiselect(
        "Runs", list(able), begins, bind="query-params", key=key, max_selections=AT_MOST,
        help=INTRODUCTION,
    )  # fmt: skip
    return {text: able[text] for text in texts}


def _chart(
    chosen: dict[str, Candidate], lines: dict[str, Curve], levels: list[Level], name: str,
    gauge: Gauge, epsilon: float, by: str, how: str,
) -> None:  # fmt: skip
    """The chart, on the scale that is asked for; by a measure that all guarantees have, or by ε."""
    if how == kinds.BUDGET:
        by_proof = by == PROOF_FIRST
        picture = shown.drawn(chosen, lines, levels, name, gauge, epsilon, by_proof=by_proof)
        show_picture(f"{PREFIX}.chart", picture)
        return
    with st.spinner("Working out the measures…", show_time=True):
        at = kinds.placed(chosen, lines, how)
    drawn = curves.utility(
        list(at.lines.values()), levels, gauge, epsilon, f"{name}.{how}", at.bounds, True,
        measure=at.label,
    )  # fmt: skip
    chart(f"{PREFIX}.kinds", drawn, at.reading(epsilon), at.rows(gauge), epsilon, fit=True)
    st.caption(at.caption(epsilon))


def _tabs(
    chosen: dict[str, Candidate], rows: list[Best], lines: dict[str, Curve], name: str,
    gauge: Gauge, epsilon: float,
) -> None:  # fmt: skip
    """What the chart answers."""
    tabs = st.tabs(
        TAB.texts, default=TAB.default, key=f"{PREFIX}.tab", on_change="rerun",
        bind="query-params",
    )  # fmt: skip
    draws: tuple[Callable[[], None], ...] = (
        lambda: _guarantees(chosen, name, gauge, epsilon),
        lambda: _best(chosen, rows, gauge),
        lambda: _needed(chosen, lines, gauge, epsilon),
        lambda: difference.show(chosen, name, gauge, epsilon),
    )
    for tab, draw in zip(tabs, draws, strict=True):
        if tab.open:
            with tab, troubles():
                draw()


def _guarantees(chosen: dict[str, Candidate], name: str, gauge: Gauge, epsilon: float) -> None:
    """Each run's reading and guarantee at one budget, and what must not be read into them."""
    st.table(
        shown.guarantees(chosen, name, gauge, epsilon), hide_index=True, border="horizontal",
        alt="The runs with their readings and guarantees.",
    )  # fmt: skip
    st.caption(shown.INTERVAL)
    if said := shown.differ(shown.cards(chosen, epsilon)):
        st.warning(said, icon=":material/group:")
    if len({one.dataset for one in chosen.values()}) > 1:
        st.caption(DATA_DIFFER)


def _best(chosen: dict[str, Candidate], rows: list[Best], gauge: Gauge) -> None:
    """The best proved method: read off the runs, or asked of private records."""
    st.markdown(shown.best(chosen, rows, gauge))
    if rows:
        st.table(
            shown.frontier(rows, gauge), hide_index=True, border="horizontal",
            alt="The best proved method for each budget.",
        )  # fmt: skip
        st.caption(f"{shown.INTERVAL} {shown.APART}")
    for table in _private(chosen):
        asked.best(f"{PREFIX}.best.{table}", table, chosen.values())


def _private(chosen: dict[str, Candidate]) -> list[str]:
    """The tables of one's own that runs are on: what is read off them has a price."""
    return sorted({one.dataset for one in chosen.values() if own.mine(one.dataset)})


def _needed(
    chosen: dict[str, Candidate], lines: dict[str, Curve], gauge: Gauge, epsilon: float
) -> None:
    """Which budget a wanted value needs: read off public records, or asked of private ones."""
    public = {name: one for name, one in lines.items() if not own.mine(chosen[name].dataset)}
    if public:
        free = all(isinstance(chosen[name], candidates.Trained) for name in public)
        _read(public, gauge, epsilon, free)
    for table in _private(chosen):
        asked.need(f"{PREFIX}.need.{table}", table, chosen.values())


def _read(lines: dict[str, Curve], gauge: Gauge, epsilon: float, free: bool) -> None:
    """Which proved budget a wanted value needs, by method; whether that is known to be free."""
    share = gauge.unit == words.SHARE
    scale, unit = (100.0, " in %") if share else (1.0, "")
    at = [one.middle[i] for one in lines.values() if (i := one.at(epsilon)) is not None]
    start = round(scale * max(at, default=0.0), 1 if share else 3)
    wanted = st.number_input(f"{gauge.label} that I need{unit}", value=start, key=f"{PREFIX}.need")
    up = gauge.better != "down"
    st.table(
        {
            "Run": [f"**{name}**{answers.under(one)}" for name, one in lines.items()],
            "Proved ε": [answers.needed(one, wanted / scale, up=up) for one in lines.values()],
        },
        hide_index=True, border="horizontal", alt="The proved budget that each method needs.",
    )  # fmt: skip
    st.caption(
        "All budgets here are proved. Each range begins at the budget that one repetition in "
        "ten needs and ends at the one that nine in ten need. Between measured budgets the line is "
        "straight; beyond them there is no answer."
    )
    if free:
        st.caption(FREE)
